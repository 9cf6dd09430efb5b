"""Chains of sharp events on tied clocks: the mass of the offsets that order, window and ties allow.

All that is asked of offsets bounds differences of two of them, or one of them.  Given the offsets that are
outer, no two others are compared with each other, so that each of these has a mass of its own:

    sum over outer offsets of  product of their masses * product over the others of mass between two ends

The outer offsets run over what can be alone, at few ticks of every piece on which what is inside is one
polynomial.  A bound that others say as well is left out first: a tie that cannot break makes no piece.

    name here        meaning
    limit[a, b]      by how much the offset of level a may exceed that of level b; closed; 0 at level 0
    kept[a, b]       whether no two other bounds say that as well
    depth[a]         1, 2, ... for outer offsets, from the outermost on; 0 for level 0; INSIDE for the others
    cuts[d, e, :]    constants c: a piece of the offset of depth e may begin where it is that of depth d + c
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.confidence.clocks.chain_weights import mass_near, value_at
from cepctl.engines.confidence.quadrature import place_few_nodes
from cepctl.engines.kernels.kernel import inlined, inner, kernel
from cepctl.numeric.arrays import Indexes, Reals, Ticks

INSIDE = -1


class TiedWalk(NamedTuple):
    """Room for the nodes of every depth, shape (depths + 1, room), and where the sum is, (depths + 1,)."""

    tick: Ticks
    weight: Reals
    placed: Indexes
    at: Indexes
    chosen: Ticks
    product: Reals


class DepthCuts(NamedTuple):
    """The constants of each pair of depths, and how many there are."""

    ticks: Ticks
    sizes: Indexes


@kernel
def fill_tied_sums(limits, levels, which, masses, most, found):
    """Fill the sums of matches; -1 for those that take more than `most` products.

    `limits`, shape (n, k + 1, k + 1); `levels`, shape (n,): how many of these are of a match; `which`, shape
    (n, k + 1): the mass of each level.
    """
    for row in range(len(levels)):
        found[row] = _sum_of_row(limits[row], levels[row] + 1, which[row], masses, most)


@inner
def _sum_of_row(limit, count, which, masses, most):
    depth = np.zeros(count, dtype=np.int64)
    inside = _kept(limit, depth == 0)
    outer = _outer(inside, count, depth)
    depths = len(outer) - 1
    # Among themselves outer offsets are bounded by what is inside, too.
    kept = _kept(limit, depth != INSIDE)
    cuts = _cuts(limit, kept, inside, depth, outer, which, masses)
    degree = _degrees(inside, depth, depths, which, masses)
    last, flat = _last_depths(inside, depth), _flat_densities(which, masses, count)
    room = 1
    for e in range(1, depths + 1):
        pieces = 1
        for d in range(e):
            pieces += cuts.sizes[d, e]
        room = max(room, pieces * max(degree[e] + 2, (degree[e] + 1) * (degree[e] + 1) // 4))
    walk = TiedWalk(
        np.empty((depths + 1, room), dtype=np.int64), np.empty((depths + 1, room)),
        np.zeros(depths + 1, dtype=np.int64), np.zeros(depths + 1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.int64), np.ones(depths + 1),
    )  # fmt: skip
    walk.product[0] = _masses_at(limit, inside, depth, outer, last, flat, which, masses, walk.chosen, 0)
    if depths == 0 or walk.product[0] == 0.0:
        return walk.product[0]
    return _walked((limit, inside, depth), outer, last, flat, which, masses, cuts, degree, walk, most)


@inner
def _walked(bounds, outer, last, flat, which, masses, cuts, degree, walk, most):
    """The sum over all outer offsets, depth by depth."""
    limit, inside, depth = bounds
    depths, total, products = len(outer) - 1, 0.0, 0
    begins = np.empty(walk.tick.shape[1] + 2, dtype=np.int64)
    here = 1
    _place(limit, outer, flat, which, masses, cuts, degree, walk, begins, here)
    while here > 0:
        if walk.at[here] == walk.placed[here]:
            here -= 1
            continue
        node = walk.at[here]
        walk.at[here] += 1
        walk.chosen[here] = walk.tick[here, node]
        share = walk.product[here - 1] * walk.weight[here, node]
        share *= _masses_at(limit, inside, depth, outer, last, flat, which, masses, walk.chosen, here)
        products += len(depth) - 1
        if products > most:
            return -1.0
        if share == 0.0:
            continue
        if here == depths:
            total += share
            continue
        walk.product[here] = share
        here += 1
        _place(limit, outer, flat, which, masses, cuts, degree, walk, begins, here)
    return total


@inner
def _kept(limit, counts):
    """Which bounds between the levels that count are no sum of two others of these."""
    size = len(counts)
    kept = np.zeros((size, size), dtype=np.bool_)
    for a in range(size):
        for b in range(size):
            kept[a, b] = a != b and counts[a] and counts[b]
            if a == 0 or b == 0 or not kept[a, b]:
                continue
            for m in range(size):
                # Of those that are always as far apart each would say the same of the other.
                alike = limit[a, m] + limit[m, a] == 0 or limit[b, m] + limit[m, b] == 0
                if counts[m] and not alike and limit[a, m] + limit[m, b] <= limit[a, b]:
                    kept[a, b] = False
                    break
    return kept


@inner
def _outer(kept, count, depth):
    """Choose the outer levels, so that no two others are compared: those with most of such first."""
    beside = np.zeros(count, dtype=np.int64)
    depth[1:] = INSIDE
    while True:
        beside[:] = 0
        for a in range(1, count):
            for b in range(1, count):
                if depth[a] == INSIDE and depth[b] == INSIDE and (kept[a, b] or kept[b, a]):
                    beside[a] += 1
        most = np.argmax(beside)
        if beside[most] == 0:
            break
        depth[most] = 0
    outer = np.zeros((depth >= 0).sum(), dtype=np.int64)
    chosen = 0
    for a in range(1, count):
        if depth[a] == 0:
            chosen += 1
            depth[a], outer[chosen] = chosen, a
    return outer


@inner
def _last_depths(inside, depth):
    """Of each level that is inside the depth at which all are known that bound it."""
    last = np.zeros(len(depth), dtype=np.int64)
    for a in range(1, len(depth)):
        for b in range(1, len(depth)):
            if depth[a] == INSIDE and depth[b] > 0 and (inside[a, b] or inside[b, a]):
                last[a] = max(last[a], depth[b])
    return last


@inner
def _flat_densities(which, masses, count):
    """The density of each level's mass where that is the same everywhere, as of most; else 0."""
    flat = np.zeros(count)
    for a in range(1, count):
        cell = masses.starts[which[a]]
        if masses.starts[which[a] + 1] - cell == 1 and masses.degree[which[a]] == 0:
            flat[a] = masses.density[cell]
    return flat


