"""Matches that what is given makes certain: ties and intervals alone say all that they ask.

Their confidence is a quotient of two sums, which may miss 1 by its last digit.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Flags
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.given.between_events import tied_systems
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


def certain_problems(problems: Problems, ties: EventTies, masses: Masses) -> Flags:
    """Which problems hold in every world that is left, as far as intervals tell; shape (n,).

    None with a factor: a rival may be anywhere.
    """
    event, lower, upper = problems.variables
    free = np.full(problems.structure.system.shape, UNBOUNDED)
    np.fill_diagonal(free, 0)
    apart = tied_systems(ties, free, event)
    certain = np.diff(problems.factors.offsets) == 0
    certain &= ((lower == masses.lower[event]) & (upper == masses.upper[event])).all(axis=1)
    for i, j, bound in problems.structure.edges:
        by_intervals = masses.upper[event[:, i]] <= shifted(masses.lower[event[:, j]], bound)
        certain &= by_intervals | (apart[:, i, j] <= bound)
    return np.asarray(certain)
