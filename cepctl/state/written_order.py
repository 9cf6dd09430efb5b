"""The order of records among the events that a state keeps: who steps back, who shares a stamp, what is open.

A state keeps events as one run reads them.  What records say of each other is found anew in each run, among
all that are kept: so it does not matter which of them came together.

Records of one writer whose intervals overlap, one after the other, are a *component*.  A record still to come
can join those alone that reach the watermark; the others are closed, and no later record narrows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import ERA
from cepctl.ingestion.written_records import Eras, RecordBlock, shared_stamps
from cepctl.ingestion.written_rows import names_of_eras
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.schema import RECORD, TICK_MAX, WRITER


@dataclass(frozen=True)
class Steps:
    """Where a writer begins anew: along these records, ascending, after as many times as `earlier`."""

    earlier: int = 0
    records: tuple[int, ...] = ()


@dataclass(frozen=True)
class WrittenEvents:
    """Events as their writers wrote them.

    `table`: of their columns `writer` says when it began anew, and `upper` that records share a stamp.
    `steps`: where each writer begins anew.  `component`, `first`, `last`, shape (n,): that of each event,
    and the ticks that it reaches; what nobody wrote is one of its own.  `written` says what somebody wrote.
    """

    table: pa.Table
    steps: Mapping[str, Steps]
    component: Indexes
    first: Ticks
    last: Ticks
    written: Flags

    @classmethod
    def of(cls, events: pa.Table, steps: Mapping[str, Steps], ticks_of_a_time: int) -> WrittenEvents:
        """Events as they were read, in times of so many ticks; `steps` as the run before has found them."""
        lower, upper = (np.asarray(events.column(name).to_numpy(), np.int64) for name in ("lower", "upper"))
        if WRITER not in events.column_names or events.column(WRITER).null_count == len(events):
            return cls(events, steps, np.arange(len(events)), lower, upper, np.zeros(len(events), dtype=bool))
        names = events.column(WRITER).combine_chunks().dictionary_encode()
        writer = pc.fill_null(names.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        record = pc.fill_null(events.column(RECORD), 0).to_numpy().astype(np.int64)
        upper = _covering(RecordBlock(writer, record, lower, upper), ticks_of_a_time)
        texts = names.dictionary.to_pylist()
        block = RecordBlock(writer, record, lower, upper)
        known = _steps(block, texts, steps)
        table = _with(events, "upper", pa.array(upper))
        table = _with(table, WRITER, _named(block, texts, known))
        return cls(table, known, *_components(block), writer >= 0)

    def reaching(self, tick: int) -> Flags:
        """Which events matter to worlds that reach a tick or a later one, shape (n,)."""
        return np.asarray(self.last >= tick)

    def needed(self, fitting: Flags, watermark: int) -> Flags:
        """Which events can tell anything of those that fit, shape (n,): what shares a component with one.

        A component that reaches the watermark may yet get one.
        """
        fits = np.bincount(self.component, weights=fitting, minlength=len(fitting)) > 0
        return np.asarray(fits[self.component] | (self.written & (self.last >= watermark)))

    def open_from(self, watermark: int) -> int:
        """The first tick of what a record that begins at the watermark or later may narrow."""
        return int(self.first[self.written & (self.last >= watermark)].min(initial=TICK_MAX))

    def steps_among(self, kept: Flags) -> dict[str, Steps]:
        """What a later run must know of the steps where only some events are kept."""
        if not self.steps:
            return {}
        name = self.table.column(WRITER).filter(pa.array(kept & self.written))
        own = pc.replace_substring_regex(name, ERA.format(r"\d+$"), "")
        record = self.table.column(RECORD).filter(pa.array(kept & self.written))
        least = pa.table({"name": own, "record": record}).group_by("name").aggregate([("record", "min")])
        begins = dict(zip(*(least.column(each).to_pylist() for each in ("name", "record_min")), strict=True))
        found = {}
        for each, steps in self.steps.items():
            later = tuple(at for at in steps.records if at > begins.get(each, TICK_MAX))
            found[each] = Steps(steps.earlier + len(steps.records) - len(later), later)
        return found


def _covering(block: RecordBlock, ticks_of_a_time: int) -> Ticks:
    """The last tick of each event: of a time to the tick that records share, they cover all that it has."""
    if ticks_of_a_time == 1 or not len(block):
        return block.upper
    reach = [(int(block.lower.min()), int(block.upper.max()))]
    (shared,) = shared_stamps([block], reach).exact
    shared &= block.lower % ticks_of_a_time == 0
    return np.asarray(block.upper + np.where(shared, ticks_of_a_time - 1, 0))


def _steps(block: RecordBlock, texts: list[str], before: Mapping[str, Steps]) -> dict[str, Steps]:
    """Where each writer begins anew: of records that are gone as it was found, of all others anew."""
    gone = {
        number: np.setdiff1d(before[text].records, block.along[block.writer == number])
        for number, text in enumerate(texts)
        if text in before
    }
    owner, part = block.writer.copy(), len(texts)
    begun = dict(enumerate(range(part)))
    for number, steps in gone.items():
        own = np.flatnonzero(block.writer == number)
        for step in steps.tolist():
            owner[own[block.along[own] >= step]] = part
            begun[part] = number
            part += 1
    eras = Eras()
    eras.add(RecordBlock(owner, block.along, block.lower, block.upper))
    found: dict[int, list[int]] = {number: steps.tolist() for number, steps in gone.items()}
    for each, records in eras.steps.items():
        found.setdefault(begun[each], []).extend(records)
    known = {
        texts[number]: Steps(before.get(texts[number], Steps()).earlier, tuple(sorted(records)))
        for number, records in found.items()
    }
    return {**before, **known}


def _named(block: RecordBlock, texts: list[str], steps: Mapping[str, Steps]) -> pa.Array:
    """The name of each writer, with how often it has begun."""
    begun = {name: np.array(each.records, np.int64) for name, each in steps.items()}
    earlier = {name: each.earlier for name, each in steps.items()}
    return names_of_eras(texts, block.writer, block.along, begun, earlier)


def _components(block: RecordBlock) -> tuple[Indexes, Ticks, Ticks]:
    """The component of each event, its first and its last tick; what nobody wrote is one of its own."""
    rows = np.arange(len(block))
    own = np.where(block.writer < 0, rows, -1)
    frame = pl.DataFrame({"writer": block.writer, "own": own, "row": rows})
    frame = frame.with_columns(lower=block.lower, upper=block.upper).sort("writer", "own", "lower")
    before = pl.col("upper").cum_max().shift(1).over("writer", "own")
    frame = frame.with_columns(part=(before.is_null() | (pl.col("lower") > before)).cum_sum() - 1)
    frame = frame.with_columns(
        first=pl.col("lower").min().over("part"), last=pl.col("upper").max().over("part")
    ).sort("row")
    part, first, last = (frame.get_column(name).to_numpy() for name in ("part", "first", "last"))
    return part.astype(np.int64), first, last


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)
