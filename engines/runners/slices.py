"""How stored events are split into parts that can be matched apart, by time and key; the task of a slice.

A slice of time owns the matches whose first component's event has its `lower` in it (of a Kleene
group or of repetitions, the smallest `lower` of the members), and is given every event that can take part
in them or decide them: the first event happens at most its own interval later, all others, rivals and negated
events included, within reach of it (`reach.py`), on either side.  Where nothing bounds that, a query is
split by key only.

Where to cut is derived from the statistics of row groups alone, before any event is read; a slice begins
where a row group does, so that little is read twice.

The task of a slice reads what can matter to it, matches it, and counts.  Which events it needs is known in
two steps.  Those that it owns, and all that reach into what lies before it, are read first; the last tick of
an event that can begin a match then says how far the others go.  So one wide interval costs the slices that
hold it, and no others.
"""

from __future__ import annotations

import itertools
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
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.grouping import keys_are_partitions
from cepctl.plan.plan import Plan
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.schema import TICK_MAX, TICK_MIN

EVENTS_PER_SLICE = 1_000_000
FEWEST_EVENTS = 250_000
"""Fewer are not worth a task of their own: each reads a row group on either side as well."""
MOST_EVENTS = 4_000_000
"""A slice that reads more is split by key too, where the plan has one; none grows beyond it."""
_OVERLAP_BOUND = 4
"""A slice owns at least this many times its reach, or most of what it reads is its neighbours'."""
_READ_TWICE_BOUND = 3
"""How often an event may be read on average before events are rather read once and sent around."""
IN_ORDER = [("lower", "ascending"), ("event_id", "ascending")]
_GROUPS_AT_ONCE = 4
"""Row groups that one thread reads before it asks for more: few, so that one file keeps all cores busy."""
EVENT_COPIES = 3
"""Events are held as they are read, joined, and as what the engine computes of each."""


@dataclass(frozen=True)
class TimeSlice:
    """The ticks that a slice owns, both included; the first and the last slice reach to the end of time."""

    first: int = TICK_MIN
    last: int = TICK_MAX

    @property
    def owned(self) -> tuple[int, int] | None:
        """First and last `lower` that the slice owns; None for all."""
        return None if (self.first, self.last) == (TICK_MIN, TICK_MAX) else (self.first, self.last)

    def of(self, events: pa.Table) -> pa.Table:
        """The events that the slice owns."""
        lower = events.column("lower").to_numpy()
        return events.filter(pa.array((lower >= self.first) & (lower <= self.last)))


@dataclass(frozen=True)
class Slicing:
    """Slices of time in order, and `buckets` of keys in each of them.

    Where events are `sent`, each is read once and sent to the slices and buckets that need it; else the
    task of a slice reads what it needs.  `events` is how many there are, `most_read` how many events the
    row groups of one slice hold.
    """

    slices: tuple[TimeSlice, ...]
    events: int
    most_read: int
    buckets: int = 1
    sent: bool = False

    @property
    def tasks(self) -> int:
        """How many parts there are to match."""
        return len(self.slices) * self.buckets

    def text(self) -> str:
        """What is chosen, in words."""
        each = f"at most {self.most_read:,} events read for one"
        if self.tasks == 1:
            return f"1: all {self.events:,} events in one task"
        by_time = f"{len(self.slices):,} of time" if len(self.slices) > 1 else ""
        by_key = f"{self.buckets:,} by key" if self.buckets > 1 else ""
        how = "events sent to the slices that need them" if self.sent else each
        return f"{' x '.join(filter(None, [by_time, by_key]))}: {self.events:,} events, {how}"


