"""Which events can reach where a rule of absence looks: a range join per rule, counted before it is listed.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import join_key, partition_codes
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.range_join import Candidates, IntervalIndex, candidates_of, interval_index, listed
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


@dataclass(frozen=True)
class Spans:
    """Earliest and latest tick of the first and the last member of every block, shape (n, blocks)."""

    first_lower: Ticks
    first_upper: Ticks
    last_lower: Ticks
    last_upper: Ticks


def spans_of(masses: Masses, groups: Sequence[Group]) -> Spans:
    """Where the first and last member of every block can be, by their own intervals alone."""
    lower = [masses.lower[group.members] for group in groups]
    upper = [masses.upper[group.members] for group in groups]
    if all(len(group.members) == len(group.offsets) - 1 for group in groups):
        first, last = np.stack(lower, axis=1), np.stack(upper, axis=1)
        return Spans(first, last, first, last)
    begins = [group.offsets[:-1] for group in groups]
    return Spans(
        *(
            np.stack([extreme.reduceat(t, b) for t, b in zip(ticks, begins, strict=True)], axis=1)
            for extreme, ticks in (
                (np.minimum, lower), (np.minimum, upper), (np.maximum, lower), (np.maximum, upper)
            )
        )
    )  # fmt: skip


@dataclass(frozen=True)
class RivalJoin:
    """For n matches where the rivals of one rule may be: a key and ticks `first`..`last`, shape (n,)."""

    rule: AbsenceRule
    index: IntervalIndex
    key: Indexes
    first: Ticks
    last: Ticks

    def taken(self, part: slice) -> RivalJoin:
        """The same for some of the matches."""
        return replace(self, key=self.key[part], first=self.first[part], last=self.last[part])

    @cached_property
    def candidates(self) -> Candidates:
        """Where the rivals of each match stand in the index."""
        return candidates_of(self.index, self.key, self.first, self.last)

    def pairs(self) -> tuple[Indexes, Indexes]:
        """Pairs (match row, event) with the right keys that reach into the widest region of the rule."""
        parts = list(listed(self.index, self.candidates, self.first))
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def rival_joins(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bindings],
    spans: Spans,
    *,
    by_partition: bool,
) -> list[RivalJoin]:
    """One join for every rule; the parameters are those of `cepctl.engines.pattern.rivals.rivals_of`."""
    return [
        _join(shape, events, candidates, partition_by, bound, spans, rule, by_partition)
        for rule in shape.rules
    ]


def _join(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bindings],
    spans: Spans,
    rule: AbsenceRule,
    by_partition: bool,
) -> RivalJoin:
    count = len(spans.first_lower)
    singles = [i for i, each in bound.items() if not isinstance(each, Group)]
    if rule.component is None:
        event = np.arange(len(events), dtype=np.int64)
        keys = partition_codes(partition_by, events) if by_partition else np.zeros(len(events), np.int64)
        codes = keys[some_event(bound)]
        event_codes = keys
    else:
        earlier = set(singles) if shape.alternative.components[rule.component].negated else {
            i for i in singles if i < rule.component}  # fmt: skip
        event = candidates[rule.component]
        key = join_key(shape.alternative, partition_by, events, rule.component, earlier, event)
        event_codes = key.candidate_codes
        matrix = (
            np.stack([_as_column(bound[i]) for i in singles], axis=1)
            if singles
            else np.zeros((count, 0), np.int64)
        )
        codes = key.codes_of(matrix, singles) if earlier else np.zeros(count, dtype=np.int64)
        if not earlier and partition_by:
            keys = partition_codes(partition_by, events)
            codes, event_codes = keys[some_event(bound)], keys[event]
    usable = event_codes >= 0
    event, event_codes = event[usable], event_codes[usable]
    index = interval_index(event, event_codes, events.masses.lower[event], events.masses.upper[event])
    return RivalJoin(rule, index, codes, *_widest(rule, spans))


def _as_column(bound: Bindings) -> Indexes:
    assert not isinstance(bound, Group)
    return bound


def some_event(bound: dict[int, Bindings]) -> Indexes:
    """One bound event per match: all of a match share the key."""
    each = next(iter(bound.values()))
    return each.members[each.offsets[:-1]] if isinstance(each, Group) else each


def _widest(rule: AbsenceRule, spans: Spans) -> tuple[Ticks, Ticks]:
    ends = [_region_reach(region, spans) for region in rule.regions]
    return np.min([first for first, _ in ends], axis=0), np.max([last for _, last in ends], axis=0)


def _region_reach(region: Region, spans: Spans) -> tuple[Ticks, Ticks]:
    count = len(spans.first_lower)
    first = np.full(count, -UNBOUNDED, dtype=np.int64)
    last = np.full(count, UNBOUNDED, dtype=np.int64)
    for end in region:
        if end.point is None:
            continue
        if end.is_lower:
            first = np.maximum(first, shifted(extreme(end.point, spans, latest=False), end.constant))
        else:
            last = np.minimum(last, shifted(extreme(end.point, spans, latest=True), end.constant))
    return first, last


def extreme(point: Point, spans: Spans, *, latest: bool) -> Ticks:
    """Latest or earliest tick that a point can have."""
    if point.role == "first":
        ticks = spans.first_upper if latest else spans.first_lower
    elif point.role == "last":
        ticks = spans.last_upper if latest else spans.last_lower
    else:
        ticks = spans.last_upper if latest else spans.first_lower
    column: Ticks = ticks[:, point.block]
    return column
