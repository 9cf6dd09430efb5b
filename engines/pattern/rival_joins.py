"""Which events can reach where a rule of absence looks: a range join per rule, counted before it is listed.

What is joined depends on the events alone, and is sorted once for all batches of matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import JoinKey, join_key, partition_codes
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


@dataclass(frozen=True)
class RuleIndex:
    """Where the rivals of one rule are looked for, whatever the match.

    `codes` gives the key of every event; or else `key` that of the match from its single events.
    """

    rule: AbsenceRule
    index: IntervalIndex
    key: JoinKey | None
    codes: Indexes | None

    def join(self, bound: dict[int, Bindings], spans: Spans) -> RivalJoin:
        """Where the rivals of some matches may be."""
        if self.codes is not None:
            keys = self.codes[some_event(bound)]
        elif self.key is not None:
            singles = [i for i, each in bound.items() if not isinstance(each, Group)]
            keys = self.key.codes_of(np.stack([_as_column(bound[i]) for i in singles], axis=1), singles)
        else:
            keys = np.zeros(len(spans.first_lower), dtype=np.int64)
        return RivalJoin(self.rule, self.index, keys, *_widest(self.rule, spans))


@dataclass(frozen=True)
class RuleIndexes:
    """Where the rivals of every rule of a shape are looked for: made once, asked by each batch of matches."""

    shape: Shape
    events: Events
    candidates: tuple[Indexes, ...]
    partition_by: tuple[str, ...]
    _made: dict[frozenset[int], list[RuleIndex]] = field(default_factory=dict, compare=False, repr=False)

    def joins(self, bound: dict[int, Bindings], spans: Spans) -> list[RivalJoin]:
        """One join for every rule; `bound` gives the bindings per positive component."""
        singles = frozenset(i for i, each in bound.items() if not isinstance(each, Group))
        indexes = self._made.get(singles)
        if indexes is None:
            # Two threads may both make them; they are the same.
            indexes = [_rule_index(self, rule, singles) for rule in self.shape.rules]
            self._made[singles] = indexes
        return [each.join(bound, spans) for each in indexes]


def _rule_index(of: RuleIndexes, rule: AbsenceRule, singles: frozenset[int]) -> RuleIndex:
    alternative, events = of.shape.alternative, of.events
    key, codes = None, None
    if rule.component is None:
        event = events.happening
        if rule.by_key:
            codes = partition_codes(of.partition_by, events)
        event_codes = np.zeros(len(event), np.int64) if codes is None else codes[event]
    else:
        negated = alternative.components[rule.component].negated
        earlier = singles if negated else {i for i in singles if i < rule.component}
        event = of.candidates[rule.component]
        found = join_key(alternative, of.partition_by, events, rule.component, earlier, event)
        event_codes = found.candidate_codes
        if earlier:
            key = found
        elif of.partition_by:
            codes = partition_codes(of.partition_by, events)
            event_codes = codes[event]
    usable = event_codes >= 0
    event, event_codes = event[usable], event_codes[usable]
    index = interval_index(event, event_codes, events.masses.lower[event], events.masses.upper[event])
    return RuleIndex(rule, index, key, codes)


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
