"""Gaps of the chains of one pivot: what s is worth at each later node t, and what t is worth before some u.

See `polynomials` for the formulas and names.  Of the first gaps one row serves all of a kind: of the first
event itself a chain needs only its mass.  Of the last gaps, for each u, the ticks t are the nodes between the
cells of u - W and of u, and some points in each of these two, of which only a part is left.  All of them
stand side by side in one row, so that one loop takes them all; the rows of gaps that keep out other rivals
come from one tree of products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gaps.product_trees import (
    INDEX,
    MOST_PLACES,
    ProductPlan,
    add_rows,
    fill_plan,
    inner_product,
    multiply,
    plan_room,
)
from cepctl.engines.confidence.gauss_nodes import (
    place_real,
    place_real_to_end,
    shares_of_sums,
    shares_of_values,
)
from cepctl.engines.confidence.quadrature import place_nodes
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals


class FirstSums(NamedTuple):
    """What the first gaps need, for one cell of s at a time.

    `until`: mass of each rival before each node.  `density`: of each first event in the cell.  `slot`: the
    row of each kind, -1 where none of its events has mass in the cell.  `rows`: Q1(s, t) for the nodes s and
    all nodes t of later cells, s after s.  `past`: the sums over s, for each kind and node t.  The rest is
    working space.
    """

    until: Reals
    density: Reals
    slot: Indexes
    rows: Reals
    past: Reals
    plan: ProductPlan
    alive: Indexes
    relevant: Indexes
    factors: Reals
    ones: Reals


@inner
def first_sums_for(cells, first_gaps, first, middle):
    """Room for the sums of these gaps."""
    kinds, rivals = first_gaps.kinds.apart.shape
    plan, rows = plan_room(kinds, rivals)
    most = np.diff(cells.first[: middle.stop + 1]).max()
    width = cells.first[middle.stop] - cells.first[middle.begin]
    size, at_once = most * width, min(most * width, MOST_PLACES + width)
    return FirstSums(
        mass_up_to_nodes(cells, first_gaps, first_gaps.closed), np.zeros(len(first)),
        np.full(kinds, -1, dtype=np.int64), np.empty((rows, size)), np.zeros((kinds, len(cells.offset))),
        plan, np.empty(kinds, dtype=np.int64), np.empty(rivals, dtype=np.int64), np.empty((rivals, at_once)),
        np.ones(at_once),
    )  # fmt: skip


@inner
def mass_up_to_nodes(cells, free, included):
    """Mass of each rival before each node, or up to it where it is included; shape (rivals,)."""
    rivals = len(free.slope)
    at = np.empty((rivals, len(cells.offset)))
    for r in range(rivals):
        for j in range(len(cells.offset)):
            cell = cells.cell[j]
            ticks = cells.offset[j] + included[r]
            at[r, j] = min(free.before[r, cell] + free.slope[r, cell] * ticks, 1.0)
    return at


@inner
def load(cells, first_gaps, buckets, first, middle, current, sums):
    """Take the next cell of s."""
    kinds = first_gaps.kinds
    sums.slot[:] = -1
    count = 0
    for a in range(len(first)):
        sums.density[a] = density_at(buckets, first[a], cells.cut[current])
        if sums.density[a] > 0.0 and sums.slot[kinds.of[a]] < 0:
            sums.slot[kinds.of[a]] = count
            sums.alive[count] = kinds.of[a]
            count += 1
    if not count:
        return
    begin, end = cells.first[max(current + 1, middle.begin)], cells.first[middle.stop]
    if begin < end:
        _fill_first_rows(cells, first_gaps, current, begin, end, count, sums)
    if middle.begin <= current < middle.stop:
        for k in range(count):
            _fill_own(cells, first_gaps, current, sums.alive[k], sums.past[sums.alive[k]])


@inner
def _fill_first_rows(cells, first_gaps, current, begin, end, count, sums):
    """Q1(s, t) for the nodes s of a cell and t from `begin` to `end` - 1, and the sums over all s."""
    until, own, width = sums.until, cells.first[current], end - begin
    nodes = cells.first[current + 1] - own
    known = 0
    for r in range(len(until)):
        if first_gaps.before[r, current] < 1.0 and until[r, end - 1] > 0.0:
            sums.relevant[known] = r
            known += 1
    steps = fill_plan(first_gaps.kinds.apart, sums.alive, count, sums.relevant, known, sums.plan)
    at_once = max(MOST_PLACES // width, 1)
    for i in range(0, nodes, at_once):
        some = min(at_once, nodes - i)
        offset = cells.offset[own + i : own + i + some]
        for m in range(known):
            r = sums.relevant[m]
            before, slope = first_gaps.before[r, current], first_gaps.slope[r, current]
            _fill_first_factors(until[r, begin:end], before, slope, offset, sums.factors[m])
        multiply(sums.plan, steps, sums.factors, sums.ones, i * width, some * width, sums.rows)
    for k in range(count):
        past = sums.past[sums.alive[k], begin:end]
        past[:] = 0.0
        add_rows(past, sums.rows[k], cells.weight[own : own + nodes], width, 0)


@inner
def _fill_first_factors(until, before, slope, offset, factors):
    """What one rival leaves between some nodes s of a cell and each of the nodes t."""
    width = len(until)
    for i in range(len(offset)):
        here, row = min(before + slope * (offset[i] + 1.0), 1.0), factors[i * width : (i + 1) * width]
        for k in range(INDEX(width)):
            row[k] = 1.0 - abs(until[k] - here)


@inner
def _fill_own(cells, first_gaps, current, kind, past):
    """Sums over s < t within the cell of t, for the nodes t."""
    own, count = cells.first[current], cells.first[current + 1] - cells.first[current]
    offset = cells.offset[own : own + count]
    free = np.ones(count)
    for r in range(len(first_gaps.slope)):
        slope = first_gaps.slope[r, current]
        if slope > 0.0 and first_gaps.kinds.apart[kind, r]:
            closed = first_gaps.closed[r]
            for i in range(count):
                free[i] *= 1.0 - slope * (offset[i] + closed)
    if cells.every[current]:
        total = 0.0
        for j in range(count):
            past[own + j] = total
            total += free[j]
        return
    polynomials, shares = np.empty((count, count)), np.empty((count, count))
    ticks = float(cells.cut[current + 1] - cells.cut[current])
    across, basis = cells.across[own : own + count], cells.basis[own : own + count]
    shares_of_sums(ticks, across, basis, offset, polynomials, shares)
    for j in range(count):
        past[own + j] = 0.0
        for i in range(count):
            past[own + j] += shares[i, j] * free[i]


class NodeSpan(NamedTuple):
    """Where u and t are: cells of u and of u - W (-1 for none), and the nodes t between these.

    `blocked`: how many nodes between these are left out, before `since`, as some rival is always after them
    and before u.  `with_own`, `with_old`: whether t may lie in either cell.
    """

    own: int
    old: int
    since: int
    until: int
    blocked: int
    with_own: bool
    with_old: bool


class Points(NamedTuple):
    """Ticks t of the two cells of which only a part lies between u - W and u, for each u.

    `offset`: in its cell; `owner`: which u; `after`: where F is asked for, in the cell.  `node`: the node
    that has the value of F, where all ticks are nodes; else `shares`: how much each node of the cell counts.
    """

    offset: Reals
    owner: Indexes
    after: Reals
    node: Indexes
    shares: Reals
    polynomials: Reals


class LastRows(NamedTuple):
    """What the last gaps need, for some ticks u at a time.

    `up_to`: mass of each rival up to each node, that included; `weight`: of each node, with the mass.
    `place`, `shift`: where u and the first tick allowed lie in their cells; `share`: weight of u.  `rows`:
    mass(t) Q2(t, u) with the weights of t and u, for the nodes t of the first u, of the second, and so on;
    then for the points of u's cell, and for those of the cell of u - W.  The rest is working space.
    """

    up_to: Reals
    weight: Reals
    place: Reals
    shift: Reals
    share: Reals
    rows: Reals
    points: Points
    plan: ProductPlan
    relevant: Indexes
    factors: Reals
    base: Reals
    ones: Reals


@inner
def last_rows_for(cells, last_gaps, up_to, weight, most_ends, most_nodes, room):
    """Room for so many ticks u, nodes t of each and points of each."""
    kinds, rivals = last_gaps.kinds.apart.shape
    plan, rows = plan_room(kinds, rivals)
    size = min(MOST_PLACES, most_ends * (most_nodes + room)) + most_nodes + room
    most = cells.basis.shape[1]
    points = Points(
        np.empty(size), np.empty(size, dtype=np.int64), np.empty(size), np.empty(size, dtype=np.int64),
        np.empty((most, size)), np.empty((most, size)),
    )  # fmt: skip
    return LastRows(
        up_to, weight, np.empty(most_ends), np.empty(most_ends), np.empty(most_ends), np.empty((rows, size)),
        points, plan, np.empty(rivals, dtype=np.int64), np.empty((rivals, size)), np.empty(size),
        np.ones(size),
    )  # fmt: skip


@inner
def first_unblocked(last_gaps, alive, count, own):
    """The first cell of t from which no rival of all these kinds is always after t and before u."""
    cell = 0
    for r in range(len(last_gaps.slope)):
        if last_gaps.before[r, own] >= 1.0 and last_gaps.begin[r] > cell:
            common = True
            for k in range(count):
                common = common and last_gaps.kinds.apart[alive[k], r]
            if common:
                cell = last_gaps.begin[r]
    return cell


@inner
def find_relevant(last_gaps, span, begin, relevant):
    """Rivals that may lie between some t, of the cell `begin` or later, and some u; returns their number."""
    known = 0
    for r in range(len(last_gaps.slope)):
        reached = last_gaps.before[r, span.own] > 0.0 or last_gaps.slope[r, span.own] > 0.0
        if reached and last_gaps.before[r, begin] < 1.0:
            relevant[known] = r
            known += 1
    return known


@inner
def fill_rows(cells, last_gaps, mass, span, linked, count, steps, known, last):
    """Fill the rows for `count` ticks u; returns their places up to the points of u's cell, and all."""
    width = span.until - span.since
    base = last.base
    for j in range(count):
        each, row = last.share[j], base[j * width : (j + 1) * width]
        for k in range(INDEX(width)):
            row[k] = each * last.weight[span.since + k]
    bulk = count * width
    inner = bulk
    if span.with_own:
        for j in range(count):
            inner = _place(cells, mass, span.own, 0.0, (0.0, last.place[j]), True, j, bulk, inner, last)
    size = inner
    if span.with_old:
        end = float(cells.cut[span.old + 1] - cells.cut[span.old])
        for j in range(count):
            # Where s shares the cell, F(t) is the sum over as many ticks as lie between u - W and t.
            shift = last.shift[j]
            since = shift + 1.0 if linked else shift
            stop = last.place[j] if span.old == span.own else end
            to_stop = span.old == span.own
            size = _place(cells, mass, span.old, shift, (since, stop), to_stop, j, bulk, size, last)
    for i in range(known):
        _fill_last_factors(last_gaps, last.relevant[i], span, count, bulk, inner, size, last, last.factors[i])
    multiply(last.plan, steps, last.factors, base, 0, size, last.rows)
    return inner, size


