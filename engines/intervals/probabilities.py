"""`prob(C)`: how probable a condition is by the laws of the events that it names, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.events import Events
from cepctl.engines.intervals.conditions import CONSTANT, Place
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.language.ast import Probability


def probability_of(events: Events, asked: Probability, bound: Sequence[Indexes]) -> Reals:
    """The probability for n rows that bind an event to each variable of the condition, shape (n,).

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products, or offsets of clocks.
    """

    def place(name: str | None, *, end: bool) -> Place:
        return CONSTANT if name is None else 2 * asked.variables.index(name) + end

    cases = tuple(
        tuple(
            (place(each.left, end=each.left_end), place(each.right, end=each.right_end), each.bound)
            for each in case
        )
        for case in asked.cases
    )
    measure = IntervalMeasure(cases, events.endpoints, clocks=events.endpoint_clocks)
    return measure.measured(np.column_stack(bound)).confidence
