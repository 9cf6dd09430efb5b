"""Attributes that are times, too: which they are, and how far they lie from the times of events."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl

HEAD = "event_type,time,received,ended,note\n"


def notices(folder: Path, text: str, name: str = "x.csv") -> list[str]:
    (folder / name).write_text(text)
    summary = cepctl.ingest(folder / name, folder / "events", overwrite=True).summary
    return [each for each in summary.notices if "times, too" in each or "arrive before" in each]


def test_a_note_says_by_how_much_other_times_differ_at_most(tmp_path: Path) -> None:
    text = (
        f"{HEAD}A,2026-06-14T08:15:04.5Z,2026-06-14T08:15:05Z,1781417704.25,08:15\n"
        "B,2026-06-14T08:15:06.5Z,2026-06-14T08:15:36.5Z,1781424906.75,08:16\n"
    )
    assert notices(tmp_path, text) == [
        "x.csv: fields that are times, too, and stay attributes: ended (up to 2 h earlier, up to 250 ms "
        "later); received (up to 30 s later); --map time=FIELD"
    ]


@pytest.mark.parametrize(
    "received", ["2026-06-14 10:15:05", "2026-06-14T08:15:05+00:00", "2026/06/14 8:15:05 UTC"]
)
def test_written_times_are_read_however_they_are_written(tmp_path: Path, received: str) -> None:
    (told,) = notices(tmp_path, f"{HEAD}A,2026-06-14T08:15:04.5Z,{received},,\n")
    assert ("500 ms later" in told) or ("2 h later" in told)


def test_numbers_are_times_only_where_their_name_says_so(tmp_path: Path) -> None:
    text = (
        '{"event_type":"A","time":"2026-06-14T08:15:04.5Z","size":1781417704,"received_at":1781424906500}\n'
    )
    (told,) = notices(tmp_path, text, "x.jsonl")
    assert "received_at" in told
    assert "size" not in told


def test_times_that_are_those_of_the_events_are_not_worth_a_note(tmp_path: Path) -> None:
    assert notices(tmp_path, f"{HEAD}A,2026-06-14T08:15:04.5Z,2026-06-14T08:15:04.500Z,,\n") == []


def test_records_that_arrive_before_they_can_have_happened_are_counted(tmp_path: Path) -> None:
    text = (
        '{"event_type":"A","time":"2026-06-14T08:15:04.5Z","arrival":"2026-06-14T08:15:03Z"}\n'
        '{"event_type":"A","time":"2026-06-14T08:15:05.5Z","arrival":"2026-06-14T08:15:07Z"}\n'
    )
    assert notices(tmp_path, text, "x.jsonl")[1:] == [
        "x.jsonl: records that arrive before they can have happened: 1 of 2, as where two clocks disagree"
    ]
