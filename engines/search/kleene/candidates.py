"""Which events can be members of a Kleene group, and what it is chosen from: what it must, and may hold.

ZDI14, section 5.2: a predicate may be judged before a group is finished iff its falsehood is final, which
`cepctl.plan.consistency` tells for members added anywhere.  Sequences grow at their end alone, so there
everything is final that a member asks of those before it.  All else is postponed to the finished group.

    predicate over b[]        judged early
    max(b[].x) < 5            yes, false stays false
    sum(b[].x) <= 9           where no x is negative
    avg(b[].x) > 5            no, another member may mend it
    b[i].x > b[i-1].x         yes, sequences grow at their end
    b[last].x > 5             no, the last member is not known yet

Under skip_till_next_match and contiguity a group holds every event between its ends; those that
certainly are between them are in it, and only the others are chosen from.  At an edge of the pattern,
where nothing else ends a group, one of its members does: each candidate is tried as that member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import overlapping, partition_codes
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import occur_in, places_in_runs
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.rivals import link_holds_for_pairs, some_event
from cepctl.engines.search.kleene.cell_bounds import CellBounds, SureGap
from cepctl.engines.search.search import Search, reach
from cepctl.language.aggregates import AGGREGATES, GrowthBound
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression
from cepctl.language.traversal import rewrite, walk
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.consistency import Consistency, consistency
from cepctl.plan.plan import Alternative, Component, Link, Plan, Scope

_NO_EVENTS = Group(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))


def group_candidates(
    search: Search, shape: Shape, events: Events, rows: Indexes, bound: dict[int, Bindings], component: int
) -> tuple[Indexes, Indexes]:
    """Pairs (row, event): events that fit and that some tick of the row leaves room for.

    `search`, `shape`, `events`: the alternative, prepared, and the events.  `rows`: partial matches as
    `cepctl.engines.search.search.enumeration_parts` yields them, shape (n, l).  `bound`: the same by
    component, with the groups that are bound already.  `component`: the Kleene component that is to be bound.
    Returns two arrays of one length; the rows ascend, the events of a row come in the order of their ids.
    """
    known = [i for i, each in bound.items() if not isinstance(each, Group)]
    row, found = _in_reach(search, events, rows, known, component)
    fresh = (rows[row] != found[:, None]).all(axis=1)
    for each in bound.values():
        if isinstance(each, Group):
            fresh &= ~occur_in(row * len(events) + found, each.owner * len(events) + each.members)
    if bound and not known and search.partition_by:
        keys = partition_codes(search.partition_by, events)
        fresh &= keys[found] == keys[some_event(bound)][row]
    row, found = row[fresh], found[fresh]
    for link in shape.alternative.links:
        negated = shape.alternative.components[link.decides].negated
        decidable = component in link.components and set(link.components) <= {*bound, component}
        if link.scope is Scope.EVENT and decidable and not negated and len(link.components) > 1:
            keep = link_holds_for_pairs(shape.alternative, events, link, component, bound, row, found)
            row, found = row[keep], found[keep]
    order = np.lexsort((events.id_rank[found], row))
    return row[order], found[order]


def _in_reach(
    search: Search, events: Events, rows: Indexes, known: list[int], component: int
) -> tuple[Indexes, Indexes]:
    """Pairs with equal keys whose interval reaches between the events that are bound."""
    join = search.group_join(events, component, frozenset(known))
    codes = join.key.codes_of(rows, search.singles) if known else np.zeros(len(rows), dtype=np.int64)
    columns = tuple(search.singles.index(i) for i in known)
    first, last = reach(events.masses, search.system, rows, columns, search.singles.index(component))
    parts = list(overlapping(join.index, codes, first, last))
    row = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    return row, np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])


_FINAL = (Consistency.FALSE, Consistency.BOTH)


@dataclass(frozen=True)
class EarlyFilter:
    """Predicates over one group that can be judged while it grows beside what is bound already.

    `links` with the truth value that an unknown one counts as: what may still become true is kept.
    """

    events: Events
    alternative: Alternative
    component: int
    bound: dict[int, Bindings]
    links: tuple[tuple[Link, bool], ...]

    @classmethod
    def of(
        cls,
        events: Events,
        alternative: Alternative,
        component: int,
        bound: dict[int, Bindings],
        members: Indexes,
    ) -> EarlyFilter:
        """`members` are all events that can be in the group."""
        found = []
        for link in alternative.links:
            if link.scope is Scope.EVENT or component not in link.components:
                continue
            if not set(link.components) <= {*bound, component}:
                continue
            if alternative.components[component].ordered and _looks_back_only(link.expression):
                found.append((link, False))
            elif consistency(_rising(link.expression, events, members)) in _FINAL:
                found.append((link, True))
        return cls(events, alternative, component, bound, tuple(found))

    def hold(self, rows: Indexes, members: Indexes) -> Flags:
        """Which groups may still grow or be finished: `members` of shape (n, size), of the rows `rows`."""
        held = np.ones(len(members), dtype=bool)
        if not self.links or not len(members):
            return held
        offsets = np.arange(0, members.size + 1, members.shape[1], dtype=np.int64)
        read = {i for link, _ in self.links for i in link.components if i != self.component}
        bound = {i: take(self.bound[i], rows) for i in read}
        bound[self.component] = Group(offsets, members.reshape(-1))
        for link, unknown in self.links:
            held &= group_link_holds(self.events, self.alternative, link, bound, unknown=unknown)
        return held


def _looks_back_only(expression: Expression) -> bool:
    """Whether each member asks of itself and of those before it alone."""
    return not any(
        (isinstance(each, Attribute | EventTime) and each.member == "last")
        or (isinstance(each, Aggregate) and not each.before)
        for each in walk(expression)
    )


def _rising(expression: Expression, events: Events, members: Indexes) -> Expression:
    """The expression with a sum of what is never negative put as what rises like it: a count.

    Whole numbers only: the rounding of a sum of floats depends on who is in it.
    """

    def change(each: Expression) -> Expression:
        if (
            isinstance(each, Aggregate)
            and AGGREGATES[each.function].growth is GrowthBound.RISES_UNLESS_NEGATIVE
            and each.name is not None
            and not each.before
        ):
            values = events.frame.get_column(each.name).gather(members)
            if values.dtype.is_integer() and (values.drop_nulls() >= 0).all():
                return Aggregate("count", each.variable, each.name)
        return each

    return rewrite(expression, change)


@dataclass(frozen=True)
class GroupChoices:
    """Per row the events a group is chosen from: optional ones in id order, and those it must hold.

    Nested offsets: row i owns optional[offsets[i]:offsets[i + 1]], and so on.  `bounds`, where a threshold
    of confidence asks for them, bound the probability of groups; `whole`, whether events that are not chosen
    must lie outside of the gap.
    """

    row: Indexes
    optional: Group
    certain: Group
    component: Component
    bounds: CellBounds | None = None
    whole: bool = False

    def groups(self, owner: Indexes, members: Indexes, id_rank: Indexes) -> tuple[Indexes, Group]:
        """Rows and groups of these optional members, shape (n, size), and the certain ones, in id order."""
        certain = self.certain.take(owner)
        size = members.shape[1]
        row = np.concatenate([certain.owner, np.repeat(np.arange(len(owner)), size)])
        event = np.concatenate([certain.members, members.reshape(-1)])
        order = np.lexsort((id_rank[event], row))
        offsets = np.concatenate([[0], np.cumsum(certain.sizes + size)]).astype(np.int64)
        return self.row[owner], Group(offsets, event[order])


@dataclass(frozen=True)
class WholeSpans:
    """Groups of one component that hold every event between their ends."""

    plan: Plan
    shape: Shape
    masses: Masses
    component: int

    @property
    def leading(self) -> bool:
        """Whether no event before the group begins it."""
        return self.shape.block_of(self.component) == 0

    @property
    def trailing(self) -> bool:
        """Whether nothing after the group ends it; the window does where they fill it."""
        last = self.shape.block_of(self.component) == len(self.shape.blocks) - 1
        return last and not self._fills_window

    @property
    def _fills_window(self) -> bool:
        return self.shape.alternative.components[self.component].fills_window(self.plan.strategy)

    @property
    def anchored(self) -> bool:
        """Whether a member ends the groups, so that the same group may be chosen several times."""
        return self.leading or self.trailing

    def choices(self, optional: Group, bound: dict[int, Bindings]) -> GroupChoices:
        """Which of the events that can be in a group certainly are, beside what is bound already."""
        wanted = self.shape.alternative.components[self.component]
        after, until = self._certain_span(len(optional.sizes), bound)
        row, event = optional.owner, optional.members
        lower, upper = self.masses.lower[event], self.masses.upper[event]
        if not self.anchored:
            certain = (lower > after[row]) & (upper < until[row])
            return _split(wanted, np.arange(len(optional.sizes)), row, event, certain)
        # One member is the first (last) one: what certainly lies between it and the other end is in.
        anchor, within = places_in_runs(optional.sizes[row])
        other = optional.offsets[row[anchor]] + within
        certain, outside = other == anchor, np.zeros(len(other), dtype=bool)
        beyond = until[row[anchor]]
        since = after[row[anchor]]
        if self.leading:
            certain |= (lower[other] > upper[anchor]) & (upper[other] < beyond) & (not self.trailing)
            outside |= upper[other] < lower[anchor]
        if self.trailing and not self.leading:
            certain |= (lower[other] > since) & (upper[other] < lower[anchor])
            outside |= lower[other] > upper[anchor]
        inside = ~outside
        return _split(wanted, row, anchor[inside], event[other[inside]], certain[inside], anchors=len(event))

    def sure_gap(self, count: int, bound: dict[int, Bindings]) -> SureGap | None:
        """Where whatever fits certainly is in the groups; None where a member ends them."""
        if self.anchored:
            return None
        after, until = self._certain_span(count, bound)
        number, blocks = self.shape.block_of(self.component), self.shape.blocks
        ends, reach = number + 1, -1
        if ends == len(blocks):
            assert self.plan.window is not None
            ends, reach = 0, self.plan.window - 1
        first, last = (_single(bound, blocks[each].components) for each in (number - 1, ends))
        return SureGap(shifted(after, 1), shifted(until, -1), first, last, reach)

    def _certain_span(self, count: int, bound: dict[int, Bindings]) -> tuple[Ticks, Ticks]:
        """Ticks between which an event is certainly between the group's neighbours (ends excluded)."""
        masses, blocks = self.masses, self.shape.blocks
        after, until = np.full(count, -UNBOUNDED), np.full(count, UNBOUNDED)
        number, last = self.shape.block_of(self.component), len(blocks) - 1
        if number > 0:
            after = _extreme(bound, blocks[number - 1].components, masses.upper, count, latest=True)
        if number < last:
            until = _extreme(bound, blocks[number + 1].components, masses.lower, count, latest=False)
        elif self._fills_window:
            if number > 0 and self.plan.window is not None:
                first = _extreme(bound, blocks[0].components, masses.lower, count, latest=False)
                until = np.minimum(first, UNBOUNDED - self.plan.window) + self.plan.window
            elif number == 0:
                until = np.full(count, -UNBOUNDED)
        return after, until


