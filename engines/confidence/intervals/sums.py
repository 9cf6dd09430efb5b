"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint couples are apart: the probabilities multiply.  Two of them have a closed form;
so has any order of them.  Others are rows of clauses, as in the room `occurrence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.endpoints import Endpoints, mass_between
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST, distance, with_cut
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Part, gathered, present
from cepctl.engines.confidence.intervals.conditions import Edge, Place
from cepctl.engines.confidence.intervals.edges import SHARED, Coupled, OpenEdges, Reached
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, require_known
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.engines.confidence.work import NESTED_ENDS, Guarantee, Heard, Method
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals, Ticks

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
        """These endpoints as rows of clauses."""
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


MOST_PLACES = 10
"""Of more endpoints there are too many sets."""
_FARTHEST = 1 << 61


class Order(NamedTuple):
    """A partial order of m endpoints, compiled: shapes (m,), (s, 3) and (2^m, m); see the top of this file.

    `shifts`: what is taken from the ticks of each endpoint.
    """

    shifts: Ticks
    steps: Indexes
    ways: Reals


@lru_cache(maxsize=4096)
def order_of(count: int, edges: tuple[Edge, ...]) -> Order | None:
    """The order that edges between `count` connected endpoints make; None if none, or too large a one."""
    if count > MOST_PLACES:
        return None
    shifts = _shifts(count, edges)
    if shifts is None:
        return None
    before = np.zeros((count, count), dtype=np.int64)  # 1: not after, 2: before
    for i, j, bound in edges:
        before[i, j] = max(before[i, j], 1 - (bound - shifts[i] + shifts[j]))
    down_sets = _down_sets(before)
    steps = _steps(down_sets)
    ways = np.zeros((1 << count, count))
    _count_ways(before, ways)
    return Order(np.array(shifts, dtype=np.int64), steps, ways)


def _shifts(count: int, edges: Sequence[Edge]) -> list[int] | None:
    """Origins from which every edge is `<=` or `<`, if there are any."""
    found: dict[int, int] = {0: 0}
    while len(found) < count:
        for i, j, bound in edges:
            least = 0 if bound in (0, -1) else bound
            if i in found and j not in found:
                found[j] = found[i] - least
            elif j in found and i not in found:
                found[i] = found[j] + least
    agree = all(bound - found[i] + found[j] in (0, -1) for i, j, bound in edges)
    near = all(abs(each) <= _FARTHEST for each in found.values())
    return [found[place] for place in range(count)] if agree and near else None


def order_confidence(masses: Masses, order: Order, endpoint: Indexes, lower: Ticks, upper: Ticks) -> Reals:
    """P(the order) of n rows of m endpoints, of which only the ticks within `lower` and `upper` count.

    Shapes (n, m); the answer has shape (n,).
    """
    found = np.zeros(len(endpoint))
    most = 2 * masses.most_buckets * endpoint.shape[1]
    _sum_orders(masses.buckets, order, endpoint, lower, upper, most, found)
    return found


@kernel
def _down_sets(before):
    """All sets with no endpoint outside that an endpoint inside must not precede, as bits, ascending."""
    count = len(before)
    found = np.empty(1 << count, dtype=np.int64)
    size = 0
    for chosen in range(1 << count):
        if _is_down_set(before, chosen, (1 << count) - 1):
            found[size] = chosen
            size += 1
    return found[:size]


@inner
def _is_down_set(before, chosen, among):
    for i in range(len(before)):
        if among >> i & 1 and not chosen >> i & 1:
            for j in range(len(before)):
                if chosen >> j & 1 and before[i, j]:
                    return False
    return True


@kernel
def _steps(down_sets):
    """From the largest set that a cell leads to down to the smallest: each is read before it is written."""
    count = 0
    for fill in range(2):
        steps = np.empty((count, 3), dtype=np.int64)
        count = 0
        for after in down_sets[::-1]:
            for earlier in down_sets:
                if earlier != after and earlier & after == earlier:
                    if fill:
                        steps[count, 0], steps[count, 1], steps[count, 2] = after, earlier, after - earlier
                    count += 1
    return steps


@kernel
def _count_ways(before, ways):
    """ways[S, r]: S onto r + 1 ticks; the first takes a down-set of S in which nothing is strictly before."""
    count = len(before)
    for chosen in range(1, 1 << count):
        first = chosen
        while first:
            if _all_may_tie(before, first) and _is_down_set(before, first, chosen):
                rest = chosen - first
                if rest == 0:
                    ways[chosen, 0] += 1.0
                for r in range(count - 1):
                    ways[chosen, r + 1] += ways[rest, r]
            first = (first - 1) & chosen


@inner
def _all_may_tie(before, chosen):
    for i in range(len(before)):
        if chosen >> i & 1:
            for j in range(len(before)):
                if chosen >> j & 1 and before[i, j] == 2:
                    return False
    return True


@kernel
def _sum_orders(buckets, order, endpoint, lower, upper, most_cuts, found):
    count = endpoint.shape[1]
    cuts = np.empty(most_cuts, dtype=np.int64)
    density, product = np.empty(count), np.empty(1 << count)
    weight, placed = np.empty(1 << count), np.empty(1 << count)
    for row in range(len(endpoint)):
        size = _cut(buckets, order.shifts, endpoint[row], lower[row], upper[row], cuts)
        placed[:] = 0.0
        placed[0] = 1.0
        for c in range(size - 1):
            first, last = cuts[c], cuts[c + 1]
            active = _densities(buckets, order.shifts, endpoint[row], lower[row], upper[row], first, density)
            if active:
                _weigh(order.ways, density, active, distance(first, last), product, weight)
                for s in range(len(order.steps)):
                    added = order.steps[s, 2]
                    if added & active == added:
                        placed[order.steps[s, 0]] += placed[order.steps[s, 1]] * weight[added]
        found[row] = placed[(1 << count) - 1]


@inner
def _cut(buckets, shifts, endpoint, lower, upper, cuts):
    """Where buckets begin and end, counted from the origins; sorted, each once."""
    count = 0
    for p in range(len(endpoint)):
        for b in range(buckets.starts[endpoint[p]], buckets.starts[endpoint[p] + 1]):
            first, last = max(buckets.lo[b], lower[p]), min(buckets.hi[b], upper[p])
            if first <= last:
                for at in (first - shifts[p], last + 1 - shifts[p]):
                    count = with_cut(cuts, count, at)
    return count


@inner
def _densities(buckets, shifts, endpoint, lower, upper, first, density):
    """Mass per tick of every endpoint in the cell from `first`; returns the set of those that have any."""
    active = 0
    for p in range(len(endpoint)):
        at = first + shifts[p]
        if lower[p] <= at <= upper[p]:
            for b in range(buckets.starts[endpoint[p]], buckets.starts[endpoint[p] + 1]):
                if buckets.lo[b] <= at <= buckets.hi[b]:
                    density[p] = buckets.density[b]
                    active |= 1 << p
    return active


@inner
def _weigh(ways, density, active, ticks, product, weight):
    """The weight of every set of active endpoints in a cell: densities times ways times C(n, r)."""
    product[0] = 1.0
    chosen = active & -active
    while True:
        lowest, p = chosen & -chosen, 0
        while lowest >> p != 1:
            p += 1
        product[chosen] = product[chosen - lowest] * density[p]
        total, choices = 0.0, 1.0
        for r in range(ways.shape[1]):
            # C(n, r + 1) = C(n, r) * (n - r) / (r + 1)
            choices *= (ticks - r) / (r + 1.0)
            if choices <= 0.0:
                break
            total += ways[chosen, r] * choices
        weight[chosen] = product[chosen] * total
        if chosen == active:
            break
        chosen = (chosen - active) & active