@inner
def _place(cells, mass, c, skipped, part, to_stop, owner, bulk, size, last):
    """Add points of a cell from `since` to before `stop`; returns the new number of places."""
    since, stop = part
    if since >= stop:
        return size
    degree, at = cells.degree[c], size - bulk
    offset, weight = last.points.offset[at:], last.base[size:]
    if cells.every[c]:
        added = place_nodes(np.int64(stop - since), degree, offset, weight)
    elif to_stop:
        added = place_real(stop - since, degree, offset, weight)
    else:
        added = place_real_to_end(stop - since, degree, offset, weight)
    each, points = mass[c] * last.share[owner], last.points
    for p in range(added):
        offset[p] += since
        weight[p] *= each
        points.owner[at + p] = owner
        points.after[at + p] = offset[p] - skipped
        points.node[at + p] = np.int64(offset[p] - skipped)
    return size + added


@inner
def _fill_last_factors(last_gaps, r, span, count, bulk, inner, size, last, factors):
    """What one rival leaves at each place."""
    own, width, points = span.own, span.until - span.since, last.points
    up_to = last.up_to[r, span.since : span.until]
    slope = last_gaps.slope[r, own]
    before = last_gaps.before[r, own] + slope * last_gaps.closed[r]
    for j in range(count):
        row, at = factors[j * width : (j + 1) * width], min(before + slope * last.place[j], 1.0)
        for k in range(INDEX(width)):
            row[k] = 1.0 - abs(up_to[k] - at)
    for side in range(2):
        begin, end = (bulk, inner) if side == 0 else (inner, size)
        if begin < end:
            cell = own if side == 0 else span.old
            first, each = last_gaps.before[r, cell], last_gaps.slope[r, cell]
            for k in range(begin - bulk, end - bulk):
                # Those that stand for part of a tick may lie after u, where what a rival leaves is above 1.
                at = min(before + slope * last.place[points.owner[k]], 1.0)
                factors[bulk + k] = 1.0 - (at - min(first + each * (points.offset[k] + 1.0), 1.0))


