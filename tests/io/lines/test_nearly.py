"""Lines whose times are damaged are told apart from those that continue a record."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.io.lines.nearly import nearly_beginnings, usual_beginnings
from tests.reader_account import account_of

LOG = "".join(
    f"2026-06-14 06:15:{n},000 - INFO  [main:Server@12] - Client {n} is in\n" for n in range(10, 50)
)


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("2026-06-14 06:1<:10,000 - INFO", True),
        ("2026-0614 06:15:10,000 - INFO", True),
        ("2026\N{REPLACEMENT CHARACTER}-06-14 06:15:10,000 - INFO", True),
        ("\tat java.lang.Thread.run(Thread.java:748)", False),
        ("Caused by: java.io.IOException: 2026-06-14 06:15:10,000", False),
        ("2026-06-14", False),
    ],
)
def test_a_line_nearly_begins_a_record_where_a_character_of_its_time_is_damaged(
    line: str, near: bool
) -> None:
    usual = usual_beginnings(
        pa.array(["", ""]), pa.array(["2026-06-14 06:15:10,000", "2026-06-14 06:15:11,000"])
    )
    assert usual == ("0000-00-00 00:00:00,000",)
    assert nearly_beginnings(pa.array([line]), usual).to_pylist() == [near]


def test_a_record_whose_time_is_damaged_is_a_reject() -> None:
    account = account_of(LOG.replace("06:15:20", "06:1{:20").encode(), "lines")
    assert (account.events, account.rejected) == (39, 1)


def test_a_stack_trace_is_part_of_its_record() -> None:
    trace = "java.io.IOException: no route\n\tat org.Main.run(Main.java:12)\n"
    account = account_of(LOG.replace("Client 20 is in\n", f"failed\n{trace}").encode(), "lines")
    assert (account.events, account.rejected) == (40, 0)
