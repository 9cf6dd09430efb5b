"""What each match is measured in: which clocks are summed over, which drop out.

    events of a match and of its rivals                  what becomes of their clock
    all of one clock, no constant time                   it drops out: own parts tell who is first
    sharp, and alone on its clock                        the event has the offset's mass, and no clock
    of two clocks, no constant time                      the difference of the offsets is summed over
    anything else                                        the offset of every clock is summed over

A sharp event has one own tick.  Where masses may be curves (see `curved_measures`), an event alone on its
clock need not be sharp.  A frame says for each pair (match, clock) which of these it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.rivals import Rivals

MOST_PAIRS = 64
"""Of buckets of an own part and of an offset, up to which their sum is written out."""
CONVOLVED, REFERENCE = -1, 0
"""Levels of clocks that are not summed over; those that are have the levels 1, 2, ..."""


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

    @property
    def sizes(self) -> Indexes:
        """How many events matter to each match, shape (n,)."""
        return np.bincount(self.match, minlength=len(self.levels))

    def level_of(self, match: Indexes, event: Indexes) -> Indexes:
        """Level of the clocks of some events in some matches; REFERENCE without a clock."""
        clock = self.clocks.clock[event]
        found = np.full(len(event), REFERENCE, dtype=np.int64)
        stamped = np.flatnonzero(clock != NO_CLOCK)
        if len(stamped):
            wanted = match[stamped] * len(self.clocks.offsets.lower) + clock[stamped]
            found[stamped] = self.level[np.searchsorted(self.keys, wanted)]
        return found


def frames_of(
    clocks: EventClocks,
    count: int,
    bound: Sequence[Bindings],
    rivals: Sequence[Rivals],
    *,
    absolute: bool,
    curved: bool = False,
) -> Frames:
    """The frames of `count` matches; `absolute` says that the pattern compares ticks with constants.

    `curved` says that any event alone on its clock may have the mass of its own tick and the offset together.
    """
    match, event = _involved(len(clocks.clock), bound, rivals)
    clock = clocks.clock[event]
    stamped = clock != NO_CLOCK
    width = len(clocks.offsets.lower)
    keys, place, together = np.unique(
        match[stamped] * width + clock[stamped], return_inverse=True, return_counts=True
    )
    owner = keys // max(width, 1)
    sharp = clocks.own.lower[event[stamped]] == clocks.own.upper[event[stamped]]
    alone = together == 1
    convolved = np.zeros(len(keys), dtype=bool)
    convolved[place[sharp | _may_be_summed(clocks, event[stamped]) if curved else sharp]] = True
    convolved &= alone
    fixed = np.full(count, absolute)
    fixed[match[~stamped]] = True
    lone_only = _per_match(count, owner, ~convolved) == 0
    fixed[owner[convolved]] = True
    fixed |= lone_only
    left = _per_match(count, owner, ~convolved)
    drops = ~fixed & (left <= 2)
    level = np.full(len(keys), CONVOLVED, dtype=np.int64)
    kept = np.flatnonzero(~convolved)
    # The first of a match's clocks that are left is its reference, where one drops out.
    number = _number_within(owner[kept])
    level[kept] = np.where(drops[owner[kept]], number, number + 1)
    reference = np.full(count, NO_CLOCK, dtype=np.int64)
    first = kept[(number == 0) & drops[owner[kept]]]
    reference[owner[first]] = keys[first] % max(width, 1)
    levels = np.where(drops, np.maximum(left - 1, 0), left)
    return Frames(clocks, match, event, keys, level, levels, reference)


def _may_be_summed(clocks: EventClocks, event: Indexes) -> Flags:
    """Events whose own part and offset have no holes, and few enough buckets, to be added up."""
    clock = clocks.clock[event]
    pairs = np.diff(clocks.own.starts)[event] * np.diff(clocks.offsets.starts)[clock]
    whole = ~_with_holes(clocks.own)[event] & ~_with_holes(clocks.offsets)[clock]
    return np.asarray(whole & (pairs <= MOST_PAIRS))


def _with_holes(masses: Masses) -> Flags:
    """Masses some tick of which is impossible, between their ends."""
    apart = np.concatenate([masses.lo[1:] != masses.hi[:-1] + 1, [False]])
    apart[masses.starts[1:] - 1] = False
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    return np.bincount(owner[apart], minlength=len(masses.lower)) > 0


def _involved(events: int, bound: Sequence[Bindings], rivals: Sequence[Rivals]) -> tuple[Indexes, Indexes]:
    """Pairs of a match and an event that matters to it, each once."""
    pairs = []
    for each in bound:
        owner, members = (
            (each.owner, each.members) if isinstance(each, Group) else (np.arange(len(each)), each)
        )
        pairs.append(owner * events + members)
    pairs += [each.row * events + each.event for each in rivals]
    together = np.unique(np.concatenate(pairs))
    return together // events, together % events


def _per_match(count: int, owner: Indexes, wanted: Flags) -> Indexes:
    return np.bincount(owner[wanted], minlength=count)


def _number_within(owner: Indexes) -> Indexes:
    """The place of each entry among those of its owner, which stand together."""
    begin = np.searchsorted(owner, owner)
    return np.arange(len(owner)) - begin
