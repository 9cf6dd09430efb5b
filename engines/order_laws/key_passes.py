"""One pass forwards and one backwards through the cells of each key.

Values are scaled by powers of two from cell to cell, so that none becomes too small or too large; a power
of two changes no other bit.  Cells are kept on the way forwards, as far as there is room for them.
"""

from __future__ import annotations

from math import frexp, isfinite, ldexp

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.cells import (
    alive_in,
    cell_of,
    cuts_of,
    ended_factors,
    place_of,
    sets_left,
    shares_of,
)
from cepctl.engines.order_laws.passes import add_by_happened, backward_of, span_of, summed, worth_of
from cepctl.engines.order_laws.scaled_sets import by_set, forward_in_range
from cepctl.engines.order_laws.ties import add_ties

_MOST_TICKS = 1 << 60
"""Of so many ticks no two events share one with a probability that a sum shows."""
_ROUNDING = 1e-13
"""Of a probability: what is left of it where no more should be."""
_MOST_KEPT = 1 << 21
"""Numbers of the cells of a key that are kept for the way back; others are made again."""


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
    cut = cuts_of(buckets, classes.event[classes.starts[key] : classes.starts[key + 1]])
    offsets, alive = alive_in(classes, key, cut)
    shares = shares_of(buckets, classes, offsets, alive, cut)
    entry, lasts = np.ones((1, 1)), np.array([row_of[len(row_of) - 1]])
    entries, entry_lasts = [entry], [lasts]
    kept = []
    factors, exponent, room = np.ones(len(classes.event)), 0, _MOST_KEPT
    for c in range(len(cut) - 1):
        kinds = alive[offsets[c] : offsets[c + 1]]
        for i in range(len(kinds)):
            shares[offsets[c] + i] *= factors[kinds[i]]
        own = shares[offsets[c] : offsets[c + 1]]
        through = _through(classes, roots, following, row_of, kinds, own, entry, lasts)
        cell, forward, divided, _ = through
        room -= forward.size + 2 * cell.rates.size
        if len(found) > 0 and room > 0:
            kept.append(through)
        left = sets_left(cell, classes.upper[kinds] >= cut[c + 1])
        most = divided[left].max()
        entry, lasts = _used(by_set(summed(forward, left), left, divided - most), cell.lasts)
        exponent += scale(entry) + most
        ended_factors(classes, roots, kinds, cut[c + 1], factors)
        entries.append(entry)
        entry_lasts.append(lasts)
    after = np.empty((1, len(lasts)))
    for last in range(len(lasts)):
        after[0, last] = following[lasts[last], following.shape[1] - 1]
    total = 0.0
    for last in range(len(lasts)):
        total += entry[0, last] * after[0, last]
    if total == 0.0 or len(found) == 0 or not isfinite(total):
        return total, exponent
    if counted:
        for last in range(len(lasts)):
            steps[lasts[last], steps.shape[1] - 1] += entry[0, last] * after[0, last] / total
    happened = np.zeros(len(classes.event))
    for c in range(len(cut) - 2, -1, -1):
        kinds = alive[offsets[c] : offsets[c + 1]]
        entry = entries[c]
        if c < len(kept):
            cell, forward, divided, least = kept[c]
        else:
            own = shares[offsets[c] : offsets[c + 1]]
            through = _through(classes, roots, following, row_of, kinds, own, entry, entry_lasts[c])
            cell, forward, divided, least = through
        _add_ended(classes, kinds, cut[c + 1], happened, found)
        left = sets_left(cell, classes.upper[kinds] >= cut[c + 1])
        after = _placed(after, entry_lasts[c + 1], cell.lasts)
        after = by_set(after, left, divided - divided[left].max())
        entry = by_set(entry, np.arange(len(entry)), -divided)
        ticks = np.int64(min(tick_count(cut[c], cut[c + 1] - 1), 1.0 * _MOST_TICKS))
        after = _back_through(
            classes, cell, entry, forward, least, left, after, ticks, counted, steps, happened, found
        )
        after = by_set(after, np.arange(len(after)), -divided)
        scale(after)
    return total, exponent


@inner
def _through(classes, roots, following, row_of, kinds, shares, entry, lasts):
    """A cell, its forward values, the powers of two that divide them, and the fewest events of a begin."""
    cell = cell_of(classes, roots, following, row_of, kinds, shares, lasts)
    least, width = span_of(entry, np.arange(len(entry)), cell.sizes)
    forward, divided = forward_in_range(cell, entry, least, width)
    return cell, forward, divided, least


@inner
def _back_through(
    classes, cell, entry, forward, least, left, after, ticks, counted, steps, happened, found
):  # fmt: skip
    """Add what a cell tells; what its begin is worth, from what its end is worth."""
    kinds, lasts = len(cell.kinds), len(cell.lasts)
    taken, flows = np.zeros((lasts, kinds)), np.zeros(cell.rates.shape)
    worth = worth_of(cell, forward, least, left, after, taken, flows)
    before, total = _at_begin(cell, entry, least, worth)
    if counted:
        for last in range(lasts):
            for i in range(kinds):
                steps[cell.lasts[last], classes.step[cell.kinds[i]]] += (
                    taken[last, i] * cell.follow[last, i] / total
                )
    in_order = np.zeros((kinds, kinds))
    add_by_happened(cell, flows, in_order)
    for i in range(kinds):
        happened[cell.kinds[i]] += flows[0, i] / total / cell.counts[i]
        for j in range(kinds):
            in_order[i, j] /= total
    _add_pairs(classes, cell, in_order, found[0])
    if len(found) > 1:
        tied = np.zeros((kinds, kinds))
        least_end, end_width = span_of(after, left, cell.sizes)
        backward = backward_of(cell, forward, left, least_end, end_width, after)
        add_ties(cell, forward, least, backward, least_end, ticks, tied)
        for i in range(kinds):
            for j in range(kinds):
                strict = in_order[i, j] - tied[i, j] / total / cell.counts[i]
                in_order[i, j] = strict if strict > _ROUNDING * in_order[i, j] else 0.0
        _add_pairs(classes, cell, in_order, found[1])
    return before


@inner
def _at_begin(cell, entry, least, worth):
    """What the sets are worth with which a cell begins, and what all of it is worth."""
    before, total = np.zeros(entry.shape), 0.0
    for s in range(len(entry)):
        number = cell.sizes[s] - least
        if 0 <= number < worth.shape[1]:
            for last in range(entry.shape[1]):
                before[s, last] = worth[s, number, last]
                total += entry[s, last] * before[s, last]
    return before, total


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
def scale(values):
    """Divide values by a power of two, whose exponent is returned."""
    most = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            most = max(most, abs(values[i, j]))
    exponent = frexp(most)[1]
    factor = ldexp(1.0, -exponent)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] *= factor
    return exponent


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
