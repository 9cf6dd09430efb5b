"""Chains of three whose rivals must stay out of both gaps: which they are, their range and confidence.

So it is where all three components take the same events under skip_till_next_match, and always under
contiguity.  A rival of one gap alone counts as one of both where it cannot lie in the other anyway; where it
can, the chain is left to nested sums, and so is one with a rival whose mass has a hole, in which the middle
tick may lie.  Only rivals that can decide a chain enter its sums.

With the ticks s < t < u, every rival x leaves

    1 - P(s < t_x < t) - P(t < t_x < u)  =  P(t_x <= s) + P(t_x >= u) + P(t_x = t)

so the middle tick matters only through the masses of single ticks, which are constant on each cell of time:
the sum over t is one over cells, each times the number of its ticks between s and u, and two variables are
left.

    name here      meaning
    before         mass of a class of rivals before a cell
    each           mass of a single tick in a cell, of the rivals and of the three events
    many           how many rivals a class has: all of the same mass
    last           the last tick that the window leaves to u, s + W - 1

On a piece of s in one cell, with `last` in one cell too, the sum over u is a polynomial in s, and so is each
term in u on a cell; see `quadrature`.  Every value is that of true ticks: nothing cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.engines.columns.masses import Masses, same_mass
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.confidence.gaps.distinct_gaps import (
    FARTHEST,
    GapChains,
    Gaps,
    has_room,
    range_of_places,
    window_ticks,
)
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.quadrature import (
    cuts_within,
    fill_masses,
    most_nodes,
    node_count,
    pieces_of,
    place_nodes,
)
from cepctl.engines.confidence.work import BOTH_ENDS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.blocks import Rivals, gap_of
from cepctl.numeric.arrays import Flags, Indexes, Ticks

WORK_BOUND = most_products(BOTH_ENDS)
"""Products that a chain may take."""


def shared_gap_chains(
    masses: Masses, event: Indexes, lower: Ticks, upper: Ticks, system: Ticks, rivals: Sequence[Rivals],
    window: int | None,
) -> tuple[Indexes, Measured]:  # fmt: skip
    """Measure those of n chains of three whose rivals stay out of both gaps; also says which, ascending.

    `event`, `lower`, `upper`: shape (n, 3), the last two valid intervals; `system`: closed constraints over
    the three; `rivals`: those that can decide, for rules that speak of gaps alone.
    """
    row, rival, usable = _in_both(masses, lower, upper, system, rivals, len(event))
    first, last = masses.lower[event].min(axis=1), masses.upper[event].max(axis=1)
    usable &= last.astype(np.uint64) - first.astype(np.uint64) < FARTHEST
    rows = np.flatnonzero(usable)
    chosen = usable[row]
    row, rival = np.searchsorted(rows, row[chosen]), rival[chosen]
    offsets = np.searchsorted(row, np.arange(len(rows) + 1))
    event, lower, upper = event[rows], lower[rows], upper[rows]
    chains = _as_gap_chains(event, lower, upper, offsets, rival)
    confidence = np.empty(len(rows))
    width = window_ticks(window)
    sum_chains(masses.buckets, event, lower, upper, offsets, rival, width, float(WORK_BOUND), confidence)
    solved = np.flatnonzero(~np.isnan(confidence))
    found = Measured.exact(confidence, *range_of_places(masses, chains, window, 0, 2))
    return rows[solved], found.taken(solved)


def _in_both(
    masses: Masses, lower: Ticks, upper: Ticks, system: Ticks, rivals: Sequence[Rivals], count: int
) -> tuple[Indexes, Indexes, Flags]:
    """Pairs of a chain and a rival, once each and sorted; and which chains can be measured here."""
    keys, kept_out = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    total = len(masses.lower)
    for each in rivals:
        for region in each.rule.regions:
            gap = gap_of(region)
            assert gap is not None
            keys.append(each.row * total + each.event)
            kept_out.append(np.full(len(each.row), 1 << gap))
    pairs, place = np.unique(np.concatenate(keys), return_inverse=True)
    out_of = np.zeros(len(pairs), dtype=np.int64)
    np.bitwise_or.at(out_of, place, np.concatenate(kept_out))
    row, rival = pairs // total, pairs % total
    wrong, room = masses.has_hole[rival], has_room(system, lower, upper)
    for gap in range(2):
        can = room[row, gap] & (masses.upper[rival] > lower[row, gap])
        can &= masses.lower[rival] < upper[row, gap + 1]
        wrong |= can & (out_of & (1 << gap) == 0)
    usable = np.ones(count, dtype=bool)
    usable[row[wrong]] = False
    return row, rival, usable


def _as_gap_chains(event: Indexes, lower: Ticks, upper: Ticks, offsets: Indexes, rival: Indexes) -> GapChains:
    """Chains with two gaps each, both with all the rivals."""
    sizes = np.repeat(np.diff(offsets), 2)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    owner, within = places_in_runs(sizes)
    listed = rival[offsets[owner // 2] + within]
    left, right = event[:, :-1].reshape(-1), event[:, 1:].reshape(-1)
    gap = np.arange(2 * len(event)).reshape(-1, 2)
    return GapChains(event, lower, upper, gap, Gaps(left, right, ends, listed))


@kernel
def sum_chains(buckets, event, lower, upper, offsets, rivals, window, bound, confidence):
    """Fill the confidence of every chain; NaN where the sum takes more than `bound` products.

    `lower`, `upper`: valid intervals.  Chain i has the rivals offsets[i] to offsets[i + 1] - 1.
    """
    for row in range(len(event)):
        others, many = _classes(buckets, rivals[offsets[row] : offsets[row + 1]])
        confidence[row] = _sum_chain(buckets, event[row], lower[row], upper[row], others, many, window, bound)


@inner
def _classes(buckets, rivals):
    """The first rival of every mass, in the order of these, and how many have it."""
    found, many = np.empty(len(rivals), dtype=np.int64), np.zeros(len(rivals), dtype=np.int64)
    count = 0
    for rival in rivals:
        k = 0
        while k < count and not same_mass(buckets, found[k], rival):
            k += 1
        if k == count:
            found[k] = rival
            count += 1
        many[k] += 1
    return found[:count], many[:count]


@inner
def _sum_chain(buckets, own, lower, upper, others, many, window, bound):
    """The sum over the ticks of the first event, piece by piece."""
    low, high = lower[0], upper[2]
    cut = cuts_within(buckets, np.concatenate((own, others)), low, high)
    cells, classes = len(cut) - 1, len(others)
    before, each = np.empty((classes, cells)), np.empty((classes, cells))
    unused, mass = np.empty(cells), np.empty((3, cells))
    for r in range(classes):
        fill_masses(buckets, others[r], cut, before[r], each[r])
    for i in range(3):
        fill_masses(buckets, own[i], cut, unused, mass[i])
    alive = np.zeros(cells, dtype=np.int64)
    for r in range(classes):
        for c in range(cells):
            alive[c] += many[r] * (each[r, c] > 0.0)
    binding = 0 < window <= high - low
    begins = pieces_of(cut, lower[0], upper[0], window if binding else 0)
    degree = np.zeros(len(begins) - 1, dtype=np.int64)
    if _work(cut, begins, alive, each, many, mass, window if binding else 0, degree) > bound:
        return np.nan
    room = _room(cut, begins, alive, degree)
    s_nodes, s_weights = np.empty(room, dtype=np.int64), np.empty(room)
    u_nodes, u_weights = np.empty(room, dtype=np.int64), np.empty(room)
    up_to, outside, rivals = np.empty(classes), np.empty(classes), (before, each, many)
    places, total = (u_nodes, u_weights), 0.0
    for p in range(len(begins) - 1):
        cell = np.searchsorted(cut, begins[p], side="right") - 1
        if mass[0, cell] == 0.0:
            continue
        count = place_nodes(begins[p + 1] - begins[p], degree[p], s_nodes, s_weights)
        for k in range(count):
            s = begins[p] + s_nodes[k]
            for r in range(classes):
                up_to[r] = min(before[r, cell] + each[r, cell] * float(s - cut[cell] + 1), 1.0)
            stop = s + window if binding else high + 1
            inner = _sum_last(s, stop, cell, cut, rivals, mass, alive, up_to, outside, places)
            total += s_weights[k] * mass[0, cell] * inner
    return min(max(total, 0.0), 1.0)


@inner
def _work(cut, begins, alive, each, many, mass, window, degree):
    """Fill the degree in s of the sum over u on each piece; returns the products that all take, about."""
    cells, total = len(cut) - 1, 0.0
    for p in range(len(begins) - 1):
        cell = np.searchsorted(cut, begins[p], side="right") - 1
        most, stop = alive[cell], cells
        if window > 0:
            last = np.searchsorted(cut, begins[p] + window - 1, side="right") - 1
            if last < cells:
                stop = last + 1
                most = 0
                for r in range(len(many)):
                    most += many[r] * (each[r, cell] > 0.0 or each[r, last] > 0.0)
        degree[p] = most + 2
        if mass[0, cell] == 0.0:
            continue
        inner = 0.0
        for c in range(cell, stop):
            if mass[2, c] > 0.0:
                nodes = float(node_count(cut[c + 1] - cut[c], alive[c] + 1))
                inner += nodes * (c - cell + 1) * (len(many) + 1) + float(alive[c] + 2) ** 3
        total += node_count(begins[p + 1] - begins[p], degree[p]) * inner + float(degree[p]) ** 3
    return total


@inner
def _room(cut, begins, alive, degree):
    """The largest number of nodes of a piece or of a part of a cell."""
    room = 1
    for p in range(len(begins) - 1):
        room = max(room, most_nodes(begins[p + 1] - begins[p], degree[p]))
    for c in range(len(cut) - 1):
        room = max(room, most_nodes(cut[c + 1] - cut[c], alive[c] + 1))
    return room


@inner
def _sum_last(s, stop, cell, cut, rivals, mass, alive, up_to, outside, places):
    """Sum over the ticks u of the last event before `stop`, and over the cells of the middle one.

    `outside`: room for the mass of each class of rivals that lies neither between s and u nor at one of them.
    """
    total, (before, each, many), (nodes, weights) = 0.0, rivals, places
    for c in range(cell, len(cut) - 1):
        begin, end = max(cut[c], s + 2), min(cut[c + 1], stop)
        if cut[c] >= stop:
            break
        if mass[2, c] == 0.0 or begin >= end:
            continue
        inner = 0.0
        for k in range(place_nodes(end - begin, alive[c] + 1, nodes, weights)):
            u = begin + nodes[k]
            for r in range(len(many)):
                until = min(before[r, c] + each[r, c] * float(u - cut[c]), 1.0)
                outside[r] = up_to[r] + (1.0 - until)
            inner += weights[k] * _sum_middle(s, u, cell, c, cut, each, many, mass, outside)
        total += mass[2, c] * inner
    return total


@inner
def _sum_middle(s, u, cell, last, cut, each, many, mass, outside):
    """Sum over the ticks between s and u, a cell at a time."""
    total = 0.0
    for c in range(cell, last + 1):
        ticks = min(cut[c + 1], u) - max(cut[c], s + 1)
        if mass[1, c] == 0.0 or ticks <= 0:
            continue
        product = mass[1, c] * float(ticks)
        for r in range(len(many)):
            left = outside[r] + each[r, c]
            product *= left if many[r] == 1 else _power(left, many[r])
        total += product
    return total


@inner
def _power(base, exponent):
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result
