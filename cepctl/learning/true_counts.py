"""How often each factor of a law counts in the true order of pieces whose true ticks tell one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.classes import Classes, habits
from cepctl.engines.order_laws.keys import Keys
from cepctl.learning.factors import OpenFactors
from cepctl.learning.keys import TaughtKeys
from cepctl.learning.pieces import Pieces

_PAIRS_AT_ONCE = 1 << 20


def true_counts(keys: TaughtKeys, pieces: Pieces, factors: OpenFactors, some: Flags) -> Reals:
    """The sum over some pieces, as a vector of open factors."""
    asked = pieces.as_keys(keys, np.flatnonzero(some), in_true_order=True)
    size = len(keys.steps)
    following, before = np.zeros((size + 1, size + 1)), np.zeros((size, size))
    _add_following(asked, following)
    _add_before(asked, before)
    return factors.gradient(following, before)


def _add_following(asked: Keys, found: Reals) -> None:
    assert asked.rank is not None
    order = np.lexsort((asked.step, asked.rank, asked.key))
    step, key, end = asked.step[order], asked.key[order], len(found) - 1
    together = key[1:] == key[:-1]
    np.add.at(found, (step[:-1][together], step[1:][together]), 1.0)
    np.add.at(found, (np.full(asked.count, end), step[asked.starts[:-1]]), 1.0)
    np.add.at(found, (step[asked.starts[1:] - 1], np.full(asked.count, end)), 1.0)


def _add_before(asked: Keys, found: Reals) -> None:
    """Pairs of two steps whose events share a tick, each divided by its m."""
    assert asked.rank is not None
    plain = asked.ranked(None)
    classes = Classes.of(plain)
    habit, class_, first_pair = habits(plain, classes), classes.of_event, classes.columns.pairs
    lower, upper = asked.masses.lower, asked.masses.upper
    for one, other in _pairs(asked.starts):
        open_ = (asked.step[one] != asked.step[other]) & (lower[one] <= upper[other])
        open_ &= lower[other] <= upper[one]
        first = np.where(asked.rank[one] < asked.rank[other], one, other)[open_]
        second = (one + other)[open_] - first
        least, most = (each(class_[first], class_[second]) for each in (np.minimum, np.maximum))
        m = habit[first_pair[least] + most - least - 1]
        np.add.at(found, (asked.step[first], asked.step[second]), 1.0 / m)


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
