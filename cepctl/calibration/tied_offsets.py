"""Offsets of tied clocks, drawn as the worlds have them that their ties leave.

A chain is drawn from its first clock on.  The offset of each has the mass of its clock, weighed by how
probable it is that all ties after it hold, within the tie from the offset before.  So every combination is
drawn as often as the renormalised worlds say, and none is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cepctl.arrays import Reals
from cepctl.clock_ties import Clocks, names_in_order
from cepctl.engines.columns.clocks import NO_TIE, EventClocks, clocks_in_order
from cepctl.engines.confidence.clocks.chain_weights import AFTER, ChainWeights, WeighedMasses, mass_near


def tied_offsets(clocks: Clocks, draw: Callable[[Sequence[str]], Reals]) -> dict[str, int]:
    """The offset of every clock, in ticks.

    `draw`: a number in [0, 1) for each name.
    """
    names, found = names_in_order(clocks), dict[str, int]()
    known: EventClocks = clocks_in_order(clocks)
    weights, before = ChainWeights(known), 0
    for number, (name, share) in enumerate(zip(names, draw(names).tolist(), strict=True)):
        first, last = int(known.offsets.lower[number]), int(known.offsets.upper[number])
        apart = int(known.tie[number])
        if apart != NO_TIE:
            first, last = max(first, before - apart), min(last, before + apart)
        before = found[name] = _place(weights.mass(number, (AFTER,)), first, last, share)
    return found


def _place(mass: WeighedMasses, first: int, last: int, share: float) -> int:
    """The first tick from `first` to `last` up to which there is more than a share of their mass."""
    begin, wanted = first, share * _upto(mass, first, last)
    while first < last:
        middle = (first + last) // 2
        if _upto(mass, begin, middle) > wanted:
            last = middle
        else:
            first = middle + 1
    return first


def _upto(mass: WeighedMasses, first: int, last: int) -> float:
    return float(mass_near(mass, np.int64(0), np.int64(first), np.int64(last)))
