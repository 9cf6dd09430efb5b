"""Tied events that share clocks: the clocks that connect components, and events where offsets put them.

Components are connected further by the clocks of their events, unless all of a component are of one clock:
then the offset drops out of it. What is connected is a whole here; what a match has no event and no clock
of cancels.

Given the offsets, GIVEN speaks of independent events again, copies whose own ticks alone are uncertain: it
narrows their intervals, and many ties hold everywhere or nowhere. A combination of offsets where they
cannot hold counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.clocks.conditioned import copy_keys, copy_masses, degree_of
from cepctl.engines.clocks.frames import Frames, frames_of
from cepctl.engines.clocks.nodes import Nodes, nodes_of
from cepctl.engines.clocks.walls import walls_of
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies, connected, event_ties
from cepctl.engines.confidence.coupled.problem import Structure
from cepctl.engines.confidence.work import BESIDE_GIVEN, LEAVE_OUT, SAY_MORE, too_costly
from cepctl.engines.given.components import alike_components, component_probability
from cepctl.engines.given.series import with_series
from cepctl.engines.given.work import MOST_TIED
from cepctl.engines.pattern.rivals import Rivals


@dataclass(frozen=True)
class TiesOf:
    """The tied events that each match needs, and the ties between these, each with its match."""

    events: Group
    match: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks


@dataclass(frozen=True)
class AtOffsets:
    """Nodes at which what is given can hold, and `chance`, shape (q,), that it does there.

    `names` are `node * events + event` of all copies, ascending; `masses` those that what is given leaves to
    them, and `ties` what is not told by these.
    """

    nodes: Nodes
    events: int
    names: Indexes
    masses: Masses
    ties: EventTies
    chance: Reals

    def copies(self, bound: Bindings) -> Bindings:
        """Events of nodes as copies."""
        if isinstance(bound, Group):
            return Group(bound.offsets, self.number(bound.owner, bound.members))
        return self.number(np.arange(len(bound)), bound)

    def number(self, node: Indexes, event: Indexes) -> Indexes:
        """The copies of some events at some nodes."""
        return np.searchsorted(self.names, node * self.events + event)


def at_offsets(frames: Frames, nodes: Nodes, wholes: TiesOf) -> AtOffsets:
    """Where the offsets of nodes put the events of their matches.

    Raises
    ------
    QueryTooLargeError
        If a component needs more work than the bound.
    """
    while True:
        placed = _placed(frames, nodes, wholes)
        certain = placed.chance > 0.0
        if certain.all():
            ties = placed.ties
            every = np.arange(len(ties.sizes))
            held = component_probability(ties, placed.masses, every)
            chance = placed.chance.copy()
            node = placed.names[ties.members[ties.member_offsets[:-1]]] // placed.events
            np.multiply.at(chance, node, held)
            certain = chance > 0.0
            if certain.all():
                return replace(placed, chance=chance)
        nodes = nodes.taken(certain)


def _placed(frames: Frames, nodes: Nodes, wholes: TiesOf) -> AtOffsets:
    """The same, `chance` as far as intervals tell, and 0 where they say that it cannot hold."""
    events = len(frames.clocks.clock)
    row, at = _each_with(nodes, np.searchsorted(frames.match, np.arange(len(frames.levels) + 1)))
    names = row * events + frames.event[at]
    masses = copy_masses(frames.clocks, copy_keys(frames, nodes, row, frames.event[at]))
    order = np.argsort(wholes.match, kind="stable")
    node, tie = _each_with(nodes, np.searchsorted(wholes.match[order], np.arange(len(frames.levels) + 1)))
    tie = order[tie]
    left, right = (np.searchsorted(names, node * events + each[tie]) for each in (wholes.left, wholes.right))
    bound = wholes.bound[tie]
    lower, upper = _closed(masses, left, right, bound, int(np.diff(wholes.events.offsets).max(initial=0)))
    masses, inside = _cut(masses, lower, upper)
    chance = np.ones(len(nodes))
    np.multiply.at(chance, row, inside)
    if (chance == 0.0).any():
        left = right = bound = bound[:0]
    open_still = np.flatnonzero(masses.upper[left] - masses.lower[right] > bound)
    ties = event_ties(len(names), left[open_still], right[open_still], bound[open_still])
    ties = with_series(replace(ties, serial=np.zeros(len(ties.serial), dtype=bool)), masses)
    return AtOffsets(nodes, events, names, masses, ties, chance)


def _each_with(nodes: Nodes, offsets: Indexes) -> tuple[Indexes, Indexes]:
    """Every node with all that its match owns by offsets: the node, and which of these."""
    begin, end = offsets[nodes.match], offsets[nodes.match + 1]
    sizes = end - begin
    total = np.concatenate([[0], np.cumsum(sizes)])
    at: Indexes = np.arange(total[-1]) - np.repeat(total[:-1] - begin, sizes)
    return np.repeat(np.arange(len(nodes)), sizes), at


def _closed(masses: Masses, left: Indexes, right: Indexes, bound: Ticks, rounds: int) -> tuple[Ticks, Ticks]:
    """First and last ticks that ties leave; no longer way than over `rounds` events is to be followed."""
    lower, upper = masses.lower.copy(), masses.upper.copy()
    for _ in range(rounds):
        before = lower.copy(), upper.copy()
        np.maximum.at(lower, right, lower[left] - bound)
        np.minimum.at(upper, left, upper[right] + bound)
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    return lower, upper


def _cut(masses: Masses, lower: Ticks, upper: Ticks) -> tuple[Masses, Reals]:
    """Masses within these ends, renormalised, and how much of each that is; where it is nothing they stay."""
    owner = np.repeat(np.arange(len(lower)), np.diff(masses.starts))
    lo, hi = np.maximum(masses.lo, lower[owner]), np.minimum(masses.hi, upper[owner])
    kept = lo <= hi
    share = np.zeros(len(lo))
    share[kept] = masses.density[kept] * ticks_between(lo[kept], hi[kept])
    inside = np.bincount(owner, share, len(lower))
    whole: Flags = (lower == masses.lower) & (upper == masses.upper)
    none = inside <= 0.0
    kept |= none[owner]
    lo, hi = np.where(none[owner], masses.lo, lo)[kept], np.where(none[owner], masses.hi, hi)[kept]
    density, owner = masses.density[kept].copy(), owner[kept]
    narrowed = ~(whole | none)[owner]
    density[narrowed] /= inside[owner[narrowed]]
    starts = np.searchsorted(owner, np.arange(len(lower) + 1))
    return Masses(lo[starts[:-1]], hi[starts[1:] - 1], starts, lo, hi, density), np.where(whole, 1.0, inside)


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
            why = f"GIVEN and shared clocks tie {int(needed):,} events to each other, all of which it needs"
            what, narrow = "the exact confidence of a match", "narrow their intervals or the offsets"
            raise too_costly(what, BESIDE_GIVEN, f"{MOST_TIED} variables", why, SAY_MORE, narrow, LEAVE_OUT)
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
