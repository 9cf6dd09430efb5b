"""One pass forwards and one backwards through the cells of each key.

Values are scaled by powers of two from cell to cell, so that none becomes too small or too large; a power
of two changes no other bit.
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.cells import (
    alive_in,
    cell_of,
    cuts_of,
    ended_factors,
    lowest_to_come,
    place_of,
    sets_left,
    shares_of,
)
from cepctl.engines.order_laws.passes import add_flows, backward_of, forward_of, span_of, summed
from cepctl.engines.order_laws.strict import add_rises

_MOST_TICKS = 1 << 60
"""Of so many ticks no two events share one with a probability that a sum shows."""


@kernel
def measure(buckets, classes, roots, following, row_of, fold, values, exponents, counts, found):
    """Fill what `table.Measured` says of each key.

    Z is values[k] * 2^exponents[k].  `counts`, shape (f, s + 1, s + 1), is filled unless it is empty;
    `found`, by pairs of classes in both orders, has first the order and then the strict order of ticks.
    """
    for key in range(len(values)):
        steps = np.zeros(counts.shape[1:])
        values[key], exponents[key] = _measure_key(
            buckets, classes, key, roots, following, row_of, len(counts) > 0, steps, found
        )
        if len(counts) > 0:
            counts[fold[key]] += steps


@inner
def _measure_key(buckets, classes, key, roots, following, row_of, counted, steps, found):
    cut = cuts_of(buckets, classes, key)
    offsets, alive = alive_in(classes, key, cut)
    shares = shares_of(buckets, classes, offsets, alive, cut)
    to_come = lowest_to_come(classes, key, cut)
    entry, lasts = np.ones((1, 1)), np.array([row_of[len(row_of) - 1]])
    entries, entry_lasts = [entry], [lasts]
    factors, exponent = np.ones(len(classes.event)), 0
    for c in range(len(cut) - 1):
        kinds = alive[offsets[c] : offsets[c + 1]]
        for i in range(len(kinds)):
            shares[offsets[c] + i] *= factors[kinds[i]]
        own = shares[offsets[c] : offsets[c + 1]]
        cell = cell_of(classes, roots, following, row_of, kinds, own, to_come[c], lasts)
        least, width = span_of(entry, np.arange(len(entry)), cell.sizes)
        left = sets_left(cell, classes.upper[kinds] >= cut[c + 1])
        entry, lasts = _used(summed(forward_of(cell, entry, least, width), left), cell.lasts)
        exponent += _scale(entry)
        ended_factors(classes, roots, kinds, cut[c + 1], factors)
        entries.append(entry)
        entry_lasts.append(lasts)
    after = np.empty((1, len(lasts)))
    for last in range(len(lasts)):
        after[0, last] = following[lasts[last], following.shape[1] - 1]
    total = 0.0
    for last in range(len(lasts)):
        total += entry[0, last] * after[0, last]
    if total == 0.0 or len(found) == 0:
        return total, exponent
    if counted:
        for last in range(len(lasts)):
            steps[lasts[last], steps.shape[1] - 1] += entry[0, last] * after[0, last] / total
    happened = np.zeros(len(classes.event))
    for c in range(len(cut) - 2, -1, -1):
        kinds = alive[offsets[c] : offsets[c + 1]]
        own = shares[offsets[c] : offsets[c + 1]]
        entry, lasts = entries[c], entry_lasts[c]
        cell = cell_of(classes, roots, following, row_of, kinds, own, to_come[c], lasts)
        _add_ended(classes, kinds, cut[c + 1], happened, found)
        left = sets_left(cell, classes.upper[kinds] >= cut[c + 1])
        after = _placed(after, entry_lasts[c + 1], cell.lasts)
        ticks = min(tick_count(cut[c], cut[c + 1] - 1), 1.0 * _MOST_TICKS)
        after = _back_through(
            classes, cell, entry, left, after, np.int64(ticks), counted, steps, happened, found
        )
    return total, exponent


@inner
def _back_through(classes, cell, entry, left, after, ticks, counted, steps, happened, found):
    """Add what a cell tells; values at its begin, from those at its end."""
    least, width = span_of(entry, np.arange(len(entry)), cell.sizes)
    least_end, end_width = span_of(after, left, cell.sizes)
    forward = forward_of(cell, entry, least, width)
    backward = backward_of(cell, left, least_end, end_width, after)
    before = np.ascontiguousarray(summed(backward, np.arange(len(entry)))[:, : entry.shape[1]])
    _scale_both(before, backward)
    total = 0.0
    for s in range(len(entry)):
        for last in range(entry.shape[1]):
            total += entry[s, last] * before[s, last]
    kinds = len(cell.kinds)
    taken, flow = np.zeros(cell.follow.shape), np.zeros(kinds)
    in_order, earlier = np.zeros((kinds, kinds)), np.zeros((kinds, kinds))
    add_flows(cell, forward, least, backward, least_end, 1.0 / total, taken, in_order, flow)
    if counted:
        for last in range(len(cell.lasts)):
            for i in range(kinds):
                steps[cell.lasts[last], classes.step[cell.kinds[i]]] += taken[last, i]
    for i in range(kinds):
        happened[cell.kinds[i]] += flow[i] / cell.counts[i]
    _add_pairs(classes, cell, in_order, found[0])
    if len(found) > 1:
        add_rises(cell, forward, least, backward, least_end, 1.0 / total, ticks, earlier)
        _add_pairs(classes, cell, earlier, found[1])
    return before


@inner
def _used(values, lasts):
    """Values at the begin of a cell without last steps that cannot be, and what the others are."""
    count, kept = 0, np.empty(len(lasts), dtype=np.int64)
    for last in range(len(lasts)):
        used = False
        for s in range(len(values)):
            used = used or values[s, last] != 0.0
        if used:
            kept[count] = last
            count += 1
    found, codes = np.empty((len(values), count)), np.empty(count, dtype=np.int64)
    for i in range(count):
        codes[i] = lasts[kept[i]]
        for s in range(len(values)):
            found[s, i] = values[s, kept[i]]
    return found, codes


@inner
def _placed(values, own, lasts):
    """Values by some last steps, among more of them."""
    found = np.zeros((len(values), len(lasts)))
    for i in range(len(own)):
        place = place_of(lasts, own[i])
        for s in range(len(values)):
            found[s, place] = values[s, i]
    return found


@inner
def _exponent(values):
    most = 0.0
    for s in range(values.shape[0]):
        for last in range(values.shape[1]):
            most = max(most, values[s, last])
    return frexp(most)[1]


@inner
def _scale(values):
    """Divide values by a power of two, whose exponent is returned."""
    exponent = _exponent(values)
    factor = ldexp(1.0, -exponent)
    for s in range(values.shape[0]):
        for last in range(values.shape[1]):
            values[s, last] *= factor
    return exponent


@inner
def _scale_both(values, others):
    factor = ldexp(1.0, -_scale(values))
    for s in range(others.shape[0]):
        for x in range(others.shape[1]):
            for last in range(others.shape[2]):
                others[s, x, last] *= factor


@inner
def _add_ended(classes, kinds, end, happened, found):
    """Events that end with a cell come before those that happen later."""
    for a in kinds:
        if classes.upper[a] < end:
            for b in kinds:
                if classes.upper[b] >= end:
                    for each in found:
                        _add(classes, a, b, happened[b], each)


@inner
def _add_pairs(classes, cell, values, found):
    """Add what is known of events of two classes together to what is known of one event of each."""
    for i in range(len(cell.kinds)):
        for j in range(len(cell.kinds)):
            others = cell.counts[j] - 1 if i == j else cell.counts[j]
            if others > 0:
                _add(classes, cell.kinds[i], cell.kinds[j], values[i, j] / others, found)


@inner
def _add(classes, a, b, value, found):
    if a <= b:
        found[0, classes.pairs[a] + b - a] += value
    if a >= b:
        found[1, classes.pairs[b] + a - b] += value
