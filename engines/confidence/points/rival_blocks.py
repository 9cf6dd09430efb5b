"""Matches and their rivals in blocks that fit in memory: what they take is known before it is taken.

Pairs of a match and a rival are counted by binary search before they are listed; what a coupled problem takes
for each of them is more, so that the matches that need one are cut once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.range_join import batches
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.rivals import RivalJoin
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.process.memory import MemoryBudget, default_budget, size_text

PAIR_BYTES = 256
"""What a rival of a match takes where it is looked for and sorted into gaps."""
COUPLED_PAIR_BYTES = 480
"""What it takes as a factor of a coupled problem, for each region that it may not be in."""
_MEMBER_BYTES = 100
_MOST_BLOCKS = 2
"""Blocks that a single match may take, where it needs more than one."""
_NARROW = "narrow the pattern (WITHIN, [attr], tighter predicates), or raise --max-memory"


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
