"""Which row groups a match has to read: those that hold an event of a possible match, and what decides it.

Where nothing is said of absent events, a match and its confidence depend on its own events alone.  Under
negation, next match and contiguity every event can decide that touches the time of a possible match, widened
by WITHIN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cepctl.numeric.arrays import Flags
from cepctl.plan.plan import Plan
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.items import moved
from cepctl.sketches.probing import reach
from cepctl.sketches.survivors import survivors

RowGroupKey = tuple[int, int]
"""Numbers of a part and of a row group in it."""


@dataclass(frozen=True)
class ChosenGroups:
    """The row groups to read of each dataset, and how many there are in all."""

    groups: tuple[frozenset[RowGroupKey], ...]
    of: int

    @property
    def read(self) -> int:
        """How many are read."""
        return sum(map(len, self.groups))


def row_groups_to_read(plan: Plan, archive: SketchArchive, effort: float = math.inf) -> ChosenGroups:
    """The row groups without which some row of a match would be other than it is.

    The sketches of `archive` are those of the datasets, in their order; `effort` is that of `survivors`.
    """
    first_groups = archive.first_groups
    # What is given speaks of events that no match binds, and all of them have to be held to it.  What may be
    # passed over can be anywhere.
    every = bool(plan.given) or any(each.passes_over for each in plan.alternatives)
    needed = np.full(int(first_groups[-1]), every)
    for found in survivors(plan, archive, effort):
        for items in found.items:
            needed[items.group] = True
        if absences_decide(plan):
            around = reach(plan, found, lasting=archive.lasting)
            widened = 0 if plan.window is None else plan.window
            start, end = (np.clip(ticks, -(2**62), 2**62) for ticks in (around.start, around.end))
            spans = archive.spans
            touched = _touched(spans.lower, spans.upper, moved(start, -widened), moved(end, widened))
            needed[spans.group[touched]] = True
    groups = []
    for number, sketch in enumerate(archive.sketches):
        own = np.flatnonzero(needed[first_groups[number] : first_groups[number + 1]])
        part = np.searchsorted(sketch.first_groups, own, "right") - 1
        pairs = zip(part.tolist(), (own - sketch.first_groups[part]).tolist(), strict=True)
        groups.append(frozenset(pairs))
    return ChosenGroups(tuple(groups), int(first_groups[-1]))


def absences_decide(plan: Plan) -> bool:
    """Whether events that a match does not bind can decide it."""
    negated = any(component.negated for each in plan.alternatives for component in each.components)
    return negated or plan.strategy.asks_others


def _touched(lower: np.ndarray, upper: np.ndarray, start: np.ndarray, end: np.ndarray) -> Flags:
    """Which intervals [lower, upper] touch some stretch [start, end]."""
    order = np.argsort(start, kind="stable")
    start, latest = start[order], np.maximum.accumulate(end[order])
    begun = np.searchsorted(start, upper, "right")
    return (begun > 0) & (np.append(latest, 0)[begun - 1] >= lower)
