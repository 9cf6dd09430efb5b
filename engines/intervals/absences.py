"""Matches beside which no event of some kind may be: summed over the endpoints that its conditions name.

Those endpoints, and what open edges tie to them, become one problem of nested sums.  Ties apart from these
multiply as without rivals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE
from cepctl.engines.confidence.coupled.solve import coupled_confidence, first_ticks, mirrored
from cepctl.engines.intervals.absence_problems import Absent, absence_problems
from cepctl.engines.intervals.reach import Reached


def absent_confidence(
    endpoints: Endpoints, absent: Absent, endpoint: Indexes, left: Reached
) -> tuple[Reals, Ticks, Ticks]:
    """P(open edges, no rival) of n rows of endpoints; first and last tick of each place, both (n, m).

    What no world allows has the probability 0 and ranges that mean nothing.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    masses = endpoints.masses
    problems = absence_problems(endpoints, absent, endpoint, left, None)
    confidence, found = coupled_confidence(masses, problems)
    lower, upper = left.lower.copy(), left.upper.copy()
    never = found == IMPOSSIBLE
    lower[never], upper[never] = 1, 0
    possible = np.flatnonzero(~never)
    for place in absent.places:
        some = replace(absent, lists=tuple(each.taken(possible) for each in absent.lists))
        rows = Reached(*(each[possible] for each in left))
        for ends, late in ((lower, False), (upper, True)):
            problems = absence_problems(endpoints, some, endpoint[possible], rows, (place, late))
            if len(possible):
                ends[possible, place] = (
                    -first_ticks(*mirrored(masses, problems)) if late else first_ticks(masses, problems)
                )
    return confidence, lower, upper
