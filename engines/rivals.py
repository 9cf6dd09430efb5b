"""Who could break a match: for every rule of absence, pairs of a match and an event that fits.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.bindings import Bound, Group, take
from cepctl.engines.constraints import UNBOUNDED
from cepctl.engines.events import Events
from cepctl.engines.group_predicates import group_link_holds
from cepctl.engines.interval_join import interval_index, overlapping
from cepctl.engines.join_keys import join_key, partition_codes
from cepctl.engines.masses import Masses
from cepctl.engines.predicates import links_hold
from cepctl.engines.shape import AbsenceRule, Point, Region, Shape
from cepctl.engines.tick_sums import shifted
from cepctl.engines.types import Flags, Indexes, Ticks
from cepctl.plan.plan import Link, Scope


@dataclass(frozen=True)
class Rivals:
    """Pairs (match row, event) of one rule; in a possible world the event may break the match."""

    rule: AbsenceRule
    row: Indexes
    event: Indexes

    def taken(self, rows: Indexes) -> Rivals:
        """The pairs of some matches (ascending), which are numbered anew."""
        number = np.full(max(rows.max(initial=-1), self.row.max(initial=-1)) + 1, -1)
        number[rows] = np.arange(len(rows))
        at = number[self.row]
        kept = at >= 0
        return replace(self, row=at[kept], event=self.event[kept])


@dataclass(frozen=True)
class Spans:
    """Earliest and latest tick of the first and the last member of every block, shape (n, blocks)."""

    first_lower: Ticks
    first_upper: Ticks
    last_lower: Ticks
    last_upper: Ticks


def rivals_of(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bound],
    spans: Spans,
    *,
    by_partition: bool,
) -> list[Rivals]:
    """Pairs for every rule.

    `bound` gives the bindings per positive component; `by_partition` says that strangers count only
    in the match's own partition.
    """
    found = []
    for rule in shape.rules:
        row, event = _pairs(shape, events, candidates, partition_by, bound, spans, rule, by_partition)
        other = ~_is_bound(shape, rule, bound, row, event, len(events))
        row, event = row[other], event[other]
        if rule.component is not None:
            keep = _links_hold(shape, events, rule.component, bound, row, event)
            row, event = row[keep], event[keep]
        found.append(Rivals(rule, row, event))
    return found


def spans_of(masses: Masses, groups: Sequence[Group]) -> Spans:
    """Where the first and last member of every block can be, by their own intervals alone."""
    lower = [masses.lower[group.members] for group in groups]
    upper = [masses.upper[group.members] for group in groups]
    begins = [group.offsets[:-1] for group in groups]
    return Spans(
        *(
            np.stack([extreme.reduceat(t, b) for t, b in zip(ticks, begins, strict=True)], axis=1)
            for extreme, ticks in (
                (np.minimum, lower), (np.minimum, upper), (np.maximum, lower), (np.maximum, upper)
            )
        )
    )  # fmt: skip


def certainly_broken(rivals: list[Rivals], masses: Masses, spans: Spans) -> Flags:
    """Matches that no world returns, because some rival lies in a region wherever it and its ends are.

    Shape (n,).  This is the bound that ZDI10 calls NELT, for every rule of absence.
    """
    broken = np.zeros(len(spans.first_lower), dtype=bool)
    for each in rivals:
        # Where some ticks are spared, nothing is certain.
        for region in () if each.rule.spared else each.rule.regions:
            inside = np.ones(len(each.row), dtype=bool)
            for end in region:
                limit = np.full(len(spans.first_lower), end.constant)
                if end.point is not None:
                    limit = shifted(_extreme(end.point, spans, latest=end.is_lower), end.constant)
                if end.is_lower:
                    inside &= masses.lower[each.event] >= limit[each.row]
                else:
                    inside &= masses.upper[each.event] <= limit[each.row]
            broken[each.row[inside]] = True
    return broken


def _pairs(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bound],
    spans: Spans,
    rule: AbsenceRule,
    by_partition: bool,
) -> tuple[Indexes, Indexes]:
    """Events with the right keys whose interval reaches into the widest region of the rule."""
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
    first, last = _widest(rule, spans)
    parts = list(overlapping(index, codes, first, last))
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _as_column(bound: Bound) -> Indexes:
    assert not isinstance(bound, Group)
    return bound


def some_event(bound: dict[int, Bound]) -> Indexes:
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
            first = np.maximum(first, shifted(_extreme(end.point, spans, latest=False), end.constant))
        else:
            last = np.minimum(last, shifted(_extreme(end.point, spans, latest=True), end.constant))
    return first, last


def _extreme(point: Point, spans: Spans, *, latest: bool) -> Ticks:
    """Latest or earliest tick that a point can have."""
    if point.role == "first":
        ticks = spans.first_upper if latest else spans.first_lower
    elif point.role == "last":
        ticks = spans.last_upper if latest else spans.last_lower
    else:
        ticks = spans.last_upper if latest else spans.first_lower
    column: Ticks = ticks[:, point.block]
    return column


def _is_bound(
    shape: Shape, rule: AbsenceRule, bound: dict[int, Bound], row: Indexes, event: Indexes, count: int
) -> Flags:
    """Whether the event of a pair is no rival, being bound by the match itself; `count` events in all."""
    spared = -1
    if rule.members_too and rule.component is not None:
        spared = shape.blocks[shape.block_of(rule.component) - 1].components[0]
    found = np.zeros(len(row), dtype=bool)
    for component, each in bound.items():
        if component == spared:
            continue
        if isinstance(each, Group):
            found |= np.isin(row * count + event, each.owner * count + each.members)
        else:
            found |= each[row] == event
    return found


def _links_hold(
    shape: Shape, events: Events, component: int, bound: dict[int, Bound], row: Indexes, event: Indexes
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether the events fit, given what the match binds before; each member of a group must agree."""
    holds = np.ones(len(row), dtype=bool)
    negated = shape.alternative.components[component].negated
    for link in shape.alternative.links:
        if link.decides != component:
            continue
        if link.scope is Scope.EVENT:
            holds &= link_holds_for_pairs(shape, events, link, component, bound, row, event)
        elif negated:
            own: dict[int, Bound] = {component: event}
            read = {i: take(bound[i], row) for i in link.components if i != component}
            holds &= group_link_holds(events, shape.alternative, link, own | read)
    return holds


def link_holds_for_pairs(
    shape: Shape, events: Events, link: Link, component: int, bound: dict[int, Bound], row: Indexes,
    event: Indexes,
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:  # fmt: skip
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
    held = links_hold(events, shape.alternative, [link], chosen)
    assert held is not None
    broken = np.bincount(pair[~held], minlength=len(row)) > 0
    return ~broken
