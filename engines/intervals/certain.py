"""Matches that every world returns: no world violates a condition of each of their cases.

A confidence that is a quotient of two sums may miss 1 by its last digit where the match is certain; to know
that it is takes much less than the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.intervals.conditions import Case
from cepctl.engines.intervals.measure import IntervalMeasure, ticks_left
from cepctl.engines.intervals.rivals import FoundRivals
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

MOST_CHOICES = 256
"""Of matches whose cases can be violated in more ways, all that are left count as uncertain."""
_NEARLY = 1e-9


def certain_ones(measure: IntervalMeasure, cases: Sequence[Case], given: Case, matches: Indexes) -> Flags:
    """Which matches, shape (n, l), satisfy one of the cases in every world that satisfies what is `given`.

    Rivals are not looked at.
    """
    certain = np.ones(len(matches), dtype=bool)
    waiting, ways = [(np.arange(len(matches)), given, 0)], 0
    while waiting:
        rows, asked, number = waiting.pop()
        rows = rows[certain[rows]]
        if number == len(cases):
            certain[rows] = False
            continue
        for i, j, bound in cases[number] if len(rows) else ():
            if bound >= UNBOUNDED:
                continue
            ways += 1
            if ways > MOST_CHOICES:
                return np.zeros(len(matches), dtype=bool)
            violated = (*asked, (j, i, -bound - 1))
            lower, upper = ticks_left(replace(measure, cases=(violated,)), matches[rows])
            some = rows[(lower <= upper).all(axis=1)]
            if len(some):
                waiting.append((some, violated, number + 1))
    return certain


def with_certain_ones(
    confidence: Reals, measure: IntervalMeasure, cases: Sequence[Case], given: Case, matches: Indexes
) -> Reals:
    """Confidences that miss 1 by what sums are rounded, of matches that are certain, are 1; none is more.

    `measure` has what is `given` in its own cases, as well, and the rivals that some world may have.
    """
    found = np.minimum(confidence, 1.0)
    near = np.flatnonzero((confidence != 1.0) & (np.abs(confidence - 1.0) < _NEARLY))
    if len(near):
        some = matches[near]
        certain = certain_ones(measure, cases, given, some)
        for each in measure.rivals(some) if measure.rivals is not None else ():
            certain[can_break(measure, some, each)[1]] = False
        found[near[certain]] = 1.0
    return found


def can_break(measure: IntervalMeasure, matches: Indexes, found: FoundRivals) -> FoundRivals:
    """The pairs that some world has where the match holds, as far as intervals tell."""
    negation, row, event = found
    cases = tuple((*case, *more) for case in measure.cases for more in negation.cases)
    lower, upper = ticks_left(replace(measure, cases=cases), np.column_stack([matches[row], event]))
    can = (lower <= upper).all(axis=1)
    return negation, row[can], event[can]
