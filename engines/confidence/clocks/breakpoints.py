"""Where the confidence of a match, given the offsets of its clocks, can change its polynomial in these.

Given the offsets, a match is measured as one without clocks. As a function of one offset that is piecewise
a polynomial: it changes only where a cut of one clock's events meets a cut of another's, up to a shift by
which the pattern ties ticks together (`shift_differences`). Summing one offset out leaves pieces that end
where two of its own ends meet: offsets are eliminated as the variables of coupled problems are.

    name here            meaning
    breakpoints[i, j]    of level j, for i < j: constants c; a piece begins where offset j = offset i + c
    level 0              what no offset moves: the reference, events without a clock, constant times
    Segments             sets of ticks, one for each of n matches, as two flat arrays
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.clocks.frames import CONVOLVED, REFERENCE, Frames
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import FARTHEST_APART, owned
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.bound_matches import Rivals


@dataclass(frozen=True)
class Segments:
    """Match i owns values[offsets[i]:offsets[i + 1]], sorted, each once."""

    offsets: Indexes
    values: Ticks

    @classmethod
    def of(cls, count: int, owner: Indexes, values: Ticks) -> Segments:
        """The sets of `count` matches from pairs of a match and a tick, in any order."""
        order = np.lexsort((values, owner))
        owner, values = owner[order], values[order]
        fresh = np.ones(len(values), dtype=bool)
        fresh[1:] = (owner[1:] != owner[:-1]) | (values[1:] != values[:-1])
        owner, values = owner[fresh], values[fresh]
        return cls(np.searchsorted(owner, np.arange(count + 1)), values)

    @property
    def owner(self) -> Indexes:
        """The match of every value."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def differences(self, other: Segments) -> tuple[Indexes, Ticks]:
        """All values of these less all of the others, match by match: the matches and the differences."""
        at, moved = owned(other.offsets, self.owner)
        mine = np.repeat(np.arange(len(self.values)), np.diff(moved))
        return self.owner[mine], self.values[mine] - other.values[at]


def _united(count: int, parts: Sequence[tuple[Indexes, Ticks]]) -> Segments:
    """One set for each match from several lists of pairs of a match and a tick."""
    none = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([none, *(owner for owner, _ in parts)])
    values = np.concatenate([none, *(values for _, values in parts)])
    return Segments.of(count, owner, values)


OffsetBreakpoints: TypeAlias = Mapping[tuple[int, int], Segments]
_Pairs: TypeAlias = tuple[Indexes, Ticks]
"""Of matches and ticks."""


def constants_of(shape: Shape) -> Ticks:
    """Ticks at which a constant of the pattern may begin or end what is allowed."""
    found = {
        end.constant
        for rule in shape.every_rule
        for region in rule.regions
        for end in region
        if end.point is None
    }
    for timing in (*shape.timings, *shape.member_timings):
        if timing.left is None or timing.right is None:
            found |= {timing.bound, -timing.bound}
    near = sorted({constant + by for constant in found for by in (-1, 0, 1)})
    return np.array(near, dtype=np.int64)


def shift_differences(shape: Shape, masses: Masses, groups: list[Group], rivals: Sequence[Rivals]) -> Ticks:
    """By how much cuts of two clocks may be apart where pieces end; for matches whose groups are as large.

    `groups` gives the members of every block of such matches, `masses` where their events can be.
    """
    if shape.plain_chain:
        window = [] if shape.window is None else [shape.window, -shape.window]
        return np.array(sorted({0, *window}), dtype=np.int64)
    one = np.zeros(1, dtype=np.int64)
    few = CoupledMatches(
        shape, masses, [group.take(one) for group in groups], [each.taken(one) for each in rivals]
    )
    found = {0}
    for problems in coupled_problems(few):
        found.update(problems.structure.breakpoints.differences())
    if any(rule.members_too for rule in shape.rules):
        # Members that share a tick are tied match by match.
        found |= {shift + by for shift in found for by in (-1, 1)}
    return np.array(sorted(each for each in found if abs(each) < FARTHEST_APART), dtype=np.int64)


