"""Offsets at which a match is measured, with weights that sum it exactly over all offsets.

Given all offsets, events are independent again: each has its own part, moved.  As a function of one offset
the measure is piecewise a polynomial: it changes only where a cut of one clock's events meets a cut of
another's, up to what its clauses add (`clause_breakpoints`).  Between two such few ticks stand for all (see
`quadrature`).  Summing one offset out leaves pieces that end where two of its own ends meet.

    name here            meaning
    breakpoints[i, j]    of level j, for i < j: constants c; a piece begins where offset j = offset i + c
    level 0              what no offset moves: the reference, events without a clock, constant times
    Segments             sets of ticks, one for each of n matches, as two flat arrays
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.confidence.clocks import estimates
from cepctl.engines.confidence.clocks.chain_weights import weights_at
from cepctl.engines.confidence.clocks.estimates import MOST_SEGMENTS, too_many_offsets
from cepctl.engines.confidence.clocks.frames import REFERENCE, Frames
from cepctl.engines.confidence.clocks.offset_masses import Difference, mass_at, support
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


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


OffsetBreakpoints: TypeAlias = Mapping[tuple[int, int], Segments]
_Pairs: TypeAlias = tuple[Indexes, Ticks]
"""Of matches and ticks."""


def ends_of_ties(frames: Frames, level: int) -> _Pairs:
    """Where, counted from the offset of the level before, a tie begins and ceases to allow an offset."""
    match, apart = frames.tied_levels(level)
    return np.concatenate([match, match]), np.concatenate([-apart, apart + 1])


def ends_of_weights(frames: Frames, level: int) -> list[_Pairs]:
    """Where the weights that other clocks of a chain leave to the offsets of a level can change."""
    return [
        (np.repeat(match, len(cells.begin)), np.tile(cells.begin, len(match)))
        for match, cells in frames.weighed(level)
    ]


_FAR = np.int64(1) << 62


@dataclass(frozen=True)
class Nodes:
    """Combinations of offsets: the match of each, shape (q,), the offsets by level - 1, shape (q, levels).

    `weight`, shape (q,): what its measure adds.
    """

    match: Indexes
    offset: Ticks
    weight: Reals

    def __len__(self) -> int:
        return len(self.match)

    def taken(self, rows: Flags | Indexes | slice) -> Nodes:
        """Some of them."""
        return Nodes(self.match[rows], self.offset[rows], self.weight[rows])

    def in_blocks(self, sizes: Indexes, most: int) -> Iterator[Nodes]:
        """All of them in their order, about so many at once, each of them counted as its match's size."""
        block = np.cumsum(sizes[self.match]) // most
        begins = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
        for begin, end in pairwise([*begins, len(self)]):
            yield self.taken(slice(begin, end))


def nodes_of(
    frames: Frames,
    matches: Indexes,
    breakpoints: OffsetBreakpoints,
    costly: Flags | None = None,
) -> Nodes:
    """The nodes of some matches, which have as many levels each.

    A match with more than estimates.MOST_NODES has none, and is marked in `costly`, if that is given.

    Raises
    ------
    QueryTooLargeError
        If a match has more than estimates.MOST_NODES, and `costly` is not given.
    """
    levels = int(frames.levels[matches[0]]) if len(matches) else 0
    if costly is not None:
        costly[matches] |= frames.segments[matches] > MOST_SEGMENTS
        matches = matches[~costly[matches]]
    nodes = Nodes(matches, np.zeros((len(matches), 0), dtype=np.int64), np.ones(len(matches)))
    for level in range(1, levels + 1):
        nodes = _with_level(frames, nodes, breakpoints, frames.degree_at(level), level)
        nodes = _weighed(frames, nodes, level)
        over = np.bincount(nodes.match, minlength=len(frames)) > estimates.MOST_NODES
        if over.any():
            if costly is None:
                chain = frames.longest_chain(int(np.flatnonzero(over)[0]))
                raise too_many_offsets(levels, chain, estimates.MOST_NODES)
            costly |= over
            nodes = nodes.taken(~over[nodes.match])
    return _worlds_left(frames, nodes)


def nodes_in_blocks(
    frames: Frames,
    breakpoints: OffsetBreakpoints,
    rows: Indexes,
    sizes: Indexes,
    at_once: int,
    costly: Flags,
) -> Iterator[Nodes]:
    """The nodes of some rows, in blocks of about `at_once`; rows with too many are marked in `costly`.

    `sizes`: how much of a block each row takes at a node.
    """
    levels = frames.levels[rows]
    for level in np.unique(levels).tolist():
        every = nodes_of(frames, rows[levels == level], breakpoints, costly)
        yield from every.in_blocks(sizes, at_once)


def shifts(frames: Frames, nodes: Nodes, node: Indexes, event: Indexes) -> tuple[Indexes, Ticks]:
    """Of events at nodes the level of the clock, and by how much its offset moves them there."""
    level, shift = frames.level_of(nodes.match[node], event), np.zeros(len(event), dtype=np.int64)
    summed = np.flatnonzero(level > REFERENCE)
    shift[summed] = nodes.offset[node[summed], level[summed] - 1]
    return level, shift


def _ends_by_ties(frames: Frames, nodes: Nodes, level: int) -> tuple[Ticks, Ticks]:
    """From which offset of a level to which that of the level before allows, told for every node."""
    first, last = np.full(len(nodes), -_FAR), np.full(len(nodes), _FAR)
    match, apart = frames.tied_levels(level) if level > 1 else (nodes.match[:0], nodes.match[:0])
    if len(match):
        most = np.full(len(frames), -1, dtype=np.int64)
        most[match] = apart
        most = most[nodes.match]
        tied, before = most >= 0, nodes.offset[:, -1]
        first[tied], last[tied] = (before - most)[tied], (before + most)[tied]
    return first, last


