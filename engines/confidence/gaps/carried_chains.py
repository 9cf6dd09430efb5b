"""Confidence of chains of any length with rival-free gaps, on intervals of any width: a density is carried.

Of events 1, 2, ... l let Q_i(s, t) be the probability that no rival lies in the gap between i, at s, and
i + 1, at t.  The density of an event that is reached,

    f_1(t) = mass_1(t),    f_{i+1}(t) = mass_{i+1}(t) times sum over s < t of f_i(s) Q_i(s, t)

is a polynomial between two ticks at which the mass of an event or a rival changes: it is kept by its values
at a few whole ticks of each such cell (`quadrature`).  The confidence is the sum of f_l.  A step costs the
square of all nodes, which are the more, the more events and rivals share a cell.  Where a rival must stay out
of several gaps, one step leads over all of them (`tied_steps`).

A window ties the last event to the first.  First events whose window no last one can leave are summed as
above.  Of the others each node is carried by itself, from the tick after it to the last that its window
allows: only what begins or ends in the middle of a cell is then made anew.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps.carried_steps import (
    Kept,
    Parts,
    carried_over,
    fill_single,
    singles_of,
    whole_cells,
)
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, event_of, rivals_of_gaps, window_ticks
from cepctl.engines.confidence.gaps.tied_steps import FOR_EACH_PART, fill_step, work_of_steps
from cepctl.engines.confidence.quadrature import most_nodes, node_count, pieces_of, place_nodes
from cepctl.engines.kernels.kernel import inlined, inner, kernel
from cepctl.numeric.arrays import Reals


def carried_confidence(
    masses: Masses, chains: GapChains, window: int | None, bound: float, most_values: int
) -> Reals:
    """Confidence of every chain, shape (n,), each summed alone.

    NaN for those that take more than `bound` products, or tables of more than `most_values` values.
    """
    confidence = np.full(len(chains.event), np.nan)
    bounds = np.array([bound, most_values], dtype=np.float64)
    _solve(masses.buckets, chains.gaps, chains.event, chains.gap, window_ticks(window), bounds, confidence)
    found: Reals = np.clip(confidence, 0.0, 1.0)
    return found


@kernel
def _solve(buckets, gaps, event, gap, window, bounds, confidence):
    none = np.zeros(event.shape[1], dtype=np.int64)
    for i in range(len(event)):
        offsets, rivals = rivals_of_gaps(gaps, gap[i])
        closed, own = np.where(rivals < 0, 1.0, 0.0), np.empty(len(rivals), dtype=np.int64)
        first = np.empty(len(rivals), dtype=np.int64)
        for g in range(len(offsets) - 1):
            first[offsets[g] : offsets[g + 1]] = g
        for r in range(len(rivals)):
            own[r] = event_of(rivals[r])
        ties, ends = none + len(rivals), np.arange(event.shape[1])
        kept = Kept(own, first, first + 1, closed, np.zeros_like(own), offsets, ties, ends)
        low, high = buckets.lower[event[i, 0]], buckets.upper[event[i, -1]]
        for e in event[i]:
            low, high = min(low, buckets.lower[e]), max(high, buckets.upper[e])
        confidence[i] = sum_carried(buckets, kept, event[i], low, high, window, bounds)


@inner
def sum_carried(buckets, kept, event, low, high, window, bounds):
    """The confidence of one chain between two ticks, NaN where it is too much work."""
    # From here on the window holds whatever comes last.
    free = buckets.upper[event[-1]] - window + 1 if window > 0 else low
    chain = carried_over(buckets, kept, event, low, high, free)
    parts = whole_cells(chain)
    since, last = max(low, buckets.lower[event[0]]), min(high, buckets.upper[event[0]], free - 1)
    pieces = pieces_of(chain.cut, since, last, window)
    if since > last:
        pieces = pieces[:0]
    bound, most_values = bounds
    nodes = float(parts.places[-1])
    if nodes * nodes * (len(event) + len(kept.ends) - 2) > most_values:
        return np.nan
    if _work(chain, parts, pieces, free, window) > bound:
        return np.nan
    singles = singles_of(chain, parts)
    steps = []
    for k in range(len(kept.ends) - 1):
        steps.append(_step(chain, singles, parts, k, free))
    total, latest = _unbound(chain, parts, steps, free), min(high, buckets.upper[event[-1]])
    for k in range(len(pieces) - 1):
        total += _bound(chain, parts, singles, steps, pieces[k], pieces[k + 1], window, latest)
    return total


@inner
def _step(chain, singles, parts, step, free):
    """A step between the nodes of all cells; the first one only where some first event needs no other."""
    begin, end = chain.kept.ends[step], chain.kept.ends[step + 1]
    if end == begin + 1:
        return singles.matrix[begin]
    places = parts.places
    found = np.zeros((places[-1], places[-1]))
    for c in range(len(parts.cell)):
        if chain.density[begin, c] > 0.0 and (step > 0 or chain.cut[c] >= free):
            fill_step(chain, step, singles, parts, c, 0, found[:, places[c] : places[c + 1]])
    return found


@inner
def _work(chain, parts, pieces, free, window):
    """How many products the confidence takes, about."""
    kept, cells, nodes = chain.kept, len(parts.cell), float(parts.places[-1])
    total = nodes * nodes * (kept.offsets[-1] + len(kept.offsets)) + cells * cells * FOR_EACH_PART
    rest, of_first = 0.0, np.zeros(cells)
    for k in range(len(kept.ends) - 1):
        if kept.ends[k + 1] > kept.ends[k] + 1:
            each = work_of_steps(chain, parts, k)
            for c in range(cells):
                whole = each[c] * (parts.places[c + 1] - parts.places[c])
                if k > 0 or chain.cut[c] >= free:
                    total += whole
                rest += whole if k > 0 else 0.0
                of_first[c] = of_first[c] if k > 0 else each[c]
    for k in range(len(pieces) - 1):
        cell = _cell_of(chain, pieces[k])
        if chain.density[0, cell] > 0.0:
            degree = _degree_of(chain, pieces[k], pieces[k] + window - 1)
            each = nodes * (nodes * (len(kept.ends) - 1) + 20.0 * len(kept.event))
            # Of later steps over several gaps what begins or ends in either part that is not whole.
            each += of_first[cell] + 4.0 * rest / cells + cells * FOR_EACH_PART
            total += node_count(pieces[k + 1] - pieces[k], degree) * each
    return total


@inner
def _unbound(chain, parts, steps, free):
    """The sum over first events from a tick on, whose windows hold whatever comes last."""
    density, first = chain.density, parts.places
    values = np.zeros(first[-1])
    for c in range(len(parts.cell)):
        if chain.cut[c] >= free:
            values[first[c] : first[c + 1]] = density[0, c]
    for k in range(len(steps)):
        found, of_end = np.zeros(len(values)), density[chain.kept.ends[k + 1]]
        _carry(of_end, steps[k], first, 0, len(parts.cell), values, found)
        for c in range(len(parts.cell)):
            found[first[c] : first[c + 1]] *= of_end[c]
        values = found
    return _weighted(parts, values)


@inner
def _carry(density, step, first, begin, end, values, found):
    """Add what the nodes of some cells, given side by side, count for each other."""
    for c in range(begin, end):
        if density[c] > 0.0:
            since, until = first[begin], first[c + 1]
            own = values[: until - since]
            for t in range(first[c], until):
                row, total = step[t, since:until], 0.0
                for s in range(len(own)):
                    total += row[s] * own[s]
                found[t - since] += total


@inner
def _weighted(parts, values):
    total = 0.0
    for k in range(len(values)):
        total += parts.weight[k] * values[k]
    return total


@inner
def _cell_of(chain, tick):
    return min(np.searchsorted(chain.cut, tick, side="right"), len(chain.cut) - 1) - 1


@inner
def _degree_of(chain, first, until):
    """The degree of what a first event is worth, whose window ends at a tick."""
    here, there = _cell_of(chain, first), _cell_of(chain, until)
    last = len(chain.density) - 1
    ending = chain.begun[last, there] + 1 if chain.density[last, there] > 0.0 else 0
    return chain.left[0, here] + ending


@inner
def _bound(chain, parts, singles, steps, begin, end, window, latest):
    """The sum over first events of a piece, each of which the window ends for itself."""
    cell = _cell_of(chain, begin)
    if chain.density[0, cell] == 0.0:
        return 0.0
    degree = _degree_of(chain, begin, begin + window - 1)
    room = most_nodes(end - begin, degree) + 1
    node, weight, total = np.empty(room, dtype=np.int64), np.empty(room), 0.0
    for k in range(place_nodes(end - begin, degree, node, weight)):
        tick = begin + node[k]
        until = min(tick + window - 1, latest)
        if tick < until:
            total += weight[k] * _within(chain, parts, singles, steps, cell, tick, until)
    return chain.density[0, cell] * total


@inner
def _within(chain, whole, singles, steps, cell, tick, until):
    """What a first event at a tick is worth, if the last one comes at `until` at the latest."""
    top = _cell_of(chain, until)
    parts = _parts_within(chain, whole, cell, tick - chain.cut[cell], top, until - chain.cut[top])
    values = np.zeros(parts.places[-1])
    values[0] = 1.0
    for k in range(len(steps)):
        values = _carry_on(chain, singles, steps[k], whole.places, parts, values, k)
    return _weighted(parts, values)


@inner
def _parts_within(chain, whole, cell, tick, top, until):
    """A tick itself, the rest of its cell, whole cells, and the begin of the last one, to a tick of it."""
    count = max(top - cell + 2, 3)
    cells, middle = np.arange(cell - 1, cell - 1 + count), np.ones(count, dtype=np.bool_)
    cells[0], cells[1], cells[-1] = cell, cell, top
    middle[0], middle[1], middle[-1] = False, False, False
    stop = until + 1 if top == cell else chain.cut[cell + 1] - chain.cut[cell]
    begin, ticks = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    begin[0], begin[1], ticks[1], ticks[-1] = tick, tick + 1, stop - tick - 1, until + 1 if top > cell else 0
    places = np.zeros(count + 1, dtype=np.int64)
    for p in range(count):
        own = whole.places[cells[p] + 1] - whole.places[cells[p]]
        places[p + 1] = places[p] + (own if middle[p] else node_count(ticks[p], chain.degree[cells[p]]))
    node, weight = np.empty(places[-1], dtype=np.int64), np.empty(places[-1])
    for p in range(count):
        own, first = slice(places[p], places[p + 1]), whole.places[cells[p]]
        if middle[p]:
            known = slice(first, first + places[p + 1] - places[p])
            node[own], weight[own] = whole.node[known], whole.weight[known]
        else:
            place_nodes(ticks[p], chain.degree[cells[p]], node[own], weight[own])
            node[own] += begin[p]
    return Parts(cells, begin, middle, places, node, weight)


@inner
def _carry_on(chain, singles, matrix, first, parts, values, step):
    """One step, over parts of which the last and the first two are not whole."""
    found, places, last = np.zeros(len(values)), parts.places, len(parts.cell) - 1
    begin, end = chain.kept.ends[step], chain.kept.ends[step + 1]
    density = chain.density[end]
    if last > 2 and step > 0:
        since, until = parts.cell[2], parts.cell[last - 1] + 1
        _carry(density, matrix, first, since, until, values[places[2] :], found[places[2] :])
    for p in range(last + 1):
        own, lowest = values[places[p] : places[p + 1]], last if parts.whole[p] else p
        if places[lowest] == places[-1] or not (own != 0.0).any():
            continue
        if end > begin + 1:
            block = np.zeros((places[-1] - places[lowest], len(own)))
            fill_step(chain, step, singles, parts, p, lowest, block[:, : len(own)])
            _add(block, own, found[places[lowest] :])
            continue
        for q in range(lowest, last + 1):
            if density[parts.cell[q]] > 0.0 and places[q] < places[q + 1]:
                block = np.zeros((places[q + 1] - places[q], len(own)))
                fill_single(chain, begin, parts, p, q, block[:, : len(own)])
                _add(block, own, found[places[q] :])
    for p in range(last + 1):
        found[places[p] : places[p + 1]] *= density[parts.cell[p]]
    return found


@inlined
def _add(block, values, found):
    for t in range(len(block)):
        for s in range(len(values)):
            found[t] += block[t, s] * values[s]
