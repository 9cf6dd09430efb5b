"""Logs of lines in parts: each part is read by the layout of the whole, also where it looks otherwise."""

from __future__ import annotations

import pytest

from cepctl.io.contract.reader import ReadOptions
from cepctl.io.lines.held import layout_in, layout_text
from cepctl.io.lines.recognition import layout_of
from tests.ingestion.test_parts import Log, assert_same_in_parts

DATED = "".join(f"2026-06-14 08:15:{n:02},978 - INFO  [main:Gate@12] - badge {n} is in\n" for n in range(60))
# Behind the middle no line has the heading of the log, and other numbers look like times.
BARE = "".join(f"2026-06-14 08:16:{n:02},978 at 2026/06/14 09:00:00 went {n}\n" for n in range(60))
TRACE = "java.io.IOException: no answer\n\tat Gate.read(Gate.java:7)\n"
NO_YEAR = "".join(f"12-31 23:5{n}:00.100  17  23 D Window: turned to {n}\n" for n in range(10)) + "".join(
    f"01-01 00:0{n}:00.100  17  23 D Window: turned to {n}\n" for n in range(10)
)
DAY = "".join(f"0{n}/04/2026 12:00:01 till {n} opened\n" for n in range(1, 10))
TOLD = "13/04/2026 12:00:01 till 1 opened\n"

FAR = "".join(f"one more of all the many workers {n} said at 2026-06-14 08:15:{n}\n" for n in range(10, 60))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (DATED + BARE, {}),
        (DATED.replace("is in\n", f"failed\n{TRACE}"), {}),
        (NO_YEAR, {"modified": 1_767_225_900_000_000}),
        (TOLD + DAY, {}),
        (DAY, {"time_format": "%m/%d/%Y %H:%M:%S"}),
        (
            "".join(
                f"one more of all the many workers {n} said at 2026-06-14 08:15:{n}\n" for n in range(10, 60)
            ),
            {},
        ),
        ("".join(f"{n}:15:04 worker {n} is up\n" for n in (22, 23, 0, 1) * 9), {"epoch": 10**15}),
        ("".join(f"{n}.345: [GC {n}K->1K(9K), 0.0061 secs]\n" for n in range(90)), {"epoch": 10**15}),
    ],
)
@pytest.mark.parametrize("blocks", [3, 7])
def test_a_log_in_parts_gives_what_the_whole_log_gives(
    text: str, read: dict[str, object], blocks: int
) -> None:
    choices = {"read": ReadOptions(**read), "input_format": "lines"}  # type: ignore[arg-type]
    assert_same_in_parts(Log(text.encode(), len(text) // blocks, choices))


def test_a_layout_is_the_same_when_it_is_read_again() -> None:
    for text in (DATED, NO_YEAR, DAY + TOLD, "far " * 20 + DATED):
        layout = layout_of(text.splitlines())
        assert layout is not None
        assert layout_in(layout_text(layout)) == layout
