"""Events that a match does not show, and those that must be absent beside them: what its parts are made of.

Whatever must not happen as a whole leaves parts that exclude each other.  Each has some hidden events in the
gap, perhaps none, and events that are absent from it, from a hidden one on, or up to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes

ROWS_AT_ONCE = 512
MOST_PARTS = 1_000_000
"""Pairs of a part and an event that may be in it; of several matches with more each is looked at alone."""
OF_GAP = -1
"""In place of a hidden event: the end of the gap."""


@dataclass(frozen=True)
class Absences:
    """Pairs (part, event): events that are absent after one hidden event and before another, shape (p,).

    `after`, `before`: places of these, or OF_GAP.  `at_first`, `at_last`: whether they are absent from the
    tick of the one and of the other, too.
    """

    part: Indexes
    event: Indexes
    after: int = OF_GAP
    before: int = OF_GAP
    at_first: Flags | None = None
    at_last: Flags | None = None

    def alike(self) -> Iterator[tuple[bool, bool, Indexes, Indexes]]:
        """Those apart that are absent from the ticks of their ends, or not: of neither perhaps none."""
        none = np.zeros(len(self.part), dtype=bool)
        first = none if self.at_first is None else self.at_first
        last = none if self.at_last is None else self.at_last
        for at_first, at_last in ((False, False), (False, True), (True, False), (True, True)):
            here = (first == at_first) & (last == at_last)
            if here.any() or not (at_first or at_last):
                yield at_first, at_last, self.part[here], self.event[here]

    def taken(self, parts: Indexes, count: int) -> Absences:
        """Those of some of so many parts, which may repeat, and are numbered anew."""
        at, found = entries_of(self.part, parts, count)
        first, last = (each if each is None else each[found] for each in (self.at_first, self.at_last))
        return replace(self, part=at, event=self.event[found], at_first=first, at_last=last)


@dataclass(frozen=True)
class HiddenEvents:
    """Parts of matches: `row` is the match of each, `events` those that it hides, shape (n, m).

    `tied`, of all but the first: whether it is at the tick of the one before, which it follows else; None
    where nothing orders them.
    """

    row: Indexes
    events: Indexes
    absent: tuple[Absences, ...]
    tied: tuple[bool, ...] | None = None

    @property
    def count(self) -> int:
        """How many events each part hides."""
        return int(self.events.shape[1])

    def taken(self, parts: Indexes) -> HiddenEvents:
        """Some of the parts, which may repeat."""
        absent = tuple(each.taken(parts, len(self.row)) for each in self.absent)
        return replace(self, row=self.row[parts], events=self.events[parts], absent=absent)

    def hides(self, part: Indexes, event: Indexes) -> Flags:
        """Whether an event is one that a part hides."""
        return np.asarray((self.events[part] == event[:, None]).any(axis=1))


def entries_of(owner: Indexes, wanted: Indexes, count: int) -> tuple[Indexes, Indexes]:
    """For each wanted one of `count` owners the entries that it has: its place in `wanted`, and the entry."""
    entries = Group.of_owners(count, owner, np.arange(len(owner))).take(wanted)
    return entries.owner, entries.members


def with_another(events: Indexes, part: Indexes, event: Indexes) -> Indexes:
    """Hidden events of some parts, and one more behind them."""
    return np.column_stack([events[part], event])


def may_share_tick(masses: Masses, one: Indexes, other: Indexes) -> Flags:
    """Whether two events can be at one tick."""
    return np.asarray((masses.lower[one] <= masses.upper[other]) & (masses.lower[other] <= masses.upper[one]))


def require_few(pairs: int) -> None:
    """Raise QueryTooLargeError where so many are too many."""
    if pairs > MOST_PARTS:
        raise QueryTooLargeError(
            f"what !SEQ or !AND leaves of a match takes more than {MOST_PARTS:,} pairs of events; narrow it "
            "(WITHIN, [attr], predicates on its events)"
        )
