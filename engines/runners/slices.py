"""How stored events are split into parts that can be matched apart: by time, and by key.

A slice of time owns the matches whose first component's event has its `lower` in it (of a Kleene
group or of repetitions, the smallest `lower` of the members), and is given every event that can take part
in them or decide them: the first event happens at most its own interval later, all others, rivals and negated
events included, within reach of it (`reach.py`), on either side.  Where nothing bounds that, a query is
split by key only.

Where to cut is derived from the statistics of row groups alone, before any event is read; a slice begins
where a row group does, so that little is read twice.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.datasets.row_groups import RowGroups
from cepctl.engines.runners.reach import Reach, reach_of
from cepctl.numeric.arrays import Indexes
from cepctl.plan.grouping import keys_are_partitions
from cepctl.plan.plan import Plan
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
