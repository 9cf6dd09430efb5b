"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint couples are apart: the probabilities multiply.  Two of them have a closed form;
so has any order of them.  Up to four are summed over one or two of them, whatever the constants.  Of more, a
smallest set that touches every constraint are the variables of nested sums, and what is left are factors,
each of which must lie in the region that the variables leave to it.  Where that takes many variables, these
are taken apart, one by one.  Endpoints whose ticks say what a rival is are summed together with all rivals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints, mass_between
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.solve import coupled_confidence, first_ticks, mirrored
from cepctl.engines.intervals.edges import SHARED, Coupled, OpenEdges, Reached
from cepctl.engines.intervals.few_endpoints import few_cover, few_endpoints
from cepctl.engines.intervals.orders import MOST_PLACES, order_confidence, order_of
from cepctl.engines.intervals.problems import Together, cover_of, problems_of

FEW_VARIABLES = 3
"""So many are summed one inside the other, however many factors they have."""


def probability(
    endpoints: Endpoints, chosen: OpenEdges, endpoint: Indexes, left: Reached, own: Ticks
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
        places, lower, upper = endpoint[:, columns], left.lower[:, columns], left.upper[:, columns]
        found *= _of_group(endpoints, group, places, lower, upper, own)
    for place in chosen.alone:
        ends = left.lower[:, place], left.upper[:, place]
        found *= mass_between(endpoints.masses, endpoint[:, place], *ends)
    return found


def probability_without_rivals(
    endpoints: Endpoints, together: Together, endpoint: Indexes, left: Reached
) -> tuple[Reals, Ticks, Ticks]:
    """P(open edges, no rival) of n rows of endpoints; first and last tick of each place, both (n, m).

    What no world allows has the probability 0 and ranges that mean nothing.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    masses = endpoints.masses
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
        lower[possible, place] = first_ticks(masses, problems_of(endpoints, some, *rows, (place, False)))
        last = problems_of(endpoints, some, *rows, (place, True))
        upper[possible, place] = -first_ticks(*mirrored(masses, last))
    return confidence, lower, upper


def _of_group(
    endpoints: Endpoints, group: Coupled, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks
) -> Reals:
    count = len(group.places)
    if count == 2:
        return _of_two(endpoints, group, endpoint, lower, upper, own)
    order = None if group.has_own else order_of(count, group.edges)
    if order is not None:
        return order_confidence(endpoints.masses, order, endpoint, lower, upper)
    cover = few_cover(count, tuple((i, j) for i, j, _ in group.edges))
    if cover is None:
        return _by_constants(endpoints, group, endpoint, lower, upper, own)
    constants = _constants(group, own, len(endpoint))
    found = few_endpoints(endpoints.masses, cover, endpoint, lower, upper, constants)
    given_up = np.flatnonzero(np.isnan(found))
    if len(given_up):
        rows = endpoint[given_up], lower[given_up], upper[given_up], own[given_up]
        found[given_up] = _by_constants(endpoints, group, *rows)
    return found


def _constants(group: Coupled, own: Ticks, count: int) -> Ticks:
    """The constants of the edges for each row, shape (n, e)."""
    columns = [
        np.full(count, bound) if number == SHARED else own[:, number]
        for (_, _, bound), number in zip(group.edges, group.own, strict=True)
    ]
    return np.stack(columns, axis=1)


def _of_two(
    endpoints: Endpoints, group: Coupled, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks
) -> Reals:
    """P(least <= t_1 - t_0 <= most)."""
    count = len(endpoint)
    least, most = np.full(count, FIRST), np.full(count, LAST)
    for (i, _, _), bound in zip(group.edges, _constants(group, own, count).T, strict=True):
        if i == 0:
            least = np.maximum(least, -bound)
        else:
            most = np.minimum(most, bound)
    return difference_probability(endpoints.masses, endpoint, lower, upper, least, most)


def _by_constants(
    endpoints: Endpoints, group: Coupled, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks
) -> Reals:
    """Rows with the same constants are problems of one structure."""
    constants = _constants(group, own, len(endpoint))
    distinct, which = np.unique(constants, axis=0, return_inverse=True)
    found = np.zeros(len(endpoint))
    places = tuple(range(len(group.places)))
    for number, each in enumerate(distinct):
        rows = np.flatnonzero(which.reshape(-1) == number)
        edges = tuple((i, j, int(bound)) for (i, j, _), bound in zip(group.edges, each, strict=True))
        few = len(places) <= MOST_PLACES or cover_of(places, edges, group.restricted, FEW_VARIABLES)
        together = Together(places, edges, group.restricted if few else frozenset(places))
        problems = problems_of(endpoints, together, endpoint[rows], lower[rows], upper[rows])
        if few:
            found[rows] = coupled_confidence(endpoints.masses, problems)[0]
        else:
            found[rows] = _taken_apart(endpoints.masses, problems)
    return found


def _taken_apart(masses: Masses, problems: Problems) -> Reals:
    """All endpoints are variables: at a tick of one between others these are independent."""
    from cepctl.engines.given.separators import tied_probability
    from cepctl.engines.given.work import within_bound

    return within_bound(lambda some: tied_probability(masses.laws, some), problems)
