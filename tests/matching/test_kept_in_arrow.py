"""What a match keeps of plain files, in Arrow's own format where it is little, is what a dataset would be."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

from cepctl.datasets.part_files import ArrowEvents
from cepctl.datasets.row_groups import row_groups
from cepctl.ingestion import gathering, jobs, read_tasks, reading
from cepctl.ingestion.options import IngestOptions
from cepctl.matching.inputs import EventInputs, open_events
from cepctl.uncertainty.model import parse_model

FILES = {
    "unordered.csv": "event_type,event_id,lower,upper,x,y\nA,p1,5,9,1,u\nB,p2,2,3,,v\nA,p3,5,6,4,\n",
    "floats.csv": "event_type,time,x,z\nC,4,1.5,007\nA,1,2,8\n",
    "lasting.csv": "event_type,time,end_time,x\nL,3,8,1\nA,7,,2\n",
    "repeated.jsonl": '{"event_type": "A", "event_id": "p1", "time": 1}\n{"event_type": "D", "time": 2}\n',
    "nothing.csv": "event_type,time\n",
}
MODEL = """
[[given]]
holds = "SEQ(A a, C c) IF a.lower < c.lower"
[[rule]]
source = "floats*"
interval = { before = "2 ms", after = "5 ms" }
clock = { name = "host", offset = "3 ms" }
[[rule]]
event_type = "A"
normal = { sigma = "2 ms" }
"""


def options() -> IngestOptions:
    return IngestOptions(model=parse_model(MODEL), max_errors=5)


@pytest.fixture(params=[[name] for name in FILES] + [list(FILES)], ids="+".join)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[EventInputs, EventInputs]]:
    """The events of some files, in Arrow's format and as Parquet."""
    for name in request.param:
        (tmp_path / name).write_text(FILES[name])
    paths = [str(tmp_path / name) for name in request.param]
    with ExitStack() as stack:
        arrow = stack.enter_context(open_events(paths, options(), in_arrow=True))
        yield arrow, stack.enter_context(open_events(paths, options()))


def test_events_and_what_is_said_of_them_are_those_of_parquet(both: tuple[EventInputs, EventInputs]) -> None:
    arrow, parquet = both
    assert arrow.datasets[0].in_arrow
    assert not parquet.datasets[0].in_arrow
    assert arrow.schema == parquet.schema
    assert arrow.summary == parquet.summary
    assert arrow.count_events() == parquet.count_events()
    assert arrow.read().equals(parquet.read())
    assert arrow.read([], {"A"}).equals(parquet.read([], {"A"}))
    ids = pa.array(["p1", "p3"])
    assert arrow.read_ids(ids, []).equals(parquet.read_ids(ids, []))


def test_tasks_read_the_events_of_parquet(both: tuple[EventInputs, EventInputs]) -> None:
    found = []
    for inputs in both:
        (source,) = inputs.sources(list(inputs.schema.attributes))
        groups = row_groups([source])
        tables = [
            table
            for _, part, numbers in groups.files()
            for table in source.read(part, numbers, lambda _: None)
        ]
        facts = {name: values.tolist() for name, values in dataclasses.asdict(groups).items()}
        ids = source.ids(0).to_pylist()
        found.append((pa.concat_tables([source.empty(), *map(plain, tables)]), facts, ids))
    assert found[0][0].equals(found[1][0])
    assert found[0][1:] == found[1][1:]


def plain(table: pa.Table) -> pa.Table:
    """Types of events are read as dictionaries of either."""
    place = table.column_names.index("event_type")
    assert pa.types.is_dictionary(table.column(place).type)
    return table.set_column(place, "event_type", table.column(place).cast(pa.string()))


@pytest.mark.parametrize("of_one", [True, False])
def test_what_is_much_is_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_one: bool) -> None:
    """Chunks of a file from some size on, or all of files that are large together."""
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 2)
    file = tmp_path / "numbers.jsonl"
    file.write_text("".join(json.dumps({"event_type": "A", "time": 9 - n}) + "\n" for n in range(9)))
    with open_events([str(file)], in_arrow=True) as events:
        assert isinstance(events.sources([])[0], ArrowEvents)
        expected = events.read()
    if of_one:
        for module in (gathering, jobs):
            monkeypatch.setattr(module, "MOST_ARROW_BYTES", 200)
    else:
        monkeypatch.setattr(read_tasks, "MOST_READ_IN_ARROW", 20)
    with open_events([str(file)], in_arrow=True) as events:
        assert not events.datasets[0].in_arrow
        assert events.read().equals(expected)
