"""Matches as one problem each, where all of their events are variables and every pair is compared.

An AND has n (n - 1) problems that exclude each other, one for each choice of its first and last member, so
that few variables are summed.  A union needs no exclusive problems, and rows that ask the same of the same
events are one problem there: all orders in which an AND binds events of one type are.

    order     each member of a block before each of the next
    window    each member of the first block and each of the last less than the window apart
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import (
    Edge,
    ProblemFactors,
    Problems,
    Structure,
    Variables,
)
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds


def is_pairwise(shape: Shape) -> bool:
    """Whether order and window alone decide the matches of a shape, and it has an AND group."""
    kinds = {block.kind for block in shape.blocks}
    others = shape.timings or shape.member_timings or shape.rules or shape.together or shape.outside
    has_kleene = any(
        shape.alternative.components[i].kleene for block in shape.blocks for i in block.components
    )
    return (
        kinds <= {BlockKind.SINGLE, BlockKind.SET} and BlockKind.SET in kinds and not (others or has_kleene)
    )


def pairwise_problems(matches: CoupledMatches) -> Problems:
    """One problem for each match of such a shape that can happen."""
    shape = matches.shape
    sizes = [len(block.components) for block in shape.blocks]
    event = np.concatenate(
        [group.members.reshape(-1, size) for group, size in zip(matches.groups, sizes, strict=True)], axis=1
    )
    edges = _edges(sizes, shape.window)
    system = closure(event.shape[1], edges)
    lower, upper = valid_bounds(matches.masses.lower[event], matches.masses.upper[event], system)
    keep = np.flatnonzero(possible(lower, upper))
    nothing = np.zeros(0, dtype=np.int64)
    factors = ProblemFactors.of_kinds(
        np.zeros(len(keep) + 1, np.int64), nothing, np.zeros(1, np.int64), nothing.astype(bool), (), nothing
    )
    structure = Structure(system, edges)
    return Problems(structure, keep, Variables(event[keep], lower[keep], upper[keep]), factors)


def _edges(sizes: list[int], window: int | None) -> tuple[Edge, ...]:
    """What is asked of every two variables, those of blocks of such sizes one after the other."""
    begins = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    blocks = [range(begin, end) for begin, end in pairwise(begins)]
    edges = [(i, j, -1) for before, after in pairwise(blocks) for i, j in product(before, after)]
    if window is not None:
        edges += [(j, i, window - 1) for i, j in product(blocks[0], blocks[-1]) if i != j]
    return tuple(edges)
