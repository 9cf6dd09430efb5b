"""Times without a date: the day is that of --epoch or of the name, and midnights are counted."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import recognised_format
from cepctl.io.lines.log import LinesLog
from cepctl.io.lines.recognition import is_log_of_lines

DAY = 1_781_395_200_000_000
"""2026-06-14."""


def times(
    clocks: list[str], name: str = "x.log", epoch: int | None = DAY, around: str = "{} disk is full\n"
) -> tuple[list[str], ReadReport]:
    report = ReadReport()
    text = "".join(map(around.format, clocks)).encode()
    assert is_log_of_lines(text)
    batches = LinesLog().read(BytesIO(text), name, ReadOptions(epoch=epoch), report)
    found = [time for batch in batches for time in batch.column("time").to_pylist()]
    return [f"{time:%d %H:%M:%S}" for time in found], report


def test_a_time_of_day_is_on_the_day_of_epoch() -> None:
    found, report = times(["08:15:04", "08:15:05"], around="[{}] disk is full\n")
    assert found == ["14 08:15:04", "14 08:15:05"]
    assert not any("epoch" in note for note in report.notes)


def test_one_that_goes_back_by_more_than_an_hour_is_of_the_next_day() -> None:
    found, report = times(["23:59:58", "00:00:01", "23:50:00", "22:40:00", "22:39:00"])
    assert found == ["14 23:59:58", "15 00:00:01", "14 23:50:00", "15 22:40:00", "15 22:39:00"]
    assert {note.format(count) for note, count in report.notes.items() if "go back" in note} == {
        "times of day that go back by more than an hour, taken for those of the next day: 2",
        "times of day that go back by an hour or less, taken for those of the same day: 2",
    }


def test_days_go_on_from_one_batch_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = [f"{hour:02}:00:00" for hour in (22, 23, 0, 5, 12)] * 4
    whole, _ = times(clocks)
    monkeypatch.setattr("cepctl.io.log4j.lines.BLOCK_BYTES", 60)
    assert times(clocks)[0] == whole
    assert whole[-1] == "18 12:00:00"


def test_the_date_in_the_name_is_taken_and_that_is_said() -> None:
    found, report = times(["08:15", "08:16"], "app-2026-06-14.log", None)
    assert found == ["14 08:15:00", "14 08:16:00"]
    (note,) = (note for note in report.notes if "epoch" in note)
    assert note.format(2).startswith(
        "times of day, on days counted on from the date in the name of the file, 2026-06-14: 2; --epoch"
    )


def test_half_days_are_told_apart() -> None:
    found, _ = times(["11:59:59 AM", "12:00:01 PM", "12:10:00 AM"])
    assert found == ["14 11:59:59", "14 12:00:01", "15 00:10:00"]


def test_without_a_day_the_refusal_names_one_and_what_it_would_yield(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("23:00:00 disk is full\n01:00:00 disk is full\n")
    changed = datetime(2026, 6, 15, 1, tzinfo=UTC).timestamp()
    os.utime(path, (changed, changed))
    with pytest.raises(LogFormatError) as refused:
        ingest([str(path)], str(tmp_path / "e"), IngestOptions())
    assert str(refused.value) == (
        "x.log: its lines begin with times of day ('23:00:00'), without a date; say on which day the log "
        "begins: "
        "--epoch 2026-06-14 if its last line was written when the file was last changed (with it 2 of its "
        "first "
        "2 records would become events of 1 type: disk is full)"
    )


def test_a_date_that_a_line_has_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("log of 2026-06-14\n23:00:00 disk is full\n23:01:00 disk is full\n")
    with pytest.raises(LogFormatError, match="--epoch 2026-06-14 if that date, which one of its"):
        ingest([str(path)], str(tmp_path / "e"), IngestOptions())


@pytest.mark.parametrize(
    "text",
    [
        "12:30 is lunch\nall else is work\nat any time\n",
        "a,b\n08:15:04,1\n08:15:05,2\n",
        "1\n00:00:01,000 --> 00:00:04,000\nHello\n\n" * 9,
    ],
)
def test_text_with_some_times_of_day_is_no_log(text: str) -> None:
    with pytest.raises(LogFormatError):
        recognised_format(text.encode(), "x")


def test_of_a_line_with_its_time_in_the_middle_all_is_the_message() -> None:
    text = "of all the gates that there are in town one opened at 2026-06-14 08:15:04 for 7\n" * 3
    assert not is_log_of_lines(text.encode())
    batches = list(LinesLog().read(BytesIO(text.encode()), "x", ReadOptions(), ReadReport()))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [row["message"] for row in rows] == text.splitlines()
    assert {row["time"] for row in rows} == {datetime(2026, 6, 14, 8, 15, 4, tzinfo=UTC)}


def test_a_date_with_a_name_of_a_month_tells_the_year_of_the_log() -> None:
    text = (
        "**** BEGIN LOGGING AT Mon Dec 31 21:11:55 2011\n\ndec 31 21:11:55 --> you\ndec 31 21:11:58 --> me\n"
    )
    report, options = ReadReport(), ReadOptions(modified=DAY)
    batches = LinesLog().read(BytesIO(text.encode()), "x.log", options, report)
    found = [time for batch in batches for time in batch.column("time").to_pylist()]
    assert [f"{time:%Y-%m-%d %H:%M:%S}" for time in found] == ["2011-12-31 21:11:55", "2011-12-31 21:11:58"]
    assert any("counted on from the date in one of its lines, 2011-12-31" in note for note in report.notes)