def _split(
    component: Component,
    row: Indexes,
    owner: Indexes,
    event: Indexes,
    certain: Flags,
    anchors: int | None = None,
) -> GroupChoices:
    """Optional and certain events per owner; `row` gives the row of every owner."""
    count = len(row) if anchors is None else anchors
    parts = []
    for wanted in (~certain, certain):
        parts.append(Group(np.searchsorted(owner[wanted], np.arange(count + 1)), event[wanted]))
    return GroupChoices(row, parts[0], parts[1], component)


def distinct(found: Sequence[tuple[Indexes, Group]]) -> list[tuple[Indexes, Group]]:
    """Each row's groups once, all together: several anchors can lead to the same group."""
    if not found:
        return []
    row = np.concatenate([each[0] for each in found])
    sizes = np.concatenate([each[1].sizes for each in found])
    group = Group(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([each[1].members for each in found]),
    )
    lists = pl.DataFrame({"owner": group.owner, "member": group.members})
    members = lists.group_by("owner", maintain_order=True).agg("member").get_column("member")
    frame = pl.DataFrame({"row": row, "members": members.cast(pl.List(pl.String)).list.join(" ")})
    first = frame.select(pl.struct("row", "members").is_first_distinct()).to_series()
    kept = np.flatnonzero(first.to_numpy())
    return [(row[kept], group.take(kept))]


