"""Interval events: their ends go through the uncertainty model with their starts, and stay what they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.matching.inputs import open_events, read_events
from cepctl.schema import END_TIME
from cepctl.uncertainty.model import parse_model

TASKS = """event_type,event_id,time,end_time,node
Task,a,1970-01-01T00:00:10Z,1970-01-01T00:00:20Z,n1
Task,b,1970-01-01T00:00:30Z,,n1
Job,c,1970-01-01T01:00:40+01:00,1970-01-01T00:01:00Z,n2
"""


def ingested(folder: Path, text: str, model: str = "") -> IngestSummary:
    (folder / "log.csv").write_text(text)
    return ingest([str(folder / "log.csv")], str(folder / "events"), IngestOptions(model=parse_model(model)))


def ends(folder: Path, name: str = "events") -> dict[str, tuple[Any, ...]]:
    table = read_events([str(folder / name)])
    names = ("lower", "upper", "end_lower", "end_upper")
    return {row["event_id"]: tuple(row[column] for column in names) for row in table.to_pylist()}


def test_without_a_model_an_end_is_as_certain_as_its_time(tmp_path: Path) -> None:
    ingested(tmp_path, TASKS)
    assert ends(tmp_path) == {
        "a": (10_000, 10_999, 20_000, 20_999),
        "b": (30_000, 30_999, None, None),
        "c": (40_000, 40_999, 60_000, 60_999),
    }


def test_the_rule_of_a_start_gives_the_end_its_interval_around_its_own_time(tmp_path: Path) -> None:
    model = """
        [[rule]]
        where = "node = 'n1'"
        interval = { before = "2 s", after = "1 s" }
        [[rule]]
        granularity = "1 min"
    """
    ingested(tmp_path, TASKS, model)
    assert ends(tmp_path) == {
        "a": (8_000, 11_000, 18_000, 21_000),
        "b": (28_000, 31_000, None, None),
        "c": (0, 59_999, 60_000, 119_999),
    }


def test_the_time_of_the_end_is_kept_so_that_it_can_be_assigned_anew(tmp_path: Path) -> None:
    ingested(tmp_path, TASKS, "rule = [{ granularity = '1 h' }]")
    model = parse_model("rule = [{ event_type = 'Task', interval = { before = '3 s' } }]")
    assign_dataset(str(tmp_path / "events"), str(tmp_path / "again"), IngestOptions(model=model))
    assert ends(tmp_path, "again") == {
        "a": (7_000, 10_000, 17_000, 20_000),
        "b": (27_000, 30_000, None, None),
        "c": (0, 3_599_999, 0, 3_599_999),
    }


def test_a_day_of_an_end_is_that_of_the_zone_in_which_it_was_written(tmp_path: Path) -> None:
    text = "event_type,event_id,time,end_time\nA,a,2020-03-28T12:00:00+01:00,2020-03-29T12:00:00+02:00\n"
    ingested(tmp_path, text, "rule = [{ granularity = '1 day' }]")
    (_, upper, end_lower, end_upper) = ends(tmp_path)["a"]
    assert end_lower - upper == 1 - 3_600_000  # the zone moved by an hour between the two days
    assert end_upper - end_lower == 86_400_000 - 1


def test_the_column_is_there_only_where_some_event_has_an_end(tmp_path: Path) -> None:
    ingested(tmp_path, "event_type,time\nA,1\n")
    assert END_TIME not in pq.read_schema(tmp_path / "events" / "part-00000.parquet").names


def test_the_time_of_an_end_is_no_attribute(tmp_path: Path) -> None:
    ingested(tmp_path, TASKS)
    assert END_TIME in pq.read_schema(tmp_path / "events" / "part-00000.parquet").names
    with open_events([str(tmp_path / "events")]) as events:
        assert END_TIME not in events.schema.attributes


def test_an_end_that_is_no_time_makes_the_row_a_reject(tmp_path: Path) -> None:
    summary = ingested(tmp_path, "event_type,time,end_time\nA,1,soon\nA,1,\n")
    assert [(reject.line, reject.cause) for reject in summary.rejects] == [(2, "end_time is not a time")]
    assert summary.events == 1


def test_a_rule_for_ends_and_one_for_lengths_bound_both(tmp_path: Path) -> None:
    """The end is logged up to 2 s late; what lasted 10 s by its stamps lasted 9 s to 10.5 s."""
    model = """
        [[rule]]
        interval = { before = "1 s", after = "1 s" }
        end = { before = "2 s" }
        length = { before = "1 s", after = "0.5 s" }
    """
    ingested(tmp_path, TASKS, model)
    assert ends(tmp_path)["a"] == (9_000, 11_000, 18_000, 20_000)
    rows = {row["event_id"]: row for row in pq.read_table(tmp_path / "events").to_pylist()}
    bounds = {name: (row["length_lower"], row["length_upper"]) for name, row in rows.items()}
    assert bounds == {"a": (9_000, 10_500), "b": (None, None), "c": (19_000, 20_500)}


def test_an_end_that_must_come_before_the_start_makes_the_row_a_reject(tmp_path: Path) -> None:
    summary = ingested(tmp_path, "event_type,event_id,time,end_time\nA,a,10,5\nA,b,10,10\n")
    assert [reject.cause for reject in summary.rejects] == ["ends before its start"]
    assert ends(tmp_path) == {"b": (10, 10, 10, 10)}


@pytest.mark.parametrize(
    ("rows", "model", "note"),
    [
        (
            "A,10,5\n",
            "rule = [{ interval = { before = '3 ms', after = '3 ms' } }]",
            "interval events whose end is logged before their start: 1",
        ),
        (
            "A,10,50\nB,10,50\n",
            "rule = [{ event_type = 'A', latency = [['0 ms', '3 ms', 1.0]] }]",
            "interval events whose rule is a histogram, which only the start has; the end is uniform: 1",
        ),
    ],
)
def test_what_is_odd_about_ends_is_said(tmp_path: Path, rows: str, model: str, note: str) -> None:
    summary = ingested(tmp_path, f"event_type,time,end_time\n{rows}", model)
    assert [each for each in summary.notices if "--epoch-unit" not in each] == [f"log.csv: {note}"]
