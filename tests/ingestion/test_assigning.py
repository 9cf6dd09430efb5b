"""Assigning the intervals of a dataset anew."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.errors import EventSchemaError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.matching.inputs import read_events
from cepctl.schema import META_MODEL, META_TIME_UNIT
from cepctl.uncertainty.model import parse_model


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    (tmp_path / "log.csv").write_text(
        "event_type,event_id,time,lower,upper,load\n"
        "CPU,a,1970-01-01T01:00:30+01:00,,,0.5\n"
        "CPU,b,,7,9,1\n"
        "Job,c,1970-01-01T00:00:50Z,,,\n"
    )
    ingest([str(tmp_path / "log.csv")], str(tmp_path / "events"), IngestOptions())
    return tmp_path / "events"


def assigned(dataset: Path, model: str, name: str = "assigned") -> Path:
    output = dataset.parent / name
    assign_dataset(str(dataset), str(output), IngestOptions(model=parse_model(model)))
    return output


def test_a_rule_starts_from_the_time_and_the_rest_keep_their_intervals(dataset: Path) -> None:
    output = assigned(dataset, "rule = [{ event_type = 'CPU', interval = { before = '15 s' } }]")
    table = read_events([str(output)])
    found = {row["event_id"]: (row["lower"], row["upper"]) for row in table.to_pylist()}
    assert found == {"a": (15_000, 30_000), "b": (7, 9), "c": (50_000, 50_999)}


def test_nothing_else_of_an_event_changes(dataset: Path) -> None:
    before = read_events([str(dataset)]).drop_columns(["lower", "upper"])
    after = read_events([str(assigned(dataset, ""))]).drop_columns(["lower", "upper"])
    assert after.to_pylist() == before.to_pylist()


def test_a_day_is_still_that_of_the_zone_in_which_the_time_was_written(dataset: Path) -> None:
    output = assigned(dataset, "rule = [{ granularity = '1 day' }]")
    lower = {row["event_id"]: row["lower"] for row in read_events([str(output)]).to_pylist()}
    assert (lower["a"], lower["c"]) == (-3_600_000, 0)


def test_assigning_again_starts_from_the_same_times(dataset: Path) -> None:
    rule = "rule = [{ interval = { before = '2 s', after = '1 s' } }]"
    once = assigned(dataset, rule)
    wide = assigned(dataset, "rule = [{ granularity = '1 day' }]", "wide")
    twice = assigned(wide, rule, "twice")
    (part,) = once.glob("*.parquet")
    timed = [row for row in pq.ParquetFile(part).read().to_pylist() if row["time"]]
    again = [row for row in pq.ParquetFile(twice / part.name).read().to_pylist() if row["time"]]
    assert again == timed


def test_a_dataset_can_be_replaced_by_itself_assigned_anew(dataset: Path) -> None:
    options = IngestOptions(model=parse_model("rule = [{ granularity = '1 min' }]"), overwrite=True)
    assign_dataset(str(dataset), str(dataset), options)
    upper = {row["event_id"]: row["upper"] for row in read_events([str(dataset)]).to_pylist()}
    assert upper == {"a": 59_999, "b": 9, "c": 59_999}


def test_the_unit_stays_unless_the_model_names_one(dataset: Path) -> None:
    seconds = assigned(dataset, "time_unit = '1 s'")
    assert pq.read_schema(seconds / "part-00000.parquet").metadata[META_TIME_UNIT] == b"1 s"
    kept = assigned(seconds, "rule = [{ granularity = '1 min' }]", "kept")
    metadata = pq.read_schema(kept / "part-00000.parquet").metadata
    assert metadata[META_TIME_UNIT] == b"1 s"
    assert b"1 min" in metadata[META_MODEL]


def test_what_is_no_dataset_is_refused_with_the_remedy(dataset: Path) -> None:
    with pytest.raises(
        EventSchemaError, match="is not an event dataset; make one of logs with: cepctl ingest"
    ):
        assign_dataset(str(dataset.parent / "log.csv"), str(dataset.parent / "x"), IngestOptions())
