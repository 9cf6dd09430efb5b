"""Where the confidence of a match, given the offsets of its clocks, can change its polynomial in these.

Given the offsets, a match is measured as one without clocks. As a function of one offset that is piecewise
a polynomial: it changes only where a cut of one clock's events meets a cut of another's, up to a shift by
which the pattern ties ticks together (`shift_differences`). Summing one offset out leaves pieces that end
where two of its own ends meet: offsets are eliminated as the variables of `breakpoints` are.

    name here      meaning
    walls[i, j]    of level j, for i < j: constants c; a piece begins where offset j = offset i + c
    level 0        what no offset moves: the reference, events without a clock, constant times
    Segments       sets of ticks, one for each of n matches, as two flat arrays
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.clocks.frames import CONVOLVED, REFERENCE, Frames
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals


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
        sizes = np.diff(other.offsets)[self.owner]
        total = np.concatenate([[0], np.cumsum(sizes)])
        mine = np.repeat(np.arange(len(self.values)), sizes)
        at = (
            np.arange(total[-1])
            - np.repeat(total[:-1], sizes)
            + np.repeat(other.offsets[:-1][self.owner], sizes)
        )
        return self.owner[mine], self.values[mine] - other.values[at]


def united(count: int, parts: Sequence[tuple[Indexes, Ticks]]) -> Segments:
    """One set for each match from several lists of pairs of a match and a tick."""
    none = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([none, *(owner for owner, _ in parts)])
    values = np.concatenate([none, *(values for _, values in parts)])
    return Segments.of(count, owner, values)


def moved(pairs: tuple[Indexes, Ticks], shifts: Ticks) -> tuple[Indexes, Ticks]:
    """Every pair once for each shift, with the tick moved by it."""
    owner, values = pairs
    return np.repeat(owner, len(shifts)), (values[:, None] + shifts).reshape(-1)


Walls = Mapping[tuple[int, int], Segments]


def is_absolute(shape: Shape) -> bool:
    """Whether a pattern compares ticks with constants, so that no offset drops out."""
    return shape.knows_constants


def constants_of(shape: Shape) -> Ticks:
    """Ticks at which a constant of the pattern may begin or end what is allowed."""
    found = {
        end.constant for rule in shape.rules for region in rule.regions for end in region if end.point is None
    }
    for timing in shape.timings:
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
        for level in problems.structure.breakpoints.shifts:
            found |= {a - b for a in level for b in level}
    if any(rule.members_too for rule in shape.rules):
        # Members that share a tick are tied match by match.
        found |= {shift + by for shift in found for by in (-1, 1)}
    return np.array(sorted(each for each in found if abs(each) < 2**62), dtype=np.int64)


def walls_of(
    constants: Ticks, frames: Frames, count: int, shifts: Ticks, most: int,
    own: tuple[Indexes, Ticks] | None = None,
) -> Walls:  # fmt: skip
    """The walls of all levels up to `most` of `count` matches, which compare ticks with constants.

    `own`: pairs of a match and a tick at which it alone is cut.
    """
    cuts = _cuts(constants, frames, count, most, own)
    parts: dict[tuple[int, int], list[tuple[Indexes, Ticks]]] = {}
    for later in range(1, most + 1):
        for earlier in range(later):
            pairs = cuts[earlier].differences(cuts[later])
            parts[earlier, later] = [moved(pairs, shifts)]
        parts[0, later] += [ends_of_offset(frames, count, later)]
    return eliminated(count, parts, most)


def eliminated(count: int, parts: dict[tuple[int, int], list[tuple[Indexes, Ticks]]], most: int) -> Walls:
    """The walls of all levels up to `most`, with those that summing out later levels leaves to earlier ones.

    `parts`: the walls between any two levels, as pairs of one of `count` matches and a constant; they grow.
    """
    found: dict[tuple[int, int], Segments] = {}
    for later in range(most, 0, -1):
        for earlier in range(later):
            found[earlier, later] = united(count, parts[earlier, later])
        for middle in range(1, later):
            for earlier in range(middle):
                between = found[earlier, later].differences(found[middle, later])
                parts[earlier, middle].append(between)
    return found


def _cuts(
    constants: Ticks, frames: Frames, count: int, most: int, still: tuple[Indexes, Ticks] | None
) -> list[Segments]:
    """Per level the ticks at which masses of its events begin and end, without their offset."""
    level = frames.level_of(frames.match, frames.event)
    own = frames.clocks.own
    found = []
    for number in range(most + 1):
        here = np.flatnonzero(level == number)
        parts = [_ends(own, frames.match[here], frames.event[here])]
        if number == REFERENCE:
            parts += [_convolved_ends(frames, level), _everywhere(count, constants)]
            parts += [] if still is None else [still]
        found.append(united(count, parts))
    return found


def _ends(masses: Masses, match: Indexes, event: Indexes) -> tuple[Indexes, Ticks]:
    """The first tick of every bucket and the one after its last."""
    sizes = np.diff(masses.starts)[event]
    total = np.concatenate([[0], np.cumsum(sizes)])
    bucket = np.arange(total[-1]) - np.repeat(total[:-1] - masses.starts[event], sizes)
    owner = np.repeat(match, sizes)
    return np.concatenate([owner, owner]), np.concatenate([masses.lo[bucket], masses.hi[bucket] + 1])


def _convolved_ends(frames: Frames, level: Indexes) -> tuple[Indexes, Ticks]:
    """The cuts of events that have the mass of their own tick and their clock's offset together."""
    here = np.flatnonzero(level == CONVOLVED)
    own, offsets, event = frames.clocks.own, frames.clocks.offsets, frames.event[here]
    place, values = _ends(offsets, np.arange(len(here)), frames.clocks.clock[event])
    sharp = own.lower[event[place]] == own.upper[event[place]]
    wide = np.flatnonzero(~sharp)
    # Of an own part of several ticks, each of its cuts with each of the offset.
    number, cuts = _ends(own, wide, event[place[wide]])
    return _with(
        (frames.match[here][place[sharp]], (values + own.lower[event][place])[sharp]),
        (frames.match[here][place[number]], values[number] + cuts),
    )


def _everywhere(count: int, values: Ticks) -> tuple[Indexes, Ticks]:
    return np.repeat(np.arange(count), len(values)), np.tile(values, count)


def ends_of_offset(frames: Frames, count: int, level: int) -> tuple[Indexes, Ticks]:
    """Where the mass of an offset, or of its difference from the reference, can change."""
    clocks = frames.clocks
    width = len(clocks.offsets.lower)
    here = frames.keys[frames.level == level]
    match, clock = here // width, here % width
    ends = Segments.of(count, *_ends(clocks.offsets, match, clock))
    reference = frames.reference[match]
    relative = np.flatnonzero(reference >= 0)
    if not len(relative):
        return ends.owner, ends.values
    sharp = np.array([0], dtype=np.int64)
    others = Segments.of(
        count,
        *_with(
            _ends(clocks.offsets, match[relative], reference[relative]),
            _everywhere_of(match[reference < 0], sharp),
        ),
    )
    return ends.differences(others)


def _with(one: tuple[Indexes, Ticks], other: tuple[Indexes, Ticks]) -> tuple[Indexes, Ticks]:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _everywhere_of(match: Indexes, values: Ticks) -> tuple[Indexes, Ticks]:
    return np.repeat(match, len(values)), np.tile(values, len(match))