def _weighed(frames: Frames, nodes: Nodes, level: int) -> Nodes:
    """The nodes with the weights that the other clocks of a chain leave to their offset of a level."""
    weight = nodes.weight
    for match, cells in frames.weighed(level):
        has = np.zeros(len(frames), dtype=bool)
        has[match] = True
        at = np.flatnonzero(has[nodes.match])
        weight = weight.copy()
        weight[at] *= weights_at(cells, nodes.offset[at, -1])
    return nodes if weight is nodes.weight else replace(nodes, weight=weight)


def _worlds_left(frames: Frames, nodes: Nodes) -> Nodes:
    """The nodes with weights that add up to 1 for each match, where ties leave out some worlds."""
    if not frames.is_tied.any():
        return nodes
    whole = np.bincount(nodes.match, nodes.weight, len(frames))
    return replace(nodes, weight=nodes.weight / np.where(frames.is_tied, whole, 1.0)[nodes.match])


def _with_level(
    frames: Frames, nodes: Nodes, breakpoints: OffsetBreakpoints, degree: Indexes, level: int
) -> Nodes:
    """Every node once for each offset of one more clock."""
    clock, other = _clock_of(frames, level)[nodes.match], frames.reference[nodes.match]
    starts = np.stack([breakpoints[earlier, level].offsets for earlier in range(level)])
    values = [breakpoints[earlier, level].values for earlier in range(level)]
    begins = np.concatenate([[0], np.cumsum([len(each) for each in values])]).astype(np.int64)
    by_ties = _ends_by_ties(frames, nodes, level)
    rows = _OffsetRows(nodes.match, nodes.offset, clock, other, degree[nodes.match], *by_ties)
    cuts = _Cuts(starts + begins[:-1, None], np.concatenate(values))
    offsets = frames.clocks.offsets.buckets
    sizes = np.zeros(len(nodes), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    _fill(rows, cuts, offsets, _Written(sizes, nothing, nothing, np.zeros(0)), True)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    row, offset, weight = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    _fill(rows, cuts, offsets, _Written(ends - sizes, row, offset, weight), False)
    return Nodes(
        nodes.match[row],
        np.concatenate([nodes.offset[row], offset[:, None]], axis=1),
        nodes.weight[row] * weight,
    )


def _clock_of(frames: Frames, level: int) -> Indexes:
    """Each match's clock of a level, -1 for none."""
    found = np.full(len(frames), -1, dtype=np.int64)
    match, clock = frames.clocks_of_level(level)
    found[match] = clock
    return found


class _OffsetRows(NamedTuple):
    """What gets one more offset: its match, the offsets it has, its clock, and the one it is derived from.

    `first`, `last`: what ties leave to the offset.
    """

    match: Indexes
    fixed: Ticks
    clock: Indexes
    other: Indexes
    degree: Indexes
    first: Ticks
    last: Ticks


class _Cuts(NamedTuple):
    """Breakpoints of the new level with each level before: those of match m from begins[level, m] on."""

    begins: Indexes
    ticks: Ticks


class _Written(NamedTuple):
    """Where the nodes of each row go, and the nodes."""

    place: Indexes
    row: Indexes
    offset: Ticks
    weight: Reals


@kernel
def _fill(rows, cuts, offsets, written, counting):
    """The nodes of one more offset for every row; counts them into `place`, or writes them from there on."""
    nodes = np.empty(64, dtype=np.int64)
    weights = np.empty(64)
    place = written.place
    for r in range(len(rows.match)):
        degree, other = rows.degree[r], rows.other[r]
        difference = Difference(offsets, rows.clock[r], other)
        if degree + 4 > len(nodes):
            nodes = np.empty(2 * degree + 8, dtype=np.int64)
            weights = np.empty(2 * degree + 8)
        first, last = support(difference)
        first, last = max(first, rows.first[r]), min(last, rows.last[r])
        if first > last:
            continue
        pieces = _pieces(rows.match[r], rows.fixed[r], cuts.begins, cuts.ticks, first, last)
        for p in range(len(pieces)):
            begin = pieces[p]
            end = pieces[p + 1] if p + 1 < len(pieces) else last + 1
            if mass_at(difference, begin) == 0.0 and mass_at(difference, end - 1) == 0.0:
                continue
            ticks = end - begin
            # The mass of a difference of two offsets is linear in it.
            inner = degree + (other >= 0)
            every = takes_every_tick(ticks, inner)
            count = ticks if every else summation_rule(ticks, inner, nodes, weights)
            for k in range(count):
                tick = begin + (k if every else nodes[k])
                chance = mass_at(difference, tick)
                if chance > 0.0:
                    if not counting:
                        written.row[place[r]], written.offset[place[r]] = r, tick
                        written.weight[place[r]] = chance * (1.0 if every else weights[k])
                    place[r] += 1


@inner
def _pieces(match, fixed, begins, ticks, first, last):
    """Where the pieces of one offset begin, given those of the levels before; in order, each once."""
    count = 1
    for earlier in range(len(begins)):
        count += begins[earlier, match + 1] - begins[earlier, match]
    found = np.empty(count, dtype=np.int64)
    found[0] = first
    count = 1
    for earlier in range(len(begins)):
        by = 0 if earlier == 0 else fixed[earlier - 1]
        for b in range(begins[earlier, match], begins[earlier, match + 1]):
            at = ticks[b] + by
            if first < at <= last:
                found[count] = at
                count += 1
    return found[: sort_cuts(found, count)]
