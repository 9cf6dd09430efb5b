"""The order of records among the events that a state keeps: who steps back, who shares a stamp, what is open.

A state keeps events as one run reads them.  What records say of each other is found anew in each run, among
all that are kept: so it does not matter which of them came together.

Records of one writer whose intervals overlap, one after the other, are a *component*.  A record still to come
can join those alone that reach the watermark; the others are closed, and no later record narrows them.  Where
records stand along something else than the files have them, one that stands before a closed one would make
that one step back: it is late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.written_records import Eras, RecordBlock, shared_stamps
from cepctl.ingestion.written_rows import names_of_eras
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.schema import ALONG, RECORD, TICK_MAX, TICK_MIN, WRITER


@dataclass(frozen=True)
class Steps:
    """Where a writer begins anew: along these records, ascending, after as many times as `earlier`."""

    earlier: int = 0
    records: tuple[int, ...] = ()


def behind_closed(events: pa.Table, closed: Mapping[str, int]) -> Flags:
    """Which events stand before one that is closed, shape (n,); `closed`: along what, of each writer."""
    if not closed:
        return np.zeros(len(events), dtype=bool)
    place = pc.index_in(events.column(WRITER), value_set=pa.array(list(closed), pa.string()))
    last = pa.array(list(closed.values()), pa.int64()).take(place.combine_chunks())
    before = pc.less(events.column(ALONG), last)
    return np.asarray(pc.fill_null(before, fill_value=False).to_numpy())


@dataclass(frozen=True)
class WrittenEvents:
    """Events as their writers wrote them.

    `table`: of their columns `writer` says when it began anew, and `upper` that records share a stamp.
    `block`: who wrote each, by the place in `texts`, and along what.  `steps`: where each writer begins
    anew.  `component`, `first`, `last`, shape (n,): that of each event, and the ticks that it reaches; what
    nobody wrote is one of its own.  `written` says what somebody wrote.
    """

    table: pa.Table
    block: RecordBlock
    texts: Sequence[str]
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
            nobody = np.full(len(events), -1, np.int64)
            block = RecordBlock(nobody, nobody, lower, upper)
            return cls(events, block, (), steps, np.arange(len(events)), lower, upper, nobody >= 0)
        names = events.column(WRITER).combine_chunks().dictionary_encode()
        along = events.column(ALONG if ALONG in events.column_names else RECORD).combine_chunks()
        # Without a place in the order an event is of its writer, and before or after nothing.
        ordered = pc.if_else(along.is_valid(), names.indices, None)
        writer = pc.fill_null(ordered, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        place = pc.fill_null(along, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        upper = _covering(RecordBlock(writer, place, lower, upper), ticks_of_a_time)
        texts = names.dictionary.to_pylist()
        block = RecordBlock(writer, place, lower, upper)
        known = _steps(block, texts, steps)
        table = _with(events, "upper", pa.array(upper))
        named = pc.coalesce(_named(block, texts, known), names.cast(pa.string()))
        table = _with(table, WRITER, named)
        return cls(table, block, texts, known, *_components(block), writer >= 0)

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

    def closed_after(self, closed: Mapping[str, int], watermark: int) -> dict[str, int]:
        """Along what the last closed record of each writer stands, as `closed` says of those before.

        Where records stand as the files have them, none is ever to come that stands before one of these.
        """
        if ALONG not in self.table.column_names:
            return {}
        gone = np.flatnonzero(self.written & (self.last < watermark))
        last = np.full(len(self.texts), TICK_MIN)
        np.maximum.at(last, self.block.writer[gone], self.block.along[gone])
        found = {self.texts[number]: int(last[number]) for number in np.unique(self.block.writer[gone])}
        return {**closed, **{name: max(at, closed.get(name, at)) for name, at in found.items()}}

    def steps_among(self, kept: Flags) -> dict[str, Steps]:
        """What a later run must know of the steps where only some events are kept."""
        if not self.steps:
            return {}
        some = np.flatnonzero(kept & self.written)
        least = np.full(len(self.texts), TICK_MAX)
        np.minimum.at(least, self.block.writer[some], self.block.along[some])
        begins = dict(zip(self.texts, least.tolist(), strict=True))
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
