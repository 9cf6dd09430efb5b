"""Where lines of one file share a stamp, the option that settles their order is named, once."""

from __future__ import annotations

from pathlib import Path

import cepctl

SETTLES = "--writer source takes the order in which they stand as evidence"


def _told(file: Path, writer: str = "") -> list[str]:
    made = cepctl.ingest(
        [str(file)], str(file.with_suffix(".events")), runner="local", tz="UTC", writer=writer
    )
    return [each for each in made.summary.notices if SETTLES in each]


def _log(folder: Path, *clocks: str, name: str = "app.log") -> Path:
    file = folder / name
    file.write_text("".join(f"2026-03-01 {clock} order {n} accepted\n" for n, clock in enumerate(clocks)))
    return file


def test_records_of_one_second_are_counted_with_the_option_that_settles_them(tmp_path: Path) -> None:
    (note,) = _told(_log(tmp_path, "10:00:00", "10:00:00", "10:00:01"))
    assert note.startswith("2 of 3 events in app.log share the stamp of another one of their file")


def test_nothing_is_said_where_the_order_is_taken(tmp_path: Path) -> None:
    assert _told(_log(tmp_path, "10:00:00", "10:00:00"), writer="source") == []


def test_nothing_is_said_where_no_stamps_are_shared(tmp_path: Path) -> None:
    assert _told(_log(tmp_path, "10:00:00", "10:00:01", "10:00:02")) == []


def test_a_file_that_steps_back_is_no_order_of_writing(tmp_path: Path) -> None:
    assert _told(_log(tmp_path, *("10:00:05", "10:00:05", "10:00:01") * 4)) == []


def test_the_rows_of_a_table_may_have_been_sorted(tmp_path: Path) -> None:
    table = tmp_path / "events.csv"
    table.write_text("event_type,time\nA,2026-03-01T10:00:00Z\nB,2026-03-01T10:00:00Z\n")
    assert _told(table) == []


def test_files_are_named_by_their_number(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        _log(tmp_path, "10:00:00", "10:00:00", name=name)
    made = cepctl.ingest([str(tmp_path)], str(tmp_path / "events"), runner="local", tz="UTC")
    assert any(each.startswith("4 of 4 events in 2 files share the stamp") for each in made.summary.notices)
