"""The probability that up to four independent endpoints satisfy difference constraints with any constants.

One or two endpoints, x and y, touch every constraint; given these the others, the factors, are independent,
and the mass of each on what x and y leave to it is piecewise linear.  Where pieces begin is known before the
sum: at a constant, or at x plus a constant for y.  Inside a piece the sum over y is that of a polynomial of
degree 2, in closed form; the sum over x is one of degree 3, which four ticks and weights give exactly.  So
the cost depends on how many pieces there are, not on how wide they are, and each row may have constants of
its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.confidence.intervals.problems import cover_of
from cepctl.engines.confidence.work import ENDPOINTS, most_products
from cepctl.engines.kernels.kernel import inner, kernel

MOST_PLACES = 4


class Cover(NamedTuple):
    """The one or two of m endpoints that touch every constraint between them.

    `variables` has shape (2,), the second is -1 where one is enough.
    `edges`, shape (e, 4): of edge e the place, the variable (0 or 1) that bounds it, and whether from
    above (1) or below (0); the number of its constant.  The place may be the second variable itself.
    """

    variables: Indexes
    factors: Indexes
    edges: Indexes


@lru_cache(maxsize=4096)
def few_cover(count: int, edges: tuple[tuple[int, int], ...]) -> Cover | None:
    """Choose variables for constraints t_i - t_j <= c between these pairs (i, j); None if two do not do."""
    if count > MOST_PLACES:
        return None
    cover = cover_of(range(count), edges, frozenset(), 2)
    if cover is None:
        return None
    level = {place: number for number, place in enumerate(cover)}
    limits = []
    for number, (i, j) in enumerate(edges):
        if j in level and (i not in level or level[j] < level[i]):
            limits.append((i, level[j], 1, number))
        else:
            limits.append((j, level[i], 0, number))
    return Cover(
        np.array([*cover, -1][:2], dtype=np.int64),
        np.array([place for place in range(count) if place not in level], dtype=np.int64),
        np.array(limits, dtype=np.int64).reshape(-1, 4),
    )


WORK_BOUND = most_products(ENDPOINTS)
"""Steps that a row may take."""
_WIDEST = 1 << 51
"""Ticks that are farther apart are no floats."""


def few_endpoints(
    masses: Masses, cover: Cover, endpoint: Indexes, lower: Ticks, upper: Ticks, bounds: Ticks
) -> Reals:
    """P(t_i - t_j <= c for all edges) of n rows; only the ticks within `lower` and `upper` count.

    Shapes (n, m); `bounds` are the constants of the edges, shape (n, e).  NaN where that is too many steps.
    """
    found = np.zeros(len(endpoint))
    _sum_rows(masses.buckets, cover, endpoint, lower, upper, bounds, masses.most_buckets, found)
    return found


class _Space(NamedTuple):
    """What is known of a row.  Ticks count from the smallest of the row.

    `lo`, `hi`, `density`: buckets of each place, shape (m, b), of which it has `size`, shape (m,).
    `least`, `most`: bounds of each place less the tick of each variable, shape (m, 2).
    `fixed`, `moving`: where pieces of y begin, and where they do less x; `starts` of x; `inner` for one x.
    `counts`: how many each of these has.
    """

    lo: Reals
    hi: Reals
    density: Reals
    size: Indexes
    least: Reals
    most: Reals
    fixed: Reals
    moving: Reals
    starts: Reals
    inner: Reals
    counts: Indexes


_FIXED, _MOVING, _STARTS, _INNER = 0, 1, 2, 3


@inner
def _space(places, most):
    fixed = 2 * most * (1 + 2 * places) + 2
    moving = 4 * places + 2
    return _Space(
        np.empty((places, most)), np.empty((places, most)), np.empty((places, most)),
        np.empty(places, dtype=np.int64), np.empty((places, 2)), np.empty((places, 2)),
        np.empty(fixed), np.empty(moving), np.empty(fixed * (moving + 2)), np.empty(fixed + moving),
        np.zeros(4, dtype=np.int64),
    )  # fmt: skip


@kernel
def _sum_rows(buckets, cover, endpoint, lower, upper, bounds, most, found):
    space = _space(endpoint.shape[1], most)
    variables, factors = cover.variables, cover.factors
    for row in range(len(endpoint)):
        base = lower[row].min()
        span = upper[row].max() - base
        if span < 0 or span > _WIDEST:
            found[row] = np.nan
            continue
        _take_over(buckets, cover, endpoint[row], lower[row], upper[row], bounds[row], base, space)
        _find_pieces(variables, factors, space)
        counts = space.counts
        steps = counts[_STARTS] * (1 + counts[_FIXED] + counts[_MOVING]) * 4 * len(factors) * most
        found[row] = np.nan if steps > WORK_BOUND else _sum_of_first(variables, factors, space)


@inner
def _take_over(buckets, cover, endpoint, lower, upper, bounds, base, space):
    for p in range(len(endpoint)):
        count = 0
        for b in range(buckets.starts[endpoint[p]], buckets.starts[endpoint[p] + 1]):
            first, last = max(buckets.lo[b], lower[p]), min(buckets.hi[b], upper[p])
            if first <= last:
                space.lo[p, count], space.hi[p, count] = float(first - base), float(last - base)
                space.density[p, count] = buckets.density[b]
                count += 1
        space.size[p] = count
        for v in range(2):
            space.least[p, v], space.most[p, v] = -np.inf, np.inf
    for e in range(len(cover.edges)):
        p, v, above, number = cover.edges[e]
        if above:
            space.most[p, v] = min(space.most[p, v], float(bounds[number]))
        else:
            space.least[p, v] = max(space.least[p, v], -float(bounds[number]))


@inner
def _find_pieces(variables, factors, space):
    """Where the sums change their polynomials; at such a tick both polynomials hold."""
    counts, least, most = space.counts, space.least, space.most
    counts[:] = 0
    x, y = variables
    _add_ends(space, x, 0.0, 1.0, space.starts, _STARTS)
    for f in factors:
        _add_limits(space, f, 0, space.starts, _STARTS)
    if y < 0:
        counts[_STARTS] = sort_cuts(space.starts, counts[_STARTS])
        return
    _add_ends(space, y, 0.0, 1.0, space.fixed, _FIXED)
    _add(least[y, 0], space.moving, counts, _MOVING)
    _add(most[y, 0] + 1.0, space.moving, counts, _MOVING)
    for f in factors:
        _add_limits(space, f, 1, space.fixed, _FIXED)
        _add(least[f, 0] - least[f, 1], space.moving, counts, _MOVING)
        _add(most[f, 0] + 1.0 - least[f, 1], space.moving, counts, _MOVING)
        _add(most[f, 0] - most[f, 1], space.moving, counts, _MOVING)
        _add(least[f, 0] - 1.0 - most[f, 1], space.moving, counts, _MOVING)
    counts[_FIXED] = sort_cuts(space.fixed, counts[_FIXED])
    counts[_MOVING] = sort_cuts(space.moving, counts[_MOVING])
    for i in range(counts[_FIXED]):
        for k in range(counts[_MOVING]):
            _add(space.fixed[i] - space.moving[k], space.starts, counts, _STARTS)
    counts[_STARTS] = sort_cuts(space.starts, counts[_STARTS])


@inner
def _add(at, where, counts, number):
    if np.isfinite(at):
        where[counts[number]] = at
        counts[number] += 1


@inner
def _add_ends(space, place, before, after, where, number):
    for b in range(space.size[place]):
        _add(space.lo[place, b] - before, where, space.counts, number)
        _add(space.hi[place, b] + after, where, space.counts, number)


@inner
def _add_limits(space, f, v, where, number):
    """Where a limit of a factor that moves with a variable enters or leaves a bucket."""
    for b in range(space.size[f]):
        lo, hi = space.lo[f, b], space.hi[f, b]
        _add(lo - space.least[f, v], where, space.counts, number)
        _add(hi + 1.0 - space.least[f, v], where, space.counts, number)
        _add(lo - 1.0 - space.most[f, v], where, space.counts, number)
        _add(hi - space.most[f, v], where, space.counts, number)


@inner
def _density_at(space, place, at):
    for b in range(space.size[place]):
        if space.lo[place, b] <= at <= space.hi[place, b]:
            return space.density[place, b]
    return 0.0


@inner
def _sum_of_first(variables, factors, space):
    x, total = variables[0], 0.0
    for c in range(space.counts[_STARTS] - 1):
        first = space.starts[c]
        density = _density_at(space, x, first)
        if density > 0.0:
            ticks, part = space.starts[c + 1] - first, 0.0
            if ticks <= 4.0:
                for k in range(int(ticks)):
                    part += _given_first(variables, factors, space, first + k)
            else:
                # Symmetric and exact to degree 3: the ends, and two ticks between them.
                inner = np.floor(0.3 * ticks)
                outermost, next_one = 0.5 * (ticks - 1.0), 0.5 * (ticks - 1.0) - inner
                squares = ticks * (ticks * ticks - 1.0) / 12.0
                at_ends = (squares - ticks * next_one * next_one) / (
                    2.0 * (outermost * outermost - next_one * next_one)
                )
                between = 0.5 * ticks - at_ends
                last = first + ticks - 1.0
                part = at_ends * _given_first(variables, factors, space, first)
                part += at_ends * _given_first(variables, factors, space, last)
                part += between * _given_first(variables, factors, space, first + inner)
                part += between * _given_first(variables, factors, space, last - inner)
            total += density * part
    return total


@inner
def _given_first(variables, factors, space, x):
    """The sum over y of all that depends on it, given the tick of x."""
    y = variables[1]
    if y < 0:
        product = 1.0
        for f in factors:
            product *= _factor(space, f, x, 0.0)[0]
        return product
    first = max(space.lo[y, 0], x + space.least[y, 0])
    stop = min(space.hi[y, space.size[y] - 1], x + space.most[y, 0]) + 1.0
    if first >= stop:
        return 0.0
    inner, count = space.inner, 1
    inner[0] = first
    a, m = 0, 0
    while a < space.counts[_FIXED] or m < space.counts[_MOVING]:
        if m == space.counts[_MOVING] or (a < space.counts[_FIXED] and space.fixed[a] <= x + space.moving[m]):
            at = space.fixed[a]
            a += 1
        else:
            at = x + space.moving[m]
            m += 1
        if inner[count - 1] < at < stop:
            inner[count] = at
            count += 1
    total = 0.0
    for c in range(count):
        density = _density_at(space, y, inner[c])
        if density > 0.0:
            ticks = (inner[c + 1] if c + 1 < count else stop) - inner[c]
            total += density * _piece(factors, space, x, inner[c], ticks)
    return total


@inner
def _piece(factors, space, x, first, ticks):
    """Sum of a product of linear functions over consecutive ticks of y."""
    middle = first + 0.5 * (ticks - 1.0)
    if len(factors) == 1:
        return ticks * _factor(space, factors[0], x, middle)[0]
    one, slope = _factor(space, factors[0], x, middle)
    other, other_slope = _factor(space, factors[1], x, middle)
    return ticks * (one * other + slope * other_slope * (ticks * ticks - 1.0) / 12.0)


@inner
def _factor(space, f, x, y):
    """Mass of a factor within its limits, and how that rises with y."""
    first, last = x + space.least[f, 0], x + space.most[f, 0]
    first_moves, last_moves = 0.0, 0.0
    if y + space.least[f, 1] > first:
        first, first_moves = y + space.least[f, 1], 1.0
    if y + space.most[f, 1] < last:
        last, last_moves = y + space.most[f, 1], 1.0
    mass, slope = 0.0, 0.0
    for b in range(space.size[f]):
        lo, hi, falls, rises = space.lo[f, b], space.hi[f, b], 0.0, 0.0
        if first > lo:
            lo, falls = first, first_moves
        if last < hi:
            hi, rises = last, last_moves
        if hi - lo + 1.0 > 0.0:
            mass += space.density[f, b] * (hi - lo + 1.0)
            slope += space.density[f, b] * (rises - falls)
    return mass, slope
