"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint couples are apart: the probabilities multiply.  Two of them have a closed form;
so has any order of them.  Up to four are summed over one or two of them, whatever the constants.  Of more, a
smallest set that touches every constraint are the variables of nested sums, and what is left are factors,
each of which must lie in the region that the variables leave to it.  Where that takes many variables, these
are taken apart, one by one.  Endpoints whose ticks say what a rival is are summed together with all rivals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints, mass_between
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.solve import coupled_confidence, tick_range
from cepctl.engines.confidence.intervals.edges import SHARED, Coupled, OpenEdges, Reached
from cepctl.engines.confidence.intervals.few_endpoints import Cover, few_cover, few_endpoints
from cepctl.engines.confidence.intervals.measure import IntervalMeasure
from cepctl.engines.confidence.intervals.orders import MOST_PLACES, Order, order_confidence, order_of
from cepctl.engines.confidence.intervals.problems import Together, cover_of, problems_of
from cepctl.engines.confidence.method import Guarantee, Heard, Method
from cepctl.engines.confidence.work import ENDPOINTS, NESTED_ENDS

EXACT = Guarantee.EXACT
FEW_VARIABLES = 3
"""So many are summed one inside the other, however many factors they have."""


def probability(
    measure: IntervalMeasure, chosen: OpenEdges, endpoint: Indexes, left: Reached, own: Ticks
) -> Reals:
    """P(all open edges) of n rows of independent endpoints, shape (n, m).

    `left` are the ticks left to them, `own` the constants of their own.

    Raises
    ------
    QueryTooLargeError
        If the sum of a row takes too many products.
    """
    found = np.ones(len(endpoint))
    for group in chosen.coupled:
        columns = list(group.places)
        ticks = left.lower[:, columns], left.upper[:, columns]
        asked = Connected(measure.endpoints, group, endpoint[:, columns], *ticks, own)
        found *= _measured(asked, measure.heard)
    for place in chosen.alone:
        ends = left.lower[:, place], left.upper[:, place]
        found *= mass_between(measure.endpoints.masses, endpoint[:, place], *ends)
    return found


