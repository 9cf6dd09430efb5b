"""Events that happen at one tick: how probable that is, and at which ticks it is then."""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.numeric.precision import SMALLEST


def met_masses(masses: Masses, one: Indexes, other: Indexes) -> tuple[Masses, Reals]:
    """The masses of n pairs of independent events given that both happen at one tick.

    Returns
    -------
    The masses, and how probable each meeting is, shape (n,): 0 where none can be, and the mass means nothing,
    positive otherwise.

    Examples
    --------
    >>> from cepctl.engines.columns.masses import Masses
    >>> starts = np.array([0, 1, 2])
    >>> events = Masses.of_buckets(starts, np.array([0, 2]), np.array([3, 5]), np.array([0.25, 0.25]))
    >>> met, share = met_masses(events, np.array([0]), np.array([1]))
    >>> met.lower.tolist(), met.upper.tolist(), share.tolist()
    ([2], [3], [0.125])
    """
    sizes = np.diff(masses.starts)
    row, place = places_in_runs(sizes[one] * sizes[other])
    first, second = np.divmod(place, sizes[other][row])
    first, second = masses.starts[one][row] + first, masses.starts[other][row] + second
    lo = np.maximum(masses.lo[first], masses.lo[second])
    hi = np.minimum(masses.hi[first], masses.hi[second])
    kept = lo <= hi
    # One bucket that means nothing for those that never meet.
    bare = np.flatnonzero(np.bincount(row[kept], minlength=len(one)) == 0)
    row, lo, hi, first, second = (each[kept] for each in (row, lo, hi, first, second))
    highest = np.maximum.reduceat(masses.density, masses.starts[:-1])
    scale = highest[one], highest[other]
    density = (masses.density[first] / scale[0][row]) * (masses.density[second] / scale[1][row])
    whole = np.bincount(row, weights=density * ticks_between(lo, hi), minlength=len(one)).astype(np.float64)
    density = density / whole[row]
    share = np.where(whole > 0.0, np.maximum(whole * scale[0] * scale[1], SMALLEST), 0.0)
    row = np.concatenate([row, bare])
    order = np.argsort(row, kind="stable")
    never = masses.lower[one[bare]]
    buckets = (
        np.concatenate([lo, never])[order],
        np.concatenate([hi, never])[order],
        np.concatenate([density, np.ones(len(bare))])[order],
    )
    return Masses.of_buckets(np.searchsorted(row[order], np.arange(len(one) + 1)), *buckets), share