def choose_slicing(groups: RowGroups, plan: Plan, parallelism: int, length: int | None = None) -> Slicing:
    """Choose slices from the statistics of row groups.

    `groups`: all row groups of all inputs, in the order in which their events begin.  `parallelism`: how many
    tasks can run at once.  `length`: ticks of a slice, None to choose.

    Examples
    --------
    >>> from cepctl.datasets.row_groups import RowGroup
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> plan = analyze(parse("PATTERN SEQ(A a, B b) WITHIN 5 ticks"))
    >>> hours = [RowGroup(0, 0, i, 500_000, 3600 * i, 3600 * i + 3599, 3600 * i + 3600) for i in range(4)]
    >>> [each.first for each in choose_slicing(RowGroups.of(hours), plan, parallelism=2).slices][1:]
    [3600, 7200, 10800]
    """
    events = int(groups.rows.sum())
    keyed, whole, reach = plan.apart_by_key, TimeSlice(), reach_of(plan)
    if reach is None:
        buckets = -(-events // EVENTS_PER_SLICE) if keyed and events > EVENTS_PER_SLICE else 1
        return Slicing((whole,), events, events, buckets, sent=buckets > 1)
    if length is not None:
        cuts = _every(length, groups)
    else:
        wanted = min(EVENTS_PER_SLICE, max(FEWEST_EVENTS, -(-events // (2 * parallelism))))
        cuts = _cuts(groups, wanted, wanted, _OVERLAP_BOUND * reach.widest)
    slices = _between(cuts)
    reads = _rows_read(groups, slices, reach)
    most = int(reads.max(initial=0))
    buckets = -(-most // EVENTS_PER_SLICE) if keyed and most > MOST_EVENTS else 1
    wasteful = len(slices) > 1 and int(reads.sum()) > _READ_TWICE_BOUND * events and length is None
    return Slicing(slices, events, most, buckets, sent=buckets > 1 or wasteful)


def growing_slices(groups: RowGroups, plan: Plan) -> tuple[TimeSlice, ...]:
    """Slices each of which owns about four times the events of the one before; the first owns a row group.

    What lies early is found in little time; for what lies late, few row groups are read twice.
    """
    reach = reach_of(plan)
    if reach is None:
        return (TimeSlice(),)
    return _between(_cuts(groups, 1, MOST_EVENTS, _OVERLAP_BOUND * reach.widest))


def whole_slicing(groups: RowGroups) -> Slicing:
    """For what all events decide together: one task takes them."""
    events = int(groups.rows.sum())
    return Slicing((TimeSlice(),), events, events, 1, sent=False)


def group_slicing(groups: RowGroups, plan: Plan, parallelism: int) -> Slicing:
    """For GROUP BY, where all matches of a key meet in one task.

    Where keys hold the partition, so do the events that can decide them: each task takes some keys.
    """
    events = int(groups.rows.sum())
    keyed = plan.apart_by_key and keys_are_partitions(plan)
    buckets = min(2 * parallelism, -(-events // FEWEST_EVENTS)) if keyed else 1
    return Slicing((TimeSlice(),), events, events, max(buckets, 1), sent=buckets > 1)


def _between(cuts: list[int]) -> tuple[TimeSlice, ...]:
    """The slices that begin at these ticks, and the one before them."""
    edges = [TICK_MIN, *cuts, TICK_MAX + 1]
    return tuple(TimeSlice(first, end - 1) for first, end in itertools.pairwise(edges))


def _cuts(groups: RowGroups, wanted: int, most: int, shortest: int) -> list[int]:
    """First ticks of all slices but the first: row groups are added until a slice owns enough of them.

    Enough are `wanted` events, of the next slice four times as many as this one has, up to `most`.
    """
    cuts: list[int] = []
    held, begin = 0, int(groups.first_lower[0]) if len(groups) else 0
    left = int(groups.rows.sum())
    for first, rows in zip(groups.first_lower.tolist(), groups.rows.tolist(), strict=True):
        if held >= wanted and left >= wanted // 2 and first - begin >= max(shortest, 1):
            cuts.append(first)
            wanted = max(wanted, min(4 * held, most))
            held, begin = 0, first
        held += rows
        left -= rows
    return cuts


def _every(length: int, groups: RowGroups) -> list[int]:
    if not len(groups):
        return []
    return list(range(int(groups.first_lower[0]) + length, int(groups.last_lower.max()) + 1, length))


def _rows_read(groups: RowGroups, slices: tuple[TimeSlice, ...], reach: Reach) -> Indexes:
    """About how many events each slice reads: those of all row groups that touch it or its reach."""
    begun = np.concatenate([[0], np.cumsum(groups.rows)])
    by_end = np.argsort(groups.last_tick, kind="stable")
    ended = np.concatenate([[0], np.cumsum(groups.rows[by_end])])
    last = np.array([min(each.last + reach.after, TICK_MAX) for each in slices], dtype=np.int64)
    first = np.array([max(each.first - reach.before, TICK_MIN) for each in slices], dtype=np.int64)
    before_end = begun[np.searchsorted(groups.first_lower, last, "right")]
    return np.asarray(before_end - ended[np.searchsorted(groups.last_tick[by_end], first, "left")])


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
