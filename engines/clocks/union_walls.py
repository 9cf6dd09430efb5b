"""Where the probability of a union of rows, given the offsets of its clocks, can change its polynomial.

Breakpoints are eliminated in numbers, for each part by itself.  The variables of a part are its offsets that
are summed over, outermost, and then its events; a clause is a cut of the later of its two variables, at the
tick of the other one plus a constant.  Summing a variable out leaves breakpoints where two of its own meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import LAST, plus
from cepctl.engines.kernels.kernel import inner, kernel

MOST_BREAKPOINTS = 4096
"""Breakpoints of one variable; a part with more is too costly."""
_CONSTANT = -1


class PartVariables(NamedTuple):
    """The variables of p parts and what is known of them before any is summed out.

    Part i owns the variables offsets[i] to offsets[i + 1] - 1, the first levels[i] of which are offsets;
    `lower`, `upper`: where each can be.  It owns the breakpoints from starts[i] on: variable `variable` of
    the part has one at variable `other` plus `constant`, or at `constant` where `other` is -1.  An `other`
    comes before its `variable`.
    """

    offsets: Indexes
    levels: Indexes
    lower: Ticks
    upper: Ticks
    starts: Indexes
    variable: Indexes
    other: Indexes
    constant: Ticks


@kernel
def walls_of_parts(parts, found, costly):
    """Write the breakpoints of offsets into `found`, rows (part, variable, other, constant); counts them.

    Where `found` is too small the count is larger than it.  `costly` says where some variable has too many.
    """
    count = 0
    for i in range(len(parts.levels)):
        base = parts.offsets[i]
        variables = parts.offsets[i + 1] - base
        if parts.levels[i] == 0:
            continue
        room = 64
        held = np.zeros(variables, np.int64)
        others, constants = np.empty((variables, room), np.int64), np.empty((variables, room), np.int64)
        while not _eliminated(parts, i, base, held, others, constants):
            room *= 4
            held[:] = 0
            if room > _MOST:
                costly[i] = True
                break
            others, constants = np.empty((variables, room), np.int64), np.empty((variables, room), np.int64)
        if costly[i]:
            continue
        for v in range(parts.levels[i]):
            for b in range(held[v]):
                if count < len(found):
                    found[count, 0], found[count, 1] = i, v
                    found[count, 2], found[count, 3] = others[v, b], constants[v, b]
                count += 1
    return count


_MOST = MOST_BREAKPOINTS


@inner
def _eliminated(parts, i, base, held, others, constants):
    """Fill the breakpoints of all variables of a part; False where there is too little room."""
    lower, upper = parts.lower, parts.upper
    for b in range(parts.starts[i], parts.starts[i + 1]):
        v, other, constant = parts.variable[b], parts.other[b], parts.constant[b]
        if not _added(lower, upper, base, v, other, constant, held, others, constants):
            return False
    for v in range(len(held) - 1, 0, -1):
        for b in range(held[v]):
            k, c = others[v, b], constants[v, b]
            if k == _CONSTANT:
                continue
            for g in range(held[v]):
                other, constant = others[v, g], constants[v, g]
                if other < k and not _added(
                    lower, upper, base, k, other, plus(constant, -c), held, others, constants
                ):
                    return False
    return True


@inner
def _added(lower, upper, base, v, other, constant, held, others, constants):
    """Note a breakpoint unless it is known or lies where the variable cannot be; False without room."""
    first, last = lower[base + v], upper[base + v]
    low, high = constant, constant
    if other != _CONSTANT:
        low, high = plus(lower[base + other], constant), plus(upper[base + other], constant)
    # Where a mass begins, and the tick after its last one, are breakpoints, too.
    if high < first or low > plus(last, np.int64(1)) or abs(constant) >= LAST:
        return True
    count = held[v]
    for b in range(count):
        if others[v, b] == other and constants[v, b] == constant:
            return True
    if count == others.shape[1]:
        return False
    others[v, count], constants[v, count] = other, constant
    held[v] = count + 1
    return True
