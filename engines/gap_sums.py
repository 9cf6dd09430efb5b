"""Sums over the ticks of all chains of one pivot: both factors of a chain side by side for the same ticks.

See `gap_polynomials` for the formulas and names.  Cells of the last event are taken from the latest to the
earliest, so that the sums over the first event's cells behind u - W only grow.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.engines.cell_nodes import interpolate, most_nodes, partial_sum_shares, place_nodes
from cepctl.engines.gap_cells import density_at
from cepctl.engines.types import Flags, Indexes, Reals, Ticks

_INDEX = np.uintp
"""Loops over unsigned indexes need no look at negative ones, so that they are vectorised."""


class _Pivot(NamedTuple):
    """Where the middle event can be: its first cell and the one after the last, and its mass per tick."""

    begin: int
    stop: int
    mass: Reals


class _Points(NamedTuple):
    """Ticks t of the two cells of which only a part lies between u - W and u.

    `offset`: in its cell; `weight`: in the sum over t, with the mass; `node`, `shares`: the node that has the
    value of F, or -1 and how much each node of the cell counts for it.  `behind`: whether s shares the
    cell with u - W, so that F is a part of `own`.
    """

    cell: Indexes
    offset: Ticks
    weight: Reals
    node: Indexes
    shares: Reals
    behind: Flags


class _Front(NamedTuple):
    """What the first gaps need, a row for each of them; see `gap_polynomials`.

    `until`: mass of each rival before each node.  `tail`: how much each node of the cell of u - W counts for
    the sum over its part that the window allows.
    """

    own: Reals
    past: Reals
    rows: Reals
    until: Reals
    tail: Reals


class _Space(NamedTuple):
    """Working space for one u: ticks and weights of sums, shares, values of F, and both factors."""

    places: Ticks
    weights: Reals
    shares: Reals
    values: Reals
    left: Reals
    right: Reals


@njit(nogil=True, cache=True)
def sum_pairs(  # type: ignore[no-untyped-def]
    buckets, cells, ends, front, back, pivot, first, last, pair_first, pair_last, linked, window, confidence
):  # fmt: skip
    """Fill the confidence of chains: pair_first and pair_last say which first and last gap each has."""
    nodes, most, room = len(cells.offset), _most_in_cell(cells), _room(cells)
    middle = _pivot_of(cells, buckets, pivot)
    points = _Points(
        np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room),
        np.empty(room, dtype=np.int64), np.empty((room, most)), np.empty(room, dtype=np.bool_),
    )  # fmt: skip
    ahead = _Front(
        np.zeros((len(first), nodes)), np.zeros((len(first), nodes)), np.zeros((len(first), most, nodes)),
        _mass_up_to_nodes(cells, front, 0), np.zeros(most),
    )  # fmt: skip
    behind = _mass_up_to_nodes(cells, back, 1)
    space = _Space(
        np.empty(room, dtype=np.int64), np.empty(room), np.empty(most), np.empty(nodes),
        np.ones((max(len(first), 1), nodes + room)), np.ones((len(last), nodes + room)),
    )  # fmt: skip
    if linked:
        _fill_own(cells, front, buckets, first, middle, ahead, space)
    confidence[:] = 0.0
    current = len(cells.every)
    for e in range(len(ends.nodes) - 1, -1, -1):
        if ends.nodes[e]:
            if linked:
                current = _move_to(ends.oldest[e], current, cells, front, buckets, first, middle, ahead)
            _sum_cell(
                e, buckets, cells, ends, back, behind, middle, first, last, pair_first, pair_last, linked,
                window, points, ahead, space, confidence,
            )  # fmt: skip


@njit(nogil=True, cache=True)
def _sum_cell(  # type: ignore[no-untyped-def]
    e, buckets, cells, ends, back, behind, middle, first, last, pair_first, pair_last, linked,
    window, points, ahead, space, confidence,
):  # fmt: skip
    """Add the sums over one cell of the last event."""
    old, own, start = ends.oldest[e], ends.cell[e], ends.cut[e]
    ticks = ends.cut[e + 1] - start
    places, weights = np.empty(ends.nodes[e], dtype=np.int64), np.empty(ends.nodes[e])
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
        beginning[a] = density_at(buckets, first[a], cells.cut[old]) if old >= 0 else 0.0
    chosen = np.flatnonzero(alive & reaching[pair_first])
    if not len(chosen):
        return
    following = np.zeros(len(last), dtype=np.bool_)
    following[pair_last[chosen]] = True
    for k in range(len(places)):
        u = start + places[k]
        oldest_tick = oldest + places[k] if old >= 0 else oldest
        count = _place_points(cells, middle.mass, u, own, oldest_tick, old, linked, points)
        if linked and old >= 0:
            _place_tail(cells, old, oldest_tick, ahead, space)
        for a in range(len(first)):
            if reaching[a]:
                _fill_left(
                    cells, ahead, a, beginning[a], old, own, middle.stop, since, until, points, count, space
                )
        for c in range(len(last)):
            if following[c]:
                rivals = slice(back.offsets[c], back.offsets[c + 1])
                _fill_right(
                    cells, middle.mass, back.before[rivals], back.slope[rivals], behind[rivals],
                    u - cells.cut[own], own, since, until, points, count, space.right[c],
                )  # fmt: skip
        for i in chosen:
            inside = _product(space.left, pair_first[i], space.right, pair_last[i], until - since + count)
            confidence[i] += weights[k] * ending[pair_last[i]] * inside


@njit(nogil=True, cache=True)
def _place_tail(cells, old, oldest, ahead, space):  # type: ignore[no-untyped-def]
    nodes = slice(cells.first[old], cells.first[old + 1])
    start = cells.cut[old]
    partial_sum_shares(
        cells.offset[nodes], cells.barycentric[nodes], cells.every[old], oldest - start,
        cells.cut[old + 1] - start, space.places, space.weights, space.shares, ahead.tail,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _pivot_of(cells, buckets, event):  # type: ignore[no-untyped-def]
    begin = np.searchsorted(cells.cut, buckets.lower[event])
    stop = np.searchsorted(cells.cut, buckets.upper[event] + 1)
    mass = np.zeros(len(cells.every))
    for c in range(begin, stop):
        mass[c] = density_at(buckets, event, cells.cut[c])
    return _Pivot(begin, stop, mass)


@njit(nogil=True, cache=True)
def _most_in_cell(cells):  # type: ignore[no-untyped-def]
    most = 1
    for c in range(len(cells.every)):
        most = max(most, cells.first[c + 1] - cells.first[c])
    return most


@njit(nogil=True, cache=True)
def _room(cells):  # type: ignore[no-untyped-def]
    """Largest number of ticks that parts of two cells need."""
    room = 1
    for c in range(len(cells.every)):
        room = max(room, most_nodes(cells.cut[c + 1] - cells.cut[c], cells.degree[c]))
    return 2 * room


@njit(nogil=True, cache=True)
def _mass_up_to_nodes(cells, free, included):  # type: ignore[no-untyped-def]
    """Mass of each rival before each node; with the node itself where it is included."""
    rivals = len(free.slope)
    at = np.empty((rivals, len(cells.offset)))
    for r in range(rivals):
        for j in range(len(cells.offset)):
            cell = cells.cell[j]
            at[r, j] = min(
                free.before[r, cell] + free.slope[r, cell] * float(cells.offset[j] + included), 1.0
            )
    return at


@njit(nogil=True, cache=True)
def _fill_own(cells, front, buckets, first, middle, ahead, space):  # type: ignore[no-untyped-def]
    """Sums over s < t within the cell of t, for the nodes t."""
    total, free = np.empty(ahead.rows.shape[1]), np.empty((len(first), ahead.rows.shape[1]))
    for c in range(middle.begin, middle.stop):
        own = slice(cells.first[c], cells.first[c + 1])
        offset, count = cells.offset[own], cells.first[c + 1] - cells.first[c]
        for a in range(len(first)):
            free[a, :count] = density_at(buckets, first[a], cells.cut[c])
            for r in range(front.offsets[a], front.offsets[a + 1]):
                for i in range(count):
                    free[a, i] *= 1.0 - front.slope[r, c] * float(offset[i])
        for j in range(count):
            partial_sum_shares(
                offset, cells.barycentric[own], cells.every[c], 0, offset[j],
                space.places, space.weights, space.shares, total,
            )  # fmt: skip
            for a in range(len(first)):
                value = 0.0
                for i in range(count):
                    value += total[i] * free[a, i]
                ahead.own[a, cells.first[c] + j] = value
                ahead.past[a, cells.first[c] + j] = value


@njit(nogil=True, cache=True)
def _move_to(old, current, cells, front, buckets, first, middle, ahead):  # type: ignore[no-untyped-def]
    """Add the cells behind `old` to the sums over the past, and fill the rows of `old` itself."""
    end = cells.first[middle.stop]
    while current > old:
        if 0 <= current < middle.stop:
            for a in range(len(first)):
                density = density_at(buckets, first[a], cells.cut[current])
                for i in range(cells.first[current + 1] - cells.first[current] if density > 0.0 else 0):
                    weight = density * cells.weight[cells.first[current] + i]
                    _add(ahead.past, a, ahead.rows[a], i, weight, cells.first[current + 1], end)
        current -= 1
        if 0 <= current < middle.stop:
            for a in range(len(first)):
                if density_at(buckets, first[a], cells.cut[current]) > 0.0:
                    _fill_rows(cells, front, a, current, end, ahead)
    return current


@njit(nogil=True, cache=True)
def _fill_rows(cells, front, a, current, end, ahead):  # type: ignore[no-untyped-def]
    """Q1(s, t) for the nodes s of a cell and t of all later ones."""
    begin = cells.first[current + 1]
    for i in range(begin - cells.first[current]):
        ahead.rows[a, i, begin:end] = 1.0
        offset = float(cells.offset[cells.first[current] + i] + 1)
        for r in range(front.offsets[a], front.offsets[a + 1]):
            here = min(front.before[r, current] + front.slope[r, current] * offset, 1.0)
            if here < 1.0:
                _restrict(ahead.rows[a], i, begin, 1.0 + here, -1.0, ahead.until, r, begin, end)


@njit(nogil=True, cache=True)
def _place_points(cells, mass, u, own, oldest, old, linked, points):  # type: ignore[no-untyped-def]
    """Fill the ticks t of the cells of u and of the first tick allowed; returns their number."""
    count = 0
    for side in range(2):
        c = own if side == 0 else old
        if c < 0 or mass[c] == 0.0 or (side == 1 and old == own):
            continue
        start = cells.cut[c]
        # Where s shares the cell, F(t) is the sum over as many ticks as lie between u - W and t.
        shift = oldest - start if c == old else 0
        since = shift + 1 if c == old and linked else shift
        stop = u - start if c == own else cells.cut[c + 1] - start
        if since >= stop:
            continue
        added = place_nodes(stop - since, cells.degree[c], points.offset[count:], points.weight[count:])
        nodes = slice(cells.first[c], cells.first[c + 1])
        for p in range(count, count + added):
            points.offset[p] += since
            points.weight[p] *= mass[c]
            points.cell[p] = c
            points.behind[p] = c == old
            if not linked:
                continue
            at = points.offset[p] - shift
            points.node[p] = cells.first[c] + at if cells.every[c] else -1
            if not cells.every[c]:
                interpolate(cells.offset[nodes], cells.barycentric[nodes], at, points.shares[p])
        count += added
    return count


@njit(nogil=True, cache=True)
def _fill_left(cells, ahead, a, density, old, own, stop, since, until, points, count, space):  # type: ignore[no-untyped-def]
    """F for one u: at the nodes between, then at the points of the two parted cells."""
    end = cells.first[own + 1] if own < stop and old < own else until
    values, row, between = space.values, space.left[a], until - since
    values[since:end] = ahead.past[a, since:end]
    for i in range(cells.first[old + 1] - cells.first[old] if density > 0.0 else 0):
        _add(space.values.reshape(1, -1), 0, ahead.rows[a], i, density * ahead.tail[i], since, end)
    row[:between] = values[since:until]
    for p in range(count):
        known = ahead.own[a] if points.behind[p] else values
        if points.node[p] >= 0:
            row[between + p] = known[points.node[p]]
            continue
        begin = cells.first[points.cell[p]]
        value = 0.0
        for i in range(cells.first[points.cell[p] + 1] - begin):
            value += points.shares[p, i] * known[begin + i]
        row[between + p] = value


@njit(nogil=True, cache=True)
def _fill_right(  # type: ignore[no-untyped-def]
    cells, mass, before, slope, at_nodes, offset, own, since, until, points, count, row
):  # fmt: skip
    """mass(t) Q2(t, u) and the weight of t for one u, for the same ticks t."""
    between = until - since
    for j in range(between):
        row[j] = cells.weight[since + j] * mass[cells.cell[since + j]]
    row[between : between + count] = points.weight[:count]
    for r in range(len(slope)):
        there = min(before[r, own] + slope[r, own] * float(offset), 1.0)
        if there == 0.0:
            continue
        _restrict(row.reshape(1, -1), 0, 0, 1.0 - there, 1.0, at_nodes, r, since, until)
        for p in range(count):
            cell = points.cell[p]
            here = min(before[r, cell] + slope[r, cell] * float(points.offset[p] + 1), 1.0)
            row[between + p] *= 1.0 - (there - here)


@njit(nogil=True, cache=True)
def _add(target, i, source, j, factor, begin, end):  # type: ignore[no-untyped-def]
    """Add a multiple of one row to another between two places."""
    for k in range(_INDEX(begin), _INDEX(max(begin, end))):
        target[i, k] += factor * source[j, k]


@njit(nogil=True, cache=True)
def _restrict(target, i, place, constant, sign, masses, r, begin, end):  # type: ignore[no-untyped-def]
    """Multiply a row from `place` on by constant + sign * masses[r, k], for k between two places."""
    shift = _INDEX(begin - place)
    for k in range(_INDEX(begin), _INDEX(max(begin, end))):
        target[i, k - shift] *= constant + sign * masses[r, k]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _product(left, i, right, j, count):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(_INDEX(count)):
        total += left[i, k] * right[j, k]
    return total
