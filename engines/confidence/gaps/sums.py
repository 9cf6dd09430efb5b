"""Sums over the ticks of all chains of one pivot: both factors of a chain side by side for the same ticks.

See `polynomials` for the formulas and names.  Cells of the last event are taken from the latest to the
earliest, so that the sums over the first event's cells after u - W only grow.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Reals
from cepctl.engines.confidence.cell_nodes import interpolate, most_nodes, partial_sum_shares, place_nodes
from cepctl.engines.confidence.gaps.cells import density_at
from cepctl.engines.confidence.gaps.factors import (
    FirstSums,
    LastWeights,
    Points,
    Space,
    fill_left,
    fill_own,
    fill_right,
    mass_up_to_nodes,
    mass_up_to_points,
    move_to,
)
from cepctl.engines.confidence.gaps.rival_products import INDEX, room_for
from cepctl.engines.confidence.gauss_nodes import place_real, place_real_to_end


class _Pivot(NamedTuple):
    """Where the middle event can be: its first cell and the one after the last, and its mass per tick."""

    begin: int
    stop: int
    mass: Reals


@njit(nogil=True, cache=True)
def sum_pairs(
    buckets, cells, ends, first_gaps, last_gaps, pivot, first, last, pair_first, pair_last, linked,
    window, confidence,
):  # fmt: skip
    """Fill the confidence of chains: pair_first and pair_last say which first and last gap each has."""
    nodes, most, room = len(cells.offset), _most_in_cell(cells), _room(cells)
    middle = _pivot_of(cells, buckets, pivot)
    points = Points(
        np.empty(room, dtype=np.int64), np.empty(room), np.empty(room), np.empty(room, dtype=np.int64),
        np.empty((room, most)), np.empty(room, dtype=np.bool_),
    )  # fmt: skip
    until = mass_up_to_nodes(cells, first_gaps, 0, 0)
    first_sums = FirstSums(
        np.zeros((len(first), nodes)), np.zeros((len(first), nodes)), np.zeros((len(first), most, nodes)),
        until, _nodes_up_to(until, 0.0), np.zeros(most),
    )  # fmt: skip
    up_to = mass_up_to_nodes(cells, last_gaps, 1, room)
    last_weights = LastWeights(
        up_to, _nodes_below(up_to[:, :nodes], 1.0), cells.weight * middle.mass[cells.cell]
    )
    space = Space(
        np.empty(room), np.empty(room), np.empty(most), np.empty((max(len(first), 1), nodes)),
        np.ones((max(len(first), 1), nodes + room)), np.ones((len(last), nodes + room)),
        room_for(max(len(first_gaps.slope), len(last_gaps.slope))),
    )  # fmt: skip
    if linked:
        fill_own(cells, first_gaps, buckets, first, middle, first_sums, space)
    confidence[:] = 0.0
    current = len(cells.every)
    for e in range(len(ends.nodes) - 1, -1, -1):
        if ends.nodes[e]:
            if linked:
                current = move_to(
                    ends.oldest[e], current, cells, first_gaps, buckets, first, middle, first_sums,
                    space.chosen,
                )  # fmt: skip
            _sum_cell(
                e, buckets, cells, ends, last_gaps, last_weights, middle, first, last, pair_first, pair_last,
                linked, window, points, first_sums, space, confidence,
            )  # fmt: skip


@njit(nogil=True, cache=True)
def _nodes_up_to(masses, mass):
    """How many nodes no more than this mass of each rival lies before."""
    return np.array([np.searchsorted(of_rival, mass, side="right") for of_rival in masses])


@njit(nogil=True, cache=True)
def _nodes_below(masses, mass):
    """How many nodes less than this mass of each rival lies before."""
    return np.array([np.searchsorted(of_rival, mass, side="left") for of_rival in masses])


@njit(nogil=True, cache=True)
def _sum_cell(
    e, buckets, cells, ends, last_gaps, last_weights, middle, first, last, pair_first, pair_last,
    linked, window, points, first_sums, space, confidence,
):  # fmt: skip
    """Add the sums over one cell of the last event."""
    old, own, start = ends.oldest[e], ends.cell[e], ends.cut[e]
    ticks = ends.cut[e + 1] - start
    places, weights = np.empty(ends.nodes[e]), np.empty(ends.nodes[e])
    if ends.real[e]:
        place_real(float(ticks), ends.degree[e], places, weights)
    else:
        place_nodes(ticks, ends.degree[e], places, weights)
    since = cells.first[max(old + 1, middle.begin)]
    until = max(cells.first[max(min(own, middle.stop), middle.begin)], since)
    oldest = start - (window - 1) if old >= 0 else cells.cut[0]
    ending = np.array([density_at(buckets, event, start) for event in last])
    alive = ending[pair_last] > 0.0
    beginning = np.zeros(len(first))
    reaching = np.zeros(max(len(first), 1), dtype=np.bool_)
    reaching[pair_first[alive]] = True
    for a in range(len(first)):
        reaching[a] = reaching[a] and buckets.upper[first[a]] >= oldest
        if old >= 0 and reaching[a]:
            beginning[a] = density_at(buckets, first[a], cells.cut[old])
    chosen = np.flatnonzero(alive & reaching[pair_first])
    if not len(chosen):
        return
    following = np.zeros(len(last), dtype=np.bool_)
    following[pair_last[chosen]] = True
    for k in range(len(places)):
        # Where u, and the first tick allowed, lie in their cells.
        at = float(start - cells.cut[own]) + places[k]
        shift = float(oldest - cells.cut[old]) + places[k] if old >= 0 else 0.0
        count = _place_points(cells, middle.mass, at, own, shift, old, linked, points)
        if linked and old >= 0:
            _place_tail(cells, old, shift, first_sums, space)
        mass_up_to_points(last_gaps, points, len(cells.offset), count, last_weights.up_to)
        fill_left(
            cells, first_sums, beginning, reaching, old, own, middle.stop, since, until, points, count, space
        )
        fill_right(last_gaps, last_weights, following, own, at, since, until, points, count, space)
        _add_products(
            chosen, pair_first, pair_last, space.left, space.right, since, until + count, weights[k], ending,
            confidence,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _place_tail(cells, old, shift, first_sums, space):
    nodes = slice(cells.first[old], cells.first[old + 1])
    partial_sum_shares(
        cells.offset[nodes], cells.barycentric[nodes], cells.every[old], shift,
        float(cells.cut[old + 1] - cells.cut[old]), space.places, space.weights, space.shares,
        first_sums.tail,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _pivot_of(cells, buckets, event):
    begin = np.searchsorted(cells.cut, buckets.lower[event])
    stop = np.searchsorted(cells.cut, buckets.upper[event] + 1)
    mass = np.zeros(len(cells.every))
    for c in range(begin, stop):
        mass[c] = density_at(buckets, event, cells.cut[c])
    return _Pivot(begin, stop, mass)


@njit(nogil=True, cache=True)
def _most_in_cell(cells):
    most = 1
    for c in range(len(cells.every)):
        most = max(most, cells.first[c + 1] - cells.first[c])
    return most


@njit(nogil=True, cache=True)
def _room(cells):
    """Largest number of ticks that parts of two cells need."""
    room = 1
    for c in range(len(cells.every)):
        ticks, degree = cells.cut[c + 1] - cells.cut[c], cells.degree[c]
        room = max(room, most_nodes(ticks, degree) if cells.every[c] else degree + 1)
    return 2 * room


@njit(nogil=True, cache=True)
def _place_points(cells, mass, at, own, shift, old, linked, points):
    """Fill ticks t of the cell of u, before `at`, and of that of u - W from `shift`; returns their number."""
    count = 0
    offset, weight, shares, node = points.offset, points.weight, points.shares, points.node
    for side in range(2):
        c = own if side == 0 else old
        if c < 0 or mass[c] == 0.0 or (side == 1 and old == own):
            continue
        # Where s shares the cell, F(t) is the sum over as many ticks as lie between u - W and t.
        skipped = shift if c == old else 0.0
        since = skipped + 1.0 if c == old and linked else skipped
        stop = at if c == own else float(cells.cut[c + 1] - cells.cut[c])
        if since >= stop:
            continue
        degree, every = cells.degree[c], cells.every[c]
        if every:
            added = place_nodes(np.int64(stop - since), degree, offset[count:], weight[count:])
        elif c == own:
            added = place_real(stop - since, degree, offset[count:], weight[count:])
        else:
            added = place_real_to_end(stop - since, degree, offset[count:], weight[count:])
        points.cell[count : count + added] = c
        points.in_window_cell[count : count + added] = c == old
        nodes = slice(cells.first[c], cells.first[c + 1])
        places, barycentric = cells.offset[nodes], cells.barycentric[nodes]
        for p in range(count, count + added):
            offset[p] += since
            weight[p] *= mass[c]
            if linked:
                after = offset[p] - skipped
                node[p] = nodes.start + np.int64(after) if every else -1
                if not every:
                    interpolate(places, barycentric, after, shares[p])
        count += added
    return count


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _add_products(
    chosen, pair_first, pair_last, left, right, since, until, weight, ending, confidence
):  # fmt: skip
    """Add the sum over t to the chains chosen; reassociated, so that several ticks are taken at once."""
    for i in chosen:
        a, c, total = pair_first[i], pair_last[i], 0.0
        for k in range(INDEX(since), INDEX(until)):
            total += left[a, k] * right[c, k]
        confidence[i] += weight * ending[c] * total
