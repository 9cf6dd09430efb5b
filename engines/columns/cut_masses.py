"""Masses of events given that they happen between two ticks, and how probable that is."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses, ticks_between


def cut_masses(masses: Masses, event: Indexes, first: Ticks, last: Ticks) -> tuple[Masses, Reals]:
    """The masses of n rows, each of an event given that it happens from `first` to `last`, shape (n,).

    Returns
    -------
    The masses, and how probable each condition is, shape (n,).  Where that is 0 the mass is one bucket that
    means nothing.
    """
    sizes = np.diff(masses.starts)[event]
    row = np.repeat(np.arange(len(event)), sizes)
    bucket = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + masses.starts[event][row]
    lo, hi = np.maximum(masses.lo[bucket], first[row]), np.minimum(masses.hi[bucket], last[row])
    kept = lo <= hi
    found = np.bincount(row[kept], minlength=len(event))
    bare = np.flatnonzero(found == 0)
    row, lo, hi, density = row[kept], lo[kept], hi[kept], masses.density[bucket[kept]]
    mass = density * ticks_between(lo, hi)
    whole: Reals = np.bincount(row, weights=mass, minlength=len(event)).astype(np.float64)
    row = np.concatenate([row, bare])
    lo, hi = (np.concatenate([each, masses.lower[event[bare]]]) for each in (lo, hi))
    density = np.concatenate([density, np.ones(len(bare))]) / np.where(whole > 0, whole, 1.0)[row]
    # What is not cut keeps its digits.
    uncut = (first <= masses.lower[event]) & (masses.upper[event] <= last)
    whole[uncut] = 1.0
    order = np.argsort(row, kind="stable")
    row, lo, hi, density = row[order], lo[order], hi[order], density[order]
    starts = np.searchsorted(row, np.arange(len(event) + 1))
    return Masses(lo[starts[:-1]], hi[starts[1:] - 1], starts, lo, hi, density), whole


def joined_masses(one: Masses, other: Masses) -> Masses:
    """The masses of some events, and then of others."""
    return Masses(
        np.concatenate([one.lower, other.lower]),
        np.concatenate([one.upper, other.upper]),
        np.concatenate([one.starts, one.starts[-1] + other.starts[1:]]),
        np.concatenate([one.lo, other.lo]),
        np.concatenate([one.hi, other.hi]),
        np.concatenate([one.density, other.density]),
    )
