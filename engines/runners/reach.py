"""How far from the first event of a match those events lie that can be in it or decide it.

Within a window that is the window.  Conditions on ends may bound it, too: what INTERSECTS the first event
begins before that has ended, and ends after it has begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cepctl.arrays import Ticks
from cepctl.engines.intervals.conditions import (
    CONSTANT,
    Case,
    Edge,
    absence_cases,
    cases_of,
    own_edges,
)
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.plan.plan import Alternative, Plan


@dataclass(frozen=True)
class Reach:
    """Events that matter begin at most `after` ticks after the first event of a match has ended.

    They end at most `before` ticks before it begins.
    """

    before: int
    after: int

    @property
    def widest(self) -> int:
        """The larger of both."""
        return max(self.before, self.after)


def reach_of(plan: Plan) -> Reach | None:
    """How far the matches of a plan reach; None where events at any distance may matter.

    Raises
    ------
    QueryTooLargeError
        If conditions on ends make too many cases.
    """
    windowed = None if plan.window is None else Reach(plan.window, plan.window)
    if not plan.of_intervals or plan.strategy.asks_others:
        return windowed
    found = [each for each in (windowed,) if each is not None]
    for alternative in plan.alternatives:
        if any(each.kleene for each in alternative.components):
            own = None if alternative.absent_anywhere else windowed
        else:
            own = _of_alternative(alternative, plan.window)
        if own is None:
            return None
        found.append(own)
    return Reach(max(each.before for each in found), max(each.after for each in found))


def _of_alternative(alternative: Alternative, window: int | None) -> Reach | None:
    bound = len(alternative.positive)
    between = _in_some(cases_of(alternative, window), bound)
    if between is None:
        return Reach(0, 0)
    shared = tuple(_edges(between))
    systems = [between]
    for number, component in enumerate(alternative.components):
        if component.negated:
            cases = absence_cases(alternative, window, number)
            absent = _in_some(((*shared, *each) for each in cases), bound + 1)
            if absent is not None:
                systems.append(absent)
    before = max(int(system[0, 1::2].max()) for system in systems)
    after = max(int(system[0::2, 1].max()) for system in systems)
    if max(before, after) >= UNBOUNDED:
        return None
    return Reach(max(before, 0), max(after, 0))


def _in_some(cases: Iterable[Case], components: int) -> Ticks | None:
    """What holds between the endpoints in every case, shape (2 l, 2 l); None if no case can hold."""
    found: Ticks | None = None
    for case in cases:
        edges = [each for each in case if CONSTANT not in each[:2]]
        system = closure(2 * components, [*own_edges(components), *edges])
        if (np.diag(system) >= 0).all():
            found = system if found is None else np.maximum(found, system)
    return found


def _edges(system: Ticks) -> Iterator[Edge]:
    for i, j in product(range(len(system)), repeat=2):
        if i != j and system[i, j] < UNBOUNDED:
            yield i, j, int(system[i, j])
