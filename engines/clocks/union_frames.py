"""What becomes of the clocks of a part of a group, and where each of its events then stands.

    clocks of a part                                     what becomes of them
    one, nothing else and no constant time               it drops out: own parts tell who is first
    two, nothing else, an event with an own part         the difference of the offsets is summed over
    all of its events there are sharp                    its offset stands for them, as one event
    any other                                            its offset is summed over

An event then is a tick of a *variable* plus a constant: a sharp event is a constant, or its clock's offset
plus its own tick; any other is a variable of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.clocks.frames import CONVOLVED, REFERENCE, Frames
from cepctl.engines.clocks.union_parts import events_of_problems
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses

SUBSTITUTED = CONVOLVED
"""Level of a clock whose offset is a variable like an event; `frames` has others."""


def union_frames(clocks: EventClocks, clauses: Clauses) -> Frames:
    """The frames of the groups of clauses, each of which is a part."""
    count = len(clauses.problem_offsets) - 1
    part = np.repeat(np.arange(count), np.diff(clauses.problem_offsets))
    problem, event = events_of_problems(clauses)
    events = len(clocks.clock)
    pairs = np.unique(part[problem] * events + event)
    match, event = pairs // events, pairs % events
    clock = clocks.clock[event]
    stamped = clock != NO_CLOCK
    width = max(len(clocks.offsets.lower), 1)
    keys, place = np.unique(match[stamped] * width + clock[stamped], return_inverse=True)
    place = place.reshape(-1)
    owner = keys // width
    wide = is_wide(clocks)[event[stamped]]
    jittery = np.bincount(place[wide], minlength=len(keys)) > 0
    fixed = np.bincount(match[~stamped], minlength=count) > 0
    fixed[_with_constants(clauses, part)] = True
    of_part = np.bincount(owner, minlength=count)
    summed = np.bincount(owner[jittery], minlength=count)
    one = ~fixed & (of_part == 1)
    two = ~fixed & (of_part == 2) & (summed > 0)
    number = np.arange(len(keys)) - np.searchsorted(owner, owner)
    begin: Indexes = np.cumsum(jittery) - jittery
    among: Indexes = begin - begin[np.searchsorted(owner, owner)] if len(keys) else begin
    level = np.where(jittery, among + 1, SUBSTITUTED)
    level = np.where(one[owner], REFERENCE, np.where(two[owner], number, level))
    levels = np.where(one, 0, np.where(two, 1, summed))
    reference = np.full(count, NO_CLOCK, dtype=np.int64)
    first = np.flatnonzero((number == 0) & (one | two)[owner])
    reference[owner[first]] = keys[first] % width
    return Frames(clocks, match, event, keys, level, levels, reference)


def is_wide(clocks: EventClocks) -> Flags:
    """Which events have more than one own tick, shape (n,)."""
    return np.asarray(clocks.own.lower < clocks.own.upper)


def _with_constants(clauses: Clauses, part: Indexes) -> Indexes:
    """The parts that compare a tick with a constant."""
    clause = np.repeat(np.arange(len(clauses.absent)), np.diff(clauses.difference_offsets))
    problem = np.repeat(np.arange(len(part)), np.diff(clauses.clause_offsets))
    constant = (clauses.left == NO_EVENT) | (clauses.right == NO_EVENT)
    return np.unique(part[problem[clause[constant]]])


@dataclass(frozen=True)
class Places:
    """Where events stand: at the tick of `variable` plus `by`; all of shape (k,).

    `kind` says what the variable is: an EVENT, the OFFSET of a clock, a LEVEL (an offset that is summed
    over, from 0), or NOTHING, tick 0.
    """

    kind: Indexes
    variable: Indexes
    by: Ticks


NOTHING, LEVEL, EVENT, OFFSET = range(4)


def places_of(frames: Frames, match: Indexes, event: Indexes) -> Places:
    """Where some events stand in some parts; NO_EVENT stands at tick 0."""
    clocks = frames.clocks
    known = event != NO_EVENT
    chosen = np.where(known, event, 0)
    level = np.full(len(event), REFERENCE, dtype=np.int64)
    level[known] = frames.level_of(match[known], event[known])
    wide = is_wide(clocks)[chosen]
    kind = np.where(wide, EVENT, np.where(level == REFERENCE, NOTHING, LEVEL))
    kind = np.where(~wide & (level == SUBSTITUTED), OFFSET, kind)
    variable = np.where(kind == LEVEL, level - 1, np.where(kind == OFFSET, clocks.clock[chosen], chosen))
    by = np.where(wide, 0, clocks.own.lower[chosen])
    return Places(np.where(known, kind, NOTHING), np.where(known, variable, 0), np.where(known, by, 0))


def moved_bounds(bound: Ticks, by: Ticks) -> Ticks:
    """Bounds plus as many ticks, which stop at the ends of int64."""
    with np.errstate(over="ignore"):
        found = bound + by
    found = np.where((by > 0) & (found < bound), LAST, found)
    moved: Ticks = np.where((by < 0) & (found > bound), FIRST, found)
    moved[bound == LAST] = LAST
    return moved
