"""The ticks left to endpoints that must satisfy difference constraints, whatever holes their masses have.

The solutions of difference constraints, each variable on any set of ticks, are closed under taking the
smaller value of each: there is a smallest one.  Bounds are tightened by the closed system and moved to the
next tick that has mass until nothing moves; then each end is reached in some world, at once for all.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.difference_constraints import valid_bounds


def reach(
    masses: Masses, endpoint: Indexes, lower: Ticks, upper: Ticks, system: Ticks
) -> tuple[Ticks, Ticks]:
    """First and last possible tick of each endpoint.

    Parameters
    ----------
    masses, endpoint
        The endpoints of n matches, shape (n, m).
    lower, upper
        The ticks allowed to each, shape (n, m).
    system
        Closed system over the m endpoints, without contradiction.

    Returns
    -------
    Shape (n, m) each; in a row that cannot happen some first tick is after the last.
    """
    lower, upper = valid_bounds(lower, upper, system)
    if masses.uniform:
        return lower, upper
    rows = np.flatnonzero((lower <= upper).all(axis=1) & (np.diff(masses.starts)[endpoint] > 1).any(axis=1))
    while len(rows):
        first, last = _onto_masses(masses, endpoint[rows], lower[rows], upper[rows])
        moved = ((first > lower[rows]) | (last < upper[rows])).any(axis=1)
        lower[rows], upper[rows] = valid_bounds(first, last, system)
        rows = rows[moved & (lower[rows] <= upper[rows]).all(axis=1)]
    return lower, upper


def _onto_masses(masses: Masses, endpoint: Indexes, lower: Ticks, upper: Ticks) -> tuple[Ticks, Ticks]:
    """The first tick with mass from `lower` on, and the last up to `upper`."""
    first, last = lower.copy(), upper.copy()
    most = int(np.diff(masses.starts)[endpoint].max(initial=0))
    begin, end = masses.starts[endpoint], masses.starts[endpoint + 1] - 1
    after, before = np.full(lower.shape, -1), np.full(lower.shape, -1)
    for number in range(most):
        ahead, back = np.minimum(begin + number, end), np.maximum(end - number, begin)
        after = np.where((after < 0) & (masses.hi[ahead] >= lower), ahead, after)
        before = np.where((before < 0) & (masses.lo[back] <= upper), back, before)
    first = np.where(after >= 0, np.maximum(lower, masses.lo[after]), masses.hi[end] + 1)
    last = np.where(before >= 0, np.minimum(upper, masses.hi[before]), masses.lo[begin] - 1)
    return first, last
