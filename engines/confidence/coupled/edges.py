"""Order, window and timing of a match as edges between the variables of its coupled problems.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from cepctl.arrays import Ticks
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.confidence.coupled.variables import VariableAssignment
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.difference_constraints import closure
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Timing

Edge = tuple[int, int, int]
"""(i, j, c): t_i - t_j <= c ticks, for variables i and j."""

CASES_BOUND = 4096
"""Cases that `<>` may split the problems of a match into."""

_LAST = np.iinfo(np.int64).max


def edges_of(
    shape: Shape, assignment: VariableAssignment, sides: list[Edge]
) -> tuple[list[Edge], Ticks, Ticks]:
    """Order, window and timing between variables, and constant limits on single variables.

    `sides` says for every `!=` on which side of the tick it holds.
    """
    count = assignment.event.shape[1]
    edges: list[Edge] = []
    before: tuple[int, ...] = ()
    for block in assignment.blocks:
        edges += [(u, v, -1) for u in before for v in block.variables]
        if block.choice in ("distinct ends", "sequence"):
            edges += [(v, v + 1, -1) for v in block.variables[:-1]]
        elif block.choice == "unordered":
            edges += _ends_of_unordered(block.slots, block.first, block.last)
        before = block.variables or before
    first, last = assignment.blocks[0].first, assignment.blocks[-1].last
    if shape.window is not None and first != last:
        edges.append((last, first, shape.window - 1))
    low, high = np.full(count, -_LAST), np.full(count, _LAST)
    equal = [
        pair
        for timing in shape.timings
        if not timing.not_equal
        for pair in tied_pairs(shape, assignment, timing)
    ]
    for i, j, limit in [*equal, *sides]:
        _constrain(edges, low, high, i, j, limit)
    return edges, low, high


def sided(shape: Shape, assignment: VariableAssignment, fixed: Sequence[Edge]) -> list[list[Edge]]:
    """Every way to resolve each `<>` between variables to `<` or `>`, but those that the order rules out.

    `fixed` are the edges that hold anyway.

    Raises
    ------
    QueryTooLargeError
        If there are more than CASES_BOUND ways.
    """
    ways: list[list[Edge]] = [[]]
    for timing in shape.timings:
        for u, v, c in tied_pairs(shape, assignment, timing) if timing.not_equal else ():
            longer = [[*way, side] for way in ways for side in ((u, v, c - 1), (v, u, -c - 1))]
            ways = [way for way in longer if _has_solution(assignment, [*fixed, *way])]
            refuse_too_many(len(ways))
    return ways


def refuse_too_many(cases: int) -> None:
    """Raise QueryTooLargeError when `<>` makes more cases than CASES_BOUND."""
    if cases > CASES_BOUND:
        raise QueryTooLargeError(
            f"<> between times splits a match into more than {CASES_BOUND:,} cases, too many to tell "
            "apart; narrow what a group may hold (WITHIN, [attr], tighter predicates)"
        )


def _has_solution(assignment: VariableAssignment, edges: Sequence[Edge]) -> bool:
    between = [(i, j, limit) for i, j, limit in edges if NO_VARIABLE not in (i, j)]
    return bool((np.diag(closure(assignment.event.shape[1], between)) >= 0).all())


def tied_pairs(shape: Shape, assignment: VariableAssignment, timing: Timing) -> Iterator[Edge]:
    """The pairs of variables that a timing constraint ties, with its bound."""
    for u, v in product(
        variables_of(shape, assignment, timing.left), variables_of(shape, assignment, timing.right)
    ):
        yield u, v, timing.bound


def variables_of(shape: Shape, assignment: VariableAssignment, component: int | None) -> tuple[int, ...]:
    """Variables that stand for a component in a timing constraint."""
    if component is None:
        return (NO_VARIABLE,)
    number = shape.block_of(component)
    block = assignment.blocks[number]
    components = shape.blocks[number].components
    if shape.blocks[number].kind is BlockKind.UNORDERED and len(components) > 1:
        return (block.slots[components.index(component)],)
    return block.variables


def _constrain(edges: list[Edge], low: Ticks, high: Ticks, i: int, j: int, limit: int) -> None:
    if i == j:
        if limit < 0:
            high[i], low[i] = -_LAST, _LAST
    elif i == NO_VARIABLE:
        low[j] = max(low[j], -limit)
    elif j == NO_VARIABLE:
        high[i] = min(high[i], limit)
    else:
        edges.append((i, j, limit))


def _ends_of_unordered(slots: Sequence[int], first: int, last: int) -> list[Edge]:
    """The first variable precedes all others of its block, ties broken by slot; so the last follows."""
    edges: list[Edge] = [(first, last, -1)]
    for variable in slots:
        if variable not in (first, last):
            edges.append((first, variable, -1 if slots.index(variable) < slots.index(first) else 0))
            edges.append((variable, last, -1 if slots.index(variable) < slots.index(last) else 0))
    return edges
