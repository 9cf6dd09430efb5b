"""The parts of a group that share neither events nor clocks, and where the events of each part stand.

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

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.clocks.frames import CONVOLVED, REFERENCE, Frames
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import connected
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses


@dataclass(frozen=True)
class UnionParts:
    """Clauses whose groups are independent parts, and the group `of` that each is a part of, shape (p,)."""

    clauses: Clauses
    of: Indexes
    groups: int

    def together(self, probability: Reals) -> Reals:
        """Of each group the probability that some part of it holds; shape (p,) to shape (groups,)."""
        none = np.ones(self.groups)
        np.multiply.at(none, self.of, 1.0 - probability)
        whole = np.bincount(self.of, minlength=self.groups) == 1
        found: Reals = 1.0 - none
        alone = whole[self.of]
        found[self.of[alone]] = probability[alone]
        return found


def union_parts(clocks: EventClocks, clauses: Clauses) -> UnionParts:
    """The independent parts of every group."""
    groups, problems = len(clauses.problem_offsets) - 1, len(clauses.clause_offsets) - 1
    group = np.repeat(np.arange(groups), np.diff(clauses.problem_offsets))
    problem, event = events_of_problems(clauses)
    # An event or a clock is shared within a group alone.
    count = len(clocks.clock)
    clock = clocks.clock[event]
    stamped = np.flatnonzero(clock != NO_CLOCK)
    width = count + len(clocks.offsets.lower)
    names = np.concatenate(
        [group[problem] * width + event, group[problem[stamped]] * width + count + clock[stamped]]
    )
    _, shared = np.unique(names, return_inverse=True)
    left = np.concatenate([problem, problem[stamped]])
    right = problems + shared.reshape(-1)
    label = connected(problems + int(shared.max(initial=-1)) + 1, left, right)[:problems]
    order = np.lexsort((np.arange(problems), label, group))
    fresh = np.ones(problems, dtype=bool)
    fresh[1:] = (np.diff(group[order]) != 0) | (np.diff(label[order]) != 0)
    starts = np.flatnonzero(fresh)
    chosen, clause_offsets = owned(clauses.clause_offsets, order)
    differences, difference_offsets = owned(clauses.difference_offsets, chosen)
    parted = Clauses(
        np.append(starts, problems).astype(np.int64), clause_offsets, clauses.absent[chosen],
        difference_offsets, clauses.left[differences], clauses.right[differences], clauses.bound[differences],
    )  # fmt: skip
    return UnionParts(parted, group[order][starts], groups)


def events_of_problems(clauses: Clauses) -> tuple[Indexes, Indexes]:
    """Pairs of a problem and an event that it speaks of, with repetitions."""
    clause = np.repeat(np.arange(len(clauses.absent)), np.diff(clauses.difference_offsets))
    of_clause = np.repeat(np.arange(len(clauses.clause_offsets) - 1), np.diff(clauses.clause_offsets))
    problem = np.tile(of_clause[clause], 2)
    event = np.concatenate([clauses.left, clauses.right])
    known = np.flatnonzero(event != NO_EVENT)
    return problem[known], event[known]


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