@inner
def share_points(cells, c, begin, end, points):
    """Find how much the nodes of a cell count for F at the points from `begin` to `end` - 1."""
    if begin < end and not cells.every[c]:
        nodes = slice(cells.first[c], cells.first[c + 1])
        shares_of_values(
            float(cells.cut[c + 1] - cells.cut[c]), cells.across[nodes], cells.basis[nodes],
            points.after[begin:end], points.polynomials[:, begin:end], points.shares[:, begin:end],
        )  # fmt: skip


@inner
def values_at(cells, c, begin, end, points, values, result):
    """Add what F is at each of these points of a cell, given its values at the nodes there."""
    if cells.every[c]:
        for k in range(begin, end):
            result[k - begin] += values[points.node[k]]
        return
    for i in range(cells.first[c + 1] - cells.first[c]):
        each, shares = values[i], points.shares[i, begin:end]
        for k in range(INDEX(end - begin)):
            result[k] += each * shares[k]


@inner
def gather(cells, c, begin, end, points, row, sums):
    """The other way round: add the points of a row to the nodes, by how much these count for them."""
    if cells.every[c]:
        for k in range(begin, end):
            sums[points.node[k]] += row[k - begin]
        return
    for i in range(cells.first[c + 1] - cells.first[c]):
        sums[i] += inner_product(points.shares[i, begin:end], row)
