"""Own parts of events, and the masses of offsets, moved by so many ticks each."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.problem import owned


def moved_masses(clocks: EventClocks, event: Indexes, shift: Ticks) -> Masses:
    """The masses of n rows.

    Parameters
    ----------
    clocks
        The own parts and the offsets.
    event
        Shape (n,): an event by row number, whose own part it is; or -1 - clock, whose offset it is.
    shift
        Shape (n,): by how many ticks each is moved.
    """
    owner, lo, hi, density = [], [], [], []
    for masses, rows, whose in (
        (clocks.own, (here := np.flatnonzero(event >= 0)), event[here]),
        (clocks.offsets, (there := np.flatnonzero(event < 0)), -1 - event[there]),
    ):
        bucket, begins = owned(masses.starts, whose)
        sizes = np.diff(begins)
        owner.append(np.repeat(rows, sizes))
        by = np.repeat(shift[rows], sizes)
        lo.append(masses.lo[bucket] + by)
        hi.append(masses.hi[bucket] + by)
        density.append(masses.density[bucket])
    whose = np.concatenate(owner)
    order = np.argsort(whose, kind="stable")
    begins = np.searchsorted(whose[order], np.arange(len(event) + 1))
    first, last = np.concatenate(lo)[order], np.concatenate(hi)[order]
    return Masses(
        first[begins[:-1]], last[begins[1:] - 1], begins, first, last, np.concatenate(density)[order]
    )
