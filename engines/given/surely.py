"""Matches that what is given makes certain: ties and intervals alone say all that they ask.

Their confidence is a sum of quotients, which may miss 1 by its last digits.  It is decided for each match,
not for each of its sums: which of some events comes first may be open where the match is certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.given.between_events import tied_systems
from cepctl.engines.given.requirements import requirements
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


def certain_matches(matches: CoupledMatches, ties: EventTies) -> Flags:
    """Which matches every world that is left returns, as far as ties and intervals tell; shape (n,)."""
    required = list(requirements(matches))
    claims = [(each, claim) for each in required for claim in each.claims]
    certain = np.ones(len(matches), dtype=bool)
    if not claims:
        return certain
    left = np.concatenate([claim.left for _, claim in claims])
    right = np.concatenate([claim.right for _, claim in claims])
    apart = _Known(ties, matches.masses)
    most, least = apart.most(left, right), apart.most(right, left)
    met = [np.zeros(len(each.match), dtype=bool) for each in required]
    begin = 0
    for at, each in enumerate(required):
        for claim in each.claims:
            here = slice(begin, begin + len(claim.of))
            begin = here.stop
            sure = most[here] <= claim.bound
            if claim.exact:
                sure &= least[here] <= -claim.bound
            met[at][claim.of[sure]] = True
        certain[each.match[~met[at]]] = False
    return certain


@dataclass(frozen=True)
class _Known:
    ties: EventTies
    masses: Masses

    def most(self, left: Indexes, right: Indexes) -> Ticks:
        """The most that t_left - t_right is in a world that is left; the tick of no event is 0."""
        no_left, no_right = left == NO_VARIABLE, right == NO_VARIABLE
        latest = np.where(no_left, 0, self.masses.upper[left])
        earliest = np.where(no_right, 0, self.masses.lower[right])
        apart = latest - earliest
        apart = np.where((latest > earliest) & (apart < 0), LAST, apart)
        apart = np.where((latest < earliest) & (apart > 0), FIRST, apart)
        apart[left == right] = 0
        tied = np.flatnonzero(~no_left & ~no_right & (left != right) & self.ties.touches(left))
        pairs = np.stack([left[tied], right[tied]], axis=1)
        free = np.array([[0, UNBOUNDED], [UNBOUNDED, 0]])
        apart[tied] = np.minimum(apart[tied], tied_systems(self.ties, free, pairs)[:, 0, 1])
        return np.asarray(apart)