def breakpoints_of(
    frames: Frames, shifts: Ticks, constants: Ticks, own: _Pairs | None = None
) -> OffsetBreakpoints:
    """The breakpoints of all levels of matches which compare ticks with constants.

    `shifts`: how far apart two cuts may be that make one.  `own`: pairs of a match and a tick at which it
    alone is cut.
    """
    count, most = len(frames), frames.most_levels
    cuts = _cuts(frames, constants, own)
    parts: dict[tuple[int, int], list[_Pairs]] = {}
    for later in range(1, most + 1):
        for earlier in range(later):
            match, ticks = cuts[earlier].differences(cuts[later])
            far = (ticks[:, None] + shifts).reshape(-1)
            parts[earlier, later] = [(np.repeat(match, len(shifts)), far)]
        parts[0, later].append(ends_of_masses(frames, later))
        parts[0, later] += ends_of_weights(frames, later)
        if later > 1:
            parts[later - 1, later].append(ends_of_ties(frames, later))
    return _eliminated(count, most, parts)


def _eliminated(count: int, levels: int, parts: Mapping[tuple[int, int], list[_Pairs]]) -> OffsetBreakpoints:
    """The breakpoints of all levels of `count` matches, from those that are known of pairs of these."""
    found: dict[tuple[int, int], Segments] = {}
    for later in range(levels, 0, -1):
        for earlier in range(later):
            found[earlier, later] = _united(count, parts[earlier, later])
        for middle in range(1, later):
            for earlier in range(middle):
                between = found[earlier, later].differences(found[middle, later])
                parts[earlier, middle].append(between)
    return found


def _cuts(frames: Frames, constants: Ticks, still: _Pairs | None) -> list[Segments]:
    """Per level the ticks at which masses of its events begin and end, without their offset."""
    level, count = frames.level_of(frames.match, frames.event), len(frames)
    found = []
    for number in range(frames.most_levels + 1):
        here = np.flatnonzero(level == number)
        parts = [_ends(frames.clocks.own, frames.match[here], frames.event[here])]
        if number == REFERENCE:
            everywhere = np.repeat(np.arange(count), len(constants)), np.tile(constants, count)
            parts += [*_convolved_ends(frames, level), everywhere]
            parts += [] if still is None else [still]
        found.append(_united(count, parts))
    return found


def _ends(masses: Masses, match: Indexes, which: Indexes) -> _Pairs:
    """The first tick of every bucket and the one after its last."""
    bucket, begins = owned(masses.starts, which)
    owner = np.repeat(match, np.diff(begins))
    return np.concatenate([owner, owner]), np.concatenate([masses.lo[bucket], masses.hi[bucket] + 1])


def _convolved_ends(frames: Frames, level: Indexes) -> list[_Pairs]:
    """The cuts of events that have the mass of their own tick and their clock's offset together."""
    here = np.flatnonzero(level == CONVOLVED)
    own, offsets, event = frames.clocks.own, frames.clocks.offsets, frames.event[here]
    place, values = _ends(offsets, np.arange(len(here)), frames.clocks.clock[event])
    sharp = own.lower[event[place]] == own.upper[event[place]]
    wide = np.flatnonzero(~sharp)
    # Of an own part of several ticks, each of its cuts with each of the offset.
    number, cuts = _ends(own, wide, event[place[wide]])
    return [
        (frames.match[here][place[sharp]], (values + own.lower[event][place])[sharp]),
        (frames.match[here][place[number]], values[number] + cuts),
    ]


def ends_of_ties(frames: Frames, level: int) -> _Pairs:
    """Where, told from the offset of the level before, a tie begins and ceases to allow an offset."""
    match, apart = frames.tied_levels(level)
    return np.concatenate([match, match]), np.concatenate([-apart, apart + 1])


def ends_of_weights(frames: Frames, level: int) -> list[_Pairs]:
    """Where the weights that other clocks of a chain leave to the offsets of a level can change."""
    return [
        (np.repeat(match, len(cells.begin)), np.tile(cells.begin, len(match)))
        for match, cells in frames.weighed(level)
    ]


def ends_of_masses(frames: Frames, level: int) -> _Pairs:
    """Where the mass of an offset, or of its difference from the reference, can change."""
    offsets, count = frames.clocks.offsets, len(frames)
    match, clock = frames.clocks_of_level(level)
    reference = frames.reference[match]
    relative = reference >= 0
    alone = match[~relative], np.zeros(int((~relative).sum()), dtype=np.int64)
    others = [_ends(offsets, match[relative], reference[relative]), alone]
    return _united(count, [_ends(offsets, match, clock)]).differences(_united(count, others))
