"""How far partial matches get in pattern order, and what each condition takes away.

Every step joins the partial matches so far with the events that fit the next component, indexed by key and
time.  How many pairs share the key, and how many of those the times allow, is counted by binary search
without listing them; only pairs that pass both are listed and asked the rest.  The conditions are asked in
one order, and each is charged with what those before it have let through.

Work is bounded: beyond `limit` pairs of a step, evenly spaced partial matches are followed and the
others left, which the numbers then say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import IntervalIndex, JoinKey, indexed_events, join_key, overlapping
from cepctl.engines.columns.predicates import column_name, links_hold
from cepctl.engines.diagnosis.conditions import (
    Condition,
    Conditions,
    TimeDemand,
    equality_texts,
    filter_condition,
    key_condition,
    link_condition,
)
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.search.search import NOT_BOUND, Search, links_decided, reach
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.plan import Equality
from cepctl.plan.polars_expressions import compile_expression

_KEPT = 16


@dataclass(frozen=True)
class JoinIndex:
    """The candidates of a join, ready; `ends` are their upper bounds, sorted within each key."""

    candidates: Indexes
    interval: IntervalIndex
    key: JoinKey
    ends: Ticks

    def pair_counts(self, key: Indexes, first: Ticks, last: Ticks) -> Indexes:
        """Per query the events of its key whose interval overlaps its own, counted without listing them."""
        interval = self.interval
        counts: Indexes = _overlap_counts(interval.key_starts, interval.lower, self.ends, key, first, last)
        return counts


class JoinIndexes:
    """The candidates of joins over some events, indexed; the last few are kept for those that share them.

    Keys of long columns cost most of a join.
    """

    def __init__(self, events: Events) -> None:
        self.events = events
        self._kept: dict[tuple[int, tuple[str, ...], tuple[Equality, ...]], JoinIndex] = {}

    def of(self, conditions: Conditions, column: int) -> JoinIndex:
        """The index of the join that binds a column."""
        candidates = conditions.candidates[conditions.columns[column]]
        name = (column, conditions.partition_by, conditions.alternative.equalities)
        kept = self._kept.get(name)
        if kept is not None and kept.candidates is candidates:
            return kept
        self._kept.pop(name, None)
        self._kept[name] = found = self._built(conditions, column, candidates)
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    def _built(self, conditions: Conditions, column: int, candidates: Indexes) -> JoinIndex:
        component, known = conditions.columns[column], set(conditions.columns[:column])
        alternative = conditions.alternative
        key = join_key(alternative, conditions.partition_by, self.events, component, known, candidates)
        interval = indexed_events(self.events.masses, candidates, key.candidate_codes)
        keys = np.repeat(np.arange(len(interval.key_starts) - 1), np.diff(interval.key_starts))
        return JoinIndex(candidates, interval, key, interval.upper[np.lexsort((interval.upper, keys))])


@kernel
def _overlap_counts(key_starts, lower, ends, key, first, last):
    """`lower` and `ends` are sorted within each key: what neither starts too late nor ends too early."""
    counts = np.zeros(len(key), dtype=np.int64)
    for i in range(len(key)):
        if 0 <= key[i] < len(key_starts) - 1:
            start, stop = key_starts[key[i]], key_starts[key[i] + 1]
            begun = np.searchsorted(lower[start:stop], last[i], side="right")
            counts[i] = max(begun - np.searchsorted(ends[start:stop], first[i]), 0)
    return counts


PAIRS = 1 << 20
"""How many pairs a step lists at most."""
ORDER = Condition("order", "the order of the pattern")
TWICE = Condition("twice", "no event twice in a match")
CLOCKS = Condition("clocks", "one offset for each clock")
"""What the times of single events allow, but not the clocks that they share."""
TIED_CLOCKS = Condition("clocks", "one offset for each clock, near that of the clock it is tied to")


@dataclass(frozen=True)
class Loss:
    """How many a condition took away, of those that the conditions before it had let through."""

    condition: Condition
    count: int


@dataclass(frozen=True)
class Fitting:
    """The events for one component: `typed` of its type, less the losses, leaves `left`."""

    component: int
    typed: int
    losses: tuple[Loss, ...]
    left: int


@dataclass(frozen=True)
class JoinReport:
    """One join: `followed` of `partial` partial matches with `candidates` events each.

    Less the losses, `left` longer partial matches remain.  The first step starts from one empty match.
    """

    component: int
    partial: int
    followed: int
    candidates: int
    losses: tuple[Loss, ...]
    left: int

    @property
    def pairs(self) -> int:
        """Pairs that were asked."""
        return self.followed * self.candidates


@dataclass(frozen=True)
class Followed:
    """Partial matches that passed every step: rows of events, one column per positive component."""

    steps: tuple[JoinReport, ...]
    rows: Indexes

    @property
    def sampled(self) -> bool:
        """Whether some partial matches were left unfollowed, so that counts are lower bounds."""
        return any(step.followed < step.partial for step in self.steps)


def fitting_counts(conditions: Conditions, events: Events) -> tuple[Fitting, ...]:
    """For every component the events of its type, and what each of its own predicates takes away."""
    found = []
    for i, component in enumerate(conditions.alternative.components):
        typed = pl.lit(True)
        if component.event_types:
            typed = pl.col("event_type").is_in(list(component.event_types))
        held = events.frame.select(typed.fill_null(False).alias("typed")).get_column("typed").to_numpy()
        held = np.broadcast_to(held, len(events)) if len(held) != len(events) else held
        count, losses = int(held.sum()), []
        left = count
        for each in component.filters:
            condition = compile_expression(each, lambda leaf: pl.col(column_name(leaf)))
            fits = events.frame.select(condition.fill_null(False).alias("fits")).get_column("fits").to_numpy()
            held = held & fits
            losses.append(Loss(filter_condition(each), left - int(held.sum())))
            left = int(held.sum())
        found.append(Fitting(i, count, tuple(losses), left))
    return tuple(found)


def follow(
    conditions: Conditions, indexes: JoinIndexes, length: int | None = None, limit: int = PAIRS
) -> Followed:
    """Join the components of an alternative in pattern order.

    Binds the first `length` of them, None for all; the columns of others stay NOT_BOUND.  A step lists at
    most about `limit` pairs.
    """
    wanted = conditions.columns[:length]
    rows = np.full((1, len(conditions.columns)), NOT_BOUND, dtype=np.int64)
    steps: list[JoinReport] = []
    for column in range(len(wanted)):
        step, rows = _Join(conditions, indexes, column).run(rows, limit)
        steps.append(step)
        if not len(rows):
            break
    return Followed(tuple(steps), rows)


@dataclass(frozen=True)
class _Join:
    """The step that binds one column; those before it are bound."""

    conditions: Conditions
    indexes: JoinIndexes
    column: int

    @property
    def events(self) -> Events:
        return self.indexes.events

    def run(self, rows: Indexes, limit: int) -> tuple[JoinReport, Indexes]:
        component, before = self.conditions.columns[self.column], tuple(range(self.column))
        candidates = self.conditions.candidates[component]
        partial = len(rows)
        index, codes = self._keyed(self.conditions, rows)
        first, last = reach(self.events.masses, self.conditions.search.system, rows, before, self.column)
        pairs = index.pair_counts(codes, first, last)
        if int(pairs.sum()) > limit:
            # Evenly spaced, so that every stretch of time is followed.
            chosen = np.arange(0, partial, -(-int(pairs.sum()) // limit))
            rows, codes, first, last = rows[chosen], codes[chosen], first[chosen], last[chosen]
        left, losses = len(rows) * len(candidates), []
        for condition, count in self._before_listing(rows):
            losses.append(Loss(condition, left - count))
            left = count
        longer = self._listed(index, codes, first, last, rows)
        for condition, kept in self._after_listing(longer):
            losses.append(Loss(condition, left - len(kept)))
            longer, left = kept, len(kept)
        step = JoinReport(component, partial, len(rows), len(candidates), _by_condition(losses), left)
        return step, longer

    def _keyed(self, conditions: Conditions, rows: Indexes) -> tuple[JoinIndex, Indexes]:
        known = conditions.columns[: self.column]
        found = self.indexes.of(conditions, self.column)
        codes = found.key.codes_of(rows, conditions.columns) if known else np.zeros(len(rows), dtype=np.int64)
        return found, codes

    def _before_listing(self, rows: Indexes) -> Iterator[tuple[Condition, int]]:
        """Pairs left after each key, then after each demand on times."""
        alternative = self.conditions.alternative
        component, known = self.conditions.columns[self.column], set(self.conditions.columns[: self.column])
        bare = replace(alternative, equalities=())
        conditions = replace(self.conditions, alternative=bare, partition_by=())
        for name in self.conditions.partition_by:
            conditions = replace(conditions, partition_by=(*conditions.partition_by, name))
            yield key_condition(name), self._same_key(conditions, rows)
        for equality in alternative.equalities:
            if component in (equality.left, equality.right) and {equality.left, equality.right} <= {
                component,
                *known,
            }:
                bare = replace(bare, equalities=(*bare.equalities, equality))
                conditions = replace(conditions, alternative=bare)
                text = equality_texts(alternative, equality)[0]
                yield Condition("key", text), self._same_key(conditions, rows)
        if not known:
            return
        index, codes = self._keyed(self.conditions, rows)
        for condition, asked in self._demands():
            search = replace(self.conditions.search, system=self.conditions.system_of(asked))
            yield condition, self._in_reach(search, index, codes, rows)

    def _demands(self) -> Iterator[tuple[Condition, tuple[TimeDemand, ...]]]:
        """Each demand on times, with those before it; the order of the pattern is one."""
        order = tuple(each for each in self.conditions.differences if each.condition.kind == "order")
        others = [each for each in self.conditions.differences if each not in order]
        asked: tuple[TimeDemand, ...] = ()
        for condition, more in [(ORDER, order), *((each.condition, (each,)) for each in others)]:
            asked = (*asked, *more)
            yield condition, asked

    def _same_key(self, conditions: Conditions, rows: Indexes) -> int:
        index, codes = self._keyed(conditions, rows)
        sizes = np.diff(index.interval.key_starts)
        known = (codes >= 0) & (codes < len(sizes))
        return int(sizes[codes[known]].sum())

    def _in_reach(self, search: Search, index: JoinIndex, codes: Indexes, rows: Indexes) -> int:
        first, last = reach(self.events.masses, search.system, rows, tuple(range(self.column)), self.column)
        return int(index.pair_counts(codes, first, last).sum())

    def _listed(self, index: JoinIndex, codes: Indexes, first: Ticks, last: Ticks, rows: Indexes) -> Indexes:
        parts = [rows[:0]]
        for row, event in overlapping(index.interval, codes, first, last):
            longer = rows[row]
            longer[:, self.column] = event
            parts.append(longer)
        return np.concatenate(parts)

    def _after_listing(self, longer: Indexes) -> Iterator[tuple[Condition, Indexes]]:
        if self.column:
            longer = longer[(longer[:, : self.column] != longer[:, self.column, None]).all(axis=1)]
            yield TWICE, longer
        for condition, asked in self._demands():
            possible = self.conditions.held(asked, longer[:, : self.column + 1])
            if possible is not None:
                longer = longer[possible]
                yield condition, longer
        if self.column and self.events.clocks is not None:
            longer = longer[self.conditions.on_clocks(self.events.clocks, longer[:, : self.column + 1])]
            yield (TIED_CLOCKS if self.events.clocks.is_tied.any() else CLOCKS), longer
        for link in links_decided(self.conditions.search, self.column, range(self.column)):
            bound = {self.conditions.columns[i]: longer[:, i] for i in range(self.column + 1)}
            held = links_hold(self.events, self.conditions.alternative, [link], bound)
            assert held is not None
            longer = longer[held]
            yield link_condition(link), longer


def _by_condition(losses: list[Loss]) -> tuple[Loss, ...]:
    """A condition asked twice, of a join and of what it lists, counts once: where it last stops some."""
    counts: dict[Condition, int] = {}
    for loss in losses:
        before = counts.pop(loss.condition, 0) if loss.count else counts.get(loss.condition, 0)
        counts[loss.condition] = before + loss.count
    return tuple(Loss(condition, count) for condition, count in counts.items())
