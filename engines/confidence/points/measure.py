"""What measures the matches of an alternative: the closed form, and blocks whose rivals fit in memory.

Where nothing but order and window decides, time range and confidence are computed here; all other methods are
in the room `solve`.  Pairs of a match and a rival are counted by binary search before they are listed, so
that it is known what they take before it is taken; what a coupled problem takes for each of them is more, so
that the matches that need one are cut once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import INDEPENDENT, Dependence
from cepctl.engines.columns.joins import batches
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.chain.closed_form import chain_confidence, chain_range
from cepctl.engines.confidence.gaps.opened_rings import OpenedRing, opened_ring
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.needless_sums import PlacedShapes, moved_matches, placed_shapes
from cepctl.engines.confidence.work import Heard, nobody
from cepctl.engines.pattern.blocks import BlockKind, Rivals, Shape, groups_of
from cepctl.engines.pattern.difference_constraints import possible, system_between, valid_bounds
from cepctl.engines.pattern.rivals import RivalJoin
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.process.memory import MemoryBudget, default_budget, size_text

if TYPE_CHECKING:
    from cepctl.engines.confidence.coupled.sampling import Sampling

PAIR_BYTES = 256
"""What a rival of a match takes where it is looked for and sorted into gaps."""
COUPLED_PAIR_BYTES = 480
"""What it takes as a factor of a coupled problem, for each region that it may not be in."""
_MEMBER_BYTES = 100
_MOST_BLOCKS = 2
"""Blocks that a single match may take, where it needs more than one."""
_NARROW = "narrow the pattern (WITHIN, [attr], tighter predicates), or raise --max-memory"


@dataclass(frozen=True)
class Measure:
    """What measuring the matches of one alternative needs.

    `system`: closed constraints over its positive components; `sampling`: how confidences beyond the
    work bound are estimated, None where they are refused; `memory`: what a block of matches may take.
    `depends`: how events depend on each other.
    `sifted`: whether matches that cannot happen have been left out.
    `shares_gaps`: whether matches share events, so that one table of a gap serves several of them;
    `shares_cuts`: whether those of one middle event are cut at much the same ticks.
    `ranges_only`: whether nobody asks for confidences, which may then be any numbers.
    `affordable`: how many products a match may take that is estimated where they do not suffice: its
    confidence is NaN then; None where it is refused.
    `heard` hears the name of each method that measures some of them.
    """

    shape: Shape
    masses: Masses
    system: Ticks
    window: int | None
    sampling: Sampling | None
    memory: BlockMemory
    depends: Dependence = INDEPENDENT
    sifted: bool = True
    shares_gaps: bool = True
    shares_cuts: bool = True
    ranges_only: bool = False
    affordable: int | None = None
    heard: Heard = nobody

    def placed(self, masses: Masses) -> Measure:
        """The measure of independent events with these masses, which offsets of clocks have put somewhere.

        They are measured exactly, since errors of a sum's terms would add up.  Every combination of offsets
        has gaps and cuts of its own.
        """
        return replace(
            self, masses=masses, depends=INDEPENDENT, sampling=None, sifted=False,
            shares_gaps=False, shares_cuts=False,
        )  # fmt: skip

    def shaped(self, shape: Shape) -> Measure:
        """The measure of matches of another shape, some of which may not be possible."""
        blocks = [block.components for block in shape.blocks]
        components = sorted(i for block in blocks for i in block)
        system = system_between(components, blocks, shape.timings, shape.window)
        return replace(self, shape=shape, system=system, window=shape.window, sifted=False)

    @cached_property
    def shapes(self) -> PlacedShapes | None:
        """Shapes of all events, and where they are; None where no two have the same."""
        return placed_shapes(self.masses, movable=not self.shape.knows_constants)

    @cached_property
    def opened(self) -> OpenedRing | None:
        """How chains are opened whose rivals lie in gaps; None where rules speak of anything else."""
        return opened_ring(self.shape)

    @cached_property
    def opened_masses(self) -> Masses:
        """Masses of all events, and after them those of the copies that opened chains bind."""
        return self.masses if self.opened is None else self.opened.masses(self.masses)

    @property
    def in_one_sum(self) -> bool:
        """Whether a match with a set of events is one sum, and not one for each first and last of them."""
        from cepctl.engines.confidence.sets_between import has_set_between

        return has_set_between(self.shape)

    def groups(self, bound: dict[int, Bindings]) -> list[Group]:
        """Members of every block."""
        return groups_of(self.shape, bound)

    def valid(self, matches: Indexes) -> tuple[Ticks, Ticks]:
        """Valid lower and upper bounds of matches, shape (n, l), that bind single events."""
        return valid_bounds(self.masses.lower[matches], self.masses.upper[matches], self.system)

    def chains(self, matches: Indexes) -> Measured:
        """Measure matches, shape (n, l), that nothing but order and window decides.

        Of matches that are others moved in time the first ones alone are measured.
        """
        first = moved_matches(self.masses, matches)
        if first is None:
            return self._chains(matches)
        rows = np.flatnonzero(first == np.arange(len(first)))
        return self.moved(self._chains(matches[rows]), rows, matches[:, 0], first)

    def moved(self, found: Measured, rows: Indexes, begin: Indexes, first: Indexes) -> Measured:
        """Of all matches what was found for those of `rows`, which the others, of `first`, are when moved.

        `begin`: the first event of every match.
        """
        since = self.masses.lower[begin]
        apart = since - since[first]
        return found.taken(np.searchsorted(rows, first)).shifted(apart, apart)

    def _chains(self, matches: Indexes) -> Measured:
        lower, upper = self.valid(matches)
        if self.sifted or (rows := np.flatnonzero(possible(lower, upper))).size == len(matches):
            return self._solved(matches, lower, upper)
        found = impossible(len(matches))
        found.put(rows, self._solved(matches[rows], lower[rows], upper[rows]))
        return found

    def _solved(self, matches: Indexes, lower: Ticks, upper: Ticks) -> Measured:
        if self.masses.are_certain:
            every = np.ones(len(matches), dtype=bool)
            return Measured.exact(every.astype(np.float64), lower[:, 0], upper[:, -1], every)
        confidence = chain_confidence(self.masses, matches, lower, upper, self.window)
        return Measured.exact(confidence, *chain_range(self.masses, matches, lower, upper, self.window))


@dataclass(frozen=True)
class BlockMemory:
    """Bytes that a block of matches may take; a single match that needs more may take `most`."""

    block: int
    most: int

    @classmethod
    def of(cls, memory: MemoryBudget | None = None, threads: int = 1) -> BlockMemory:
        """The memory that each of `threads` threads has for blocks."""
        memory = memory or default_budget()
        return cls(memory.block(threads), _MOST_BLOCKS * memory.block(threads))


def joined_blocks(joins: Sequence[RivalJoin], count: int, memory: BlockMemory) -> Iterator[tuple[int, int]]:
    """Where blocks of `count` matches begin and end, so that their pairs with rivals fit in memory.

    Raises
    ------
    QueryTooLargeError
        If a single match has more rivals than fit.
    """
    rivals = np.ones(count, dtype=np.int64)
    for join in joins:
        rivals += join.candidates.counts
    size: Reals = rivals * np.float64(PAIR_BYTES)
    return _blocks(rivals, size, memory)


def coupled_blocks(
    shape: Shape, groups: Sequence[Group], rivals: Sequence[Rivals], memory: BlockMemory
) -> Iterator[tuple[int, int]]:
    """Where blocks of coupled problems begin and end; the blocks of events of matches are `groups`.

    Raises
    ------
    QueryTooLargeError
        If the problems of a single match do not fit.
    """
    count = len(groups[0].sizes)
    others = np.ones(count, dtype=np.int64)
    factors: Reals = np.zeros(count)
    choices: Reals = np.ones(count)
    for each in rivals:
        found = np.bincount(each.row, minlength=count)
        others += found
        factors += found * float(COUPLED_PAIR_BYTES * len(each.rule.regions))
    for block, group in zip(shape.blocks, groups, strict=True):
        factors += group.sizes * float(_MEMBER_BYTES)
        if block.kind is BlockKind.SET:
            # Each member may be the first, and each the last.
            choices *= group.sizes.astype(np.float64) ** 2
    return _blocks(others, factors * choices, memory)


def _blocks(rivals: Indexes, size: Reals, memory: BlockMemory) -> Iterator[tuple[int, int]]:
    if not len(size):
        return iter(())
    worst = int(size.argmax())
    if size[worst] > memory.most:
        raise QueryTooLargeError(
            f"a match of this query has up to {int(rivals[worst]):,} events that could break it, and its "
            f"confidence takes {size_text(int(size[worst]))} of memory where {size_text(memory.most)} are "
            f"allowed; {_NARROW}"
        )
    return batches(np.ceil(size).astype(np.int64), memory.block)
