"""What narrows the joins of a search: gaps that some rival certainly breaks, and clocks that events share.

Let x be an event that may not lie between the neighbours a and b.  If x comes after a in every world, then b
must not come after x in every world, so that with the events x of the right key

    lower(b)  <=  least upper(x)        over all x with lower(x) > upper(a)
    upper(a)  >=  greatest lower(x)     over all x with upper(x) < lower(b)

A range join takes both as ends of the ticks that the next event may have, so that pairs of which no world
makes a match are never listed: under skip_till_next_match and contiguity few events of a window are left.

Two events of one clock are apart as their own parts are, however far the clock is off; only events of
different clocks are compared by all the ticks at which they can be.  So a step joins by clock, once for every
clock of the partial match, and then the events of other clocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import (
    IntervalIndex,
    JoinKey,
    interval_index,
    join_key,
    overlapping,
    partition_codes,
)
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import order_of, starts_of
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.blocks import AbsenceRule, BlockKind, Shape, gap_of
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.offset_bounds import possible_on_clocks
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.plan import Alternative

_SEVERAL = -2


@dataclass(frozen=True)
class CertainGap:
    """The events that may not lie between the components of two columns, `gap` and `gap + 1`.

    Sorted by key and `lower`, with the least `upper` from each on, `least`; and sorted by key and `upper`,
    with the greatest `lower` up to each, `greatest`.  Those of key k lie between key_starts[k] and
    key_starts[k + 1].  The key of a match comes from `codes`, one per event, or from the components that
    `key` reads.
    """

    gap: int
    key_starts: Indexes
    lower: Ticks
    least: Ticks
    upper: Ticks
    greatest: Ticks
    codes: Indexes | None
    key: JoinKey | None

    def narrowed(
        self, events: Events, rows: Indexes, singles: Sequence[int], before: Sequence[int], column: int,
        ticks: tuple[Ticks, Ticks],
    ) -> tuple[Ticks, Ticks]:  # fmt: skip
        """The ticks that an event for `column` may have, given rows that bind the columns `before`."""
        beside = self.gap if column == self.gap + 1 else self.gap + 1
        if column not in (self.gap, self.gap + 1) or beside not in before:
            return ticks
        if self.key is not None and any(
            singles.index(part.bound_component) not in before for part in self.key.parts
        ):
            return ticks
        keys = self._keys(rows, singles, beside)
        first, last = ticks
        event = rows[:, beside]
        if beside < column:
            after = events.masses.upper[event]
            return first, np.minimum(last, _least_after(self.key_starts, self.lower, self.least, keys, after))
        until = events.masses.lower[event]
        earliest = _greatest_before(self.key_starts, self.upper, self.greatest, keys, until)
        return np.maximum(first, earliest), last

    def _keys(self, rows: Indexes, singles: Sequence[int], beside: int) -> Indexes:
        if self.codes is not None:
            return self.codes[rows[:, beside]]
        return np.zeros(len(rows), np.int64) if self.key is None else self.key.codes_of(rows, singles)


def certain_gaps(
    shape: Shape, events: Events, candidates: Sequence[Indexes], partition_by: tuple[str, ...],
) -> tuple[CertainGap, ...]:  # fmt: skip
    """The gaps whose rivals are known by their key alone, in a pattern that binds single events only."""
    if any(block.kind is not BlockKind.SINGLE for block in shape.blocks):
        return ()
    return tuple(
        _certain_gap(gap, rule, shape.alternative, events, candidates, partition_by)
        for rule, gap in _gaps(shape)
        if rule.component is None or _linked_by_keys(shape.alternative, events, rule.component)
    )


def _gaps(shape: Shape) -> Iterator[tuple[AbsenceRule, int]]:
    for rule in shape.rules:
        if not rule.spared and not rule.members_too:
            for region in rule.regions:
                gap = gap_of(region)
                if gap is not None:
                    yield rule, gap


def _linked_by_keys(alternative: Alternative, events: Events, component: int) -> bool:
    """Whether whatever links a component to earlier ones is an equality of values of one exact type."""
    links = Counter(link.components for link in alternative.links if link.decides == component)
    equal: Counter[tuple[int, ...]] = Counter()
    for each in alternative.equalities:
        if component in (each.left, each.right):
            types = {events.frame.schema[name] for name in (each.left_attribute, each.right_attribute)}
            exact = len(types) == 1 and not any(kind.is_float() for kind in types)
            earlier = max(each.left, each.right) == component and each.left != each.right
            equal[tuple(sorted((each.left, each.right)))] += exact and earlier
    return all(equal[pair] == count for pair, count in links.items())


def _certain_gap(
    gap: int, rule: AbsenceRule, alternative: Alternative, events: Events, candidates: Sequence[Indexes],
    partition_by: tuple[str, ...],
) -> CertainGap:  # fmt: skip
    key, codes = None, None
    if rule.component is None:
        event = events.happening
        codes = partition_codes(partition_by, events) if rule.by_key else None
        event_codes = np.zeros(len(event), np.int64) if codes is None else codes[event]
    else:
        event = candidates[rule.component]
        if any(link.decides == rule.component for link in alternative.links):
            earlier = {i for i in alternative.positive if i < rule.component}
            key = join_key(alternative, partition_by, events, rule.component, earlier, event)
            event_codes = key.candidate_codes
        else:
            codes = partition_codes(partition_by, events) if partition_by else None
            event_codes = np.zeros(len(event), np.int64) if codes is None else codes[event]
    usable = event_codes >= 0
    event, event_codes = event[usable], event_codes[usable]
    lower, upper = events.masses.lower[event], events.masses.upper[event]
    by_lower, by_upper = order_of(event_codes, lower), order_of(event_codes, upper)
    key_starts = starts_of(event_codes)
    least, greatest = upper[by_lower], lower[by_upper]
    _run(key_starts, least, greatest)
    return CertainGap(gap, key_starts, lower[by_lower], least, upper[by_upper], greatest, codes, key)


@kernel
def _run(key_starts, least, greatest):
    """Make `least` the minimum from each place on, and `greatest` the maximum up to each, within each key."""
    for k in range(len(key_starts) - 1):
        for at in range(key_starts[k + 1] - 2, key_starts[k] - 1, -1):
            least[at] = min(least[at], least[at + 1])
        for at in range(key_starts[k] + 1, key_starts[k + 1]):
            greatest[at] = max(greatest[at], greatest[at - 1])


@kernel
def _least_after(key_starts, lower, least, keys, after):
    """For each match the least `upper` of what begins after a tick."""
    found = np.full(len(keys), UNBOUNDED)
    for i in range(len(keys)):
        if 0 <= keys[i] < len(key_starts) - 1:
            start, stop = key_starts[keys[i]], key_starts[keys[i] + 1]
            at = start + np.searchsorted(lower[start:stop], after[i], side="right")
            if at < stop:
                found[i] = least[at]
    return found


@kernel
def _greatest_before(key_starts, upper, greatest, keys, until):
    """For each match the greatest `lower` of what ends before a tick."""
    found = np.full(len(keys), -UNBOUNDED)
    for i in range(len(keys)):
        if 0 <= keys[i] < len(key_starts) - 1:
            start, stop = key_starts[keys[i]], key_starts[keys[i] + 1]
            at = start + np.searchsorted(upper[start:stop], until[i])
            if at > start:
                found[i] = greatest[at - 1]
    return found


@dataclass(frozen=True)
class ClockJoin:
    """Candidates of one step by key and clock, with their own parts.

    `together`: every pair of a key and a clock as one number, ascending; `only`: of every key the clock of
    all its candidates, _SEVERAL where they have more than one.  `by_key`: whether every key has one
    clock, which then stands at the number of the key in `together`.
    """

    clocks: EventClocks
    index: IntervalIndex
    together: Indexes
    only: Indexes
    by_key: bool

    @classmethod
    def of(cls, clocks: EventClocks, event: Indexes, codes: Indexes) -> ClockJoin:
        """Prepare the candidates `event` with keys `codes`, both of shape (m,); -1 joins nothing."""
        event, codes = event[codes >= 0], codes[codes >= 0]
        clock = clocks.clock[event]
        least = np.full(int(codes.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        most = np.full(len(least), np.iinfo(np.int64).min)
        np.minimum.at(least, codes, clock)
        np.maximum.at(most, codes, clock)
        only = np.where((least == most) & (least != NO_CLOCK), least, _SEVERAL)
        width = len(clocks.offsets.lower)
        by_key = len(only) > 0 and bool((only != _SEVERAL).all())
        if by_key:
            together, place, chosen = np.arange(len(only)) * width + only, codes, event
        else:
            stamped = np.flatnonzero(clock != NO_CLOCK)
            chosen = event[stamped]
            together, place = np.unique(codes[stamped] * width + clock[stamped], return_inverse=True)
        index = interval_index(chosen, place.reshape(-1), clocks.own.lower[chosen], clocks.own.upper[chosen])
        return cls(clocks, index, together, only, by_key)

    def together_keys(self, rows: Indexes, before: tuple[int, ...], codes: Indexes) -> Indexes | None:
        """The keys in `index` of rows that are on one clock with all candidates; None where one is not."""
        if not self.by_key:
            return None
        clock = self.clocks.clock
        mine = clock[rows[:, before[0]]]
        alike = (self.only[codes] == mine) | (codes < 0)
        for each in before[1:]:
            alike &= clock[rows[:, each]] == mine
        return codes if alike.all() else None

    def pairs(
        self,
        envelopes: IntervalIndex,
        masses: Masses,
        system: Ticks,
        rows: Indexes,
        before: tuple[int, ...],
        column: int,
        codes: Indexes,
        reach: tuple[Ticks, Ticks],
        at_once: int,
    ) -> Iterator[tuple[Indexes, Indexes]]:
        """Pairs of a row and an event that can be new to it, as `overlapping` yields them.

        `reach` are the ticks that the event may have, `codes` the keys of the rows, `before` their columns.
        """
        clock = self.clocks.clock
        met: list[Indexes] = []
        for each in before:
            mine = clock[rows[:, each]]
            fresh = mine != NO_CLOCK
            for other in met:
                fresh &= mine != other
            met.append(mine)
            chosen = np.flatnonzero(fresh)
            if len(chosen):
                ticks = self._own_reach(masses, system, rows[chosen], before, column, mine[chosen])
                for row, event in overlapping(
                    self.index, self._keys(codes[chosen], mine[chosen]), *ticks, at_once
                ):
                    yield chosen[row], event
        only = self.only[codes] if len(self.only) else codes
        elsewhere = codes.copy()
        for mine in met:
            elsewhere[(only == mine) & (mine != NO_CLOCK)] = -1
        for row, event in overlapping(envelopes, elsewhere, *reach, at_once):
            kept = np.ones(len(row), dtype=bool)
            for mine in met:
                kept &= (clock[event] == NO_CLOCK) | (clock[event] != mine[row])
            yield row[kept], event[kept]

    def _keys(self, codes: Indexes, clock: Indexes) -> Indexes:
        wanted = codes * len(self.clocks.offsets.lower) + clock
        at = np.minimum(np.searchsorted(self.together, wanted), max(len(self.together) - 1, 0))
        found = (self.together[at] == wanted) if len(self.together) else np.zeros(len(wanted), dtype=bool)
        return np.where(found & (codes >= 0), at, -1)

    def _own_reach(
        self,
        masses: Masses,
        system: Ticks,
        rows: Indexes,
        before: tuple[int, ...],
        column: int,
        mine: Indexes,
    ) -> tuple[Ticks, Ticks]:
        """Own ticks that an event of clock `mine` may have, given what is bound."""
        own, offsets = self.clocks.own, self.clocks.offsets
        first = np.full(len(rows), -UNBOUNDED, dtype=np.int64)
        last = np.full(len(rows), UNBOUNDED, dtype=np.int64)
        for other in before:
            event = rows[:, other]
            same = self.clocks.clock[event] == mine
            if (limit := int(system[column, other])) < UNBOUNDED:
                ends = np.where(same, own.upper[event], masses.upper[event] - offsets.lower[mine])
                last = np.minimum(last, shifted(ends, limit))
            if (limit := int(system[other, column])) < UNBOUNDED:
                ends = np.where(same, own.lower[event], masses.lower[event] - offsets.upper[mine])
                first = np.maximum(first, shifted(ends, -limit))
        return first, last


def possible_rows(clocks: EventClocks, system: Ticks, rows: Indexes, columns: tuple[int, ...]) -> Indexes:
    """The partial matches that own parts and offsets allow; `columns` are bound."""
    bound = np.array(columns)
    first, several = clocks.clock[rows[:, columns[0]]], np.zeros(len(rows), dtype=bool)
    for column in columns[1:]:
        several |= clocks.clock[rows[:, column]] != first
    mixed = np.flatnonzero(several)
    if not len(mixed):
        return rows
    kept = np.ones(len(rows), dtype=bool)
    chosen, constraints = rows[np.ix_(mixed, bound)], system[np.ix_(bound, bound)]
    kept[mixed] = possible_on_clocks(clocks, constraints, chosen)
    return rows[kept]
