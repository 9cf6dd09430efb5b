"""A layout that is told without looking for others is the one that would win among all."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from cepctl.io.lines.candidates import finest, found_in
from cepctl.io.lines.unbeaten import unbeaten
from tests.foreign_lines import FORMS, foreign_line

_DATES = ("2026-06-14", "2026/06/14", "2026-6-4", "14.06.2026", "26-06-14", "06-14", "Jun 14", "20260614")
_JOINS = (" ", "T", "  ", "-", ":", "_", ", ")
_CLOCKS = ("06:15:04", "06:15:04,123", "06:15:04.123456 +0200", "06:15", "6:15 pm", "06.15.04", "061504")
_AROUND = (
    *(
        "INFO",
        "[main]",
        "10.0.0.7:8080",
        "pid 4711",
        "1781418140",
        "at 06:15:04",
        "up 17:30",
        "MARK",
        "10:20",
    ),
    *(
        "2026-06-14 06:15 +0200",
        "06-14",
        "Sun",
        "2026",
        ", 2026-06-14",
        "PM",
        "Z",
        "/06",
        "06:15:04 2026-06-14",
    ),
    *(
        "1781418140.25",
        "26.06.14",
        "12.30.11",
        "@400000006a4f",
        "x=5:06:07",
        "14/06/2026 05:06:07",
        "EST",
        ":",
    ),
)


_TAME = ("INFO", "[main]", "10.0.0.7:8080", "pid 4711", "at 17:30", "MARK", "26.06.14", "2026-06-14 06:15 Z")


def _line(draw: Random, form: tuple[str, str, str], pieces: Sequence[str]) -> str:
    """A line with a time of a form among some pieces."""
    date, join, clock = form
    before = " ".join(draw.choices(pieces, k=draw.choice((0, 0, 0, 0, 0, 0, 1, 2))))
    joints = (" ", "", ",", " - ") if pieces is _AROUND else (" ", " ", ", ")
    behind = "".join(draw.choice(joints) + draw.choice(pieces) for _ in range(draw.randint(0, 4)))
    glue = draw.choice((" ", "[", "", " ")) if before else draw.choice(("", "", "["))
    return f"{before}{glue}{date}{join}{clock}{behind}"


def lines_of(seed: int) -> list[str]:
    """Some lines with times, mostly of one layout, with other times around them."""
    draw = Random(seed)
    form = (draw.choice(_DATES[:3]), draw.choice(_JOINS[:2]), draw.choice(_CLOCKS[:3]))
    before = draw.choice(("", "", "[", "INFO ", "10.0.0.7 "))
    lines = []
    for _ in range(draw.randint(1, 8)):
        own = form
        if draw.random() < 0.03:
            own = (draw.choice(_DATES), draw.choice(_JOINS), draw.choice(_CLOCKS))
        lines.append(before + _line(draw, own, _AROUND if draw.random() < 0.1 else _TAME))
    return lines


@pytest.mark.parametrize("begin", range(0, 2_000, 200))
def test_what_is_unbeaten_is_the_finest_of_all(begin: int) -> None:
    told = 0
    for seed in range(begin, begin + 200):
        lines = lines_of(seed)
        found = unbeaten(lines)
        if found is not None:
            told += 1
            assert found == finest(found_in(lines)), lines
    assert told > 5


def test_what_is_unbeaten_is_the_finest_of_logs_with_a_foreign_line() -> None:
    for number in range(3 * len(FORMS)):
        lines = foreign_line(number).data.decode().split("\n")[:40]
        found = unbeaten(lines)
        assert found is None or found == finest(found_in(lines)), lines


@pytest.mark.parametrize(
    "line",
    [
        "2026-06-14 06:15:04 2026-06-15 06:15:04.123 up",
        "up since 05:10 2026-06-14 06:15:04",
        "2026-06-14 06:15:04 PM up",
        "2026-06-14 06:15:04 up 06.15.04",
        "2026-13-44 06:15:04 up",
        "06/14/2026 06:15:04 up",
    ],
)
def test_lines_that_may_have_another_time_are_left_to_all_layouts(line: str) -> None:
    assert unbeaten([line]) is None