@inner
def _degrees(inside, depth, depths, which, masses):
    """The degree in the offset of each depth, with those of all later depths summed out."""
    last, degree = _last_depths(inside, depth), np.zeros(depths + 1, dtype=np.int64)
    for e in range(1, depths + 1):
        for a in range(1, len(depth)):
            own = masses.degree[which[a]]
            if depth[a] == e:
                degree[e] += own
            elif depth[a] > e or (depth[a] == INSIDE and last[a] >= e):
                degree[e] += own + 1
    return degree


@inner
def _ends_of(limit, kept, depth, level, which, masses, owner, ends):
    """Fill where the pieces of an offset may begin: at that of which depth plus how much; their number."""
    count = 0
    for b in range(len(depth)):
        if b == level or depth[b] == INSIDE:
            continue
        if kept[b, level] and (depth[level] == INSIDE or depth[b] < depth[level]):
            owner[count], ends[count] = depth[b], -limit[b, level]
            count += 1
        if kept[level, b] and (depth[level] == INSIDE or depth[b] < depth[level]):
            owner[count], ends[count] = depth[b], limit[level, b] + 1
            count += 1
    for c in range(masses.starts[which[level]], masses.starts[which[level] + 1]):
        if -limit[0, level] < masses.begin[c] <= limit[level, 0]:
            owner[count], ends[count] = 0, masses.begin[c]
            count += 1
    return count


