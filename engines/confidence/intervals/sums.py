"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint couples are apart: the probabilities multiply.  Two of them have a closed form;
so has any order of them.  Others are rows of clauses, as in the room `occurrence`.  Endpoints whose ticks say
what a rival is are summed together with all rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints, mass_between
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Part, gathered, present
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Edge, Place
from cepctl.engines.confidence.intervals.edges import SHARED, Coupled, OpenEdges, Reached
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, laws_of
from cepctl.engines.confidence.intervals.orders import Order, order_confidence, order_of
from cepctl.engines.confidence.intervals.rivals import RivalList
from cepctl.engines.confidence.method import Guarantee, Heard, Method
from cepctl.engines.confidence.occurrence.ends import NEVER
from cepctl.engines.confidence.occurrence.rows import Rows, most_allowed
from cepctl.engines.confidence.work import NARROW, NESTED_ENDS, too_costly
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

EXACT = Guarantee.EXACT


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


@dataclass(frozen=True)
class Together:
    """What must be summed together, of matches that are alike.

    `places` of the matches, the open `edges` between them, and those that constants restrict.  `lists`: who
    must be absent.
    """

    places: tuple[Place, ...]
    edges: tuple[Edge, ...]
    restricted: frozenset[Place]
    lists: tuple[RivalList, ...] = ()


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
    count, endpoints, whole = np.arange(len(endpoint)), measure.endpoints, np.ones(len(endpoint))
    parts = [
        present(count, endpoint[:, i], endpoint[:, j], np.full(len(count), bound))
        for i, j, bound in together.edges
        if bound < UNBOUNDED
    ]
    parts += _limits(endpoint, left.lower, left.upper, sorted(together.restricted))
    for each in together.lists:
        parts += absent_rivals(endpoints, each, endpoint)
    # An event may be in several lists: it has one law.
    pairs = [np.stack([each.row, each.event], axis=1) for each in together.lists if each.kind.lasts]
    if pairs:
        row, event = np.unique(np.concatenate(pairs), axis=0).T
        parts += laws_of(endpoints, row, event[:, None])
        np.multiply.at(whole, row, endpoints.whole[event])
    rows = Rows(endpoints.masses, gathered(parts, count, len(count)))
    places = list(together.places)
    events = np.ascontiguousarray(endpoint[:, places])
    first, last = rows.ends(events, events)
    lower, upper = left.lower.copy(), left.upper.copy()
    lower[:, places], upper[:, places] = first, last
    never = (first == NEVER).any(axis=1)
    lower[never], upper[never] = 1, 0
    return refused_beyond(rows, ~never) / whole, lower, upper


def absent_rivals(endpoints: Endpoints, rivals: RivalList, endpoint: Indexes) -> Iterator[Part]:
    """What must not hold all together, for each rival of a row in each case in which it breaks a match."""
    kind, row, event = rivals.kind, rivals.row, rivals.event
    own = {CONSTANT: np.full(len(row), NO_EVENT), kind.place: event, kind.place + 1: endpoints.end[event]}

    def at(place: Place) -> Indexes:
        return own[place] if place in own else endpoint[row, place]

    for case in kind.cases:
        edges = [each for each in case if each[2] < UNBOUNDED]
        left, right = (np.stack([at(edge[side]) for edge in edges], axis=1) for side in (0, 1))
        bound = np.tile(np.array([edge[2] for edge in edges]), len(row))
        sizes = np.full(len(row), len(edges))
        yield Part(row, np.ones(len(row), bool), sizes, left.reshape(-1), right.reshape(-1), bound)


def refused_beyond(rows: Rows, possible: Flags) -> Reals:
    """The probability of rows, 0 of those that are not possible.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    found = np.where(possible, rows.probability(), 0.0)
    if np.isnan(found).any():
        row = int(np.flatnonzero(np.isnan(found))[0])
        problem, event = rows.clauses.events()
        many = len(np.unique(event[problem == row]))
        why, most = f"it compares {many:,} starts and ends", most_allowed()
        raise too_costly("the exact confidence of a match", NESTED_ENDS, most, why, NARROW)
    return found


def _limits(endpoint: Indexes, lower: Ticks, upper: Ticks, places: Iterable[Place]) -> Iterator[Part]:
    """The ticks that are left to some places of rows."""
    count = np.arange(len(endpoint))
    nothing = np.full(len(count), NO_EVENT)
    for place in places:
        yield present(count, endpoint[:, place], nothing, upper[:, place])
        yield present(count, nothing, endpoint[:, place], -lower[:, place])


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

    @property
    def rows(self) -> Rows:
        """The same as clauses."""
        count = np.arange(len(self.endpoint))
        parts = [
            present(count, self.endpoint[:, i], self.endpoint[:, j], bound)
            for (i, j, _), bound in zip(self.group.edges, self.constants.T, strict=True)
        ]
        parts += _limits(self.endpoint, self.lower, self.upper, sorted(self.group.restricted))
        return Rows(self.endpoints.masses, gathered(parts, count, len(count)))


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


def _by_clauses(asked: Connected) -> Reals:
    return refused_beyond(asked.rows, np.ones(len(asked.endpoint), dtype=bool))


# fmt: off
SUMS: tuple[Method[Coupled, [Connected], Reals], ...] = (
    Method("difference in closed form", lambda group: len(group.places) == 2,
           EXACT, _of_two, "two of its starts and ends are compared with each other alone"),
    Method("order in closed form", lambda group: _order(group) is not None,
           EXACT, _in_order, "some of its starts and ends have to be in order"),
    Method(NESTED_ENDS, lambda group: True,
           EXACT, _by_clauses, "some of its starts and ends are compared, with any tolerances"),
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
