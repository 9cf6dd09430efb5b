"""Masses of events of which only a part is left."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Ticks
from cepctl.engines.columns.masses import Masses, ticks_between


def cut(masses: Masses, lower: Ticks, upper: Ticks) -> Masses:
    """Masses within these ends, renormalised."""
    changed = (lower > masses.lower) | (upper < masses.upper)
    if not changed.any():
        return masses
    owner = np.repeat(np.arange(len(lower)), np.diff(masses.starts))
    lo, hi = np.maximum(masses.lo, lower[owner]), np.minimum(masses.hi, upper[owner])
    kept = lo <= hi
    owner, lo, hi, density = owner[kept], lo[kept], hi[kept], masses.density[kept].copy()
    total = np.bincount(owner, weights=density * ticks_between(lo, hi), minlength=len(lower))
    narrowed = changed[owner]
    density[narrowed] /= total[owner[narrowed]]
    return Masses(lower, upper, np.searchsorted(owner, np.arange(len(lower) + 1)), lo, hi, density)
