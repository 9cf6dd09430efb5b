"""Events case by case, in stretches of whole cases that fit in memory.

Events of a dataset stand in the order of time, so those of a case are scattered.  Cases are numbered in the
order of their first events; where all events fit in memory they are sorted at once, else each stretch of them
is written to a file of its own, in one pass, and sorted then.  Either way they come in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.atomic.folders import temporary_folder
from cepctl.datasets.part_files import bytes_of_event
from cepctl.errors import QueryTooLargeError
from cepctl.matching.inputs import EventInputs
from cepctl.numeric.arrays import Indexes
from cepctl.process.memory import MemoryBudget, size_text

_COPIES = 4
"""Events are held as they are read, in order, and some of them as text."""
_MOST_STRETCHES = 200
_SEPARATOR = " | "
_PLACE = "cepctl.place"


def events_by_case(
    inputs: EventInputs, by: Sequence[str], attributes: Sequence[str], memory: MemoryBudget, case: str
) -> Iterator[pa.Table]:
    """All events, those of a case one after the other by `lower` and `event_id`, last those without one.

    `inputs`, `attributes`: where events come from, and what is read of them beside the fixed columns.  `by`:
    attributes that name the case; an event that has not all of them has none.  `memory`: how much there is.
    `case`: the column for its name, which is added: the values of `by`, with ` | ` between them.

    Raises
    ------
    QueryTooLargeError
        If the events of one case do not fit in memory.
    EventSchemaError
        If two inputs hold events with the same id.
    """
    inputs.require_own_ids()
    cases = _cases(inputs, by)
    width = max((bytes_of_event(each, attributes) for each in inputs.datasets), default=0) * _COPIES
    stretch = _stretches(cases, width, memory)
    names = list(dict.fromkeys([*attributes, *by]))
    blocks = (_numbered(block, by, cases, case) for block in inputs.blocks(names))
    shown = [case, *(name for name in names if name in attributes)]
    with ExitStack() as opened:
        if not stretch.any():
            tables: Iterator[pa.Table] = iter([pa.concat_tables(blocks)] if len(cases) else [])
        else:
            folder = opened.enter_context(temporary_folder())
            tables = _spilled(blocks, stretch, folder)
        for table in tables:
            keys = [(name, "ascending") for name in (_PLACE, "lower", "event_id")]
            ordered = table.take(pc.sort_indices(table, sort_keys=keys)).combine_chunks()
            hidden = [name for name in (_PLACE, *by) if name not in shown]
            yield ordered.drop_columns(hidden)


def _cases(inputs: EventInputs, by: Sequence[str]) -> pl.DataFrame:
    """The name of each case and how many events it has, in the order of first events; no case comes last."""
    counted: list[pl.DataFrame] = []
    for number, block in enumerate(inputs.blocks(by)):
        named = pl.DataFrame({"case": _names(block, by), "lower": block.column("lower").to_numpy()})
        found = named.group_by("case", maintain_order=True).agg(
            pl.col("lower").min(), pl.len().alias("events")
        )
        counted.append(found.with_columns(pl.lit(number).alias("block")))
    if not counted:
        return pl.DataFrame(schema={"case": pl.String, "events": pl.Int64})
    every = pl.concat(counted).group_by("case", maintain_order=True)
    cases = every.agg(pl.col("lower").min(), pl.col("events").sum())
    return cases.sort(pl.col("case").is_null(), "lower", "case").select(
        "case", pl.col("events").cast(pl.Int64)
    )


def _names(block: pa.Table, by: Sequence[str]) -> pl.Series:
    columns = {str(place): block.column(name) for place, name in enumerate(by)}
    frame = pl.from_arrow(pa.table(columns))
    assert isinstance(frame, pl.DataFrame)
    texts = [pl.col(name).cast(pl.String) for name in columns]
    return frame.select(pl.concat_str(texts, separator=_SEPARATOR)).to_series()


def _stretches(cases: pl.DataFrame, width: int, memory: MemoryBudget) -> Indexes:
    """The number of the stretch of each case, shape (cases,): 0 for all where they fit in memory."""
    events = cases["events"].to_numpy()
    held = max(memory.own, 1)
    largest = int(events.max(initial=0)) * width
    if largest > held:
        name = cases["case"].to_list()[int(events.argmax())]
        raise QueryTooLargeError(
            f"{'events without a case' if name is None else f'the events of case {name!r}'} take about "
            f"{size_text(largest)} of memory, and {size_text(held)} are available; raise "
            "--max-memory, or name attributes with fewer events by --by"
        )
    total = int(events.sum()) * width
    count = min(-(-total // held), _MOST_STRETCHES) if total else 1
    before = np.cumsum(events) - events
    return np.asarray(before * count // max(int(events.sum()), 1), dtype=np.int64)


def _numbered(block: pa.Table, by: Sequence[str], cases: pl.DataFrame, case: str) -> pa.Table:
    """A block with the name and the place of the case of each event."""
    names = _names(block, by).to_arrow()
    places = pc.index_in(names, value_set=cases["case"].to_arrow())  # events without a case are one
    block = block.append_column(case, names.cast(pa.string()))
    return block.append_column(_PLACE, places.cast(pa.int64()))


def _spilled(blocks: Iterator[pa.Table], stretch: Indexes, folder: Path) -> Iterator[pa.Table]:
    """The events of each stretch, which waited in a file."""
    files = [folder / f"{number}.arrow" for number in range(int(stretch.max()) + 1)]
    writers: list[pa.RecordBatchFileWriter] = []
    with ExitStack() as opened:
        for block in blocks:
            if not writers:
                writers = [
                    opened.enter_context(pa.RecordBatchFileWriter(str(file), block.schema)) for file in files
                ]
            own = stretch[block.column(_PLACE).to_numpy()]
            for number in np.unique(own):
                writers[number].write_table(block.filter(pa.array(own == number)))
    for file in files:
        with pa.memory_map(str(file)) as mapped:
            yield pa.ipc.open_file(mapped).read_all()
        file.unlink()
