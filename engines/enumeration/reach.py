"""The ticks that one more event may have, given the intervals of those that are bound."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


def reach(
    masses: Masses, system: Ticks, rows: Indexes, before: tuple[int, ...], column: int
) -> tuple[Ticks, Ticks]:
    """Ticks that the next event may have, given the raw intervals of those bound.

    None, so first > last, where the system has no solution: its bounds then mean nothing.
    """
    if before and (np.diag(system) < 0).any():
        return np.full(len(rows), UNBOUNDED), np.full(len(rows), -UNBOUNDED)
    first = np.full(len(rows), -UNBOUNDED, dtype=np.int64)
    last = np.full(len(rows), UNBOUNDED, dtype=np.int64)
    for other in before:
        event = rows[:, other]
        if (limit := int(system[column, other])) < UNBOUNDED:
            last = np.minimum(last, shifted(masses.upper[event], limit))
        if (limit := int(system[other, column])) < UNBOUNDED:
            first = np.maximum(first, shifted(masses.lower[event], -limit))
    return first, last