def probability_without_rivals(
    measure: IntervalMeasure, together: Together, endpoint: Indexes, left: Reached
) -> tuple[Reals, Ticks, Ticks]:
    """P(open edges, no rival) of n rows of endpoints; first and last tick of each place, both (n, m).

    What no world allows has the probability 0 and ranges that mean nothing.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    measure.heard(NESTED_ENDS)
    endpoints, masses = measure.endpoints, measure.endpoints.masses
    problems = problems_of(endpoints, together, endpoint, left.lower, left.upper)
    confidence, found = coupled_confidence(masses, problems)
    lower, upper = left.lower.copy(), left.upper.copy()
    never = found == IMPOSSIBLE
    lower[never], upper[never] = 1, 0
    possible = np.flatnonzero(~never)
    if not len(possible):
        return confidence, lower, upper
    some = replace(together, lists=tuple(each.taken(possible) for each in together.lists))
    rows = endpoint[possible], left.lower[possible], left.upper[possible]
    for place in together.places:
        ends = (problems_of(endpoints, some, *rows, (place, last)) for last in (False, True))
        lower[possible, place], upper[possible, place] = tick_range(masses, *ends)
    return confidence, lower, upper


@dataclass(frozen=True)
class Connected:
    """n rows of endpoints that open edges connect, shape (n, m), the ticks left to them, and own bounds."""

    endpoints: Endpoints
    group: Coupled
    endpoint: Indexes
    lower: Ticks
    upper: Ticks
    own: Ticks

    def taken(self, rows: Indexes) -> Connected:
        """Some of the rows."""
        columns = (each[rows] for each in (self.endpoint, self.lower, self.upper, self.own))
        return Connected(self.endpoints, self.group, *columns)

    @cached_property
    def constants(self) -> Ticks:
        """The constants of the edges for each row, shape (n, e)."""
        columns = [
            np.full(len(self.endpoint), bound) if number == SHARED else self.own[:, number]
            for (_, _, bound), number in zip(self.group.edges, self.group.own, strict=True)
        ]
        return np.stack(columns, axis=1)

    def problems(self, *, all_variables: bool) -> Iterator[tuple[Indexes, Problems]]:
        """The rows as coupled problems: those with the same constants are of one structure."""
        places = tuple(range(len(self.group.places)))
        for each, rows in rows_alike(self.constants):
            edges = tuple((i, j, int(bound)) for (i, j, _), bound in zip(self.group.edges, each, strict=True))
            together = Together(places, edges, frozenset(places) if all_variables else self.group.restricted)
            some = self.endpoint[rows], self.lower[rows], self.upper[rows]
            yield rows, problems_of(self.endpoints, together, *some)


def _of_two(asked: Connected) -> Reals:
    """P(least <= t_1 - t_0 <= most)."""
    count = len(asked.endpoint)
    least, most = np.full(count, FIRST), np.full(count, LAST)
    for (i, _, _), bound in zip(asked.group.edges, asked.constants.T, strict=True):
        if i == 0:
            least = np.maximum(least, -bound)
        else:
            most = np.minimum(most, bound)
    ticks = asked.lower, asked.upper
    return difference_probability(asked.endpoints.masses, asked.endpoint, *ticks, least, most)


def _order(group: Coupled) -> Order | None:
    return None if group.has_own else order_of(len(group.places), group.edges)


def _in_order(asked: Connected) -> Reals:
    order = _order(asked.group)
    assert order is not None
    return order_confidence(asked.endpoints.masses, order, asked.endpoint, asked.lower, asked.upper)


def _cover(group: Coupled) -> Cover | None:
    return few_cover(len(group.places), tuple((i, j) for i, j, _ in group.edges))


def _of_few(asked: Connected) -> Reals:
    cover = _cover(asked.group)
    assert cover is not None
    rows = asked.endpoint, asked.lower, asked.upper, asked.constants
    return few_endpoints(asked.endpoints.masses, cover, *rows)


def _has_few_variables(group: Coupled) -> bool:
    places = range(len(group.places))
    few = cover_of(places, group.edges, group.restricted, FEW_VARIABLES)
    return len(places) <= MOST_PLACES or few is not None


def _nested(asked: Connected) -> Reals:
    found = np.zeros(len(asked.endpoint))
    for rows, problems in asked.problems(all_variables=False):
        found[rows] = coupled_confidence(asked.endpoints.masses, problems)[0]
    return found


def _taken_apart(asked: Connected) -> Reals:
    """All endpoints are variables: at a tick of one between others these are independent."""
    from cepctl.engines.confidence.given.separators import tied_probability
    from cepctl.engines.confidence.given.work import within_bound

    found, laws = np.zeros(len(asked.endpoint)), asked.endpoints.masses.laws
    for rows, problems in asked.problems(all_variables=True):
        found[rows] = within_bound(lambda some: tied_probability(laws, some), problems)
    return found


# fmt: off
SUMS: tuple[Method[Coupled, [Connected], Reals], ...] = (
    Method("difference in closed form", lambda group: len(group.places) == 2,
           EXACT, _of_two, "two of its starts and ends are compared with each other alone"),
    Method("order in closed form", lambda group: _order(group) is not None,
           EXACT, _in_order, "some of its starts and ends have to be in order"),
    Method(ENDPOINTS, lambda group: _cover(group) is not None,
           EXACT, _of_few, "up to four of its starts and ends are compared, with any tolerances"),
    Method(NESTED_ENDS, _has_few_variables,
           EXACT, _nested, "many of its starts and ends are compared with a few, or rivals with some"),
    Method("sums at each tick of an end between others", lambda group: True,
           EXACT, _taken_apart, "many of its starts and ends are compared in a row"),
)
# fmt: on
"""In the order in which they are asked for what open edges connect; what gives up has no number."""


def _measured(asked: Connected, heard: Heard) -> Reals:
    found, left = np.full(len(asked.endpoint), np.nan), np.arange(len(asked.endpoint))
    for method in SUMS:
        if len(left) and method.takes(asked.group):
            found[left] = method.measure(asked if len(left) == len(found) else asked.taken(left))
            heard(method.name)
            left = left[np.isnan(found[left])]
    return found
