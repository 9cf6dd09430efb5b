"""`prob(C)`: how probable a condition is by the laws of the events that it names, whatever is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.language.ast import Probability
from cepctl.numeric.arrays import Indexes, Reals


def with_own_laws(stamped: Events) -> Events:
    """Events of which `prob(...)` can be asked; what is left of them later changes no answer.

    `stamped` are the events as they were logged, before anything given has narrowed or tied them.
    """
    return replace(stamped, probability=partial(_probability, stamped))


def _probability(stamped: Events, _: Events, asked: Probability, bound: Sequence[Indexes]) -> Reals:
    """The probability for n rows that bind an event to each variable of the condition, shape (n,).

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products, or offsets of clocks.
    """
    # Few queries ask for it, and the room is large.
    from cepctl.engines.confidence.intervals.conditions import CONSTANT
    from cepctl.engines.confidence.intervals.measure import IntervalMeasure
    from cepctl.engines.confidence.intervals.rows import measured

    def place(name: str | None, *, end: bool) -> int:
        return CONSTANT if name is None else 2 * asked.variables.index(name) + end

    cases = tuple(
        tuple(
            (place(each.left, end=each.left_end), place(each.right, end=each.right_end), each.bound)
            for each in case
        )
        for case in asked.cases
    )
    found = measured(IntervalMeasure.of(stamped, cases), np.column_stack(bound))
    return found.confidence
