"""Opening events for a query: datasets, plain files and logs alike, in one schema and time unit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.datasets.row_groups import row_groups
from cepctl.errors import EventSchemaError, LogFormatError
from cepctl.event_table import FIXED_COLUMNS
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.matching.inputs import open_events, read_events, read_schema
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import parse_model


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    file = tmp_path / "plain.csv"
    file.write_text("event_type,event_id,lower,upper,x,y\nA,p1,5,9,1,u\nB,p2,2,3,,v\n")
    return file


def dataset(csv: Path, name: str, model: str = "") -> Path:
    output = csv.parent / name
    ingest([str(csv)], str(output), IngestOptions(model=parse_model(model)))
    return output


def test_a_plain_file_and_its_dataset_give_the_same_events(csv: Path) -> None:
    stored = dataset(csv, "events")
    assert read_events([str(csv)]).equals(read_events([str(stored)]))
    assert read_schema([str(csv)]) == read_schema([str(stored)])


def test_the_schema_holds_types_unit_and_counts(csv: Path) -> None:
    schema = read_schema([str(csv)])
    assert schema.attributes == {"x": pa.int64(), "y": pa.string()}
    assert schema.time_unit == TimeUnit(1_000)
    assert schema.type_counts == {"A": 1, "B": 1}


def test_a_table_has_the_fixed_columns_then_the_attributes_asked_for(csv: Path) -> None:
    table = read_events([str(csv)], ["y"])
    assert table.schema == pa.schema([*FIXED_COLUMNS.items(), ("y", pa.string())])
    assert table.column("event_id").to_pylist() == ["p2", "p1"]


def test_events_of_the_types_asked_for_are_read(csv: Path) -> None:
    with open_events([str(csv)]) as events:
        assert events.read(["x"], {"A"}).column("event_id").to_pylist() == ["p1"]
        assert events.read([], set()).num_rows == 0


def test_an_unknown_attribute_is_answered_with_the_nearest(csv: Path) -> None:
    csv.write_text("event_type,time,task_id\nA,1,t\n")
    with pytest.raises(
        EventSchemaError, match="no event has the attribute 'task_di'; did you mean 'task_id'"
    ):
        read_events([str(csv)], ["task_di"])


def test_inputs_of_different_units_are_brought_to_the_finest(csv: Path) -> None:
    coarse = dataset(csv, "coarse", "time_unit = '1 s'")
    fine = csv.parent / "fine.csv"
    fine.write_text("event_type,lower,upper\nC,2500,2500\n")
    table = read_events([str(coarse), str(fine)], ["x"])
    found = [(row["event_id"], row["lower"], row["upper"]) for row in table.to_pylist()]
    assert found == [("p2", 2_000, 3_999), ("fine.csv#1", 2_500, 2_500), ("p1", 5_000, 9_999)]
    assert read_schema([str(coarse), str(fine)]).time_unit == TimeUnit(1_000)


def test_ticks_of_plain_files_are_milliseconds_beside_a_part_in_microseconds(csv: Path) -> None:
    stored = dataset(csv, "fine", "time_unit = '1 us'")
    part = csv.parent / "fine.parquet"
    shutil.copy(stored / "part-00000.parquet", part)
    other = csv.parent / "other.csv"
    other.write_text("event_type,event_id,lower,upper\nC,c,1,1\n")
    table = read_events([str(part), str(other)], [])
    found = {row["event_id"]: (row["lower"], row["upper"]) for row in table.to_pylist()}
    assert found == {"p1": (5, 9), "p2": (2, 3), "c": (1_000, 1_999)}


def test_types_that_differ_between_inputs_are_unified(csv: Path) -> None:
    other = csv.parent / "other.csv"
    other.write_text("event_type,time,x\nA,0,0.5\n")
    stored = dataset(csv, "events")
    assert read_events([str(stored), str(other)], ["x"]).column("x").to_pylist() == [0.5, None, 1.0]


def test_an_id_in_two_inputs_is_an_error(csv: Path) -> None:
    with pytest.raises(EventSchemaError, match="2 event ids occur in more than one input, such as 'p1'"):
        read_events([str(dataset(csv, "one")), str(dataset(csv, "two"))])


def test_a_dataset_without_its_marker_is_refused(csv: Path) -> None:
    stored = dataset(csv, "events")
    (stored / "_SUCCESS").unlink()
    with pytest.raises(EventSchemaError, match="the dataset is incomplete, it has no _SUCCESS"):
        read_events([str(stored)])


@pytest.mark.parametrize("types", [None, ["B"]])
@pytest.mark.parametrize("damage", ["lost", "doubled"])
def test_a_dataset_that_does_not_hold_what_its_ingest_wrote_is_refused(
    csv: Path, damage: str, types: list[str] | None
) -> None:
    stored = dataset(csv, "events")
    (part,) = stored.glob("part-*.parquet")
    if damage == "doubled":
        shutil.copy(part, stored / "part-00001.parquet")
    else:
        pq.write_table(pq.read_table(part).slice(1), part)
    held = 4 if damage == "doubled" else 1
    with (
        open_events([str(stored)]) as inputs,
        pytest.raises(EventSchemaError, match=f"hold {held} events, but its ingest wrote 2"),
    ):
        inputs.read(event_types=types)
    with open_events([str(stored)]) as inputs, pytest.raises(EventSchemaError, match="copy it whole"):
        row_groups(inputs.sources([]))


def test_one_part_of_a_dataset_is_a_plain_file(csv: Path) -> None:
    stored = dataset(csv, "events", "time_unit = '1 s'")
    part = csv.parent / "copied.parquet"
    shutil.copy(stored / "part-00000.parquet", part)
    assert read_events([str(part)]).equals(read_events([str(stored)]))


def test_an_uncertainty_model_applies_to_raw_input(csv: Path) -> None:
    csv.write_text("event_type,time\nA,1000\n")
    options = IngestOptions(model=parse_model("rule = [{ interval = { before = '1 s' } }]"))
    assert read_events([str(csv)], options=options).column("lower").to_pylist() == [0]


def test_nothing_is_left_in_the_temporary_directory(
    csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with open_events([str(csv)]) as events:
        assert list(scratch.iterdir())
        assert len(events.read()) == 2
    assert list(scratch.iterdir()) == []


def test_a_missing_input_is_named(csv: Path) -> None:
    with pytest.raises(LogFormatError, match=r"no input at .*nowhere"):
        read_events([str(csv.parent / "nowhere")])


def test_a_plain_file_with_ends_and_written_zones_gives_the_events_of_its_dataset(csv: Path) -> None:
    csv.write_text(
        "event_type,time,end_time,a.b,a\n"
        "A,2026-06-14T08:15:04+02:00,2026-06-14T08:15:09+02:00,1,x\n"
        "B,2026-06-14T08:15:05Z,,2,y\n"
    )
    stored = dataset(csv, "events")
    assert read_events([str(csv)]).equals(read_events([str(stored)]))
    assert "zone_seconds" in read_schema([str(csv)]).attributes
