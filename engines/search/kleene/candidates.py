"""Which events can be members of a Kleene group, and which predicates end its growth before it is finished.

ZDI14, section 5.2: a predicate may be judged early iff its falsehood is final, which
`cepctl.plan.consistency` tells for members added anywhere.  Sequences grow at their end alone, so there
everything is final that a member asks of those before it.  All else is postponed to the finished group.

    predicate over b[]        judged early
    max(b[].x) < 5            yes, false stays false
    sum(b[].x) <= 9           where no x is negative
    avg(b[].x) > 5            no, another member may mend it
    b[i].x > b[i-1].x         yes, sequences grow at their end
    b[last].x > 5             no, the last member is not known yet
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import partition_codes
from cepctl.engines.columns.numbering import occur_in
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.columns.range_join import overlapping
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import link_holds_for_pairs, some_event
from cepctl.engines.search.search import Search, reach
from cepctl.language.aggregates import AGGREGATES, GrowthBound
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression
from cepctl.language.traversal import rewrite, walk
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.consistency import Consistency, consistency
from cepctl.plan.plan import Alternative, Link, Scope


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
