"""Records with two times: which one is the time, what becomes of the other, and what is said of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import EventSchemaError
from cepctl.io.tabular.json_shape import shape_of

SYSTEM = {"EventID": 4625, "TimeCreated": {"#attributes": {"SystemTime": "2026-06-14T10:00:00.100000Z"}}}
COLLECTED = {"timestamp": "2026-06-14 10:00:30.000000 UTC", "data": {"Event": {"System": SYSTEM}}}
EARLY, LATE = "2026-06-14T08:15:04Z", "2026-06-14T08:15:05Z"
OWN = "data.Event.System.TimeCreated.#attributes.SystemTime"


def lines(*records: object) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in records)


def times_of(*records: object) -> tuple[str, str | None]:
    shape = shape_of(lines(*records).encode())
    assert shape is not None
    return shape.time, shape.arrival


def test_the_event_of_a_collector_happened_at_its_own_time(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(lines(COLLECTED))
    dataset = cepctl.ingest(tmp_path / "x.json", tmp_path / "events")
    (row,) = cepctl.match('PATTERN "4625" e RETURN e.arrival', dataset).head(9).to_pylist()
    assert (row["e.arrival"], row["start"]) == (
        COLLECTED["timestamp"],
        datetime(2026, 6, 14, 10, 0, 0, 100_000, UTC),
    )
    assert dataset.summary.notices[:2] == (
        f"x.json: the time is '{OWN}', which the event has of its own; 'timestamp' around it is the arrival",
        "x.json: fields that are times, too, and stay attributes: arrival (up to 29.9 s later); "
        "--map time=FIELD",
    )


@pytest.mark.parametrize(
    ("record", "times"),
    [
        (COLLECTED, (OWN, "timestamp")),
        ({"@timestamp": LATE, "e": {"eventTime": EARLY}}, ("e.eventTime", "@timestamp")),
        ({"ts": 1781417705.5, "e": {"timestamp": 1781417704500}}, ("e.timestamp", "ts")),
        # Of a time that is later than that of the header it cannot be told that it is the event's.
        ({"@timestamp": EARLY, "e": {"eventTime": LATE}}, ("@timestamp", None)),
        # These are called like something else than the time of an event.
        ({"timestamp": LATE, "flow": {"start": EARLY}}, ("timestamp", None)),
        ({"@timestamp": LATE, "event": {"created": EARLY}}, ("@timestamp", None)),
    ],
)  # fmt: skip
def test_which_time_is_that_of_the_event(record: object, times: tuple[str, str | None]) -> None:
    assert times_of(record, record) == times


def test_a_time_that_few_records_have_of_their_own_is_not_the_time() -> None:
    bare = {"timestamp": "2026-06-14T10:00:30Z", "data": 7}
    assert times_of(COLLECTED, bare, bare) == ("timestamp", None)


def test_explain_says_which_field_is_the_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text(lines(COLLECTED))
    assert main(["ingest", "--explain", str(tmp_path / "x.json")]) == 0
    assert f"  the time: '{OWN}', which the event has of its own" in capsys.readouterr().out


def test_the_user_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(lines(COLLECTED))
    dataset = cepctl.ingest(tmp_path / "x.json", tmp_path / "events", map={"time": "timestamp"})
    (row,) = cepctl.match('PATTERN "4625" e', dataset).head(9).to_pylist()
    assert row["start"] == datetime(2026, 6, 14, 10, 0, 30, tzinfo=UTC)


WINDOWS: list[dict[str, Any]] = [
    {"Event": {"System": {**SYSTEM, "Channel": "Security"}}},
    {"EventId": 4625, "Channel": "Security", "TimeCreated": "2026-06-14T10:00:00.1000000Z"},
    {"@timestamp": EARLY, "winlog": {"event_id": "4625", "channel": "Security"}, "message": "x y z"},
    {"EventTime": EARLY, "EventID": 4625, "EventType": "AUDIT_FAILURE", "SourceName": "Security"},
]  # fmt: skip


@pytest.mark.parametrize("record", WINDOWS)
def test_events_of_windows_have_their_id_as_type(tmp_path: Path, record: dict[str, Any]) -> None:
    (tmp_path / "x.json").write_text(lines(record, record))
    assert cepctl.ingest(tmp_path / "x.json", tmp_path / "events").summary.type_counts == {"4625": 2}


TABLE = "event_type,day,clock,ts\nA,2026-06-14,08:15:04.5,\nB,2026-06-14,08:15:05.5,2026-06-14T09:00:00.5Z\n"


def starts(folder: Path, name: str, text: str, **mapping: str) -> list[str]:
    (folder / name).write_text(text)
    dataset = cepctl.ingest(folder / name, folder / "events", map=mapping, overwrite=True, tz="UTC")
    return [str(row["start"])[11:19] for row in cepctl.match("PATTERN * e", dataset).head(9).to_pylist()]


def test_date_and_clock_may_stand_in_two_columns(tmp_path: Path) -> None:
    assert starts(tmp_path, "x.csv", TABLE, time="day+clock") == ["08:15:04", "08:15:05"]
    assert starts(tmp_path, "x.tsv", TABLE.replace(",", "\t"), time="day+clock") == ["08:15:04", "08:15:05"]


def test_the_time_is_the_first_that_is_there(tmp_path: Path) -> None:
    assert starts(tmp_path, "x.csv", TABLE.replace("clock", "time"), time="ts|day") == [
        "00:00:00",
        "09:00:00",
    ]
    record = {"event_type": "A", "time": "2026-06-14T08:15:04.5Z", "own": {"ts": "2026-06-14T08:15:01.5Z"}}
    later = {"event_type": "A", "time": "2026-06-14T08:15:05.5Z"}
    assert starts(tmp_path, "x.jsonl", lines(record, later), time="own.ts|time") == ["08:15:01", "08:15:05"]


@pytest.mark.parametrize("name", ["data.Event.System.TimeCreated.#attributes.SystemTime", "SystemTime"])
def test_a_field_is_named_at_any_depth(tmp_path: Path, name: str) -> None:
    assert starts(tmp_path, "x.json", lines(COLLECTED), time=name) == ["10:00:00"]


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        EventSchemaError, match=r"there is no column 'clok' to be the time .* did you mean 'clock'"
    ):
        starts(tmp_path, "x.csv", TABLE, time="day+clok", event_type="event_type")
