"""Both factors of a chain with rival-free gaps, for one tick of its last event and a list of ticks between.

See `gap_polynomials` for the formulas and names.  Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.engines.cell_nodes import partial_sum_shares
from cepctl.engines.gap_cells import density_at
from cepctl.engines.types import Flags, Indexes, Reals, Ticks

_INDEX = np.uintp
"""Loops over unsigned indexes need no look at negative ones, so that they are vectorised."""


class Points(NamedTuple):
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


class Front(NamedTuple):
    """What the first gaps need, a row for each of them; see `gap_polynomials`.

    `until`: mass of each rival before each node.  `tail`: how much each node of the cell of u - W counts for
    the sum over its part that the window allows.
    """

    own: Reals
    past: Reals
    rows: Reals
    until: Reals
    tail: Reals


class Space(NamedTuple):
    """Working space for one u: ticks and weights of sums, shares, values of F, and both factors."""

    places: Ticks
    weights: Reals
    shares: Reals
    values: Reals
    left: Reals
    right: Reals


@njit(nogil=True, cache=True)
def mass_up_to_nodes(cells, free, included):  # type: ignore[no-untyped-def]
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
def fill_own(cells, front, buckets, first, middle, ahead, space):  # type: ignore[no-untyped-def]
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
def move_to(old, current, cells, front, buckets, first, middle, ahead):  # type: ignore[no-untyped-def]
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
def fill_left(cells, ahead, a, density, old, own, stop, since, until, points, count, space):  # type: ignore[no-untyped-def]
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
def fill_right(  # type: ignore[no-untyped-def]
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