@inner
def _cuts(limit, kept, inside, depth, outer, which, masses):
    """The cuts of all depths: ends of their own, and where two ends of what is inside meet."""
    depths, most = len(outer), 0
    for a in range(1, len(depth)):
        most = max(most, masses.starts[which[a] + 1] - masses.starts[which[a]])
    owner, ends = np.empty(most + 2 * len(depth), np.int64), np.empty(most + 2 * len(depth), np.int64)
    cuts = DepthCuts(
        np.empty((depths, depths, 16), dtype=np.int64), np.zeros((depths, depths), dtype=np.int64)
    )
    for a in range(1, len(depth)):
        if depth[a] != INSIDE:
            for i in range(_ends_of(limit, kept, depth, a, which, masses, owner, ends)):
                cuts = _with(cuts, limit, outer, owner[i], depth[a], ends[i])
            continue
        count = _ends_of(limit, inside, depth, a, which, masses, owner, ends)
        for i in range(count):
            for j in range(count):
                if owner[i] < owner[j]:
                    cuts = _with(cuts, limit, outer, owner[i], owner[j], ends[i] - ends[j])
    return _with_meetings(cuts, limit, outer)


@inner
def _with_meetings(cuts, limit, outer):
    """The cuts, each once, with those where two ends of pieces of a later depth meet."""
    for e in range(len(outer) - 1, 0, -1):
        for d in range(e):
            cuts.sizes[d, e] = sort_cuts(cuts.ticks[d, e], cuts.sizes[d, e])
        for middle in range(1, e):
            for d in range(middle):
                for i in range(cuts.sizes[d, e]):
                    for j in range(cuts.sizes[middle, e]):
                        apart = cuts.ticks[d, e, i] - cuts.ticks[middle, e, j]
                        cuts = _with(cuts, limit, outer, d, middle, apart)
    return cuts


@inner
def _with(cuts, limit, outer, before, after, at):
    """The cuts with one more, if a piece can begin there; in more room where there is none."""
    least, most = -limit[outer[before], outer[after]], limit[outer[after], outer[before]]
    if not least <= at <= most + 1:
        return cuts
    size, room = cuts.sizes[before, after], cuts.ticks.shape[2]
    if size == room:
        size = sort_cuts(cuts.ticks[before, after], size)
        if 2 * size > room:
            more = np.empty((len(cuts.sizes), len(cuts.sizes), 2 * room), dtype=np.int64)
            more[:, :, :room] = cuts.ticks
            cuts = DepthCuts(more, cuts.sizes)
    cuts.ticks[before, after, size] = at
    cuts.sizes[before, after] = size + 1
    return cuts


@inlined
def _place(limit, outer, flat, which, masses, cuts, degree, walk, begins, here):
    """Place the nodes of one depth, given the offsets of those before it."""
    level, most = outer[here], 0
    first, last = -limit[0, level], limit[level, 0]
    for d in range(1, here):
        first = max(first, walk.chosen[d] - limit[outer[d], level])
        last = min(last, walk.chosen[d] + limit[level, outer[d]])
    walk.at[here] = walk.placed[here] = 0
    if first > last:
        return
    begins[0], most = first, 1
    for d in range(here):
        for c in range(cuts.sizes[d, here]):
            at = walk.chosen[d] + cuts.ticks[d, here, c]
            if first < at <= last:
                begins[most] = at
                most += 1
    most = sort_cuts(begins, most)
    begins[most] = last + 1
    count = 0
    for p in range(most):
        tick, weight = walk.tick[here, count:], walk.weight[here, count:]
        placed = place_few_nodes(begins[p + 1] - begins[p], degree[here], tick, weight)
        for k in range(placed):
            tick[k] += begins[p]
            if flat[level] > 0.0:
                weight[k] *= flat[level]
            else:
                weight[k] *= value_at(masses, which[level], tick[k])
        count += placed
    walk.placed[here] = count


@inlined
def _masses_at(limit, inside, depth, outer, last, flat, which, masses, chosen, here):
    """The product of the masses of all that is inside and known at this depth first."""
    product = 1.0
    for a in range(1, len(depth)):
        if depth[a] != INSIDE or last[a] != here:
            continue
        least, most = -limit[0, a], limit[a, 0]
        for d in range(1, here + 1):
            if inside[outer[d], a]:
                least = max(least, chosen[d] - limit[outer[d], a])
            if inside[a, outer[d]]:
                most = min(most, chosen[d] + limit[a, outer[d]])
        if flat[a] > 0.0 and least <= most:
            product *= flat[a] * float(most - least + 1)
        else:
            product *= mass_near(masses, which[a], least, most)
    return product
