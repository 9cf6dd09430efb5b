"""How probable it is that some events in a row, of k ordered ones in a cell of n ticks, are at one tick.

The ticks of k events in one order are those of k independent uniform ones, sorted.  With t ticks of n before
a tick, x = t / n and y = (n - 1 - t) / n, the mean over t of x^p y^q is a table: of a cell in two parts it
follows from those of both by the binomial theorem, so that n is built of its binary digits, without work for
each tick.  Each sum is of positive terms; x + y = (n - 1) / n gives all p + q < k from p + q = k.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner

_NEGLIGIBLE = 1e-15
"""Events at one tick are left out from a number on that is less probable than this: no sum shows it."""


@inner
def mean_powers(ticks, most):
    """The mean over t of x^p y^q for p + q <= most, shape (most + 1, most + 1)."""
    binomial = np.zeros((most + 1, most + 1))
    for k in range(most + 1):
        binomial[k, 0] = 1.0
        for j in range(1, k + 1):
            binomial[k, j] = binomial[k - 1, j - 1] + binomial[k - 1, j]
    one = np.zeros((most + 1, most + 1))
    one[0, 0] = 1.0
    found, length = one, np.int64(1)
    bit = np.int64(1)
    while bit <= ticks // 2:
        bit *= 2
    while bit > 1:
        bit //= 2
        found = _joined(found, length, found, length, binomial)
        length *= 2
        if ticks & bit:
            found = _joined(found, length, one, np.int64(1), binomial)
            length += 1
    return found


@inner
def _joined(first, before, second, after, binomial):
    """The table of a cell whose first part has `before` ticks and whose second part has `after`."""
    most = len(binomial) - 1
    ticks = before + after
    part, rest = before / ticks, after / ticks
    powers, others = _powers(part, most), _powers(rest, most)
    found = np.zeros((most + 1, most + 1))
    for p in range(most + 1):
        q = most - p
        early, late = 0.0, 0.0
        for k in range(q + 1):
            early += binomial[q, k] * powers[p + k] * others[q - k] * first[p, k]
        for k in range(p + 1):
            late += binomial[p, k] * others[q + k] * powers[p - k] * second[k, q]
        found[p, q] = part * early + rest * late
    scale = ticks / (ticks - 1.0)
    for total in range(most - 1, -1, -1):
        for p in range(total + 1):
            found[p, total - p] = (found[p + 1, total - p] + found[p, total - p + 1]) * scale
    return found


@inner
def _powers(base, most):
    found = np.ones(most + 1)
    for k in range(1, most + 1):
        found[k] = found[k - 1] * base
    return found


@inner
def most_at_once(ticks, most):
    """How many of `most` events can be at one tick of a cell with a probability that counts."""
    chance = float(most)
    for size in range(1, most):
        # of any size + 1 events, whichever tick the first of them has
        chance *= (most - size) / ((size + 1.0) * ticks)
        if chance < _NEGLIGIBLE:
            return size
    return max(most, 1)


@inner
def ties_of(ticks, most):
    """Weights of ways: d + 1 events in a row, and whichever others, are at one tick.

    By how many are before and how many come after them, `most` together, and by d from 1 on; for values as in
    `passes` on both sides of the d + 1 events.
    """
    at_once = min(most_at_once(ticks, most), most)
    found = np.zeros((most, at_once, most))
    if at_once < 2:
        return found
    means = mean_powers(ticks, most - 2)
    share = np.ones(at_once + 1)
    for size in range(2, at_once + 1):
        share[size] = share[size - 1] / (size * ticks)
    # Of exactly so many at the tick first; then of more to the right, then of more to the left.
    for size in range(at_once, 1, -1):
        for before in range(most - size + 1):
            for after in range(most - size - before + 1):
                value = means[before, after] * share[size]
                if after > 0 and size < at_once:
                    value += after * found[before, size, after - 1]
                found[before, size - 1, after] = value
    for size in range(at_once - 1, 1, -1):
        for before in range(1, most - size + 1):
            for after in range(most - size - before + 1):
                found[before, size - 1, after] += before * found[before - 1, size, after]
    return found
