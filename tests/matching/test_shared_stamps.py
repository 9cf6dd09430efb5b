"""A note counts the rows that the order of records would settle, and says which option takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

TIMES = {
    "orders.csv": "event_type,time,id\nPaid,2026-06-14T08:15:01Z,1\nSent,2026-06-14T08:15:01Z,1\n"
    "Sent,2026-06-14T08:15:04Z,1\nPaid,2026-06-14T08:15:04Z,1\n",
    "other.csv": "event_type,time,id\nSent,2026-06-14T08:15:01Z,1\n",
}
ROWS = {1: "1 row is", 2: "2 rows are"}
NOTE = "uncertain only because records of one source share a stamp; --writer source"


@pytest.mark.parametrize(
    ("query", "settled"),
    [
        ("SEQ(Paid a, Sent b)", 1),
        ("SEQ(Sent a, Paid b) WITHIN 4 s", 1),  # two rows, of which the window may end one
        ("SEQ(Paid a, Sent b, Paid c)", 2),
        ("SEQ(Paid a, !Sent n, Paid b)", 0),
        ("SEQ(Paid a, Sent b) STRATEGY skip_till_next_match", 0),
        ("AND(Paid a, Sent b)", 0),
        ("SEQ(Paid a, Sent+ b[])", 0),
    ],
)
def test_rows_that_an_order_would_settle_are_counted(
    query: str, settled: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in TIMES.items():
        (tmp_path / name).write_text(text)
    assert main(["match", f"PATTERN {query}", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert (NOTE in told) == bool(settled)
    assert f"{ROWS.get(settled, '')} {NOTE}" in told or not settled


def test_nothing_is_said_of_an_order_that_is_taken_or_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "orders.csv").write_text(TIMES["orders.csv"])
    for option in (["--writer", "source"], ["--no-writer"]):
        assert main(["match", "PATTERN SEQ(Paid a, Sent b)", str(tmp_path / "orders.csv"), *option]) == 0
        assert NOTE not in capsys.readouterr().err
