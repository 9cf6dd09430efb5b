"""What each match is measured in: which clocks are summed over, which drop out.

    events of a match and of its rivals                  what becomes of their clock
    all of one clock, no constant time                   it drops out: own parts tell who is first
    sharp, and alone on its clock                        the event has the offset's mass, and no clock
    of two clocks, no constant time                      the difference of the offsets is summed over
    anything else                                        the offset of every clock is summed over

Ties of a clock tell something of its offset unless that drops out as the only one.  Then the offsets of
clocks between two of a chain are summed over, too, and what is before and after these weighs their offsets.

A sharp event has one own tick.  A frame says for each pair (match, clock) which of these it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.confidence.clocks.chain_weights import AFTER, BEFORE, ChainWeights, WeightCells
from cepctl.engines.confidence.clocks.estimates import MOST_SEGMENTS, too_many_offsets
from cepctl.engines.pattern.blocks import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks

CONVOLVED, REFERENCE = -1, 0
"""Levels of clocks that are not summed over; those that are have the levels 1, 2, ..."""


class Weighed(NamedTuple):
    """Matches, and the weights of the offset of their clock of a level."""

    match: Indexes
    cells: WeightCells


@dataclass(frozen=True)
class Frames:
    """The frames of n matches.

    `match`, `event`: all pairs of a match and an event that matters to it, each once, by match and event.
    `keys` are the pairs (match, clock) as `match * clocks + clock`, ascending; `level`, shape as `keys`.
    `levels`, shape (n,): how many offsets are summed over.  `reference`, shape (n,): the clock whose offset
    drops out, NO_CLOCK where ticks are absolute.
    """

    clocks: EventClocks
    match: Indexes
    event: Indexes
    keys: Indexes
    level: Indexes
    levels: Indexes
    reference: Indexes

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def offsets(self) -> Indexes:
        """Where the events of each match begin among the pairs, shape (n + 1,)."""
        return np.searchsorted(self.match, np.arange(len(self) + 1))

    @property
    def most_levels(self) -> int:
        """So many offsets are summed over at most."""
        return int(self.levels.max(initial=0))

    @cached_property
    def degree(self) -> Indexes:
        """How many own parts and offsets raise the degree of each match's measure by one each, shape (n,)."""
        wide = is_wide(self.clocks)[self.event]
        found = np.bincount(self.match[wide], minlength=len(self))
        return found + np.bincount(self.clocks_of_level(CONVOLVED)[0], minlength=len(self))

    def degree_at(self, level: int) -> Indexes:
        """Of each match the degree in the offset of a level, with those of all later levels summed out."""
        found = self.degree + np.maximum(self.levels - level, 0)
        for each in (each for later in range(level, self.most_levels + 1) for each in self.weighed(later)):
            found[each.match] += each.cells.degree[0]
        return found

    @property
    def is_tied(self) -> Flags:
        """Matches that ties tell something of, shape (n,)."""
        found = np.zeros(len(self), dtype=bool)
        for level in range(1, self.most_levels + 1):
            match, clock = self.clocks_of_level(level)
            found[match[self.clocks.is_tied[clock] & (self.reference[match] == NO_CLOCK)]] = True
        return found

    def longest_chain(self, match: int) -> tuple[int, str]:
        """How many tied clocks of one chain a match sums over at most, and the names of first and last."""
        many = len(self.clocks.tie)
        own = self.keys[owners(self.clocks, self.keys) == match] - match * many
        own = own[self.clocks.is_tied[own]]
        chains, first, sizes = np.unique(self.clocks.chain[own], return_index=True, return_counts=True)
        if not self.is_tied[match] or not len(chains):
            return 0, ""
        most = int(np.argmax(sizes))
        begin, names = int(own[first[most]]), self.clocks.names
        return int(sizes[most]), f"{names[begin]} to {names[begin + int(sizes[most]) - 1]}"

    @cached_property
    def segments(self) -> Indexes:
        """Of how many tied clocks of one chain each match sums over the offsets at most, shape (n,)."""
        owner, many = owners(self.clocks, self.keys), len(self.clocks.tie)
        summed = self.is_tied[owner] & (self.level > 0) & self.clocks.is_tied[self.keys - owner * many]
        named = owner[summed] * many + self.clocks.chain[self.keys[summed] - owner[summed] * many]
        chains, sizes = np.unique(named, return_counts=True)
        found = np.zeros(len(self), dtype=np.int64)
        np.maximum.at(found, chains // max(many, 1), sizes)
        return found

    @cached_property
    def weights(self) -> ChainWeights:
        """What other clocks of a chain leave to offsets."""
        return ChainWeights(self.clocks)

    def weighed(self, level: int) -> tuple[Weighed, ...]:
        """What weighs the offsets of a level: the clocks before the first of a chain, and after the last."""
        if level not in self._weighed:
            self._weighed[level] = tuple(self._weighed_at(level))
        return self._weighed[level]

    @cached_property
    def _weighed(self) -> dict[int, tuple[Weighed, ...]]:
        return {}

    def _weighed_at(self, level: int) -> Iterator[Weighed]:
        match, clock = self.clocks_of_level(level)
        some = self.clocks.is_tied[clock] & (self.reference[match] == NO_CLOCK)
        match, clock = match[some], clock[some]
        for side in (BEFORE, AFTER):
            wanted = match * len(self.clocks.tie) + clock + side
            at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
            ends = np.flatnonzero(self.keys[at] != wanted)
            for each in np.unique(clock[ends]).tolist():
                cells = self.weights.cells(each, side)
                if cells is not None:
                    yield Weighed(match[ends[clock[ends] == each]], cells)

    def tied_levels(self, level: int) -> tuple[Indexes, Ticks]:
        """Matches with the clock of a level tied to that of the level before, and by how many ticks."""
        clocks, (match, clock) = self.clocks, self.clocks_of_level(level)
        before = np.full(len(self), NO_CLOCK, dtype=np.int64)
        earlier, other = self.clocks_of_level(level - 1)
        before[earlier] = other
        tied = (
            (clocks.tie[clock] != NO_TIE) & (before[match] == clock - 1) & (self.reference[match] == NO_CLOCK)
        )
        return match[tied], clocks.tie[clock[tied]]

    def clocks_of_level(self, level: int) -> tuple[Indexes, Indexes]:
        """Pairs of a match and a clock that has this level there, by match."""
        width = max(len(self.clocks.offsets.lower), 1)
        keys = self.keys[self.level == level]
        return keys // width, keys % width

    def level_of(self, match: Indexes, event: Indexes) -> Indexes:
        """Level of the clocks of some events in some matches; REFERENCE without a clock."""
        clock = self.clocks.clock[event]
        found = np.full(len(event), REFERENCE, dtype=np.int64)
        stamped = np.flatnonzero(clock != NO_CLOCK)
        if len(stamped):
            wanted = match[stamped] * len(self.clocks.offsets.lower) + clock[stamped]
            found[stamped] = self.level[np.searchsorted(self.keys, wanted)]
        return found


def is_wide(clocks: EventClocks) -> Flags:
    """Which events have more than one own tick, shape (n,)."""
    return np.asarray(clocks.own.lower < clocks.own.upper)


def frames_over_all(clocks: EventClocks, count: int, bound: Sequence[Bindings]) -> Frames:
    """The frames of `count` matches that sum over the offsets of all of their clocks.

    Raises
    ------
    QueryTooLargeError
        If a match needs more than MOST_SEGMENTS clocks of one chain.
    """
    match, event = involved(len(clocks.clock), bound, [])
    stamped = clocks.clock[event] != NO_CLOCK
    keys, _, _ = stamping(clocks, match[stamped], event[stamped])
    every, none = np.ones(len(keys), dtype=bool), np.zeros(count, dtype=bool)
    found = framed(clocks, match, event, keys, every, none)
    _require_few_segments(found)
    return found


def _require_few_segments(frames: Frames) -> None:
    for many in np.flatnonzero(frames.segments > MOST_SEGMENTS)[:1].tolist():
        raise too_many_offsets(int(frames.levels[many]), frames.longest_chain(many))


def ties_matter(clocks: EventClocks, keys: Indexes, fixed: Flags) -> Flags:
    """Pairs of a match and a clock whose ties tell something, shape of `keys`.

    `fixed`, shape (n,): whether ticks of a match are absolute.
    """
    owner = owners(clocks, keys)
    several = fixed | (np.bincount(owner, minlength=len(fixed)) > 1)
    clock = keys - owner * len(clocks.tie)
    return np.asarray(clocks.is_tied[clock] & several[owner])


def framed(
    clocks: EventClocks, match: Indexes, event: Indexes, keys: Indexes, kept: Flags, drops: Flags
) -> Frames:
    """Frames that sum over the clocks that are `kept`, shape of `keys`, and over all of their chains.

    `drops`, shape (n,): whether one of the offsets of a match drops out; then the first is its reference.
    """
    keys, kept = _with_chains(clocks, keys, kept, drops)
    owner, count = owners(clocks, keys), len(drops)
    left = np.bincount(owner[kept], minlength=count)
    summed = np.flatnonzero(kept)
    number = np.arange(len(summed)) - np.searchsorted(owner[summed], owner[summed])
    level = np.full(len(keys), CONVOLVED, dtype=np.int64)
    level[summed] = np.where(drops[owner[summed]], number, number + 1)
    reference = np.full(count, NO_CLOCK, dtype=np.int64)
    first = summed[(number == 0) & drops[owner[summed]]]
    reference[owner[first]] = keys[first] - owner[first] * len(clocks.offsets.lower)
    return Frames(clocks, match, event, keys, level, left - drops, reference)


def _with_chains(clocks: EventClocks, keys: Indexes, kept: Flags, drops: Flags) -> tuple[Indexes, Flags]:
    """The keys with those of all clocks between two of a chain, unless an offset of the match drops out."""
    owner = owners(clocks, keys)
    absolute = kept & ~drops[owner]
    clock = keys[absolute] - owner[absolute] * len(clocks.tie)
    whose, chained = clocks.with_between(owner[absolute], clock)
    found = np.union1d(keys, whose * len(clocks.tie) + chained)
    summed = np.ones(len(found), dtype=bool)
    summed[np.searchsorted(found, keys)] = kept
    return found, summed


def stamping(clocks: EventClocks, match: Indexes, event: Indexes) -> tuple[Indexes, Indexes, Indexes]:
    """The keys of stamped events, the place of each event's, and how many events have each."""
    named = match * len(clocks.offsets.lower) + clocks.clock[event]
    keys, place, together = np.unique(named, return_inverse=True, return_counts=True)
    return keys, place.reshape(-1), together


def owners(clocks: EventClocks, keys: Indexes) -> Indexes:
    return keys // max(len(clocks.offsets.lower), 1)


def involved(events: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> tuple[Indexes, Indexes]:
    """Pairs of a match and an event that it binds, or that could break it, each once."""
    pairs = [np.zeros(0, dtype=np.int64)]
    for each in bound:
        owner, members = (
            (each.owner, each.members) if isinstance(each, Group) else (np.arange(len(each)), each)
        )
        pairs.append(owner * events + members)
    pairs += [each.row * events + each.event for each in rivals]
    together = np.unique(np.concatenate(pairs))
    return together // events, together % events
