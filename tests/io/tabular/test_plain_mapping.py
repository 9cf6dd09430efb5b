"""`--map`: which column of a plain file is what, in every plain form."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.errors import EventSchemaError, UsageError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.tabular.files import FORMATS
from cepctl.io.tabular.mapping import parse_mapping

BY_NAME = {known.name: known.reader for known in FORMATS}
RECORD = {"activity": "A", "ts": "2024-05-01T10:00:00Z", "time": "noon", "host": "n1"}
MAPPING = (("event_type", "activity"), ("time", "ts"), ("node", "host"))


def in_form(name: str, record: dict[str, str]) -> bytes:
    if name == "jsonl":
        return json.dumps(record).encode()
    if name == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([record]), sink)
        return sink.getvalue()
    if name == "logfmt":
        return " ".join(f"{key}={value}" for key, value in record.items()).encode()
    separator = "\t" if name == "tsv" else ","
    return f"{separator.join(record)}\n{separator.join(record.values())}\n".encode()


def read(name: str, data: bytes, mapping: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    batches = BY_NAME[name].read(io.BytesIO(data), "f", ReadOptions(columns=mapping), ReadReport())
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("name", BY_NAME)
def test_columns_are_what_the_mapping_says(name: str) -> None:
    (row,) = read(name, in_form(name, RECORD), MAPPING)
    assert (row["event_type"], row["time"].isoformat()) == ("A", "2024-05-01T10:00:00+00:00")
    assert row["node"] == "n1"
    assert row["attr:time"] == "noon"  # called like a mapped field, but not it
    assert not {"activity", "ts", "host"} & row.keys()


@pytest.mark.parametrize("name", BY_NAME)
def test_a_missing_column_is_named_with_the_nearest(name: str) -> None:
    with pytest.raises(
        EventSchemaError, match=r"f: there is no column 'activty' .*; did you mean 'activity'\?"
    ):
        read(name, in_form(name, RECORD), (("event_type", "activty"),))


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_a_file_without_mapping_says_how_to_give_one(name: str) -> None:
    with pytest.raises(EventSchemaError, match=r"no column event_type .*--map event_type=COLUMN"):
        read(name, in_form(name, RECORD), ())


def test_a_column_may_take_the_name_of_another() -> None:
    (row,) = read("csv", b"time,event_type\nA,12\n", (("time", "event_type"), ("event_type", "time")))
    assert (row["event_type"], row["time"].microsecond) == ("A", 12_000)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["event_type"], "'event_type' is not of the form FIELD=COLUMN"),
        (["=x"], "not of the form"),
        (["evnt_type=x"], "did you mean 'event_type'"),
        (["time=x", "time=y"], "names the field 'time' twice"),
        (["time=x,event_type=x"], "names the column 'x' twice"),
    ],
)
def test_a_mapping_that_says_nothing_clear_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_mapping(texts)


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_a_table_with_the_names_of_xes_needs_no_mapping(name: str) -> None:
    record = {"case:concept:name": "7", "concept:name": "pay", "time:timestamp": "2024-05-01 10:00:00+01:00"}
    (row,) = read(name, in_form(name, {**record, "org:resource": "Ann"}), ())
    assert (row["event_type"], row["case_id"], row["org:resource"]) == ("pay", "7", "Ann")
    assert row["time"] == datetime(2024, 5, 1, 9, tzinfo=UTC)


def test_columns_that_are_called_like_fields_are_not_taken_for_those_of_xes() -> None:
    record = {"event_type": "A", "time": "2024-05-01T10:00:00Z", "concept:name": "pay", "time:timestamp": "x"}
    (row,) = read("csv", in_form("csv", record), ())
    assert (row["event_type"], row["concept:name"]) == ("A", "pay")
