"""Both factors of a chain with rival-free gaps, for one tick of its last event and a list of ticks between.

See `polynomials` for the formulas and names.  Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.confidence.cell_nodes import partial_sum_shares
from cepctl.engines.confidence.gaps.cells import density_at
from cepctl.engines.confidence.gaps.rival_products import AT_ONCE, INDEX, Chosen, exclude


class Points(NamedTuple):
    """Ticks t of the two cells of which only a part lies between u - W and u.

    `offset`: in its cell; `weight`: in the sum over t, with the mass; `node`, `shares`: the node that has the
    value of F, or -1 and how much each node of the cell counts for it.  `in_window_cell`: whether s shares
    the cell with u - W, so that F is a part of `own`.
    """

    cell: Indexes
    offset: Reals
    weight: Reals
    node: Indexes
    shares: Reals
    in_window_cell: Flags


class FirstSums(NamedTuple):
    """What the first gaps need, a row for each of them; see `polynomials`.

    `until`: mass of each rival before each node; `since`: the first node where it has any.  `tail`: how much
    each node of the cell of u - W counts for the sum over its part that the window allows.
    """

    own: Reals
    past: Reals
    rows: Reals
    until: Reals
    since: Indexes
    tail: Reals


class LastWeights(NamedTuple):
    """What the last gaps need.

    `up_to`: mass of each rival up to each node and, after these, each of the `Points`, that included; `end`:
    the first node where that is all of it.  `weight`: of each node, in the sum over t, with the mass.
    """

    up_to: Reals
    end: Indexes
    weight: Reals


class Space(NamedTuple):
    """Working space for one u: ticks and weights of sums, shares, values of F, both factors, and rivals.

    The factors have a row for each gap, with a place for each node and, after those between, each of the
    `Points`.
    """

    places: Reals
    weights: Reals
    shares: Reals
    values: Reals
    left: Reals
    right: Reals
    chosen: Chosen


@njit(nogil=True, cache=True)
def mass_up_to_nodes(cells, free, included, room):
    """Mass of each rival before each node, or up to it where it is included; and room for points."""
    rivals = len(free.slope)
    at = np.empty((rivals, len(cells.offset) + room))
    for r in range(rivals):
        for j in range(len(cells.offset)):
            cell = cells.cell[j]
            at[r, j] = min(free.before[r, cell] + free.slope[r, cell] * (cells.offset[j] + included), 1.0)
    return at


@njit(nogil=True, cache=True)
def fill_own(cells, first_gaps, buckets, first, middle, first_sums, space):
    """Sums over s < t within the cell of t, for the nodes t."""
    total, free = np.empty(first_sums.rows.shape[1]), np.empty((len(first), first_sums.rows.shape[1]))
    for c in range(middle.begin, middle.stop):
        own = slice(cells.first[c], cells.first[c + 1])
        offset, count = cells.offset[own], cells.first[c + 1] - cells.first[c]
        for a in range(len(first)):
            free[a, :count] = density_at(buckets, first[a], cells.cut[c])
            for r in first_gaps.listed[first_gaps.offsets[a] : first_gaps.offsets[a + 1]]:
                slope = first_gaps.slope[r, c]
                for i in range(count if slope > 0.0 else 0):
                    free[a, i] *= 1.0 - slope * offset[i]
        for j in range(count):
            partial_sum_shares(
                offset, cells.barycentric[own], cells.every[c], 0.0, offset[j],
                space.places, space.weights, space.shares, total,
            )  # fmt: skip
            for a in range(len(first)):
                value = 0.0
                for i in range(count):
                    value += total[i] * free[a, i]
                first_sums.own[a, cells.first[c] + j] = value
                first_sums.past[a, cells.first[c] + j] = value


@njit(nogil=True, cache=True)
def move_to(old, current, cells, first_gaps, buckets, first, middle, first_sums, chosen):
    """Add the cells after `old` to the sums over the past, and fill the rows of `old` itself."""
    end = cells.first[middle.stop]
    density = np.empty(len(first))
    while current > old:
        if 0 <= current < middle.stop:
            _densities(buckets, first, cells.cut[current], density)
            nodes = slice(cells.first[current], cells.first[current + 1])
            _add_rows(first_sums.past, first_sums.rows, cells.weight[nodes], density, nodes.stop, end)
        current -= 1
        if 0 <= current < middle.stop:
            _densities(buckets, first, cells.cut[current], density)
            _fill_rows(cells, first_gaps, density, current, end, first_sums, chosen)
    return current


@njit(nogil=True, cache=True)
def _densities(buckets, events, tick, density):
    for i in range(len(events)):
        density[i] = density_at(buckets, events[i], tick)


@njit(nogil=True, cache=True)
def _fill_rows(cells, first_gaps, density, current, end, first_sums, chosen):
    """Q1(s, t) for the nodes s of a cell where the first event has mass, and t of all later ones."""
    rows, until, first_node = first_sums.rows, first_sums.until, first_sums.since
    offsets, listed = first_gaps.offsets, first_gaps.listed
    own, begin = cells.first[current], cells.first[current + 1]
    for i in range(begin - own):
        here = mass_at(first_gaps, current, cells.offset[own + i] + 1.0)
        for a in range(len(density) if begin < end else 0):
            if density[a] == 0.0:
                continue
            row = rows[a, i]
            for k in range(INDEX(begin), INDEX(end)):
                row[k] = 1.0
            count = 0
            for g in range(offsets[a], offsets[a + 1]):
                r = listed[g]
                if here[r] < 1.0 and first_node[r] < end:
                    chosen.rival[count], chosen.at[count] = r, here[r]
                    chosen.begin[count], chosen.end[count] = max(first_node[r], begin), end
                    count += 1
            exclude(row, until, chosen, count, 0, 0)


@njit(nogil=True, cache=True)
def mass_at(free, cell, offset):
    """Mass of each rival before a place in a cell."""
    return np.minimum(free.before[:, cell] + free.slope[:, cell] * offset, 1.0)


@njit(nogil=True, cache=True)
def fill_left(cells, first_sums, beginning, reaching, old, own, stop, since, until, points, count, space):
    """F for one u: at the nodes between, then at the points of the two parted cells."""
    end = cells.first[own + 1] if own < stop and old < own else until
    values, left, past, inner = space.values, space.left, first_sums.past, first_sums.own
    shares, node, in_window_cell, parted = points.shares, points.node, points.in_window_cell, points.cell
    first_node = cells.first
    if old >= 0:
        values[:, since:end] = 0.0
        tail = first_sums.tail[: cells.first[old + 1] - cells.first[old]]
        _add_rows(values, first_sums.rows, tail, beginning, since, end)
    for a in range(len(beginning)):
        if not reaching[a]:
            continue
        for k in range(INDEX(since), INDEX(max(since, end))):
            values[a, k] = past[a, k] + (values[a, k] if old >= 0 else 0.0)
        for k in range(INDEX(since), INDEX(until)):
            left[a, k] = values[a, k]
        for p in range(count):
            if node[p] >= 0:
                left[a, until + p] = inner[a, node[p]] if in_window_cell[p] else values[a, node[p]]
                continue
            begin, value = INDEX(first_node[parted[p]]), 0.0
            known, size = inner if in_window_cell[p] else values, INDEX(first_node[parted[p] + 1]) - begin
            for i in range(size):
                value += shares[p, i] * known[a, i + begin]
            left[a, until + p] = value


@njit(nogil=True, cache=True)
def fill_right(free, last_weights, following, own, offset, since, until, points, count, space):
    """mass(t) Q2(t, u) and the weight of t for one u and each gap, for the same ticks t.

    `own`, `offset`: cell of u and its place in there.
    """
    there = mass_at(free, own, offset)
    up_to, last_node = last_weights.up_to, last_weights.end
    node_weight, point_weight = last_weights.weight, points.weight
    offsets, listed, chosen, nodes = free.offsets, free.listed, space.chosen, len(last_weights.weight)
    for c in range(len(following)):
        if not following[c]:
            continue
        row, held = space.right[c], 0
        for k in range(INDEX(since), INDEX(until)):
            row[k] = node_weight[k]
        for p in range(INDEX(count)):
            row[p + INDEX(until)] = point_weight[p]
        for g in range(offsets[c], offsets[c + 1]):
            r = listed[g]
            if there[r] > 0.0:
                chosen.rival[held], chosen.at[held] = r, there[r]
                chosen.begin[held], chosen.end[held] = since, min(last_node[r], until)
                held += 1
        exclude(row, up_to, chosen, held, 0, 0)
        # Those that stand for part of a tick may lie after u, where what a rival leaves is above 1.
        for i in range(held):
            r, at = chosen.rival[i], chosen.at[i]
            for p in range(INDEX(count)):
                row[p + INDEX(until)] *= 1.0 - (at - up_to[r, p + INDEX(nodes)])


@njit(nogil=True, cache=True)
def mass_up_to_points(free, points, nodes, count, up_to):
    """Fill the mass of each rival up to each point, that included, after the nodes."""
    before, slope, cell, offset = free.before, free.slope, points.cell, points.offset
    for r in range(len(slope)):
        for p in range(count):
            up_to[r, nodes + p] = min(before[r, cell[p]] + slope[r, cell[p]] * (offset[p] + 1.0), 1.0)


@njit(nogil=True, cache=True)
def _add_rows(sums, rows, factors, density, begin, end):
    """Add rows[a, i] times density[a] * factors[i] to sums[a], between two places; some rows at a time."""
    size, begin, end = len(factors), INDEX(begin), INDEX(max(begin, end))
    for a in range(len(density)):
        each = density[a]
        if each == 0.0:
            continue
        i = 0
        while i + AT_ONCE <= size:
            f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            for k in range(begin, end):
                sums[a, k] += each * (
                    f0 * rows[a, i, k]
                    + f1 * rows[a, i + 1, k]
                    + f2 * rows[a, i + 2, k]
                    + f3 * rows[a, i + 3, k]
                )
            i += AT_ONCE
        while i < size:
            f0 = each * factors[i]
            for k in range(begin, end):
                sums[a, k] += f0 * rows[a, i, k]
            i += 1
