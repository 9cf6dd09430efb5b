"""JSON of any shape as files: where records stand, which field is the time, which names the type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.tabular.json_shape import shape_of
from tests.reader_account import account_of

Row = dict[str, Any]


def taken(folder: Path, text: str, **read: Any) -> tuple[list[Row], IngestSummary]:
    log, out = folder / "x.json", folder / "events"
    log.write_text(text)
    summary = ingest([str(log)], str(out), IngestOptions(read=ReadOptions(**read), overwrite=True))
    rows = [row for part in sorted(out.glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: (row["time"], row["event_id"])), summary


def lines(records: Sequence[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


RECORDS = [
    {
        "@timestamp": f"2026-06-14T08:15:0{second}.5Z",
        "message": f"order {second} paid",
        "user": {"id": second},
    }
    for second in range(4)
]


@pytest.mark.parametrize(
    "text",
    [
        lines(RECORDS),
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        "\n".join(json.dumps(record, indent=2) for record in RECORDS),
        json.dumps({"Records": RECORDS}),
        json.dumps({"kind": "x", "items": RECORDS, "more": {"at": "2026-06-14T08:15:00Z"}}, indent=1),
        json.dumps({"hits": {"total": 4, "hits": [{"_id": n, "_source": r} for n, r in enumerate(RECORDS)]}}),
        lines([{"batch": 1, "events": RECORDS[:2]}, {"batch": 2, "events": RECORDS[2:]}]),
    ],
)
def test_records_are_found_wherever_they_stand(tmp_path: Path, text: str) -> None:
    rows, summary = taken(tmp_path, text)
    assert summary.accounts[0].format == "json"
    assert [(row["event_type"], str(row["time"])[11:21]) for row in rows] == [
        ("order paid", f"08:15:0{second}.5") for second in range(4)
    ]
    (user,) = (name for name in rows[0] if name.endswith("user.id"))
    assert [row[user] for row in rows] == [0, 1, 2, 3]
    (number,) = (name for name in rows[0] if name.endswith("message.v1"))
    assert [row[number] for row in rows] == [0, 1, 2, 3]
    assert len({row["event_id"] for row in rows}) == 4


EVENTS = [
    f'{{"time":"2026-06-14T08:15:{second}.5Z","event_type":"A","v":{second}}}' for second in range(10, 50)
]
ARRAYS = {
    "bracket on its own line": "[\n{}\n]\n".format(",\n".join(EVENTS)),
    "bracket before the first": "[{}]\n".format(",\n".join(EVENTS)),
    "comma before each": "[{}]\n".format("\n,".join(EVENTS)),
    "one line": "[{}]".format(",".join(EVENTS)),
}


@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_of_events_with_names_of_ours_is_no_file_of_lines(array: str, tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, ARRAYS[array])
    assert (len(rows), summary.accounts[0].format) == (40, "json")


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("number", ["0", "17", "39"])
@pytest.mark.parametrize("value", ["9" * 5_000, '{"a":' * 1_500 + "1" + "}" * 1_500])
def test_a_number_or_a_nest_without_end_costs_its_element_alone(
    array: str, number: str, value: str, tmp_path: Path
) -> None:
    """Python refuses to read both."""
    log = ARRAYS[array].replace(f'"v":{int(number) + 10}}}', f'"v":{value}}}')
    account = account_of(log.encode(), None)
    assert (account.refused, account.events, account.rejected) == (None, 39, 1)


def shape_of_record(record: object) -> tuple[str, tuple[str, ...], str | None]:
    shape = shape_of((json.dumps(record) + "\n").encode())
    assert shape is not None
    return shape.time, shape.types, shape.message


@pytest.mark.parametrize(
    ("record", "time", "types", "message"),
    [
        # As programs, clouds and databases write them.
        (
            {"eventType": "AwsApiCall", "eventTime": "2026-06-14T08:15:04Z", "eventName": "GetObject"},
            "eventTime",
            ("eventName", "eventType"),
            None,
        ),
        ({"level": 30, "time": 1781417704978, "pid": 7, "msg": "request completed"}, "time", (), "msg"),
        ({"ts": 1781417704.978, "level": "info", "logger": "a", "msg": "up now"}, "ts", (), "msg"),
        (
            {
                "t": {"$date": "2026-06-14T08:15:04.978+02:00"},
                "s": "I",
                "c": "NETWORK",
                "msg": "Connection on",
            },
            "t.$date",
            (),
            "msg",
        ),
        (
            {"@t": "2026-06-14T08:15:04.97Z", "@mt": "{User} in", "User": "ann", "@m": "ann in"},
            "@t",
            ("@mt",),
            "@m",
        ),
        (
            {
                "timestamp": "2026-06-14T08:15:04Z",
                "receiveTimestamp": "2026-06-14T08:15:05Z",
                "textPayload": "up",
            },
            "timestamp",
            (),
            "textPayload",
        ),
        (
            {
                "@timestamp": "2026-06-14T08:15:04Z",
                "event": {"action": "login", "created": "2026-06-14T08:15:05Z"},
            },
            "@timestamp",
            ("event.action",),
            None,
        ),
        ({"event": "user ann is in", "timestamp": "2026-06-14T08:15:04Z"}, "timestamp", (), "event"),
        ({"log": {"at": "2026-06-14 08:15:04"}, "text": "a b c"}, "log.at", (), "text"),
    ],
)
def test_time_and_type_are_found_by_names_and_values(
    record: object, time: str, types: tuple[str, ...], message: str | None
) -> None:
    assert shape_of_record(record) == (time, types, message)


def test_a_record_says_its_type_by_the_first_field_that_it_has(tmp_path: Path) -> None:
    text = lines(
        [
            {"time": "2026-06-14T08:15:01Z", "event": "login", "msg": "ann is in"},
            {"time": "2026-06-14T08:15:02Z", "msg": "cache is full"},
            {"time": "2026-06-14T08:15:03Z", "level": "warn"},
            {"time": "2026-06-14T08:15:04Z"},
        ]
    )
    rows, _ = taken(tmp_path, text)
    assert [row["event_type"] for row in rows] == ["login", "cache is full", "warn", "Record"]


def test_a_field_that_says_something_else_in_every_record_names_no_types(tmp_path: Path) -> None:
    records = [{"time": f"2026-06-14T08:15:{n:02}Z", "action": f"a{n}", "msg": "go on"} for n in range(40)]
    rows, _ = taken(tmp_path, lines(records))
    assert {row["event_type"] for row in rows} == {"go on"}


def test_events_of_kubernetes_last_or_are_seen_twice(tmp_path: Path) -> None:
    seen = {
        "reason": "BackOff",
        "count": 5,
        "involvedObject": {"name": "web"},
        "firstTimestamp": "2026-06-14T08:15:04Z",
        "lastTimestamp": "2026-06-14T08:19:04Z",
    }
    once = {**seen, "reason": "Pulled", "count": 1, "lastTimestamp": "2026-06-14T08:15:04Z"}
    text = json.dumps({"kind": "List", "items": [seen, once]}, indent=1)
    rows, summary = taken(tmp_path, text)
    assert [(row["event_type"], str(row["time"])[11:19]) for row in rows] == [
        ("BackOff", "08:15:04"),
        ("Pulled", "08:15:04"),
        ("BackOff", "08:19:04"),
    ]
    assert any("has a number alone: 3" in note for note in summary.notices)
    rows, _ = taken(tmp_path, text, intervals=True)
    assert [(row["event_type"], row["end_time"] and row["end_time"].minute) for row in rows] == [
        ("BackOff", 19),
        ("Pulled", None),
    ]


def test_fields_named_like_columns_of_events_are_attributes(tmp_path: Path) -> None:
    record = {
        "ts": "2026-06-14T08:15:04.5Z",
        "msg": "a",
        "lower": 5,
        "time": "soon",
        "event_id": "e",
        "pmf": 1,
    }
    (row,), _ = taken(tmp_path, lines([record]))
    assert (row["attr:lower"], row["attr:time"], row["attr:event_id"], row["attr:pmf"]) == (5, "soon", "e", 1)
    assert str(row["time"])[:21] == "2026-06-14 08:15:04.5"


def test_the_account_is_exact(tmp_path: Path) -> None:
    text = lines(RECORDS) + '{"message": "no time"}\n[1]\n{"@timestamp": "2026-06-14T08:15:09Z", "mes'
    rows, summary = taken(tmp_path, text, exact_times=True)
    assert (len(rows), summary.records, sum(summary.rejected.values())) == (4, 7, 3)


def test_times_of_another_form_are_read_and_days_that_could_be_months_are_asked(
    tmp_path: Path,
) -> None:
    rows, _ = taken(tmp_path, lines([{"date": "14/Jun/2026:08:15:04 +0200", "msg": "a b"}]))
    assert str(rows[0]["time"])[:19] == "2026-06-14 06:15:04"
    with pytest.raises(LogFormatError, match=r"'date' may be of several forms.*--time-format '%d/%m/%Y"):
        taken(tmp_path, lines([{"date": "03/04/2026 08:15:04", "msg": "a b"}]))
    rows, _ = taken(tmp_path, lines([{"date": f"0{day}/14/2026 08:15:04", "msg": "a b"} for day in (3, 4)]))
    assert [str(row["time"])[:10] for row in rows] == ["2026-03-14", "2026-04-14"]


@pytest.mark.parametrize(
    "text",
    [
        '{\n "name": "a package",\n "created": "2026-06-14T08:15:04Z"\n}\n',
        '{"a": 1}\n{"a": 2}\n',
        '[{"a": 1}, {"a": 2}]',
        "[[1, 2], [3, 4]]",
        '{"version": 1, "items": []}',
        "[" * 50_000,
        '{"a":' * 50_000,
    ],
)
def test_json_that_is_no_log_is_none(text: str) -> None:
    assert shape_of(text.encode()) is None


def test_fields_may_be_named_by_the_user(tmp_path: Path) -> None:
    text = json.dumps([{"a": {"b": "2026-06-14T08:15:04Z"}, "c": "x", "time": "2026-01-01T00:00:00Z"}])
    (row,), _ = taken(tmp_path, text, columns=(("time", "a.b"), ("event_type", "c")))
    assert (row["event_type"], row["time"].month, row["attr:time"]) == ("x", 6, "2026-01-01T00:00:00Z")
