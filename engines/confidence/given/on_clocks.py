"""Tied events that share clocks: the clocks that connect components.

Components are connected further by the clocks of their events, unless all of a component are of one clock:
then the offset drops out of it. Clocks that are tied connect as one. What is connected is a whole here; what
a match has no event and no clock of cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.ties import EventTies, connected
from cepctl.engines.confidence.clocks.frames import involved
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.given.work import MOST_TIED
from cepctl.engines.confidence.work import BESIDE_GIVEN, LEAVE_OUT, SAY_MORE, too_costly
from cepctl.engines.pattern.blocks import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks


@dataclass(frozen=True)
class TiesOf:
    """The tied events that each of n matches needs, and the ties between these, by match."""

    events: Group
    match: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks

    @property
    def offsets(self) -> Indexes:
        """Where the ties of each match begin, shape (n + 1,)."""
        return np.searchsorted(self.match, np.arange(len(self.events.offsets)))


@dataclass(frozen=True)
class GivenOnClocks:
    """Ties of events, and which wholes these make.

    `of_component`, shape (c,), and `of_clock`, shape (k,): the whole of each component and clock.
    `members` from member_offsets[w] on are the tied events of whole w.
    """

    clocks: EventClocks
    ties: EventTies
    of_component: Indexes
    of_clock: Indexes
    members: Indexes
    member_offsets: Indexes

    @classmethod
    def of(cls, clocks: EventClocks, ties: EventTies) -> GivenOnClocks:
        """Connect components by clocks."""
        components, many = len(ties.sizes), len(clocks.offsets.lower)
        owner, clock = ties.component[ties.members], clocks.clock[ties.members]
        first = clock[ties.member_offsets[:-1]]
        moves = np.zeros(components, dtype=bool)
        moves[owner[clock != first[owner]]] = True
        through = np.flatnonzero(moves[owner] & (clock != NO_CLOCK))
        chain = components + clocks.chain
        whole = connected(components + many, owner[through], chain[clock[through]])
        order = np.argsort(whole[owner], kind="stable")
        offsets = np.searchsorted(whole[owner][order], np.arange(components + many + 1)).astype(np.int64)
        return cls(clocks, ties, whole[:components], whole[chain], ties.members[order], offsets)

    def events_of(self, whole: int) -> Indexes:
        """The tied events of a whole."""
        return self.members[self.member_offsets[whole] : self.member_offsets[whole + 1]]

    def touch(self, count: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> Flags:
        """Which of `count` matches have an event, a rival or a clock of a whole with events."""
        match, whole = self._wholes(*involved(len(self.clocks.clock), bound, rivals))
        found = np.zeros(count, dtype=bool)
        found[match[np.diff(self.member_offsets)[whole] > 0]] = True
        return found

    def wholes_of(self, match: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
        """Pairs of a match and a whole with events that it touches, each once, from those of its events."""
        match, whole = self._wholes(match, event)
        some = np.flatnonzero(np.diff(self.member_offsets)[whole] > 0)
        return match[some], whole[some]

    def _wholes(self, match: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
        tied = np.flatnonzero(self.ties.touches(event))
        stamped = np.flatnonzero(self.clocks.clock[event] != NO_CLOCK)
        wholes = max(len(self.member_offsets) - 1, 1)
        named = np.unique(
            np.concatenate(
                [
                    match[tied] * wholes + self.of_component[self.ties.component[event[tied]]],
                    match[stamped] * wholes + self.of_clock[self.clocks.clock[event[stamped]]],
                ]
            )
        )
        return named // wholes, named % wholes

    def ties_of(self, count: int, match: Indexes, whole: Indexes) -> TiesOf:
        """The ties of wholes of `count` matches, by match.

        Raises
        ------
        QueryTooLargeError
            If a match needs more than MOST_TIED tied events.
        """
        sizes = np.diff(self.member_offsets)[whole]
        needed = np.bincount(match, sizes, count).max(initial=0)
        if needed > MOST_TIED:
            why = f"GIVEN and shared clocks tie {int(needed):,} events to each other, all of which it needs"
            what, narrow = "the exact confidence of a match", "narrow their intervals or the offsets"
            raise too_costly(what, BESIDE_GIVEN, f"{MOST_TIED} variables", why, SAY_MORE, narrow, LEAVE_OUT)
        at, _ = owned(self.member_offsets, whole)
        offsets = np.searchsorted(np.repeat(match, sizes), np.arange(count + 1)).astype(np.int64)
        events = Group(offsets, self.members[at])
        tie_whole = self.of_component[self.ties.component[self.ties.left]]
        order = np.argsort(tie_whole, kind="stable")
        begins = np.searchsorted(tie_whole[order], np.arange(len(self.member_offsets)))
        at, offsets = owned(begins, whole)
        left, right, bound = (each[order[at]] for each in (self.ties.left, self.ties.right, self.ties.bound))
        return TiesOf(events, np.repeat(match, np.diff(offsets)), left, right, bound)

    def with_holes(self) -> list[int]:
        """The wholes some of whose own parts or offsets have ticks without mass between others."""
        clocks, event = self.clocks, self.members
        holed = clocks.own.has_hole[event]
        stamped = np.flatnonzero(clocks.clock[event] != NO_CLOCK)
        holed[stamped] |= clocks.offsets.has_hole[clocks.clock[event[stamped]]]
        found = np.unique(self.of_component[self.ties.component[event[holed]]])
        return [int(whole) for whole in found]
