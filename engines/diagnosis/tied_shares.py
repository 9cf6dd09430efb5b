"""How probable it is that an event, or a difference of offsets, is between two ticks; of tied clocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Reals, Ticks
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.endpoints import of_points
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.intervals.measure import MeasureOnClocks
from cepctl.engines.confidence.intervals.on_clocks import measured_without_ties

_BETWEEN = (((2, 0, 0), (0, 4, 0)),)
"""Of an event and two moments: it is neither before the first nor after the second."""


def shares_between(
    stamps: EventClocks, own: Masses, clock: int, other: int, first: Ticks, last: Ticks
) -> Reals:
    """P(first <= own part + offset - other offset <= last) for n pairs of ticks, shape (n,).

    `own`: that of one event; `clock`, `other`: whose offsets, NO_CLOCK for none.
    """
    found, some = np.zeros(len(first)), np.flatnonzero(first <= last)
    count = len(some)
    masses = own.followed_by(Masses.at(first[some])).followed_by(Masses.at(last[some]))
    clocks = replace(stamps, clock=np.append(clock, np.full(2 * count, other)), own=masses)
    places = 1 + np.arange(count)
    rows = np.stack([np.zeros(count, dtype=np.int64), places, places + count], axis=1)
    measure = MeasureOnClocks(_BETWEEN, of_points(masses), clocks=clocks)
    found[some] = measured_without_ties(measure, rows).confidence
    return found
