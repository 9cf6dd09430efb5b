"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint couples are apart: the probabilities multiply.  Two of them have a closed form;
so has any order of them.  Others are rows of clauses, as in the room `occurrence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints, mass_between
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Part, gathered, present
from cepctl.engines.confidence.intervals.conditions import Place
from cepctl.engines.confidence.intervals.edges import SHARED, Coupled, OpenEdges, Reached
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, require_known
from cepctl.engines.confidence.intervals.orders import Order, order_confidence, order_of
from cepctl.engines.confidence.method import Guarantee, Heard, Method
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.engines.confidence.work import NESTED_ENDS

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
    found = asked.rows.probability()
    require_known(found, "a match", asked.endpoint.shape[1])
    return found


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
"""In the order in which they are asked for what open edges connect."""


def _measured(asked: Connected, heard: Heard) -> Reals:
    method = next(each for each in SUMS if each.takes(asked.group))
    heard(method.name)
    return method.measure(asked)
