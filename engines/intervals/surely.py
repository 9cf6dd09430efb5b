"""Matches that every world returns: no world violates a condition of each of their cases.

A confidence that is a quotient of two sums may miss 1 by its last digit where the match is certain; to know
that it is takes much less than the sums.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.intervals.conditions import Case

if TYPE_CHECKING:
    from cepctl.engines.intervals.measure import IntervalMeasure

MOST_CHOICES = 256
"""Of more ways to violate all cases a match counts as uncertain."""


def certain_ones(measure: IntervalMeasure, cases: Sequence[Case], given: Case, matches: Indexes) -> Flags:
    """Which matches, shape (n, l), satisfy one of the cases in every world that satisfies what is `given`.

    No rival may be able to break them.
    """
    certain = np.ones(len(matches), dtype=bool)
    if np.prod([len(each) for each in cases], dtype=float) > MOST_CHOICES:
        return ~certain
    for chosen in product(*cases):
        violated = tuple((j, i, -bound - 1) for i, j, bound in chosen)
        one = replace(measure, cases=((*given, *violated),), rivals=None, ties=None)
        rows = np.flatnonzero(certain)
        lower, upper = one.valid(matches[rows])
        certain[rows[(lower <= upper).all(axis=1)]] = False
    return certain
