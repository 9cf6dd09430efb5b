"""The rival join: for each absence rule, the (match, event) pairs whose event could invalidate the match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.predicates import group_link_holds, links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import AbsenceRule, Shape
from cepctl.engines.pattern.rival_joins import RivalJoin, RuleIndexes, Spans, extreme
from cepctl.plan.plan import Alternative, Link, Scope


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


def rivals_of(
    shape: Shape,
    events: Events,
    candidates: tuple[Indexes, ...],
    partition_by: tuple[str, ...],
    bound: dict[int, Bindings],
    spans: Spans,
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
                    limit = shifted(extreme(end.point, spans, latest=end.is_lower), end.constant)
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
