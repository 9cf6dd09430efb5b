"""Runs as they grow: an event that does not fit next, or comes after what certainly took, is dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.event.read_members import surely_taken
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.event.run_takers import Takers
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Link


@dataclass
class RunTally:
    """What becomes of runs as they grow, and how many of them are followed.

    `rejected`: how many groups a condition, or what is asked beside conditions, does not let grow or end.  Of
    more than `most` runs of one length evenly spaced ones go on; then `sampled` is set.  `pairs`: of a run
    and an event, that one step looks at where runs are listed loosely, also those that some event breaks in
    every world; None where they are not.
    """

    most: int
    pairs: int | None = None
    rejected: dict[Link | str, int] = field(default_factory=dict)
    sampled: bool = False

    def reject(self, by: Link | str, count: int) -> None:
        """Count what a condition takes away, or what is said in words."""
        self.rejected[by] = self.rejected.get(by, 0) + count

    def few(self, rows: Indexes, others: int = 0) -> Indexes:
        """At most `most` of some runs, evenly spaced; fewer where they meet many other events loosely."""
        most = self.most
        if self.pairs is not None:
            most = max(min(most, self.pairs // max(others, 1)), 1)
        step = -(-len(rows) // most)
        self.sampled |= step > 1
        return rows[:: max(step, 1)]


@dataclass(frozen=True)
class RunSearch:
    """What the search for runs asks of each event that it takes; `takers` where others are passed over.

    `fitting`, shape (components, events): which events fit each component of the reading alone.  `finished`:
    whether a group at the end has to pass its filters; a longer one may, where a shorter one does not.
    `tally` hears of what is left out.
    """

    conditions: RunConditions
    fitting: Flags
    takers: Takers | None
    finished: bool = True
    tally: RunTally | None = None

    @property
    def loosely(self) -> bool:
        """Whether runs are listed loosely."""
        return self.tally is not None and self.tally.pairs is not None

    def is_loose(self, place: int) -> bool:
        """Whether the event at a place may be taken though another one certainly breaks the run.

        Not in a group that has what it needs: all of its parts would be listed.
        """
        if not self.loosely:
            return False
        component = self.conditions.reading.components[self.conditions.taken[place]]
        if self.takers is not None:
            return not component.kleene
        return self.conditions.taken[:place].count(self.conditions.taken[place]) < max(component.least, 1)

    def kept(self, events: Events, rows: Indexes, taken: int) -> Indexes:
        """Those of some runs, all with `taken` events, that may take the last of these."""
        place = taken - 1
        if self.conditions.is_of_set(place) and self.conditions.continues(place):
            # Each set once: what is certainly before an event that it takes is taken by then, or never.
            rank = events.begin_rank
            rows = rows[rank[rows[:, place - 1]] < rank[rows[:, place]]]
        everyone = np.arange(len(rows))
        component, event = self.conditions.taken[place], rows[:, place]
        asked = self.conditions
        if self.tally is not None:
            asked = replace(asked, heard=self.tally.reject)
        keep = asked.fit(component, rows, place, everyone, event)
        if place:
            keep &= self.conditions.may_go_on(rows, place)
        if self.finished and taken == len(self.conditions.taken):
            keep &= self.conditions.may_end(rows[:, :taken])
        rows = rows[keep]
        if self.takers is None or not (place and self.takers.instead_of(place) and len(rows)):
            return rows
        rows = rows[~self._goes_further(rows, place)]
        if self.is_loose(place):
            return rows
        after = self.takers.take_from(rows, events.masses.upper, place)
        sure = events.masses.lower[rows[:, place]] > after
        sure[sure] = surely_taken(self.conditions, rows[sure], place)
        return rows[_may_be_next(events, rows, place, sure)]

    def _goes_further(self, rows: Indexes, place: int) -> Flags:
        """Whether the last event fits a taker further on in the pattern, which would have taken it."""
        assert self.takers is not None
        found, event = np.zeros(len(rows), dtype=bool), rows[:, place]
        begin = place
        while begin and self.conditions.is_of_set(begin) and self.conditions.continues(begin):
            # What is behind a set may take what comes after its first event; a rule says so.
            begin -= 1
        for component in self.takers.instead_of(begin) if begin else ():
            if component > self.conditions.taken[place]:
                some = np.flatnonzero(self.fitting[component, event])
                before = int(found.sum())
                found[some] |= self.conditions.fit(component, rows, place, some, event[some])
                if self.tally is not None:
                    name = self.conditions.reading.components[component].variable
                    self.tally.reject(f"{name}, which takes what fits it, too,", int(found.sum()) - before)
        return found


def _may_be_next(events: Events, rows: Indexes, place: int, sure: Flags) -> Flags:
    """Whether none of the events that a run could take instead is certainly before the one it takes.

    `sure`: whether it takes each of them, if nothing comes before that.
    """
    lower, upper = events.masses.lower, events.masses.upper
    before, event = rows[:, :place], rows[:, place]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (before[1:] != before[:-1]).any(axis=1)
    run = np.cumsum(fresh) - 1
    until = np.where(sure, upper[event], UNBOUNDED)
    least = np.minimum.reduceat(until, np.flatnonzero(fresh))
    return np.asarray(lower[event] <= least[run])
