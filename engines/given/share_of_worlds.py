"""In which share of all worlds that holds which is given of some events: what confidences are divided by."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import ticks_between
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.given.components import component_probability


def share_of_worlds(events: Events, known: Events, chosen: Indexes) -> float:
    """The probability that what is given holds of some events and of all that are tied to them.

    Parameters
    ----------
    events, known
        All events, none of which has a clock, and the same in the worlds that remain.
    chosen
        Row numbers; each counts once.

    Raises
    ------
    QueryTooLargeError
        If some of them are tied to too many others.
    """
    ties, rows, share = known.ties, np.unique(chosen), 1.0
    if ties is not None:
        components = np.unique(ties.component[rows])
        components = components[components >= 0]
        members = ties.members[owned(ties.member_offsets, components)[0]]
        rows = np.union1d(rows, members)
        share = float(np.prod(component_probability(ties, known.masses, components)))
    masses = events.masses
    at, offsets = owned(masses.starts, rows)
    owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
    lo = np.maximum(masses.lo[at], known.masses.lower[rows][owner])
    hi = np.minimum(masses.hi[at], known.masses.upper[rows][owner])
    ticks = np.where(lo <= hi, ticks_between(lo, np.maximum(lo, hi)), 0.0)
    left = np.bincount(owner, ticks * masses.density[at], len(rows))
    return share * float(np.prod(np.minimum(left, 1.0)))
