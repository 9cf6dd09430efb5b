"""Where what clauses ask of events that share clocks can change its polynomial in the offsets.

    clocks of a part                                     what becomes of them
    one, nothing else and no constant time               it drops out: own parts tell who is first
    two, nothing else, an event with an own part         the difference of the offsets is summed over
    all of its events there are sharp                    its offset stands for them, as one event
    any other                                            its offset is summed over

An event then is a tick of a *variable* plus a constant: a sharp event is a constant, or its clock's offset
plus its own tick; any other is a variable of its own.

Breakpoints are eliminated in numbers, for each part by itself. The variables of a part are its offsets that
are summed over, outermost, and then its events; a clause is a cut of the later of its two variables, at the
tick of the other one plus a constant. Summing a variable out leaves breakpoints where two of its own meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.tick_sums import FIRST, LAST, plus
from cepctl.engines.confidence.clocks.frames import (
    CONVOLVED,
    REFERENCE,
    Frames,
    framed,
    is_wide,
    owners,
    stamping,
    ties_matter,
)
from cepctl.engines.confidence.clocks.nodes import (
    OffsetBreakpoints,
    Segments,
    ends_of_ties,
    ends_of_weights,
)
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, owned
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks

MOST_BREAKPOINTS = 4096
"""Breakpoints of one variable; a part with more is too costly."""
SUBSTITUTED = CONVOLVED
"""Level of a clock whose offset is a variable like an event; `frames` has others."""
_CONSTANT = -1


def frames_of_clauses(clocks: EventClocks, clauses: Clauses) -> Frames:
    """The frames of the groups of clauses, each of which is a part."""
    count, events = clauses.groups, len(clocks.clock)
    part = clauses.group_of_problems
    problem, event = clauses.events()
    pairs = np.unique(part[problem] * events + event)
    match, event = pairs // events, pairs % events
    stamped = clocks.clock[event] != NO_CLOCK
    keys, place, _ = stamping(clocks, match[stamped], event[stamped])
    owner = owners(clocks, keys)
    jittery = np.zeros(len(keys), dtype=bool)
    jittery[place[is_wide(clocks)[event[stamped]]]] = True
    fixed = np.zeros(count, dtype=bool)
    fixed[match[~stamped]] = True
    constant = (clauses.left == NO_EVENT) | (clauses.right == NO_EVENT)
    fixed[part[clauses.problem_of_differences[constant]]] = True
    matters = ties_matter(clocks, keys, fixed)
    fixed[owner[matters]] = True
    several = np.bincount(owner, minlength=count)
    summed = np.bincount(owner[jittery], minlength=count)
    drops = ~fixed & ((several == 1) | (several == 2) & (summed > 0))
    return framed(clocks, match, event, keys, jittery | matters | drops[owner], drops)


@dataclass(frozen=True)
class ShiftedVariables:
    """Where events stand: at the tick of `variable` plus `by`; all of shape (k,).

    `kind` says what the variable is: an EVENT, the OFFSET of a clock, a LEVEL (an offset that is summed
    over, from 0), or NOTHING, tick 0.
    """

    kind: Indexes
    variable: Indexes
    by: Ticks


NOTHING, LEVEL, EVENT, OFFSET = range(4)


def places_of(frames: Frames, match: Indexes, event: Indexes) -> ShiftedVariables:
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
    return ShiftedVariables(
        np.where(known, kind, NOTHING), np.where(known, variable, 0), np.where(known, by, 0)
    )


def moved_bounds(bound: Ticks, by: Ticks) -> Ticks:
    """Bounds plus as many ticks, which stop at the ends of int64."""
    with np.errstate(over="ignore"):
        found = bound + by
    found = np.where((by > 0) & (found < bound), LAST, found)
    moved: Ticks = np.where((by < 0) & (found > bound), FIRST, found)
    moved[bound == LAST] = LAST
    return moved


def breakpoints_of_clauses(frames: Frames, clauses: Clauses) -> tuple[OffsetBreakpoints, Flags]:
    """The breakpoints of the offsets of all parts, the groups of the clauses, and which have too many."""
    count, most = len(frames), frames.most_levels
    costly = np.zeros(count, dtype=bool)
    if not most:
        return {}, costly
    parts = _part_variables(frames, clauses)
    found = np.empty((64 * count, 4), dtype=np.int64)
    while (number := _breakpoints_of_parts(parts, found, costly)) > len(found):
        found = np.empty((number, 4), dtype=np.int64)
    part, later, earlier, constant = found[:number].T
    breakpoints = {}
    for level in range(1, most + 1):
        for before in range(level):
            rows = np.flatnonzero((later == level - 1) & (earlier == before - 1))
            breakpoints[before, level] = Segments.of(count, part[rows], constant[rows])
    return breakpoints, costly


class _PartVariables(NamedTuple):
    """The variables of p parts and what is known of them before any is summed out.

    Part i owns the variables offsets[i] to offsets[i + 1] - 1, the first levels[i] of which are offsets;
    `lower`, `upper`: where each can be.  It owns the breakpoints from starts[i] on: variable `variable` of
    the part has one at variable `other` plus `constant`, or at `constant` where `other` is -1.  An `other`
    comes before its `variable`.
    """

    offsets: Indexes
    levels: Indexes
    lower: Ticks
    upper: Ticks
    starts: Indexes
    variable: Indexes
    other: Indexes
    constant: Ticks


@kernel
def _breakpoints_of_parts(parts, found, costly):
    """Write the breakpoints of offsets into `found`, rows (part, variable, other, constant); counts them.

    Where `found` is too small the count is larger than it.  `costly` says where some variable has too many.
    """
    count = 0
    for i in range(len(parts.levels)):
        base = parts.offsets[i]
        variables = parts.offsets[i + 1] - base
        if parts.levels[i] == 0:
            continue
        room = 64
        held = np.zeros(variables, np.int64)
        others, constants = np.empty((variables, room), np.int64), np.empty((variables, room), np.int64)
        while not _eliminated(parts, i, base, held, others, constants):
            room *= 4
            held[:] = 0
            if room > _MOST_BREAKPOINTS:
                costly[i] = True
                break
            others, constants = np.empty((variables, room), np.int64), np.empty((variables, room), np.int64)
        if costly[i]:
            continue
        for v in range(parts.levels[i]):
            for b in range(held[v]):
                if count < len(found):
                    found[count, 0], found[count, 1] = i, v
                    found[count, 2], found[count, 3] = others[v, b], constants[v, b]
                count += 1
    return count


_MOST_BREAKPOINTS = MOST_BREAKPOINTS


@inner
def _eliminated(parts, i, base, held, others, constants):
    """Fill the breakpoints of all variables of a part; False where there is too little room."""
    lower, upper = parts.lower, parts.upper
    for b in range(parts.starts[i], parts.starts[i + 1]):
        v, other, constant = parts.variable[b], parts.other[b], parts.constant[b]
        if not _added(lower, upper, base, v, other, constant, held, others, constants):
            return False
    for v in range(len(held) - 1, 0, -1):
        for b in range(held[v]):
            k, c = others[v, b], constants[v, b]
            if k == _CONSTANT:
                continue
            for g in range(held[v]):
                other, constant = others[v, g], constants[v, g]
                if other < k and not _added(
                    lower, upper, base, k, other, plus(constant, -c), held, others, constants
                ):
                    return False
    return True


@inner
def _added(lower, upper, base, v, other, constant, held, others, constants):
    """Note a breakpoint unless it is known or lies where the variable cannot be; False without room."""
    first, last = lower[base + v], upper[base + v]
    low, high = constant, constant
    if other != _CONSTANT:
        low, high = plus(lower[base + other], constant), plus(upper[base + other], constant)
    # Where a mass begins, and the tick after its last one, are breakpoints, too.
    if high < first or low > plus(last, np.int64(1)) or abs(constant) >= LAST:
        return True
    count = held[v]
    for b in range(count):
        if others[v, b] == other and constants[v, b] == constant:
            return True
    if count == others.shape[1]:
        return False
    others[v, count], constants[v, count] = other, constant
    held[v] = count + 1
    return True


def _part_variables(frames: Frames, clauses: Clauses) -> _PartVariables:
    """The variables of all parts, the groups of the clauses."""
    part = clauses.group_of_problems[clauses.problem_of_differences]
    left, right = places_of(frames, part, clauses.left), places_of(frames, part, clauses.right)
    names = np.unique(
        np.concatenate([_levels(frames), _named(frames, part, left), _named(frames, part, right)])
    )
    numbers = _Numbers(frames, names[names >= 0])
    x, y = numbers.within(part, left), numbers.within(part, right)
    bound = moved_bounds(clauses.bound, right.by - left.by)
    later, earlier = np.maximum(x, y), np.minimum(x, y)
    cut = np.where(x > y, moved_bounds(bound, np.ones_like(bound)), -np.maximum(bound, -LAST))
    apart = np.flatnonzero(x != y)
    of_clauses = np.stack([part[apart], later[apart], earlier[apart], cut[apart]], axis=1)
    rows = np.concatenate([of_clauses, _of_masses(numbers), _of_ties(frames)])
    rows = rows[distinct_rows(rows).first]
    return _PartVariables(
        numbers.offsets, frames.levels, *_ranges(numbers),
        np.searchsorted(rows[:, 0], np.arange(len(frames) + 1)),
        *(np.ascontiguousarray(rows[:, column]) for column in (1, 2, 3)),
    )  # fmt: skip


def _width(frames: Frames) -> int:
    return frames.most_levels + len(frames.clocks.clock) + len(frames.clocks.offsets.lower)


def _named(frames: Frames, part: Indexes, places: ShiftedVariables) -> Indexes:
    """One number for the variable of each place, -1 for nothing: by part, levels first."""
    beside = np.where(places.kind == EVENT, frames.most_levels, frames.most_levels + len(frames.clocks.clock))
    code = places.variable + np.where(places.kind == LEVEL, 0, beside)
    return np.where(places.kind == NOTHING, -1, part * _width(frames) + code)


def _levels(frames: Frames) -> Indexes:
    """The numbers of all offsets that are summed over."""
    part = np.repeat(np.arange(len(frames)), frames.levels)
    first = np.cumsum(frames.levels) - frames.levels
    numbers: Indexes = part * _width(frames) + np.arange(len(part)) - np.repeat(first, frames.levels)
    return numbers


@dataclass(frozen=True)
class _Numbers:
    """The variables of all parts by their numbers, `names`, ascending."""

    frames: Frames
    names: Indexes

    @cached_property
    def part(self) -> Indexes:
        return self.names // _width(self.frames)

    @cached_property
    def offsets(self) -> Indexes:
        """Where the variables of each part begin."""
        return np.searchsorted(self.part, np.arange(len(self.frames) + 1))

    @cached_property
    def place(self) -> Indexes:
        """Of each its place in its part."""
        return np.arange(len(self.names)) - self.offsets[self.part]

    def within(self, part: Indexes, places: ShiftedVariables) -> Indexes:
        """The place of the variable of each place in its part, -1 for nothing."""
        named = _named(self.frames, part, places)
        return np.where(named < 0, -1, np.searchsorted(self.names, named) - self.offsets[part])

    def _between(self, first: int, last: int) -> tuple[Indexes, Indexes]:
        code = self.names % _width(self.frames)
        rows = np.flatnonzero((code >= first) & (code < last))
        return rows, code[rows] - first

    @cached_property
    def of_levels(self) -> tuple[Indexes, Indexes]:
        """Which are offsets that are summed over, and their clocks."""
        rows, level = self._between(0, self.frames.most_levels)
        clock_of = np.zeros((len(self.frames), self.frames.most_levels), dtype=np.int64)
        for each in range(self.frames.most_levels):
            part, clock = self.frames.clocks_of_level(each + 1)
            clock_of[part, each] = clock
        return rows, clock_of[self.part[rows], level]

    @cached_property
    def of_events(self) -> tuple[Indexes, Indexes]:
        """Which are events, and these."""
        return self._between(self.frames.most_levels, self.frames.most_levels + len(self.frames.clocks.clock))

    @cached_property
    def of_offsets(self) -> tuple[Indexes, Indexes]:
        """Which are offsets that stand for sharp events, and their clocks."""
        return self._between(self.frames.most_levels + len(self.frames.clocks.clock), _width(self.frames))


def _ranges(numbers: _Numbers) -> tuple[Ticks, Ticks]:
    """Where each variable can be."""
    frames, clocks = numbers.frames, numbers.frames.clocks
    lower, upper = np.zeros(len(numbers.names), np.int64), np.zeros(len(numbers.names), np.int64)
    for rows, clock in (numbers.of_levels, numbers.of_offsets):
        lower[rows], upper[rows] = clocks.offsets.lower[clock], clocks.offsets.upper[clock]
    rows, _ = numbers.of_levels
    reference = frames.reference[numbers.part[rows]]
    away = np.flatnonzero(reference >= 0)
    lower[rows[away]] -= clocks.offsets.upper[reference[away]]
    upper[rows[away]] -= clocks.offsets.lower[reference[away]]
    rows, event = numbers.of_events
    lower[rows], upper[rows] = clocks.own.lower[event], clocks.own.upper[event]
    level = frames.level_of(numbers.part[rows], event)
    moved = np.flatnonzero(level > 0)
    by = numbers.offsets[numbers.part[rows[moved]]] + level[moved] - 1
    lower[rows[moved]] += lower[by]
    upper[rows[moved]] += upper[by]
    return lower, upper


def _of_masses(numbers: _Numbers) -> Indexes:
    """Where masses begin and end, as rows: part, variable, the variable that moves it or -1, and tick."""
    frames, clocks = numbers.frames, numbers.frames.clocks
    rows, event = numbers.of_events
    level = frames.level_of(numbers.part[rows], event)
    found = [_ends(numbers, clocks.own, rows, np.maximum(level, 0) - 1, event)]
    rows, clock = numbers.of_offsets
    found.append(_ends(numbers, clocks.offsets, rows, np.full(len(rows), -1), clock))
    rows, clock = numbers.of_levels
    ends = _ends(numbers, clocks.offsets, rows, np.full(len(rows), -1), clock)
    reference = frames.reference[ends[:, 0]]
    found.append(ends[reference < 0])
    both = np.flatnonzero(reference >= 0)
    bucket, begins = owned(clocks.offsets.starts, reference[both])
    for others in (clocks.offsets.lo, clocks.offsets.hi + 1):
        against = ends[np.repeat(both, np.diff(begins))]
        against[:, 3] -= others[bucket]
        found.append(against)
    return np.concatenate(found)


def _of_ties(frames: Frames) -> Indexes:
    """Where ties begin and cease to allow an offset, or weigh it otherwise, as rows.

    Part, its variable, the one that its tick is derived from or -1, and the tick.
    """
    found = [np.zeros((0, 4), dtype=np.int64)]
    for level in range(1, frames.most_levels + 1):
        ends = [(-1, *each) for each in ends_of_weights(frames, level)]
        if level > 1:
            ends.append((level - 2, *ends_of_ties(frames, level)))
        for other, part, tick in ends:
            rows = part, np.full(len(part), level - 1), np.full(len(part), other), tick
            found.append(np.stack(rows, axis=1))
    return np.concatenate(found)


def _ends(numbers: _Numbers, masses: Masses, rows: Indexes, other: Indexes, whose: Indexes) -> Indexes:
    bucket, begins = owned(masses.starts, whose)
    row = np.repeat(np.arange(len(whose)), np.diff(begins))
    ends = (masses.lo[bucket], masses.hi[bucket] + 1)
    columns = numbers.part[rows][row], numbers.place[rows][row], other[row]
    return np.concatenate([np.stack([*columns, end], axis=1) for end in ends])
