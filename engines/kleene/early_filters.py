"""What ends the growth of a Kleene group before it is finished: predicates, and a threshold of confidence.

ZDI14, section 5.2: a predicate may be judged early iff its falsehood is final, which
`cepctl.plan.consistency` tells for members added anywhere.  Sequences grow at their end alone, so there
everything is final that a member asks of those before it.  All else is postponed to the finished group.

The members must all lie between their neighbours wherever these are: the product of the probabilities
of the widest gap that the intervals leave is an upper bound of the confidence, and only falls.

    predicate over b[]        judged early
    max(b[].x) < 5            yes, false stays false
    sum(b[].x) <= 9           where no x is negative
    avg(b[].x) > 5            no, another member may mend it
    b[i].x > b[i-1].x         yes, sequences grow at their end
    b[last].x > 5             no, the last member is not known yet

Runs inside Spark workers: imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.group_predicates import group_link_holds
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.enumeration.search import Search, reach
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression
from cepctl.language.traversal import rewrite, walk
from cepctl.plan.consistency import Consistency, consistency
from cepctl.plan.plan import Alternative, Link, Scope

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
            and each.function == "sum"
            and each.name is not None
            and not each.before
        ):
            values = events.frame.get_column(each.name).gather(members)
            if values.dtype.is_integer() and (values.drop_nulls() >= 0).all():
                return Aggregate("count", each.variable, each.name)
        return each

    return rewrite(expression, change)


def widest_shares(
    search: Search, events: Events, rows: Indexes, bound: dict[int, Bindings], component: int, members: Group
) -> Reals | None:
    """P(each possible member lies in the widest gap of its row), None without a threshold."""
    if search.push_down is None:
        return None
    columns = tuple(search.singles.index(i) for i, each in bound.items() if not isinstance(each, Group))
    first, last = reach(search, events, rows, columns, search.singles.index(component))
    masses, owner = events.masses, members.owner
    shares = np.empty(len(members.members))
    _mass_between(masses.buckets, members.members, first[owner], last[owner], shares)
    return shares


@njit(nogil=True, cache=True)
def _mass_between(buckets, event, first, last, shares):
    for i in range(len(event)):
        total = 0.0
        for b in range(buckets.starts[event[i]], buckets.starts[event[i] + 1]):
            begin, end = max(buckets.lo[b], first[i]), min(buckets.hi[b], last[i])
            if begin <= end:
                total += buckets.density[b] * tick_count(begin, end)
        shares[i] = min(total, 1.0)
