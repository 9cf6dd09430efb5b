"""Sets of events between two others, where order and window decide and nothing else: range and confidence.

Such a set is a Kleene group under skip_till_any_match, or an AND group, without timing constraints.  Sets
with an event whose mass has holes, or whose sum takes too much, are left to nested sums.

Once the ticks s < t of both are known, the members are independent of each other:

    P = sum over s < t of p(s) p(t) * product over members of P(s < x < t)

While s is in one cell and t in another, what a member has between them is

    its mass in the cells between  +  its mass per tick in the cell of s * the ticks of that cell after s
                                   +  its mass per tick in the cell of t * the ticks of that cell before t

so that the product is a polynomial in s and in t, and few places stand for the ticks of a cell.  Where s and
t are in one cell, or the window ends t inside a cell, the ticks of t depend on s: then s takes whole ticks.
All terms are positive: nothing cancels.

    name here      meaning
    each           mass of a single tick in a cell
    piece          ticks of s in one cell, for which the window ends in one cell too
    between        mass of each member in the cells between those of s and t
    alive          members with mass in a cell: the degree of the polynomial
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gauss_nodes import holds_polynomials, real_count, zeros_of_gram
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.needless_sums import certainly_in_order
from cepctl.engines.confidence.quadrature import (
    cuts_within,
    fill_masses,
    most_nodes,
    node_count,
    pieces_of,
    place_nodes,
)
from cepctl.engines.confidence.work import SET, most_products
from cepctl.engines.kernels.kernel import inlined, inner, kernel
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

WORK_BOUND = most_products(SET)
"""Products that a set may take."""

_FARTHEST = 1 << 61
"""Sets that span this many ticks are left, so that no sum with their ticks exceeds int64."""
_KINDS = [BlockKind.SINGLE, BlockKind.SET, BlockKind.SINGLE]


def has_set_between(shape: Shape) -> bool:
    """Whether matches are a set between two single events, and order and window are all that decides them."""
    decides = shape.rules or shape.timings or shape.outside
    return [block.kind for block in shape.blocks] == _KINDS and not decides


def sets_between(shape: Shape, masses: Masses, groups: Sequence[Group]) -> tuple[Indexes, Measured]:
    """Measure matches of such a shape, but for those that are left; also says which, ascending.

    `groups` gives the members of every block.
    """
    before, members, after = groups
    ends = np.stack([before.members, after.members], axis=1)
    window = _FARTHEST if shape.window is None else min(shape.window, _FARTHEST)
    possible = _Ticks.possible(masses, ends, members, window)
    usable = possible.usable
    rows = np.flatnonzero(usable & possible.some)
    confidence, summed, own = np.zeros(len(ends)), np.empty(len(rows)), members.take(rows)
    sum_sets(
        *(masses.buckets, ends[rows], possible.lower[rows], possible.upper[rows], own.offsets, own.members),
        *(window, float(WORK_BOUND), summed),
    )
    confidence[rows] = summed
    confidence[certainly_in_order(shape, masses, groups)] = 1.0
    solved = np.flatnonzero(usable & ~np.isnan(confidence))
    found = Measured.exact(confidence, possible.lower[:, 0], possible.upper[:, 1], possible.some)
    return solved, found.taken(solved)


@dataclass(frozen=True)
class _Ticks:
    """What is possible for the events around sets: `lower` and `upper`, shape (n, 2); for `some` nothing is.

    Every tick between two possible ones is possible, where no mass has a hole.  `usable`: whether that is so,
    and no sum of ticks exceeds int64.
    """

    lower: Ticks
    upper: Ticks
    some: Flags
    usable: Flags

    @classmethod
    def possible(cls, masses: Masses, ends: Indexes, members: Group, window: int) -> _Ticks:
        lower, upper = masses.lower[ends], masses.upper[ends]
        begin = members.offsets[:-1]
        latest_lower = np.maximum.reduceat(masses.lower[members.members], begin)
        earliest_upper = np.minimum.reduceat(masses.upper[members.members], begin)
        last, first = (
            np.maximum(upper.max(axis=1), earliest_upper),
            np.minimum(lower.min(axis=1), latest_lower),
        )
        holes = masses.has_hole[ends].any(axis=1) | np.logical_or.reduceat(
            masses.has_hole[members.members], begin
        )
        usable = ~holes & (last.astype(np.uint64) - first.astype(np.uint64) < _FARTHEST)
        room = window - 1
        # Every member, and the end after them, is in the window of a tick before; and the other way round.
        start = np.maximum(lower[:, 0], np.maximum(latest_lower + 1, lower[:, 1]) - room)
        latest_start = np.minimum(upper[:, 0], np.minimum(earliest_upper - 1, upper[:, 1] - 2))
        end = np.minimum(upper[:, 1], np.minimum(earliest_upper - 1, upper[:, 0]) + room)
        earliest_end = np.maximum(lower[:, 1], np.maximum(latest_lower + 1, lower[:, 0] + 2))
        some = (start <= latest_start) & (earliest_end <= end) & (room >= 2)
        ticks = np.stack([start, earliest_end], axis=1), np.stack([latest_start, end], axis=1)
        return cls(*ticks, np.asarray(some), np.asarray(usable))


class _SetCells(NamedTuple):
    """n cells of time, their masses, and the places that stand for all ticks of each.

    `cut`, shape (n + 1,): their first ticks, and the one after the last.  `each`, shape (members, n): the
    mass of a tick; `alive`, shape (n,): how many members have some.  `before`, `after`, shape (n,): the mass
    of a tick of the two ends.  `many`, shape (n,), `places`, `weights`, shape (n, most): of the ticks of the
    second end, counted from the first of the cell.
    """

    cut: Ticks
    each: Reals
    alive: Indexes
    before: Reals
    after: Reals
    many: Indexes
    places: Reals
    weights: Reals


@inner
def _cells_between(buckets, ends, members, low, high):
    """The cells from tick `low` to `high`, both included, with the masses of these events."""
    cut = cuts_within(buckets, np.concatenate((ends, members)), low, high)
    cells = len(cut) - 1
    each, unused, around = np.empty((len(members), cells)), np.empty(cells), np.empty((2, cells))
    alive, many = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    for k in range(len(members)):
        fill_masses(buckets, members[k], cut, unused, each[k])
        for c in range(cells):
            alive[c] += each[k, c] > 0.0
    for i in range(2):
        fill_masses(buckets, ends[i], cut, unused, around[i])
    most = 1
    for c in range(cells):
        most = max(most, _most_places(cut[c + 1] - cut[c], alive[c]))
    places, weights = np.empty((cells, most)), np.empty((cells, most))
    for c in range(cells):
        if around[1, c] > 0.0:
            many[c] = _place(cut[c + 1] - cut[c], alive[c], places[c], weights[c])
    return _SetCells(cut, each, alive, around[0], around[1], many, places, weights)


@inner
def _most_places(ticks, degree):
    """How many places `place` may need for at most so many ticks."""
    count = real_count(degree)
    return min(ticks, max(2 * count, count * count // 3 + 1))


@inner
def _place(ticks, degree, places, weights):
    """Fill places and weights that sum a polynomial of this degree over the first ticks; their number."""
    count = real_count(degree)
    if count == 1:
        places[0], weights[0] = 0.5 * (ticks - 1), ticks
        return 1
    if holds_polynomials(ticks, count):
        zeros_of_gram(float(ticks), count, places, weights)
        return count
    for i in range(ticks):
        places[i], weights[i] = i, 1.0
    return ticks


class _Space(NamedTuple):
    """Working space of one set: places of s and t with their weights, whole ticks of s with theirs, factors.

    Factor k is that of a member which is not known between two cells: `factors` has rows for its mass in the
    cells between, for its mass per tick in the cells of s and of t, and for all but the last at one s.
    """

    places: Reals
    weights: Reals
    ticks: Indexes
    factors: Reals
    between: Reals


@kernel
def sum_sets(buckets, ends, lower, upper, offsets, members, window, bound, confidence):
    """Fill the confidence of every set; NaN where its sum takes more than `bound` products.

    `ends`, `lower`, `upper`: the events around each set, and the first and last ticks that are possible for
    them, shape (n, 2).  `offsets`, `members`: set i has the members offsets[i] to offsets[i + 1] - 1.
    `window`: ticks, 0 where there is none.  `bound`: products that a set may take.  `confidence`: filled,
    shape (n,).
    """
    for row in range(len(ends)):
        own = members[offsets[row] : offsets[row + 1]]
        confidence[row] = _sum_set(buckets, ends[row], lower[row], upper[row], own, window, bound)


@inner
def _sum_set(buckets, ends, lower, upper, members, window, bound):
    window = window if 0 < window <= upper[1] - lower[0] else 0
    # In one order, in whatever order the pattern or the ids have them.
    members = np.sort(members)
    cells = _cells_between(buckets, ends, members, lower[0], upper[1])
    begins = pieces_of(cells.cut, lower[0], upper[0], window)
    space = _space(cells, begins, len(members))
    total, left = 0.0, bound
    for p in range(len(begins) - 1):
        own = np.searchsorted(cells.cut, begins[p], side="right") - 1
        if cells.before[own] > 0.0:
            inner, left = _sum_piece(cells, own, begins[p], begins[p + 1], window, space, left)
            if left < 0.0:
                return np.nan
            total += cells.before[own] * inner
    return min(total, 1.0)


@inner
def _space(cells, begins, size):
    room = np.int64(cells.places.shape[1])
    for p in range(len(begins) - 1):
        length = begins[p + 1] - begins[p]
        room = max(room, most_nodes(length, size + 1), _most_places(length, size))
    return _Space(
        np.empty((2, room)), np.empty((3, room)), np.empty(room, dtype=np.int64),
        np.empty((4, size)), np.empty(size),
    )  # fmt: skip


@inner
def _sum_piece(cells, own, begin, end, window, space, left):
    """Sum over the ticks of s from `begin` to `end` - 1 and those of t; also what is left of the bound."""
    cut, between = cells.cut, space.between
    last = len(cells.alive)
    if window:
        last = min(last, np.searchsorted(cut, begin + window - 1, side="right") - 1)
    count = _place(end - begin, cells.alive[own], space.places[0], space.weights[0])
    between[:] = 0.0
    total = 0.0
    for cell in range(own, min(last + 1, len(cells.alive))):
        known, size = 0.0, 0
        if cells.after[cell] > 0.0:
            known, size = _factors(cells.each, own, cell, between, space.factors)
        moving = cell in (own, last)
        if known > 0.0 and not moving:
            left -= float(count) * cells.many[cell] * (size + 1)
            if left < 0.0:
                break
            after_s = float(cut[own + 1] - 1 - begin)
            s_places, s_weights = space.places[0, :count], space.weights[0, :count]
            t_places = cells.places[cell, : cells.many[cell]]
            part = _apart(after_s, s_places, s_weights, t_places, cells.weights[cell], space.factors, size)
            total += cells.after[cell] * known * part
        elif known > 0.0:
            many = float(node_count(end - begin, size + 1))
            left -= many * _most_places(cut[cell + 1] - cut[cell], cells.alive[cell]) * (size + 1)
            if left < 0.0:
                break
            part = _moving(cells, own, cell, begin, end, window if cell == last else 0, space, size)
            total += cells.after[cell] * known * part
        if cell > own:
            length = float(cut[cell + 1] - cut[cell])
            for k in range(len(between)):
                between[k] += cells.each[k, cell] * length
    return total, left


@inner
def _factors(each, own, cell, between, factors):
    """Fill the factors of members that are not known between these cells; also the product of the others."""
    known, size = 1.0, 0
    for k in range(len(between)):
        left, right = each[k, own], each[k, cell]
        if left == 0.0 and right == 0.0:
            known *= between[k]
        else:
            # In one cell a member has the ticks between s and t, and `right` is for all of these.
            factors[0, size], factors[1, size] = between[k], 0.0 if cell == own else left
            factors[2, size] = right
            size += 1
    return known, size


@inlined
def _over_t(places, weights, count, factors, size):
    """The sum over some ticks of t, at one of s."""
    total = 0.0
    for y in range(count):
        product = weights[y]
        for k in range(size):
            product *= factors[3, k] + factors[2, k] * places[y]
        total += product
    return total


@inner
def _apart(after_s, s_places, s_weights, t_places, t_weights, factors, size):
    """The sum over all ticks of s and t in two cells; `after_s`: ticks of its cell after its first one."""
    total = 0.0
    for x in range(len(s_places)):
        for k in range(size):
            factors[3, k] = factors[0, k] + factors[1, k] * (after_s - s_places[x])
        total += s_weights[x] * _over_t(t_places, t_weights, len(t_places), factors, size)
    return total


@inner
def _moving(cells, own, cell, begin, end, window, space, size):
    """The sum where s ends the ticks of t: those after it in its own cell, or before a `window` after it."""
    cut, factors, s_ticks = cells.cut, space.factors, space.ticks
    t_places, t_weights, s_weights = space.places[1], space.weights[1], space.weights[2]
    degree = size + 1
    total = 0.0
    for x in range(place_nodes(end - begin, degree, s_ticks, s_weights)):
        s = begin + s_ticks[x]
        first = s + 1 if cell == own else cut[cell]
        stop = min(cut[cell + 1], s + window) if window else cut[cell + 1]
        if stop <= first:
            continue
        for k in range(size):
            factors[3, k] = factors[0, k] + factors[1, k] * float(cut[own + 1] - 1 - s)
        count = _place(stop - first, cells.alive[cell], t_places, t_weights)
        total += s_weights[x] * _over_t(t_places, t_weights, count, factors, size)
    return total
