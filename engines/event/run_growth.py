"""Runs as they grow: which event each takes next, looked for no farther than is needed.

An event that does not fit next, or comes after what certainly took, is dropped.  One that fits and certainly
comes next leaves no room for any that comes after it; so does one that fits what follows the group.  So
events are looked for in ever longer stretches of time, until one like that is found or the window ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import overlapping
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.event.read_members import surely_fit, surely_taken
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.event.run_takers import Takers
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.search import JoinStep, Search, enumeration_parts, join_step, reach
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Link

_AT_ONCE = 1 << 12
"""Runs that are made longer at once."""
_LONGER = 4
"""How many times longer than the widest event the first stretch is, and each later one than that before."""


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


@dataclass(frozen=True)
class RunGrowth:
    """Runs of one alternative, whose components are bound in pattern order; `takers` under next match.

    `unfinished_system`: what holds between the events of a run whose last members are not known.
    """

    search: Search
    events: Events
    conditions: RunConditions
    takers: Takers | None
    unfinished_system: Ticks

    @property
    def asked(self) -> RunSearch:
        """What is asked of each event that a run takes."""
        assert isinstance(self.search.growth, RunSearch)
        return self.search.growth

    @property
    def unfinished(self) -> RunGrowth:
        """How runs grow that may take more than all their components say."""
        growth = replace(self.asked, finished=False)
        return replace(self, search=replace(self.search, growth=growth, system=self.unfinished_system))

    def started(self) -> Indexes:
        """The runs that take their first event."""
        search = self.unfinished.search
        parts = [rows for part in enumeration_parts(search, self.events, (0,)) for rows in part()]
        none = np.zeros((0, len(self.search.singles)), dtype=np.int64)
        return np.concatenate([none, *parts])

    def through(self, rows: Indexes, column: int) -> Iterator[Indexes]:
        """Runs that have taken the events before a column, with those of all others, in blocks."""
        push_down = self.search.push_down
        if push_down is not None:
            search, order = self.search, tuple(range(column))
            rows = push_down.kept(search.alternative, search.singles, search.system, rows, order)
        if column == rows.shape[1]:
            if len(rows):
                yield rows
            return
        for begin in range(0, len(rows), _AT_ONCE):
            yield from self.through(self.longer(rows[begin : begin + _AT_ONCE], column), column + 1)

    def longer(self, rows: Indexes, column: int) -> Indexes:
        """Runs that have taken the events before a column, with one more."""
        step = join_step(self.search, self.events, column, tuple(range(column)))
        found = [np.zeros((0, rows.shape[1]), dtype=np.int64)]
        for begin in range(0, len(rows), _AT_ONCE):
            found += self._longer(step, rows[begin : begin + _AT_ONCE], column)
        return np.concatenate(found)

    def _longer(self, step: JoinStep, rows: Indexes, column: int) -> Iterator[Indexes]:
        search, masses, before = self.search, self.events.masses, tuple(range(column))
        codes = step.key.codes_of(rows, search.singles)
        ticks = reach(masses, search.system, rows, before, column)
        loose = self.asked.is_loose(column)
        for gap in () if loose else search.gaps:
            ticks = gap.narrowed(self.events, rows, search.singles, before, column, ticks)
        until, looked = self._left_by(rows, column, ticks), np.full(len(rows), -UNBOUNDED)
        for first, last in [ticks] if loose else self._stretches(rows, column, ticks):
            pairs = list(overlapping(step.index, codes, first, np.minimum(last, until)))
            if pairs:
                row, event = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
                # What reaches into this stretch from the one before was found there.
                fresh = (masses.lower[event] > looked[row]) & (rows[row] != event[:, None]).all(axis=1)
                row, event = row[fresh], event[fresh]
                some = np.concatenate([rows[row], row[:, None]], axis=1)
                some[:, column] = event
                some = self.asked.kept(self.events, some, column + 1)
                yield some[:, :-1]
                if self._passes_over(column) and not loose:
                    certain = some[masses.lower[some[:, column]] > self._after(some, column)]
                    certain = certain[surely_taken(self.conditions, certain, column)]
                    np.minimum.at(until, certain[:, -1], masses.upper[certain[:, column]])
            looked = np.maximum(looked, last)

    def _left_by(self, rows: Indexes, column: int, ticks: tuple[Ticks, Ticks]) -> Ticks:
        """When another component has certainly taken instead."""
        until, masses = np.full(len(rows), UNBOUNDED), self.events.masses
        others = self._others(column)
        over = self._after(rows, column) if others else until
        for component in others:
            at = self.conditions.taken.index(component)
            step = join_step(self.search, self.events, at, tuple(range(column)))
            codes = step.key.codes_of(rows, self.search.singles)
            for first, last in self._stretches(rows, column, ticks):
                for pairs in overlapping(step.index, codes, first, np.minimum(last, until)):
                    sure = masses.lower[pairs[1]] > over[pairs[0]]
                    row, event = (side[sure] for side in pairs)
                    fits = surely_fit(self.conditions, component, rows, column, row, event)
                    np.minimum.at(until, row[fits], masses.upper[event[fits]])
        return until

    def _passes_over(self, column: int) -> bool:
        """Whether the first event that fits takes the place of a column."""
        return self.takers is not None and bool(self.takers.instead_of(column))

    def _after(self, rows: Indexes, column: int) -> Ticks:
        """Until when takers begin to take before a column."""
        assert self.takers is not None
        return self.takers.take_from(rows, self.events.masses.upper, column)

    def _others(self, column: int) -> list[int]:
        """The components that may take instead of that of a column, and leave no room for it then."""
        taken, components = self.conditions.taken, self.conditions.reading.components
        others = [] if self.takers is None else [i for i in self.takers.instead_of(column) if i in taken]
        behind = [i for i in others if i > taken[column]]
        if self.asked.tally is None:
            return behind
        groups = [i for i in others if components[i].kleene and i != taken[column]]
        return groups if self.asked.loosely else [*{*behind, *groups}]

    def _stretches(
        self, rows: Indexes, column: int, ticks: tuple[Ticks, Ticks]
    ) -> Iterator[tuple[Ticks, Ticks]]:
        """Ever longer times in which the next event is looked for, the last of them up to the end."""
        first, last = ticks
        if not (self._passes_over(column) and len(rows)):
            yield first, last
            return
        masses = self.events.masses
        after, farthest = self._after(rows, column), int(masses.upper.max())
        length = (int((masses.upper - masses.lower).max()) + 1) * _LONGER
        end = np.minimum(last, shifted(after, length))
        yield first, end
        while (end < np.minimum(last, farthest)).any():
            begin, length = shifted(end, 1), min(length * _LONGER, 1 << 61)
            end = np.minimum(last, shifted(end, length))
            yield np.maximum(begin, first), end
