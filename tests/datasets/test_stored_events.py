"""Row groups read with the columns that they hold, and what is missing filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.ingestion import writing
from cepctl.matching.inputs import open_events

EVENTS: list[dict[str, object]] = [
    {"event_id": "a", "event_type": "A", "lower": 1, "upper": 1, "val": 1},
    {"event_id": "b", "event_type": "A", "lower": 2, "upper": 2, "val": 2},
    {"event_id": "c", "event_type": "B", "lower": 3, "upper": 6, "pmf": "3:4:0.5|6:6:0.5", "val": None},
    {"event_id": "d", "event_type": "B", "lower": 4, "upper": 4, "val.x": 7, "pmf.list.element.lo": 8},
]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of two row groups with two events each, the first of them without any histogram."""
    monkeypatch.setattr(writing, "ROW_GROUP_EVENTS", 2)
    lines = tmp_path / "events.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    folder = tmp_path / "stored"
    assert main(["ingest", str(lines), "-o", str(folder), "--runner", "local", "--quiet"]) == 0
    return folder


def no_filter(types: Mapping[str, pa.DataType]) -> pc.Expression | None:
    return None


def groups(folder: Path, *names: str) -> list[pa.Table]:
    """The row groups as tasks read them."""
    with open_events([str(folder)]) as inputs:
        (source,) = inputs.sources(list(names))
        return list(source.read(0, [0, 1], no_filter))


def test_row_groups_have_one_schema_whatever_they_hold(stored: Path) -> None:
    names = ["pmf.list.element.lo", "val", "val.x"]
    with open_events([str(stored)]) as inputs:
        (source,) = inputs.sources(names)
        expected = source.empty().schema.names
        whole = inputs.read(names)
    found = groups(stored, *names)
    assert [table.schema.names for table in found] == [expected, expected]
    together = pa.concat_tables(table.drop_columns(["event_type"]) for table in found)
    assert together.to_pylist() == whole.select(together.column_names).to_pylist()
    assert together.column("val").to_pylist() == [1, 2, None, None]
    assert together.column("pmf").is_valid().to_pylist() == [False, False, True, False]
    assert together.column("pmf.list.element.lo").to_pylist() == [None, None, None, 8]


def test_a_column_that_holds_only_nulls_in_a_row_group_is_not_read(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    read = pq.ParquetFile.read_row_group

    def noted(file: pq.ParquetFile, number: int, columns: list[str], **how: bool) -> pa.Table:
        asked.append(columns)
        return read(file, number, columns=columns, **how)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noted)
    groups(stored, "val")
    assert asked == [
        ["event_id", "event_type", "lower", "upper", "val"],
        ["event_id", "event_type", "lower", "upper", "pmf"],
    ]


def test_a_histogram_of_a_row_group_without_statistics_is_read(stored: Path) -> None:
    (part,) = stored.glob("*.parquet")
    table = pq.read_table(part)
    pq.write_table(table, part, row_group_size=2, write_statistics=False)
    assert groups(stored)[1].column("pmf").is_valid().to_pylist() == [True, False]


def test_a_row_group_ends_with_the_last_event_that_may_still_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three row groups: one with an end, one of points alone, one with an end before the last point."""
    monkeypatch.setattr(writing, "ROW_GROUP_EVENTS", 2)
    lines = tmp_path / "events.csv"
    lines.write_text(
        "event_id,event_type,lower,upper,end_lower,end_upper\n"
        "a,A,0,1,80,90\nb,B,2,3,,\nc,B,4,5,,\nd,B,6,7,,\ne,A,8,8,9,10\nf,B,9,40,,\n"
    )
    folder = tmp_path / "stored"
    assert main(["ingest", str(lines), "-o", str(folder), "--runner", "local", "--quiet"]) == 0
    with open_events([str(folder)]) as inputs:
        (source,) = inputs.sources([])
        assert [each.last_tick for each in source.row_groups(0)] == [90, 7, 40]
