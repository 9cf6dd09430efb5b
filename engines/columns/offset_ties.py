"""What ties leave to the offsets of clocks: no offset that all offsets of a tied clock are too far from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.clock_ties import Clocks, names_in_order
from cepctl.engines.columns.clocks import NO_TIE, EventClocks
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.errors import ContradictionError


def left_by_ties(stamped: EventClocks, clocks: Clocks) -> EventClocks:
    """The clocks of events, with the offsets that some offset of each clock they are tied to allows.

    In a chain every such offset is that of some world.

    Raises
    ------
    ContradictionError
        If there is no world; names the clocks.
    """
    tie = stamped.tie
    tied = np.flatnonzero(tie != NO_TIE).tolist()
    if not tied:
        return stamped
    lower, upper = stamped.offsets.lower.copy(), stamped.offsets.upper.copy()
    for clock, other in [(each, each - 1) for each in tied] + [(each - 1, each) for each in reversed(tied)]:
        most = tie[max(clock, other)]
        lower[clock] = max(lower[clock], lower[other] - most)
        upper[clock] = min(upper[clock], upper[other] + most)
        if lower[clock] > upper[clock]:
            names = names_in_order(clocks)
            raise ContradictionError(
                f"no possible world: the offsets of the clocks '{names[clock]}' and '{names[other]}' are further "
                f"apart than the ticks that tie them, {most}; correct what was recorded of them"
            )
    offsets, _ = cut_masses(stamped.offsets, np.arange(len(tie)), lower, upper)
    return replace(stamped, offsets=offsets)
