"""The rival join: for each absence rule, the (match, event) pairs whose event could invalidate the match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from cepctl.engines.columns.bindings import (
    Bindings,
    Group,
    count_of,
    take,
)
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import (
    Candidates,
    IntervalIndex,
    JoinKey,
    candidates_of,
    indexed_events,
    join_key,
    listed,
    partition_codes,
)
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import occur_in
from cepctl.engines.columns.predicates import group_link_holds, links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Point,
    Region,
    Rivals,
    Shape,
)
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.shapes import may_take_further_on
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Alternative, Link, Scope


def rivals_of(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bindings],
    spans: BlockSpans,
    *,
    joins: Sequence[RivalJoin] | None = None,
) -> list[Rivals]:
    """Pairs for every rule.

    `bound` gives the bindings per positive component; `joins` are those of `RuleIndexes`, where known.
    """
    if joins is None:
        joins = RuleIndexes(shape, events, candidates, partition_by).joins(bound, spans)
    found = []
    for join in joins:
        rule = join.rule
        row, event = join.pairs()
        other = ~_is_bound(shape, rule, bound, row, event, len(events))
        row, event = row[other], event[other]
        if rule.component is not None:
            keep = rivals_fit(shape.alternative, events, rule.component, bound, row, event)
            row, event = row[keep], event[keep]
        found.append(Rivals(rule, row, event))
    return found


def certainly_broken(
    rivals: list[Rivals], masses: Masses, spans: BlockSpans, bound: Mapping[int, Bindings] | None = None
) -> Flags:
    """Matches that no world returns, because some rival lies in a region wherever it and its ends are.

    Shape (n,).  `bound` is what they bind, where regions end with one of several.  This is the bound that
    ZDI10 calls NELT, for every rule of absence.
    """
    broken = np.zeros(len(spans.first_lower), dtype=bool)
    for each in rivals:
        # Where some ticks are spared, nothing is certain.
        for region in () if each.rule.spared else each.rule.regions:
            inside = np.ones(len(each.row), dtype=bool)
            for end in region:
                limit = np.full(len(spans.first_lower), end.constant)
                if end.point is not None:
                    only = (bound or {}).get(end.point.component)
                    point = extreme(end.point, spans, latest=end.is_lower)
                    if only is not None and not isinstance(only, Group):
                        point = (masses.upper if end.is_lower else masses.lower)[only]
                    limit = shifted(point, end.constant)
                if end.is_lower:
                    inside &= masses.lower[each.event] >= limit[each.row]
                else:
                    inside &= masses.upper[each.event] <= limit[each.row]
            broken[each.row[inside]] = True
    return broken


def _is_bound(
    shape: Shape, rule: AbsenceRule, bound: dict[int, Bindings], row: Indexes, event: Indexes, count: int
) -> Flags:
    """Whether the event of a pair is not a rival, being bound by the match itself; `count` events in all."""
    spared: tuple[int, ...] = ()
    if rule.members_too:
        group = rule.regions[0][0].point
        assert group is not None
        spared = shape.blocks[group.block].components
    found = np.zeros(len(row), dtype=bool)
    for component, each in bound.items():
        if component in spared:
            continue
        if isinstance(each, Group):
            found |= occur_in(row * count + event, each.owner * count + each.members)
        else:
            found |= each[row] == event
    return found


def take_further_on(
    shape: Shape, events: Events, candidates: Sequence[Indexes], bound: dict[int, Bindings]
) -> Flags:
    """Which matches leave an event to what may be absent that a component behind it would have taken."""
    found = np.zeros(count_of(bound.values()), dtype=bool)
    for _, taken in taken_further_on(shape, events, candidates, bound):
        found |= taken
    return found


def taken_further_on(
    shape: Shape, events: Events, candidates: Sequence[Indexes], bound: dict[int, Bindings]
) -> Iterator[tuple[int, Flags]]:
    """For pairs of components: which matches leave an event that the one behind would have taken."""
    for component, taker in may_take_further_on(shape):
        found = np.zeros(count_of(bound.values()), dtype=bool)
        each = bound[taker]
        event = each.members if isinstance(each, Group) else each
        row = each.owner if isinstance(each, Group) else np.arange(len(each))
        some = np.flatnonzero(np.isin(event, candidates[component]))
        if len(some):
            fits = rivals_fit(shape.alternative, events, component, bound, row[some], event[some])
            found[row[some[fits]]] = True
        yield component, found


def rivals_fit(
    alternative: Alternative, events: Events, component: int, bound: dict[int, Bindings], row: Indexes,
    event: Indexes,
) -> Flags:  # fmt: skip
    """Whether the events fit, given what the match binds before; each member of a group must agree."""
    holds = np.ones(len(row), dtype=bool)
    negated = alternative.components[component].negated
    for link in alternative.links:
        if link.decides != component:
            continue
        if link.scope is Scope.EVENT:
            holds &= link_holds_for_pairs(alternative, events, link, component, bound, row, event)
        elif negated:
            own: dict[int, Bindings] = {component: event}
            read = {i: take(bound[i], row) for i in link.components if i != component}
            holds &= group_link_holds(events, alternative, link, own | read)
    return holds


def link_holds_for_pairs(
    alternative: Alternative, events: Events, link: Link, component: int, bound: dict[int, Bindings],
    row: Indexes, event: Indexes,
) -> Flags:  # fmt: skip
    """Whether a link holds for pairs of a match and an event for `component`; all members must agree."""
    pair = np.arange(len(row))
    chosen = {component: event}
    for other in link.components:
        if other == component:
            continue
        each = bound[other]
        if isinstance(each, Group):
            owned = each.take(row[pair])
            chosen = {i: column[owned.owner] for i, column in chosen.items()}
            pair, chosen[other] = pair[owned.owner], owned.members
        else:
            chosen[other] = each[row[pair]]
    held = links_hold(events, alternative, [link], chosen)
    assert held is not None
    broken = np.bincount(pair[~held], minlength=len(row)) > 0
    return ~broken


@dataclass(frozen=True)
class BlockSpans:
    """Earliest and latest tick of the first and the last member of every block, shape (n, blocks)."""

    first_lower: Ticks
    first_upper: Ticks
    last_lower: Ticks
    last_upper: Ticks


def spans_of(masses: Masses, groups: Sequence[Group]) -> BlockSpans:
    """Where the first and last member of every block can be, by their own intervals alone."""
    lower = [masses.lower[group.members] for group in groups]
    upper = [masses.upper[group.members] for group in groups]
    if all(len(group.members) == len(group.offsets) - 1 for group in groups):
        first, last = np.stack(lower, axis=1), np.stack(upper, axis=1)
        return BlockSpans(first, last, first, last)
    begins = [group.offsets[:-1] for group in groups]
    return BlockSpans(
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
        """The join for some of the matches."""
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

    def join(self, bound: dict[int, Bindings], spans: BlockSpans) -> RivalJoin:
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

    def joins(self, bound: dict[int, Bindings], spans: BlockSpans) -> list[RivalJoin]:
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
    return RuleIndex(rule, indexed_events(events.masses, event, event_codes), key, codes)


def _as_column(bound: Bindings) -> Indexes:
    assert not isinstance(bound, Group)
    return bound


def some_event(bound: dict[int, Bindings]) -> Indexes:
    """One bound event per match: all of a match share the key."""
    each = next(iter(bound.values()))
    return each.members[each.offsets[:-1]] if isinstance(each, Group) else each


def _widest(rule: AbsenceRule, spans: BlockSpans) -> tuple[Ticks, Ticks]:
    ends = [_region_reach(region, spans) for region in rule.regions]
    return np.min([first for first, _ in ends], axis=0), np.max([last for _, last in ends], axis=0)


def _region_reach(region: Region, spans: BlockSpans) -> tuple[Ticks, Ticks]:
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


def extreme(point: Point, spans: BlockSpans, *, latest: bool) -> Ticks:
    """Latest or earliest tick that a point can have."""
    if point.role == "first":
        ticks = spans.first_upper if latest else spans.first_lower
    elif point.role == "last":
        ticks = spans.last_upper if latest else spans.last_lower
    else:
        ticks = spans.last_upper if latest else spans.first_lower
    column: Ticks = ticks[:, point.block]
    return column