def _extreme(
    bound: dict[int, Bindings], components: tuple[int, ...], ticks: Ticks, count: int, *, latest: bool
) -> Ticks:
    """Latest (earliest) tick over the events of a block; no limit known where it is not bound yet."""
    unknown = UNBOUNDED if latest else -UNBOUNDED
    found = [np.full(count, -unknown)]
    for component in components:
        if component not in bound:
            return np.full(count, unknown)
        each = bound[component]
        if isinstance(each, Group):
            reduce = np.maximum if latest else np.minimum
            found.append(reduce.reduceat(ticks[each.members], each.offsets[:-1]))
        else:
            found.append(ticks[each])
    return np.asarray(np.max(found, axis=0) if latest else np.min(found, axis=0))


def _single(bound: dict[int, Bindings], components: tuple[int, ...]) -> int:
    """The one component of a block, if it is bound to single events, else -1."""
    known = len(components) == 1 and not isinstance(bound.get(components[0], _NO_EVENTS), Group)
    return components[0] if known else -1


def positions(begin: Indexes, end: Indexes) -> Group:
    """The positions from one to another, the latter excluded, as a group for each pair of them."""
    row, place = places_in_runs(end - begin)
    return Group(np.concatenate([[0], np.cumsum(end - begin)]).astype(np.int64), begin[row] + place)
