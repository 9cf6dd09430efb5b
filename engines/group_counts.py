"""How many groups a Kleene component can bind between given neighbours, without listing them.

A member must lie between ticks that its neighbours fix, s < t_x < t with both ends moved by the window
and by timing constraints; so a set of events is possible iff some world puts s before the earliest end
of their intervals and t behind the latest beginning.  Let y be the member whose interval ends first.
Among the worlds in which y is a member there is one in which every other tick is the latest possible
(the greatest solution of the difference constraints).  There t is at its latest, `reach`, while s still lies
before the end of y, hence before the ends of all others: together with y goes exactly what
begins no later than `reach`, in any combination.  So with the candidates in order of their ends

    groups  =  sum over y of 2 ** (number of candidates after y that begin at or before reach(y))

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cepctl.engines.constraints import UNBOUNDED, shifted, valid_bounds
from cepctl.engines.masses import Masses
from cepctl.engines.types import Flags, Indexes, Ticks

_SAFE_BITS = 62


def latest_beginnings(lower: Ticks, upper: Ticks, system: Ticks, member: int) -> Ticks:
    """Latest tick that any member can have beside the one bound, shape (n,).

    Parameters
    ----------
    lower, upper
        Intervals of the bound events with one member among them, shape (n, l).
    system
        Closed system of the l variables (`cepctl.engines.constraints.closed_system`).
    member
        The column of the member.

    Examples
    --------
    >>> from cepctl.engines.constraints import closed_system
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
    large = np.diff(offsets).max(initial=0) > _SAFE_BITS
    powers = np.left_shift(np.ones(len(row), dtype=object if large else np.int64), exponents)
    owned = np.flatnonzero(np.diff(offsets))
    totals = [0] * count
    sums = np.add.reduceat(powers, offsets[:-1][owned]) if len(owned) else np.zeros(0, dtype=np.int64)
    for at, total in zip(owned.tolist(), sums.tolist(), strict=True):
        totals[at] = int(total)
    return totals


@njit(nogil=True, cache=True)
def _company(offsets, lower, reach, exponents):  # type: ignore[no-untyped-def]
    """For every candidate how many after it, in its row, may go with it."""
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            together = 0
            for j in range(i + 1, offsets[row + 1]):
                together += lower[j] <= reach[i]
            exponents[i] = together


def has_holes(masses: Masses) -> Flags:
    """Events with ticks of no mass inside their interval, shape (n,)."""
    inner = np.ones(len(masses.lo), dtype=bool)
    inner[masses.starts[:-1]] = False
    gaps = np.flatnonzero(inner[1:] & (masses.lo[1:] != masses.hi[:-1] + 1)) + 1
    holes = np.zeros(len(masses.lower), dtype=bool)
    holes[np.searchsorted(masses.starts, gaps, side="right") - 1] = True
    return holes
