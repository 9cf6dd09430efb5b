"""Events that read a group without order while it takes, by the members that let them fit.

Whether an event fits what is behind a set may depend on who of the set is before it.  Of maxima, minima and
single members that are read single members tell it:

    a condition        lets an event fit once one of these came    and until one of these has come
    c.x < max(b[].x)   members with a greater x                    -
    c.x > max(b[].x)   members whose x is known                    members with no smaller x
    c.x > b[i].x       any                                         members with no smaller x

So a rival must not lie after a member that lets it fit, before each that forbids it, and before the event
that is taken.  What else is read is asked of each set of members that may be before it: then a rival must not
lie after these and before all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, RegionEnd
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Link
from cepctl.plan.read_sets import asks_one, extreme_of, lets_one

MOST_OPEN = 8
"""Members of which each set is asked whether an event fits behind it."""


@dataclass(frozen=True)
class ReadMembers:
    """A component that reads a set while that takes.

    `rows`: the events that runs take, shape (n, l), those of the set at some `places`; `points`: the tick of
    each of these, where it is asked for.
    """

    conditions: RunConditions
    component: int
    rows: Indexes
    places: range
    points: Sequence[Point] = ()

    def rivals(
        self, rule: AbsenceRule, row: Indexes, event: Indexes
    ) -> Iterator[tuple[AbsenceRule, Indexes, Indexes]]:
        """Pairs of a run and an event that would have been taken, by where it must not lie.

        `rule` says where, if it fits whoever of the set is before it.

        Raises
        ------
        QueryTooLargeError
            If too many members may be before an event or not, and each of their sets has to be asked.
        """
        keep = self._fits(self._others, (), row, event)
        row, event = row[keep], event[keep]
        by = self._by_single_members if all(map(asks_one, self._reading)) else self._by_sets
        yield from by(rule, row, event)

    @property
    def _group(self) -> int:
        return self.conditions.taken[self.places.start]

    @property
    def _reading(self) -> list[Link]:
        """The conditions on the component that read the set."""
        return [each for each in self.conditions.deciding(self.component) if self._group in each.components]

    @property
    def _others(self) -> list[Link]:
        own = self.conditions.deciding(self.component)
        return [each for each in own if self._group not in each.components]

    def _by_single_members(
        self, rule: AbsenceRule, row: Indexes, event: Indexes
    ) -> Iterator[tuple[AbsenceRule, Indexes, Indexes]]:
        lets: list[Flags] = []
        forbids = np.zeros((len(row), len(self.places)), dtype=bool)
        for link in self._reading:
            let, forbid = self._asked(link, row, event)
            forbids |= forbid
            if let is not None:
                lets.append(let)
        for bits, pairs in rows_alike(np.concatenate([forbids, *lets], axis=1)):
            found = self._rule(rule, bits.reshape(-1, len(self.places)))
            if found.regions:
                yield found, row[pairs], event[pairs]

    def _by_sets(
        self, rule: AbsenceRule, row: Indexes, event: Indexes
    ) -> Iterator[tuple[AbsenceRule, Indexes, Indexes]]:
        before, behind = self._certain(row, event)
        for kind, pairs in rows_alike(np.concatenate([before, behind], axis=1)):
            sure, never = kind.reshape(2, -1)
            is_open = np.flatnonzero(~(sure | never)).tolist()
            self._refuse_many(len(is_open))
            sets = [each for size in range(len(is_open) + 1) for each in combinations(is_open, size)]
            fits = np.zeros((len(pairs), len(sets)), dtype=bool)
            for number, chosen in enumerate(sets):
                members = sorted({*np.flatnonzero(sure).tolist(), *chosen})
                if members:
                    places = [self.places[at] for at in members]
                    fits[:, number] = self._fits(self._reading, places, row[pairs], event[pairs])
            for asked, some in rows_alike(fits):
                fitting = [each for each, fit in zip(sets, asked, strict=True) if fit]
                if fitting:
                    found = self._between(rule, is_open, fitting)
                    yield found, row[pairs[some]], event[pairs[some]]

    def _certain(self, row: Indexes, event: Indexes) -> tuple[Flags, Flags]:
        """Which members certainly come before each event, and which certainly do not, as it itself."""
        masses, members = self.conditions.events.masses, self.rows[row][:, list(self.places)]
        before = masses.upper[members] < masses.lower[event][:, None]
        behind = masses.lower[members] >= masses.upper[event][:, None]
        return before, behind | (members == event[:, None])

    def _between(
        self, rule: AbsenceRule, is_open: Sequence[int], sets: Sequence[Sequence[int]]
    ) -> AbsenceRule:
        """Where an event must not lie that fits behind these sets of members whose order is open."""
        (region,) = rule.regions
        upper = [end for end in region if not end.is_lower]
        regions: list[Region] = []
        for chosen in sets:
            begins = [RegionEnd(self.points[at], 1, is_lower=True) for at in chosen]
            ends = [RegionEnd(self.points[at], 0, is_lower=False) for at in is_open if at not in chosen]
            regions.append((*(begins or [self._first]), *ends, *upper))
        return replace(rule, regions=tuple(regions))

    @property
    def _first(self) -> RegionEnd:
        """The first member of the set, which each event has to come after."""
        return RegionEnd(Point(self.points[0].block, "first"), 1, is_lower=True)

    def _refuse_many(self, count: int) -> None:
        if count > MOST_OPEN:
            components = self.conditions.reading.components
            name, group = (components[each].variable for each in (self.component, self._group))
            raise QueryTooLargeError(
                f"which events fit {name} depends on who of more than {MOST_OPEN} members of {group}[] is "
                f"before them; narrow the query (WITHIN, [attr], tighter predicates), or read {group}[] in "
                f"order, as {group}[..i]"
            )

    def surely_fit(self, row: Indexes, event: Indexes) -> Flags:
        """Which of the events certainly fit that come after some member, whoever else is before them."""
        before, behind = self._certain(row, event)
        found = self._fits(self._others, (), row, event)
        for link in self._reading:
            if not asks_one(link):
                return np.zeros(len(row), dtype=bool)  # as far as is looked here
            let, forbid = self._asked(link, row, event)
            found &= (~forbid | behind).all(axis=1)
            if let is not None:
                found &= (let & before).any(axis=1)
        return found

    def _asked(self, link: Link, row: Indexes, event: Indexes) -> tuple[Flags | None, Flags]:
        """Which members let each event fit, None for any, and which forbid it; shape (pairs, members)."""
        holds = np.stack([self._fits([link], (at,), row, event) for at in self.places], axis=1)
        aggregate = extreme_of(link)
        if aggregate is None:
            return None, ~holds
        assert aggregate.name is not None
        known = self.conditions.events.frame.get_column(aggregate.name).is_not_null().to_numpy()
        known = known[self.rows[row][:, list(self.places)]]
        return (holds, np.zeros_like(holds)) if lets_one(link) else (known, known & ~holds)

    def _fits(self, links: Sequence[Link], members: Sequence[int], row: Indexes, event: Indexes) -> Flags:
        """Whether events fit as some conditions say, the set being these members, by their places."""
        places = [*range(self.places.start), *members]
        reading = replace(self.conditions.reading, links=tuple(links))
        taken = tuple(self.conditions.taken[each] for each in places)
        asked = replace(self.conditions, reading=reading, taken=taken)
        return asked.fit(self.component, self.rows[:, places], len(places), row, event)

    def _rule(self, rule: AbsenceRule, bits: Flags) -> AbsenceRule:
        """Where an event must not lie which some members forbid, the first row, and which others let fit."""
        (region,) = rule.regions
        forbidding = np.flatnonzero(bits[0]).tolist()
        ends = [RegionEnd(self.points[at], 0, is_lower=False) for at in forbidding]
        ends += [end for end in region if not end.is_lower]
        regions: list[Region] = []
        for chosen in product(*(np.flatnonzero(each).tolist() for each in bits[1:])):
            begins = [RegionEnd(self.points[at], 1, is_lower=True) for at in dict.fromkeys(chosen)]
            regions.append((*(begins or [self._first]), *ends))
        return replace(rule, regions=tuple(regions))


def surely_fit(
    conditions: RunConditions, component: int, rows: Indexes, count: int, row: Indexes, event: Indexes
) -> Flags:
    """Whether events fit that runs could take after their first `count` ones, whoever of a set has come."""
    if not conditions.reads_taking(component, count):
        return conditions.fit(component, rows, count, row, event)
    places = range(conditions.taken.index(conditions.taken[count - 1]), count)
    return ReadMembers(conditions, component, rows, places).surely_fit(row, event)


def surely_taken(conditions: RunConditions, rows: Indexes, place: int) -> Flags:
    """Whether the event that runs take at a place fits there, whoever of the set before it has come."""
    everyone, taker = np.arange(len(rows)), conditions.taken[place]
    if not conditions.reads_taking(taker, place):
        return np.ones(len(rows), dtype=bool)
    return surely_fit(conditions, taker, rows, place, everyone, rows[:, place])
