"""How many groups a Kleene component can bind between given neighbours, without listing them.

A member must lie between ticks that its neighbours fix, s < t_x < t with both ends moved by the window
and by timing constraints; so a set of events is possible iff some world puts s before the earliest end
of their intervals and t after the latest beginning.  Let y be the member whose interval ends first.
Among the worlds in which y is a member there is one in which every other tick is the latest possible
(the greatest solution of the difference constraints).  There t is at its latest, `reach`, while s still lies
before the end of y, hence before the ends of all others: together with y goes exactly what
begins no later than `reach`, in any combination.  So with the candidates in order of their ends

    groups  =  sum over y of 2 ** (number of candidates after y that begin at or before reach(y))
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, valid_bounds

_SAFE_BITS = 62
"""Sums of this many smaller powers of two fit an int64."""


def latest_beginnings(lower: Ticks, upper: Ticks, system: Ticks, member: int) -> Ticks:
    """Latest tick that any member can have beside the one bound, shape (n,).

    Parameters
    ----------
    lower, upper
        Intervals of the bound events with one member among them, shape (n, l).
    system
        Closed system of the l variables (`cepctl.engines.pattern.difference_constraints.closed_system`).
    member
        The column of the member.

    Examples
    --------
    >>> from cepctl.engines.pattern.difference_constraints import closed_system
    >>> system = closed_system([0, 1, 2], window=5)
    >>> latest_beginnings(np.array([[0, 2, 6]]), np.array([[9, 3, 9]]), system, 1).tolist()
    [5]
    """
    _, latest = valid_bounds(lower, upper, system)
    reach = np.full(len(lower), UNBOUNDED, dtype=np.int64)
    for column in range(system.shape[0]):
        if column != member and system[member, column] < UNBOUNDED:
            reach = np.minimum(reach, shifted(latest[:, column], int(system[member, column])))
    return reach


def count_sets(row: Indexes, count: int, lower: Ticks, upper: Ticks, reach: Ticks) -> list[int]:
    """Number of possible non-empty sets per row, exact however large.

    Parameters
    ----------
    row
        The row of every candidate, ascending, shape (m,); each candidate alone must be possible.
    count
        Number of rows.
    lower, upper
        Intervals of the candidates, shape (m,).
    reach
        Latest tick of a member beside each candidate, from `latest_beginnings`.

    Examples
    --------
    >>> row, lower, upper = np.array([0, 0, 1]), np.array([1, 7, 2]), np.array([3, 9, 2])
    >>> count_sets(row, 2, lower, upper, np.array([9, 9, 9])), count_sets(row, 2, lower, upper, lower)
    ([3, 1], [2, 1])
    """
    order = np.lexsort((upper, row))
    offsets = np.searchsorted(row, np.arange(count + 1))
    exponents = np.empty(len(row), dtype=np.int64)
    _company(offsets, lower[order], reach[order], exponents)
    sizes = np.diff(offsets)
    totals = np.zeros(count, dtype=object)
    small = np.flatnonzero((sizes > 0) & (sizes <= _SAFE_BITS))
    if len(small):
        powers = np.where(np.repeat(sizes, sizes) <= _SAFE_BITS, 1 << np.minimum(exponents, _SAFE_BITS), 0)
        totals[small] = np.add.reduceat(powers, offsets[small])
    for at in np.flatnonzero(sizes > _SAFE_BITS):
        totals[at] = _sum_of_powers(exponents[offsets[at] : offsets[at + 1]])
    return list(totals)


def _sum_of_powers(exponents: Indexes) -> int:
    """Sum of 2 ** e, in time linear in the number and size of the exponents."""
    bits = np.bincount(exponents, minlength=int(exponents.max()) + _SAFE_BITS)
    _carry(bits)
    return int.from_bytes(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes(), "little")


@kernel
def _carry(bits):
    for i in range(len(bits) - 1):
        bits[i + 1] += bits[i] >> 1
        bits[i] &= 1


@kernel
def _company(offsets, lower, reach, exponents):
    """For every candidate how many after it, in its row, may go with it.

    Candidates are entered from the last to the first, at the rank of their beginning, into a Fenwick tree,
    which tells how many of those entered begin at or before a tick in logarithmic time.
    """
    for row in range(len(offsets) - 1):
        start, count = offsets[row], offsets[row + 1] - offsets[row]
        order = np.argsort(lower[start : start + count])
        beginnings = lower[start : start + count][order]
        rank = np.empty(count, dtype=np.int64)
        for i in range(count):
            rank[order[i]] = i
        entered = np.zeros(count + 1, dtype=np.int64)
        for i in range(count - 1, -1, -1):
            together = 0
            at = np.searchsorted(beginnings, reach[start + i], side="right")
            while at > 0:
                together += entered[at]
                at -= at & -at
            exponents[start + i] = together
            at = rank[i] + 1
            while at <= count:
                entered[at] += 1
                at += at & -at
