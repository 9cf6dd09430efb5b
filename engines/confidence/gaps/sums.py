"""Sums over the ticks of all chains of one pivot: for each kind of first gap and each last event at once.

See `polynomials` for the formulas and names.  Cells of the last event are taken from the earliest to the
latest, so that those of u - W only grow: what was summed over u before is then free for all s after them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gaps.gap_rows import (
    NodeSpan,
    fill_rows,
    find_relevant,
    first_sums_for,
    first_unblocked,
    gather,
    last_rows_for,
    load,
    mass_up_to_nodes,
    share_points,
    values_at,
)
from cepctl.engines.confidence.gaps.product_trees import (
    INDEX,
    MOST_PLACES,
    add_rows,
    fill_plan,
    inner_product,
)
from cepctl.engines.confidence.gauss_nodes import place_real, shares_of_sums_to_end
from cepctl.engines.confidence.quadrature import most_nodes, place_nodes
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals, Ticks


class PairedEnds(NamedTuple):
    """The first and last events of some chains, which of them each has, whether the window links them.

    `pair_first`, `pair_last`: of each chain the numbers of its first and of its last event.
    """

    first: Indexes
    last: Indexes
    pair_first: Indexes
    pair_last: Indexes
    linked: bool
    window: int


class _Pivot(NamedTuple):
    """Where the middle event can be: its first cell and the one after the last, and its mass per tick.

    `room`: largest number of ticks that parts of two cells need.
    """

    begin: int
    stop: int
    mass: Reals
    room: int


class _Sums(NamedTuple):
    """Sums over u and t, of each last event, so far.

    `latest`: the last tick of any first event that is linked to it; `ending`: its mass per tick in the cell
    of u; `slot`: the row of its kind; `alive`: the kinds that have one.  `after`: for each node t, the sum
    over u of what u and t are worth.  `at_cell`: for each kind of first gap, the sum over u, t and the s of
    one cell.  `tail`: how much each node s of the cell of u - W counts for the sum over its part that the
    window allows, at each u.  `begun`, `row`, `nodes`: working space for the values of F at the places of a
    row, for a row, and for places and weights of s.
    """

    latest: Ticks
    ending: Reals
    slot: Indexes
    alive: Indexes
    after: Reals
    at_cell: Reals
    tail: Reals
    polynomials: Reals
    begun: Reals
    row: Reals
    nodes: Reals


@inner
def sum_pairs(buckets, cells, ends, first_gaps, last_gaps, pivot, paired, confidence):
    """Fill the confidence of chains."""
    linked = paired.linked
    middle = _pivot_of(cells, buckets, pivot)
    nodes, most_ends = cells.first[middle.stop] - cells.first[middle.begin], 1
    for e in range(len(ends.nodes)):
        most_ends = max(most_ends, ends.nodes[e])
    weight = cells.weight * middle.mass[cells.cell]
    up_to = mass_up_to_nodes(cells, last_gaps, np.ones(len(last_gaps.slope)))
    rows = last_rows_for(cells, last_gaps, up_to, weight, most_ends, nodes, middle.room)
    firsts = first_sums_for(cells, first_gaps, paired.first, middle)
    sums = _sums_for(cells, buckets, first_gaps, last_gaps, paired, most_ends, len(rows.base))
    confidence[:] = 0.0
    current = -1
    for e in range(len(ends.nodes)):
        if not ends.nodes[e] or ends.oldest[e] >= middle.stop:
            continue
        if linked:
            current = _pass_to(
                ends.oldest[e], current, cells, first_gaps, buckets, middle, paired, firsts, sums, confidence
            )
        _sum_cell(e, buckets, cells, ends, last_gaps, middle, paired, firsts, rows, sums)
    if linked:
        current = _pass_to(
            middle.stop - 1, current, cells, first_gaps, buckets, middle, paired, firsts, sums, confidence
        )
        _settle(first_gaps, paired, firsts, sums, confidence)
    else:
        for i in range(len(confidence)):
            confidence[i] = sums.at_cell[0, paired.pair_last[i]]


@inner
def _sums_for(cells, buckets, first_gaps, last_gaps, paired, most_ends, places):
    first, last, pair_first, pair_last = paired.first, paired.last, paired.pair_first, paired.pair_last
    most = max(1, np.diff(cells.first).max())
    latest = np.full(len(last), np.iinfo(np.int64).max if not len(first) else np.iinfo(np.int64).min)
    for i in range(len(pair_last) if len(first) else 0):
        latest[pair_last[i]] = max(latest[pair_last[i]], buckets.upper[first[pair_first[i]]])
    kinds = len(last_gaps.kinds.apart)
    return _Sums(
        latest, np.zeros(len(last)), np.empty(kinds, dtype=np.int64), np.empty(kinds, dtype=np.int64),
        np.zeros((len(last), len(cells.offset))), np.zeros((max(len(first_gaps.kinds.apart), 1), len(last))),
        np.empty((most, most_ends)), np.empty((most, most_ends)), np.empty(places),
        np.empty(max(len(cells.offset), 1)), np.empty((2, most_ends)),
    )  # fmt: skip


@inner
def _pass_to(cell, current, cells, first_gaps, buckets, middle, paired, firsts, sums, confidence):
    """Let s go on to this cell: to each on the way with all u whose window begins before it."""
    while current < cell:
        if current >= 0:
            _settle(first_gaps, paired, firsts, sums, confidence)
        current += 1
        load(cells, first_gaps, buckets, paired.first, middle, current, firsts)
        sums.at_cell[:] = 0.0
        begin, end = cells.first[max(current, middle.begin)], cells.first[middle.stop]
        for kind in range(len(firsts.slot)):
            if firsts.slot[kind] >= 0:
                past = firsts.past[kind, begin:end]
                for c in range(len(sums.after)):
                    sums.at_cell[kind, c] = inner_product(past, sums.after[c, begin:end])
    return current


@inner
def _settle(first_gaps, paired, firsts, sums, confidence):
    """Add the chains with s in the cell that is passed."""
    for i in range(len(confidence)):
        a = paired.pair_first[i]
        if firsts.density[a] > 0.0:
            confidence[i] += firsts.density[a] * sums.at_cell[first_gaps.kinds.of[a], paired.pair_last[i]]


@inner
def _sum_cell(e, buckets, cells, ends, last_gaps, middle, paired, firsts, rows, sums):
    """Add the sums over one cell of the last event."""
    last, linked, places, weights = paired.last, paired.linked, sums.nodes[0], sums.nodes[1]
    old, own, start = ends.oldest[e], ends.cell[e], ends.cut[e]
    oldest = start - (paired.window - 1) if old >= 0 else cells.cut[0]
    alive = _find_alive(buckets, last_gaps, last, start, oldest, sums)
    begun = linked and old >= 0 and firsts.slot.max() >= 0
    seen = first_unblocked(last_gaps, sums.alive, alive, own)
    next_old = cells.first[max(old + 1, middle.begin)]
    since = cells.first[max(old + 1, middle.begin, min(seen, middle.stop))]
    until = max(cells.first[max(min(own, middle.stop), middle.begin)], since)
    span = NodeSpan(
        own, old, since, until, since - next_old, own != old and middle.mass[own] > 0.0,
        old >= seen and middle.mass[max(old, 0)] > 0.0 and (begun or not linked),
    )  # fmt: skip
    if not alive or not (since < until or span.with_own or span.with_old):
        return
    ticks = ends.cut[e + 1] - start
    if ends.real[e]:
        count = place_real(float(ticks), ends.degree[e], places, weights)
    else:
        count = place_nodes(ticks, ends.degree[e], places, weights)
    earliest = max(old if span.with_old else max(old + 1, min(seen, own)), middle.begin)
    known = find_relevant(last_gaps, span, earliest, rows.relevant)
    steps = fill_plan(last_gaps.kinds.apart, sums.alive, alive, rows.relevant, known, rows.plan)
    at_once = max(MOST_PLACES // (until - since + middle.room), 1)
    for k in range(0, count, at_once):
        some = min(at_once, count - k)
        for j in range(some):
            rows.place[j], rows.share[j] = float(start - cells.cut[own]) + places[k + j], weights[k + j]
            rows.shift[j] = float(oldest - cells.cut[old]) + places[k + j] if old >= 0 else 0.0
        inner, size = fill_rows(cells, last_gaps, middle.mass, span, linked, some, steps, known, rows)
        if linked:
            sizes = some, inner, size
            _add_linked(cells, last_gaps, span, begun, sizes, alive, middle, firsts, rows, sums)
        else:
            for c in range(len(last)):
                if sums.ending[c] > 0.0:
                    row = rows.rows[sums.slot[last_gaps.kinds.of[c]], :size]
                    sums.at_cell[0, c] += sums.ending[c] * inner_product(row, rows.ones[:size])


@inner
def _find_alive(buckets, last_gaps, last, start, oldest, sums):
    """Last events with mass in a cell and a first event that may still come; returns how many kinds."""
    alive, of = 0, last_gaps.kinds.of
    sums.slot[:] = -1
    for c in range(len(last)):
        sums.ending[c] = density_at(buckets, last[c], start) if sums.latest[c] >= oldest else 0.0
        if sums.ending[c] > 0.0 and sums.slot[of[c]] < 0:
            sums.slot[of[c]] = alive
            sums.alive[alive] = of[c]
            alive += 1
    return alive


@inner
def _add_linked(cells, last_gaps, span, begun, sizes, alive, middle, firsts, rows, sums):
    """Add the rows of some u to the sums of chains of three."""
    count, inner, size = sizes
    width = span.until - span.since
    bulk = count * width
    share_points(cells, span.own, 0, inner - bulk, rows.points)
    share_points(cells, span.old, inner - bulk, size - bulk, rows.points)
    if begun:
        _place_tail(cells, span.old, count, rows.shift, sums)
        for kind in range(len(firsts.slot)):
            if firsts.slot[kind] >= 0:
                _begin(cells, span, kind, count, inner, size, middle, firsts, rows, sums)
                for i in range(alive):
                    value = inner_product(sums.begun[:size], rows.rows[i, :size])
                    for c in range(len(sums.ending)):
                        if sums.ending[c] > 0.0 and last_gaps.kinds.of[c] == sums.alive[i]:
                            sums.at_cell[kind, c] += sums.ending[c] * value
    for i in range(alive):
        _add_after(cells, last_gaps, span, count, inner, i, rows, sums)


@inner
def _place_tail(cells, old, count, shift, sums):
    own, end = cells.first[old], cells.first[old + 1]
    if cells.every[old]:
        for i in range(end - own):
            for j in range(count):
                sums.tail[i, j] = 1.0 if float(i) >= shift[j] else 0.0
    else:
        shares_of_sums_to_end(
            float(cells.cut[old + 1] - cells.cut[old]), cells.across[own:end], cells.basis[own:end],
            shift[:count], sums.polynomials, sums.tail,
        )  # fmt: skip


@inner
def _begin(cells, span, kind, count, inner, size, middle, firsts, rows, sums):
    """Values of F, but for what came before the cell of u - W, at all places of a row."""
    width, begun, points = span.until - span.since, sums.begun, rows.points
    bulk, own, old = count * width, span.own, span.old
    q, all_after = firsts.rows[firsts.slot[kind]], cells.first[middle.stop] - span.since + span.blocked
    begun[:size] = 0.0
    nodes = cells.first[old + 1] - cells.first[old]
    for j in range(count):
        add_rows(begun[j * width : (j + 1) * width], q, sums.tail[:nodes, j], all_after, span.blocked)
    if inner > bulk:
        in_own, begin = sums.row[: cells.first[own + 1] - cells.first[own]], 0
        for j in range(count):
            in_own[:] = 0.0
            add_rows(in_own, q, sums.tail[:nodes, j], all_after, span.blocked + width)
            end = begin
            while end < inner - bulk and points.owner[end] == j:
                end += 1
            values_at(cells, own, begin, end, points, in_own, begun[bulk + begin : bulk + end])
            begin = end
    if size > inner:
        past = firsts.past[kind, cells.first[old] : cells.first[old + 1]]
        values_at(cells, old, inner - bulk, size - bulk, points, past, begun[inner:size])


@inner
def _add_after(cells, last_gaps, span, count, inner, i, rows, sums):
    """Add a row to what is known for all s after the cell of u - W."""
    width, row = span.until - span.since, sums.row
    own = cells.first[span.own + 1] - cells.first[span.own] if span.with_own else 0
    total = row[: width + own]
    total[:] = 0.0
    for j in range(count):
        of_u = rows.rows[i, j * width : (j + 1) * width]
        for k in range(INDEX(width)):
            total[k] += of_u[k]
    if own:
        bulk = count * width
        gather(cells, span.own, 0, inner - bulk, rows.points, rows.rows[i, bulk:inner], total[width:])
    for c in range(len(sums.ending)):
        if sums.ending[c] > 0.0 and last_gaps.kinds.of[c] == sums.alive[i]:
            each, after = sums.ending[c], sums.after[c, span.since : span.since + width + own]
            for k in range(INDEX(width + own)):
                after[k] += each * total[k]


@inner
def _pivot_of(cells, buckets, event):
    begin = np.searchsorted(cells.cut, buckets.lower[event])
    stop = np.searchsorted(cells.cut, buckets.upper[event] + 1)
    mass = np.zeros(len(cells.every))
    for c in range(begin, stop):
        mass[c] = density_at(buckets, event, cells.cut[c])
    return _Pivot(begin, stop, mass, _room(cells))


@inner
def _room(cells):
    """Largest number of ticks that parts of two cells need."""
    room = 1
    for c in range(len(cells.every)):
        ticks, degree = cells.cut[c + 1] - cells.cut[c], cells.degree[c]
        room = max(room, most_nodes(ticks, degree) if cells.every[c] else degree + 1)
    return 2 * room
