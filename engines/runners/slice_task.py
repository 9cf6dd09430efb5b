"""The task of one slice: read what can matter to it, match it, and count.

The events that a slice needs are known in two steps.  Those that it owns, and all that reach into
what lies before it, are read first; the last tick of an event that can begin a match then says how far
the others go.  So one wide interval costs the slices that hold it, and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.row_groups import EventSource, RowGroups
from cepctl.engines.columns.endpoints import has_ends
from cepctl.engines.columns.events import impossible_events
from cepctl.engines.concurrency import OnProgress, concurrently, telling
from cepctl.engines.event.match import found_batches
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.numbers import FoundBatch
from cepctl.engines.runners.reach import Reach, Relevance, reach_of
from cepctl.engines.runners.slices import TimeSlice
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Plan
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.schema import TICK_MAX, TICK_MIN

IN_ORDER = [("lower", "ascending"), ("event_id", "ascending")]


_GROUPS_AT_ONCE = 4
"""Row groups that one thread reads before it asks for more: few, so that one file keeps all cores busy."""
EVENT_COPIES = 3
"""Events are held as they are read, joined, and as what the engine computes of each."""


def require_room(size: int, memory: MemoryBudget) -> None:
    """Raise QueryTooLargeError where events of this many bytes, as they are read, do not fit in memory."""
    needed = EVENT_COPIES * size
    if needed > memory.events:
        raise QueryTooLargeError(
            f"the events that can matter to the query take {size_text(needed)} of memory or more, where "
            f"{size_text(memory.events)} are for events; narrow it (predicates on single events, WITHIN), "
            "run it in slices of time (--runner spark), or raise --max-memory"
        )


@dataclass
class ReadingRoom:
    """What is left of memory while several threads read events, each of which tells of every row group."""

    memory: MemoryBudget
    _taken: int = 0
    _lock: Lock = field(default_factory=Lock)

    def take(self, size: int) -> None:
        """Take in so many bytes; raises QueryTooLargeError where those of all threads do not fit."""
        with self._lock:
            self._taken += size
        require_room(self._taken, self.memory)


class Owned(NamedTuple):
    """How many events that can matter a slice owns, and how many of them end before their start."""

    events: int = 0
    impossible: int = 0

    @classmethod
    def of(cls, plan: Plan, own: TimeSlice, events: pa.Table) -> Owned:
        """Count those of a table."""
        owned = own.of(events)
        return cls(owned.num_rows, impossible_events(owned, plan.clocks))


@dataclass(frozen=True)
class SliceTask:
    """Everything that the slices of a run share; picklable."""

    plan: Plan
    options: MatchOptions
    sources: tuple[EventSource, ...]
    groups: RowGroups

    def run(self, own: TimeSlice) -> Iterator[tuple[Owned, FoundBatch | None]]:
        """First which events that can matter the slice owns, and no matches; then its matches."""
        events, owned = self.events(own)
        yield owned, None
        for batch in found_batches(self.plan, events, self.options, own.owned):
            yield Owned(), batch

    def events(self, own: TimeSlice) -> tuple[pa.Table, Owned]:
        """The events that can matter to the slice, in the order of a dataset, and those that it owns."""
        reach = self.reach
        before = TICK_MIN if reach is None else max(own.first - reach.before, TICK_MIN)
        begun = self.groups.first_lower <= own.last
        near = self.read(self.groups.where(begun & (self.groups.last_tick >= before)), before, TICK_MAX)
        owned = Owned.of(self.plan, own, near)
        if reach is None or own.last == TICK_MAX:
            return near, owned
        last = self._last_begin(near, own)
        if last is None:
            return near.slice(0, 0), owned
        after = min(last + reach.after, TICK_MAX)
        near = near.filter(pc.less_equal(near.column("lower"), after))
        later = self.read(self.groups.where(~begun & (self.groups.first_lower <= after)), before, after)
        return self.joined([near, later]), owned

    def _last_begin(self, events: pa.Table, own: TimeSlice) -> int | None:
        """The last tick, or end, of an event that can begin a match of the slice; None if there is none.

        A histogram may give its first ticks no mass, so that the slice owns an event that begins before.
        """
        lower, upper = (events.column(name).to_numpy() for name in ("lower", "upper"))
        cut_short = pc.is_valid(events.column("pmf")).to_numpy()
        begins = self.relevance.begins(events).to_numpy(zero_copy_only=False)
        begins = begins & (lower <= own.last) & ((lower >= own.first) | (cut_short & (upper >= own.first)))
        return int(last_ticks(events)[begins].max()) if begins.any() else None

    @cached_property
    def reach(self) -> Reach | None:
        """How far from a match the events lie that matter to it; None for any distance."""
        return reach_of(self.plan)

    @property
    def may_bind_ends(self) -> bool:
        """Whether the events alone decide if ends matter: all parts of a run must take them alike."""
        bindable = self.plan.lasting and not self.plan.strategy.asks_others
        return bindable and not any(each.reads_ends for each in self.plan.alternatives)

    def binds_ends(self, source: int, part: int, numbers: Sequence[int]) -> bool:
        """Whether some event of some row groups that can matter lasts."""
        return any(map(has_ends, self.relevant(source, part, numbers)))

    def of_intervals(self) -> SliceTask:
        """The task for events of which some lasts, whichever slice it is in."""
        return replace(self, options=replace(self.options, of_intervals=True))

    @cached_property
    def relevance(self) -> Relevance:
        """What tells which events can matter."""
        return Relevance(self.plan, self.options.kleene)

    def read(
        self,
        groups: RowGroups,
        first: int = TICK_MIN,
        last: int = TICK_MAX,
        on_progress: OnProgress | None = None,
    ) -> pa.Table:
        """The events of some row groups that can matter and touch [first, last], in their order.

        `on_progress` hears how many pieces are read, and of how many.
        """
        pieces = list(groups.pieces(_GROUPS_AT_ONCE))
        tables: list[list[pa.Table]] = [[] for _ in pieces]
        room = ReadingRoom(self.options.memory)
        parts = [partial(self._near, room, first, last, *numbered) for numbered in enumerate(pieces)]
        for number, found in concurrently(telling(parts, on_progress), self.options.threads):
            tables[number] = found
        return self.joined([table for found in tables for table in found])

    def _near(
        self, room: ReadingRoom, first: int, last: int, number: int, piece: tuple[int, int, Sequence[int]]
    ) -> Iterator[tuple[int, list[pa.Table]]]:
        """The events of a piece that can matter and touch [first, last], with its number."""
        tables = []
        for table in self.relevant(*piece):
            near = table if (first, last) == (TICK_MIN, TICK_MAX) else touching(table, first, last)
            room.take(near.nbytes)
            tables.append(near)
        yield number, tables

    def relevant(self, source: int, part: int, numbers: Sequence[int]) -> Iterator[pa.Table]:
        """The events of some row groups of a file that can matter."""
        relevance = self.relevance
        for table in self.sources[source].read(part, numbers, relevance.pushed):
            yield relevance.relevant(table)

    def in_order(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Tables of events in the order of a dataset: sums over events round alike in it alone."""
        table = pa.concat_tables([self.sources[0].empty(), *tables])
        return table.sort_by(IN_ORDER).combine_chunks()

    def joined(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Tables that were read in the order of their row groups; one dataset is in order as it is."""
        if len(self.sources) > 1:
            return self.in_order(tables)
        return pa.concat_tables([self.sources[0].empty(), *tables]).combine_chunks()


def touching(events: pa.Table, first: int, last: int) -> pa.Table:
    """The events that may happen, or still last, between two ticks, both included."""
    begun = pc.less_equal(events.column("lower"), last)
    return events.filter(pc.and_(pa.array(last_ticks(events) >= first), begun))


def last_ticks(events: pa.Table) -> Ticks:
    """The last tick at which each event may happen, or still last."""
    upper: Ticks = events.column("upper").to_numpy()
    if not has_ends(events):
        return upper
    ends: Ticks = pc.fill_null(events.column("end_upper"), TICK_MIN).to_numpy()
    return np.asarray(np.maximum(upper, ends))
