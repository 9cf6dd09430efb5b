"""One pass forwards and one backwards through the cells of each key: Z, and how probable each step of it is.

The pass forwards is that of rows (`cells.py`), of a question that is always answered with yes.  The same
steps backwards tell what each is worth, as for any sum of products: value times worth over Z is how probable
it is that the step is taken.  In a cell values are told apart by how many events it has had: the p-th one
multiplies by 1 / p.

    forward     [set, number at the begin - least, last step]
    worth       by the same: what a unit of a forward value adds to the sum of the key
    backward    [set, number at the end - least, last step], of ways that are not divided on their way
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.cells import layer_of, one_more, problem_of, scale
from cepctl.engines.order_laws.same_ticks import add_same_ticks
from cepctl.engines.order_laws.sets import SetWalk, begun, carried_back, closing, come_to, dot, sets_of

_MOST_TICKS = 1 << 60
"""Of so many ticks no two events share one with a probability that a sum shows."""
_ROUNDING = 1e-13
"""Of a probability: what is left of it where no more should be."""
_MOST_KEPT = 1 << 21
"""Numbers of the cells of a key that are kept for the way back; others are made again."""
NEGLIGIBLE = 2.0**-400
"""A forward value so small adds nothing to those of its set, but what it is worth may leave the floats."""


class Through(NamedTuple):
    """The ways through a cell of k kinds.

    `digits`, shape (sets, k): how many events of each kind have happened, `sizes`, shape (sets,): of all.
    `rates`, shape (sets, k): of one event more, with its mass.  `least`: the fewest events of a begin.
    """

    stride: np.ndarray
    digits: np.ndarray
    sizes: np.ndarray
    rates: np.ndarray
    follow: np.ndarray
    landing: np.ndarray
    forward: np.ndarray
    least: int


@kernel
def measure(buckets, laws, kinds, slots, fold, values, exponents, counts, found):
    """Fill what `table.Measured` says of each key.

    Z is values[k] * 2^exponents[k].  `counts`, shape (f, n, n), by code and next code, is filled unless it
    is empty; `found`, by pairs of kinds in both orders, has first the order and then the strict order of
    ticks.
    """
    none = np.zeros(0, dtype=np.int64)
    for p in range(len(values)):
        problem = problem_of(buckets, kinds, slots, p, none, 0)
        steps = np.zeros(counts.shape[1:])
        values[p], exponents[p] = _measured(laws, problem, steps, found)
        if len(counts) > 0:
            counts[fold[p]] += steps


@inner
def _measured(laws, problem, steps, found):
    """Z of a key and the exponent of its power of two; `steps` and `found` are added to."""
    cells, answered = len(problem.cut) - 1, np.zeros((1, 0), dtype=np.bool_)
    walk, kept, room = begun(laws, problem, answered), [], _MOST_KEPT
    entries = [walk.states]
    for cell in range(cells):
        walk = come_to(laws, problem, answered, walk, cell)
        entries.append(walk.states)
        through, states = _through(walk.sets, walk.states, _masses(problem, cell))
        room -= through.forward.size + 4 * walk.sets.rates.size
        if room > 0 and len(found) > 0:
            kept.append((walk.sets, through))
        power = scale(states)
        walk = SetWalk(states, walk.sets, cell, walk.exponent + power)
    walk = come_to(laws, problem, answered, walk, cells)
    states, closes, later = walk.states, closing(laws, problem, walk.sets), walk.sets
    total = dot(states[0], closes)
    if total == 0.0 or len(found) == 0 or not isfinite(total):
        return total, walk.exponent
    for c in range(len(closes) if len(steps) > 0 else 0):
        steps[later.last[0, c], problem.end[0]] += states[0, c] * closes[c] / total
    worth, happened = closes.reshape((1, len(closes))), np.zeros(len(problem.event))
    for cell in range(cells - 1, -1, -1):
        if cell < len(kept):
            sets, through = kept[cell]
        else:
            sets = sets_of(laws, problem, answered, cell)
            through, _ = _through(sets, entries[cell + 1], _masses(problem, cell))
        worth = carried_back(worth, problem, sets, later)
        _add_ended(problem, sets.kind, problem.cut[cell + 1], happened, found)
        worth = _back(problem, cell, sets, through, worth, steps, happened, found)
        scale(worth)
        later = sets
    return total, walk.exponent


@inner
def _masses(problem, cell):
    """The mass of an event of each kind in a cell, with the factors of what is over, shape (1, k)."""
    begin, end = problem.starts[cell], problem.starts[cell + 1]
    ticks = tick_count(problem.cut[cell], problem.cut[cell + 1] - 1)
    return (problem.density[begin:end] * ticks * problem.over[begin:end]).reshape((1, end - begin))


@inner
def _through(sets, entry, mass):
    """The ways through a cell from the states at its begin, and the states at its end."""
    sizes = sets.digits.sum(axis=1)
    least, width = span_of(entry, sizes)
    forward = np.zeros((len(sizes), width, entry.shape[1]))
    target, row = np.zeros(mass.shape, dtype=np.int64), np.full(len(sizes), -1, dtype=np.int64)
    layer, happened, left = layer_of(entry), 0, np.zeros_like(entry)
    while len(layer[0]) > 0:
        for n in range(len(layer[0])):
            s = layer[0][n]
            for c in range(entry.shape[1]):
                if happened > 0:
                    layer[1][n, c] /= happened
                forward[s, sizes[s] - happened - least, c] = layer[1][n, c]
                left[s, c] += layer[1][n, c]
        layer = one_more(layer, sets, target, mass, row)
        happened += 1
    rates, landing = sets.rates * mass, sets.landing[:, 0]
    return Through(sets.stride, sets.digits, sizes, rates, sets.follow, landing, forward, least), left


@inner
def span_of(values, sizes):
    """The fewest events of the sets that have a value, and how many numbers there are up to the most."""
    least, most = -1, -1
    for s in range(len(sizes)):
        if values[s].any():
            least = sizes[s] if least < 0 else min(least, sizes[s])
            most = max(most, sizes[s])
    return max(least, 0), max(most, 0) - max(least, 0) + 1


@inner
def _back(problem, cell, sets, through, after, steps, happened, found):
    """Add what a cell tells; what the sets at its begin are worth, by what those at its end are."""
    kinds = len(sets.kind)
    expected, flows = np.zeros(sets.follow.shape), np.zeros(sets.rates.shape)
    before, total = _worth_of(through, after, expected, flows)
    for i in range(kinds if len(steps) > 0 else 0):
        for c in range(expected.shape[1]):
            steps[sets.last[0, c], problem.code[sets.kind[i]]] += expected[i, c] / total
    in_order = np.zeros((kinds, kinds))
    _add_by_happened(through, problem.members[sets.kind], flows, in_order)
    for i in range(kinds):
        happened[sets.kind[i]] += flows[0, i] / total / problem.members[sets.kind[i]]
        for j in range(kinds):
            in_order[i, j] /= total
    _add_pairs(problem, sets.kind, in_order, found[0])
    if len(found) > 1:
        same = np.zeros((kinds, kinds))
        ticks = tick_count(problem.cut[cell], problem.cut[cell + 1] - 1)
        backward, least_end = _backward_of(through, after)
        add_same_ticks(through, backward, least_end, np.int64(min(ticks, 1.0 * _MOST_TICKS)), same)
        for i in range(kinds):
            for j in range(kinds):
                strict = in_order[i, j] - same[i, j] / total / problem.members[sets.kind[i]]
                in_order[i, j] = strict if strict > _ROUNDING * in_order[i, j] else 0.0
        _add_pairs(problem, sets.kind, in_order, found[1])
    return before


@inner
def _worth_of(through, after, expected, flows):
    """What the sets at the begin of a cell are worth, and what all of it is.

    Adds the steps on the way, in units of that sum: to `expected`, shape (k, l), steps to a kind from a last
    step; to `flows`, shape (s, k), steps out of a set to events of a kind.
    """
    forward, least, width = through.forward, through.least, through.forward.shape[1]
    worth = np.zeros_like(forward)
    before, total = np.zeros(after.shape), 0.0
    for s in range(len(worth) - 1, -1, -1):
        for e in range(min(width, through.sizes[s] - least + 1)):
            worth[s, e] = after[s]
            share = 1.0 / (through.sizes[s] - least - e + 1.0)
            for i in range(flows.shape[1]):
                if through.rates[s, i] == 0.0:
                    continue
                gain = worth[s + through.stride[i], e, through.landing[i]] * (through.rates[s, i] * share)
                for c in range(worth.shape[2]):
                    if forward[s, e, c] > NEGLIGIBLE:
                        step = gain * through.follow[i, c]
                        worth[s, e, c] += step
                        expected[i, c] += forward[s, e, c] * step
                        flows[s, i] += forward[s, e, c] * step
        e = through.sizes[s] - least
        if 0 <= e < width:
            for c in range(worth.shape[2]):
                before[s, c] = worth[s, e, c]
                total += forward[s, e, c] * worth[s, e, c]
    return before, total


@inner
def _backward_of(through, after):
    """Backward values of a cell whose sets at the end are worth `after`, and the least number of these.

    Sets that are not reached have none.
    """
    least, width = span_of(after, through.sizes)
    values = np.zeros((len(after), width, after.shape[1]))
    for s in range(len(values) - 1, -1, -1):
        if through.forward[s].max() <= NEGLIGIBLE:
            continue
        size = through.sizes[s]
        if least <= size < least + width:
            values[s, size - least] = after[s]
        for x in range(max(size + 1 - least, 0), width):
            for i in range(len(through.stride)):
                if through.rates[s, i] != 0.0:
                    later = values[s + through.stride[i], x, through.landing[i]] * through.rates[s, i]
                    later /= least + x - size
                    for c in range(values.shape[2]):
                        values[s, x, c] += later * through.follow[i, c]
    return values, least


@inner
def _add_by_happened(through, members, flows, found):
    """Add flows out of sets to `found`, shape (k, k), by events of a kind that have happened before.

    One kind after the other is summed over, the one of the highest digit first; what is left in flows[0] is
    the flow to each kind out of all sets.
    """
    for j in range(len(members) - 1, -1, -1):
        stride = through.stride[j]
        for digit in range(1, members[j] + 1):
            for s in range(stride):
                for i in range(len(members)):
                    flow = flows[digit * stride + s, i]
                    found[j, i] += digit * flow / members[j]
                    flows[s, i] += flow


@inner
def _add_ended(problem, alive, end, happened, found):
    """Events that end with a cell come before those that happen later."""
    for a in alive:
        if problem.upper[a] < end:
            for b in alive:
                if problem.upper[b] >= end:
                    for each in found:
                        _add(problem, a, b, happened[b], each)


@inner
def _add_pairs(problem, alive, values, found):
    """Add what is known of events of two kinds together to what is known of one event of each."""
    for i in range(len(alive)):
        for j in range(len(alive)):
            others = problem.members[alive[j]] - 1 if i == j else problem.members[alive[j]]
            if others > 0:
                _add(problem, alive[i], alive[j], values[i, j] / others, found)


@inner
def _add(problem, a, b, value, found):
    """Add to what is known of an event of kind a before one of kind b."""
    if a <= b:
        found[0, problem.pairs[a] + b - a] += value
    if a >= b:
        found[1, problem.pairs[b] + a - b] += value
