"""How often each factor of a law counts in the true order of pieces, as far as true ticks tell.

Left to ln Z at the true ticks are what is next in pieces with ties, and the order of tied events.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.keys import Keys
from cepctl.engines.order_laws.kinds import habits, kinds_of_keys
from cepctl.learning.factors import OpenFactors
from cepctl.learning.keys import TaughtKeys
from cepctl.learning.pieces import Pieces

_PAIRS_AT_ONCE = 1 << 20


def true_counts(keys: TaughtKeys, pieces: Pieces, factors: OpenFactors, some: Flags) -> Reals:
    """The sum over some pieces, as a vector of open factors."""
    size = len(keys.steps)
    following, before = np.zeros((size + 1, size + 1)), np.zeros((size, size))
    _add_following(pieces.as_keys(keys, np.flatnonzero(some & ~pieces.tied), at_true_ranks=True), following)
    _add_before(pieces.as_keys(keys, np.flatnonzero(some), at_true_ranks=True), before)
    return factors.gradient(following, before)


def _add_following(true: Keys, found: Reals) -> None:
    order = np.lexsort((true.step, true.masses.lower, true.key))
    step, key = true.step[order], true.key[order]
    together = key[1:] == key[:-1]
    assert true.around is not None
    before, after = true.around
    np.add.at(found, (step[:-1][together], step[1:][together]), 1.0)
    np.add.at(found, (before, step[true.starts[:-1]]), 1.0)
    np.add.at(found, (step[true.starts[1:] - 1], after), 1.0)


def _add_before(true: Keys, found: Reals) -> None:
    """Pairs of two steps whose stamps share a tick and whose true ticks differ, each divided by its m."""
    assert true.stamps is not None
    kinds, kind = kinds_of_keys(Keys(true.stamps, true.starts, true.step))
    m = habits(kinds)
    lower, upper, rank = true.stamps.lower, true.stamps.upper, true.masses.lower
    for one, other in _pairs(true.starts):
        told = (true.step[one] != true.step[other]) & (rank[one] != rank[other])
        told &= (lower[one] <= upper[other]) & (lower[other] <= upper[one])
        first = np.where(rank[one] < rank[other], one, other)[told]
        second = (one + other)[told] - first
        least, most = (each(kind[first], kind[second]) for each in (np.minimum, np.maximum))
        pair = kinds.pairs[least] + most - least
        np.add.at(found, (true.step[first], true.step[second]), 1.0 / m[pair])


def _pairs(starts: Indexes) -> Iterator[tuple[Indexes, Indexes]]:
    """All pairs of events of each key, so many at a time."""
    key, place = places_in_runs(np.diff(starts))
    left = np.diff(starts)[key] - place - 1
    upto = np.cumsum(left)
    cuts = np.searchsorted(upto, np.arange(0, upto[-1] if len(upto) else 0, _PAIRS_AT_ONCE))
    for begin, end in pairwise([0, *np.unique(cuts[1:]).tolist(), len(left)]):
        row, after = places_in_runs(left[begin:end])
        one = row + begin
        yield one, one + 1 + after
