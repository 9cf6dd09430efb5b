"""Events that read a group without order while it takes, by the members that let them fit.

Whether an event fits what is behind a set may depend on who of the set is before it.  Of maxima, minima and
single members that are read single members tell it:

    a condition        lets an event fit once one of these came    and until one of these has come
    c.x < max(b[].x)   members with a greater x                    -
    c.x > max(b[].x)   members whose x is known                    members with no smaller x
    c.x > b[i].x       any                                         members with no smaller x

So a rival must not lie after a member that lets it fit, before each that forbids it, and before the event
that is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, RegionEnd
from cepctl.plan.plan import Link
from cepctl.plan.read_sets import extreme_of, lets_one


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
        """
        group = self.conditions.taken[self.places.start]
        own = self.conditions.deciding(self.component)
        keep = self._fits([each for each in own if group not in each.components], None, row, event)
        row, event = row[keep], event[keep]
        lets: list[Flags] = []
        forbids = np.zeros((len(row), len(self.places)), dtype=bool)
        for link in (each for each in own if group in each.components):
            let, forbid = self._asked(link, row, event)
            forbids |= forbid
            if let is not None:
                lets.append(let)
        bits = np.concatenate([forbids, *lets], axis=1)
        kinds, kind = np.unique(bits, axis=0, return_inverse=True)
        for number, each in enumerate(kinds):
            found = self._rule(rule, each.reshape(-1, len(self.places)))
            if found.regions:
                pairs = np.flatnonzero(kind.reshape(-1) == number)
                yield found, row[pairs], event[pairs]

    def surely_fit(self, row: Indexes, event: Indexes) -> Flags:
        """Which of the events certainly fit that come after some member, whoever else is before them."""
        masses, members = self.conditions.events.masses, self.rows[row][:, list(self.places)]
        before = masses.upper[members] < masses.lower[event][:, None]
        behind = masses.lower[members] >= masses.upper[event][:, None]
        group, found = self.conditions.taken[self.places.start], np.ones(len(row), dtype=bool)
        own = self.conditions.deciding(self.component)
        found &= self._fits([each for each in own if group not in each.components], None, row, event)
        for link in (each for each in own if group in each.components):
            let, forbid = self._asked(link, row, event)
            found &= (~forbid | behind).all(axis=1)
            if let is not None:
                found &= (let & before).any(axis=1)
        return found

    def _asked(self, link: Link, row: Indexes, event: Indexes) -> tuple[Flags | None, Flags]:
        """Which members let each event fit, None for any, and which forbid it; shape (pairs, members)."""
        holds = np.stack([self._fits([link], at, row, event) for at in self.places], axis=1)
        aggregate = extreme_of(link)
        if aggregate is None:
            return None, ~holds
        assert aggregate.name is not None
        known = self.conditions.events.frame.get_column(aggregate.name).is_not_null().to_numpy()
        known = known[self.rows[row][:, list(self.places)]]
        return (holds, np.zeros_like(holds)) if lets_one(link) else (known, known & ~holds)

    def _fits(self, links: Sequence[Link], member: int | None, row: Indexes, event: Indexes) -> Flags:
        """Whether events fit as some conditions say, the set being one member alone, or nothing."""
        places = [*range(self.places.start), *([] if member is None else [member])]
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
        first = RegionEnd(Point(self.points[0].block, "first"), 1, is_lower=True)
        regions: list[Region] = []
        for chosen in product(*(np.flatnonzero(each).tolist() for each in bits[1:])):
            begins = [RegionEnd(self.points[at], 1, is_lower=True) for at in dict.fromkeys(chosen)]
            regions.append((*(begins or [first]), *ends))
        return replace(rule, regions=tuple(regions), members_too=False)


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
