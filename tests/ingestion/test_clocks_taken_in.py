"""Clocks of events: from rules and plain files into datasets, and back as offsets of the query's inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.clocks.shared import Clocks, Offset, clocks_of
from cepctl.errors import CepctlError, EventSchemaError, UncertaintyModelError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.matching.inputs import open_events
from cepctl.schema import CLOCK, META_CLOCKS
from cepctl.uncertainty.model import parse_model

LOG = """event_type,event_id,time,node
A,a,1970-01-01T00:00:10Z,n1
B,b,1970-01-01T00:00:20Z,n2
C,c,1970-01-01T01:30:00Z,n1
D,d,1970-01-01T00:00:30.5Z,
"""
PLAIN = """event_type,event_id,lower,upper,pmf,clock,clock_offset
A,a,-1,3,,n,-2:2:1
B,b,,,5:5:0.5|7:8:0.5,n,-2:2:1
C,c,2,6,,,
"""
UNIFORM_SECOND: Offset = ((-1_000, 1_000, 1.0),)


def ingested(folder: Path, text: str, model: str = "", name: str = "log.csv") -> IngestSummary:
    (folder / name).write_text(text)
    return ingest([str(folder / name)], str(folder / "events"), IngestOptions(model=parse_model(model)))


def assigned(folder: Path, model: str) -> dict[str, tuple[Any, ...]]:
    assign_dataset(str(folder / "events"), str(folder / "again"), IngestOptions(model=parse_model(model)))
    return intervals(folder / "again")


def intervals(dataset: Path) -> dict[str, tuple[Any, ...]]:
    with open_events([str(dataset)]) as inputs:
        table = inputs.read([])
    names = ("lower", "upper", CLOCK)
    return {row["event_id"]: tuple(row.get(column) for column in names) for row in table.to_pylist()}


def clocks(dataset: Path) -> Clocks:
    return clocks_of(pq.read_schema(dataset / "part-00000.parquet").metadata)


def clock_notices(summary: IngestSummary) -> list[str]:
    """All but how the times without a fraction were taken."""
    return [each for each in summary.notices if "without a fraction" not in each]


def test_a_rule_gives_each_value_of_a_column_a_clock(tmp_path: Path) -> None:
    summary = ingested(tmp_path, LOG, "rule = [{ clock = { by = 'node', offset = '1 s' } }]")
    assert intervals(tmp_path / "events") == {
        "a": (9_000, 11_000, "node=n1"),
        "b": (19_000, 21_000, "node=n2"),
        "c": (5_399_000, 5_401_000, "node=n1"),
        "d": (30_500, 30_500, None),
    }
    assert clocks(tmp_path / "events") == {"node=n1": UNIFORM_SECOND, "node=n2": UNIFORM_SECOND}
    assert clock_notices(summary) == [
        "log.csv: events that rule 1 passes over, since they have no 'node' to tell their clock by: 1",
    ]


def test_the_other_keys_of_the_rule_give_the_own_part(tmp_path: Path) -> None:
    model = """
        [[rule]]
        clock = { name = "master", offset = { before = "1 s", after = "0 s" } }
        granularity = "1 min"
        interval = { before = "5 s" }
    """
    ingested(tmp_path, LOG, model)
    assert intervals(tmp_path / "events")["a"] == (-6_000, 59_999, "master")


def test_a_histogram_stays_that_of_the_own_part(tmp_path: Path) -> None:
    model = """
        [[rule]]
        clock = { by = "source", offset = { histogram = [["-2 ms", "0 s", 0.2], ["0 s", "1 ms", 0.8]] } }
        latency = [["0 ms", "1 ms", 0.5], ["1 ms", "3 ms", 0.5]]
    """
    ingested(tmp_path, LOG, model)
    with open_events([str(tmp_path / "events")]) as inputs:
        row = inputs.read([]).to_pylist()[0]
        assert inputs.schema.clocks == {"source=log.csv": ((-2, -1, 0.2), (0, 0, 0.8))}
    assert (row["lower"], row["upper"]) == (9_996, 10_000)
    assert [(b["lo"], b["hi"]) for b in row["pmf"]] == [(9_998, 9_999), (10_000, 10_000)]


def test_a_period_begins_a_new_clock(tmp_path: Path) -> None:
    model = "rule = [{ clock = { by = 'node', offset = '1 s', period = '1 h' } }]"
    ingested(tmp_path, LOG, model)
    found = intervals(tmp_path / "events")
    assert found["a"][2] == "node=n1@1970-01-01T00:00:00Z"
    assert found["c"][2] == "node=n1@1970-01-01T01:00:00Z"


def test_plain_files_name_clocks_and_their_offsets(tmp_path: Path) -> None:
    ingested(tmp_path, PLAIN)
    assert intervals(tmp_path / "events") == {"a": (-1, 3, "n"), "b": (3, 10, "n"), "c": (2, 6, None)}
    assert clocks(tmp_path / "events") == {"n": ((-2, 2, 1.0),)}


def test_assign_keeps_clocks_that_no_rule_speaks_of(tmp_path: Path) -> None:
    ingested(tmp_path, LOG, "rule = [{ clock = { by = 'node', offset = '1 s' } }]")
    found = assigned(tmp_path, "rule = [{ event_type = 'A', interval = { before = '1 ms' } }]")
    assert found["a"] == (9_999, 10_000, None)
    assert found["b"] == (19_000, 21_000, "node=n2")
    assert set(clocks(tmp_path / "again")) == {"node=n1", "node=n2"}


def test_assign_gives_intervals_that_are_there_a_clock(tmp_path: Path) -> None:
    ingested(tmp_path, LOG, "rule = [{ granularity = '1 s', clock = { by = 'node', offset = '1 s' } }]")
    found = assigned(tmp_path, "rule = [{ clock = { name = 'one', offset = '2 ms' } }]")
    assert found["a"] == (9_998, 11_001, "one")


def test_a_dataset_without_clocks_says_nothing_of_them(tmp_path: Path) -> None:
    ingested(tmp_path, LOG)
    schema = pq.read_schema(tmp_path / "events" / "part-00000.parquet")
    assert CLOCK not in schema.names
    assert META_CLOCKS not in schema.metadata


def test_in_a_finer_unit_own_parts_and_offsets_are_all_the_ticks_that_they_cover(tmp_path: Path) -> None:
    ingested(tmp_path, PLAIN)
    (tmp_path / "fine.csv").write_text("event_type,event_id,lower,upper\nX,x,0,1\n")
    model = parse_model("time_unit = '500 us'")
    ingest([str(tmp_path / "fine.csv")], str(tmp_path / "fine"), IngestOptions(model=model))
    with open_events([str(tmp_path / "events"), str(tmp_path / "fine")]) as inputs:
        rows = {row["event_id"]: row for row in inputs.read([]).to_pylist()}
        assert inputs.schema.clocks == {"n": ((-4, 5, 1.0),)}
        groups = [
            facts for number, each in enumerate(inputs.sources([])) for facts in each.row_groups(number)
        ]
    assert (rows["a"]["lower"], rows["a"]["upper"], rows["a"][CLOCK]) == (-2, 8, "n")
    assert (rows["c"]["lower"], rows["c"]["upper"], rows["c"][CLOCK]) == (4, 13, None)
    assert max(facts[-1] for facts in groups) >= rows["b"]["upper"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A,1,5,n,", "log.csv:2: clock 'n' has no offset; write it in the column clock_offset as"),
        ("A,1,5,,-1:1:1", "log.csv:2: a clock_offset without a clock; name the clock, or leave both empty"),
        (
            "A,1,2,n,-2:2:1",
            "log.csv:2: the event has the interval 1..2, narrower than the offset -2..2 of its clock",
        ),
        ("A,1,9,n,-2:2:1\nB,1,9,n,0:0:1", "log.csv:3: clock 'n' has two offsets, -2:2:1.0 and 0:0:1.0"),
    ],
)
def test_what_a_plain_file_may_not_say_of_clocks(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(EventSchemaError) as raised:
        ingested(tmp_path, f"event_type,lower,upper,clock,clock_offset\n{text}\n")
    assert message in str(raised.value)


def test_a_column_clock_alone_can_stay_an_attribute(tmp_path: Path) -> None:
    text = "event_type,lower,upper,clock\nA,1,2,fast\n"
    with pytest.raises(EventSchemaError, match="--map OTHER_NAME=clock"):
        ingested(tmp_path, text)


def test_an_offset_that_is_none_is_a_reject(tmp_path: Path) -> None:
    text = "event_type,event_id,lower,upper,clock,clock_offset\nA,a,1,5,n,fast\n" + "".join(
        f"B,b{i},{i},{i},,\n" for i in range(20)
    )
    summary = ingested(tmp_path, text)
    assert summary.rejected == {"clock_offset is not a list of lo:hi:p, in whole ticks, whose p sum to 1": 1}
    assert summary.events == 20


def test_two_files_may_not_give_one_clock_two_offsets(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name, width in (("a.csv", 1), ("b.csv", 2)):
        text = f"event_type,lower,upper,clock,clock_offset\nA,0,9,n,-{width}:{width}:1\n"
        (tmp_path / "logs" / name).write_text(text)
    with pytest.raises(EventSchemaError, match=r"clock 'n' has two offsets, -1:1:1\.0 and -2:2:1\.0"):
        ingest([str(tmp_path / "logs")], str(tmp_path / "events"), IngestOptions())


@pytest.mark.parametrize(
    ("clock", "message"),
    [
        ("{ offset = '1 s' }", "a clock has `by` or `name`, one of them"),
        ("{ by = 'node', name = 'x', offset = '1 s' }", "a clock has `by` or `name`, one of them"),
        ("{ by = 'node' }", "a clock has an offset; write offset ="),
        ("{ by = 'node', offset = '-1 s' }", "means ± that much"),
        ("{ by = 'node', offset = { before = '-2 s', after = '1 s' } }", "the offset is empty"),
        ("{ by = 'node', offset = { histogram = [['0 s', '1 s', 0.5]] } }", "sum to 0.5, not to 1"),
        ("{ by = 'node', offset = '1.5 ns' }", "'1.5 ns' is not a whole number of ticks"),
        ("{ by = 'node', offset = '1 s', period = '0 s' }", "period must be a whole number"),
    ],
)
def test_what_a_rule_may_not_say_of_a_clock(tmp_path: Path, clock: str, message: str) -> None:
    with pytest.raises(UncertaintyModelError) as raised:
        ingested(tmp_path, LOG, f"rule = [{{ clock = {clock} }}]")
    assert message in str(raised.value)
    assert "rule 1" in str(raised.value)


def test_two_rules_may_not_give_one_clock_two_offsets(tmp_path: Path) -> None:
    rules = ["{ event_type = 'A', clock = { by = 'node', offset = '1 s' } }"]
    rules.append("{ clock = { by = 'node', offset = '2 s' } }")
    with pytest.raises(CepctlError, match="clock 'node=n1' has two offsets"):
        ingested(tmp_path, LOG, f"rule = [{', '.join(rules)}]")


def test_a_clock_that_fits_no_event_is_told(tmp_path: Path) -> None:
    summary = ingested(tmp_path, LOG, "rule = [{ clock = { by = 'nodes', offset = '1 s' } }]")
    assert clock_notices(summary) == [
        "log.csv: events that rule 1 passes over, since they have no 'nodes' to tell their clock by: 4",
        "uncertainty model: rule 1 applies to no event: no event has a 'nodes'; did you mean 'node'?",
    ]
