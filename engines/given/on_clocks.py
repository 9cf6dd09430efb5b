"""What is given of events that share clocks: tied events, and the clocks that connect them.

Components are connected further by the clocks of their events, unless all of a component are of one clock:
then the offset drops out of it.  What is connected is a whole here; what a match has no event and no clock
of cancels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.clocks.conditioned import degree_of
from cepctl.engines.clocks.frames import frames_of
from cepctl.engines.clocks.nodes import nodes_of
from cepctl.engines.clocks.walls import walls_of
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, connected
from cepctl.engines.confidence.coupled.problem import Structure
from cepctl.engines.given.at_offsets import TiesOf, at_offsets
from cepctl.engines.given.components import alike_components
from cepctl.engines.given.work import MOST_TIED
from cepctl.engines.pattern.rivals import Rivals
from cepctl.errors import QueryTooLargeError


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
        whole = connected(components + many, owner[through], components + clock[through])
        order = np.argsort(whole[owner], kind="stable")
        offsets = np.searchsorted(whole[owner][order], np.arange(components + many + 1)).astype(np.int64)
        return cls(clocks, ties, whole[:components], whole[components:], ties.members[order], offsets)

    def events_of(self, whole: int) -> Indexes:
        """The tied events of a whole."""
        return self.members[self.member_offsets[whole] : self.member_offsets[whole + 1]]

    def touched(self, count: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> TiesOf:
        """The wholes of `count` matches, those that have some event, and the ties of these.

        Raises
        ------
        QueryTooLargeError
            If a match needs more than MOST_TIED tied events.
        """
        match, whole = self._wholes(*_involved(len(self.clocks.clock), bound, rivals))
        return self.ties_of(count, match, whole)

    def touch(self, count: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> Flags:
        """Which of `count` matches have an event, a rival or a clock of a whole with events."""
        match, whole = self._wholes(*_involved(len(self.clocks.clock), bound, rivals))
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
            raise QueryTooLargeError(
                f"GIVEN and shared clocks tie {int(needed):,} events to each other, all of which a match "
                f"needs; at most {MOST_TIED} are summed together; say more in IF so that it ties fewer "
                "events, narrow their intervals or the offsets, or leave it out"
            )
        total = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(total[-1]) - np.repeat(total[:-1] - self.member_offsets[whole], sizes)
        offsets = np.searchsorted(np.repeat(match, sizes), np.arange(count + 1)).astype(np.int64)
        events = Group(offsets, self.members[at])
        tie_whole = self.of_component[self.ties.component[self.ties.left]]
        order = np.argsort(tie_whole, kind="stable")
        begin = np.searchsorted(tie_whole[order], whole)
        many = np.searchsorted(tie_whole[order], whole, side="right") - begin
        ends = np.concatenate([[0], np.cumsum(many)])
        tie = order[np.arange(ends[-1]) - np.repeat(ends[:-1] - begin, many)]
        return TiesOf(
            events, np.repeat(match, many), self.ties.left[tie], self.ties.right[tie], self.ties.bound[tie]
        )

    def shifts(self, wholes: TiesOf) -> set[int]:
        """By how much cuts of two clocks may be apart where components change their polynomial."""
        components = np.unique(self.ties.component[wholes.events.members])
        return {
            shift
            for problems, _ in alike_components(self.ties, self.clocks.envelopes, components)
            for shift in differences(problems.structure)
        }

    def with_holes(self) -> list[int]:
        """The wholes some of whose own parts or offsets have ticks without mass between others."""
        clocks = self.clocks
        event = self.members
        holed = have_holes(clocks.own)[event]
        stamped = np.flatnonzero(clocks.clock[event] != NO_CLOCK)
        holed[stamped] |= have_holes(clocks.offsets)[clocks.clock[event[stamped]]]
        found = np.unique(self.of_component[self.ties.component[event[holed]]])
        return [int(whole) for whole in found]

    def probability(self, whole: int) -> float:
        """That all ties of a whole hold."""
        one = np.zeros(1, dtype=np.int64)
        wholes = self.ties_of(1, one, np.array([whole]))
        frames = frames_of(self.clocks, 1, [wholes.events], [], absolute=False)
        most = int(frames.levels.max(initial=0))
        shifts = np.array(sorted(self.shifts(wholes) | {0}), dtype=np.int64)
        walls = walls_of(one[:0], frames, 1, shifts, most)
        nodes = nodes_of(frames, one, walls, degree_of(frames, 1), edges=False)
        found = at_offsets(frames, nodes, wholes)
        return float((found.nodes.weight * found.chance).sum())


def _involved(events: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> tuple[Indexes, Indexes]:
    """Pairs of a match and an event that it binds, or that could break it, each once."""
    pairs = []
    for each in bound:
        if isinstance(each, Group):
            pairs.append(each.owner * events + each.members)
        else:
            pairs.append(np.arange(len(each)) * events + each)
    pairs += [each.row * events + each.event for each in rivals]
    together = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *pairs]))
    return together // events, together % events


def differences(structure: Structure) -> Iterator[int]:
    """By how much cuts may be apart where the sums of problems change their polynomial."""
    for level in structure.breakpoints.shifts:
        yield from (a - b for a in level for b in level if abs(a - b) < 2**62)


def have_holes(masses: Masses) -> Flags:
    """Which events have ticks without mass between others."""
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    gap = (masses.lo[1:] > masses.hi[:-1] + 1) & (owner[1:] == owner[:-1])
    found = np.zeros(len(masses.lower), dtype=bool)
    found[owner[1:][gap]] = True
    return found
