"""Where a rule has its events absent, as regions between variables; and the ways to stay out of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, Edge, RegionBound
from cepctl.engines.confidence.coupled.variables import VariableAssignment
from cepctl.engines.confidence.work import NARROW, NESTED, too_costly
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, Shape
from cepctl.numeric.arrays import Ticks

CASES_BOUND = 4096
"""Cases that times may split the problems of a match into."""


def bounds_of(
    shape: Shape, assignment: VariableAssignment, rule: AbsenceRule, system: Ticks
) -> Iterator[tuple[RegionBound, ...]]:
    """The regions of a rule, as far as the closed `system` leaves them what it does not spare.

    Raises
    ------
    QueryTooLargeError
        If they are too many.
    """
    pieces = _around(assignment, rule.spared, system)
    for region, piece in product(rule.regions, pieces):
        yield _bounds(shape, assignment, region) + piece


def ways_out(variable: int, region: Sequence[RegionBound]) -> Iterator[list[Edge]]:
    """The ways of a variable to be outside of a region, which exclude each other."""
    within: list[Edge] = []
    for end in region:
        u, v, limit = variable, end.variable, end.constant
        if end.is_lower:
            u, v, limit = v, u, -limit
        yield [*within, (v, u, -limit - 1)]
        within.append((u, v, limit))


def refuse_too_many(cases: int) -> None:
    """Raise QueryTooLargeError when times make more cases than CASES_BOUND."""
    if cases > CASES_BOUND:
        why = "<> between times, or times of what is absent, split it"
        raise too_costly("the exact confidence of a match", NESTED, f"{CASES_BOUND:,} cases", why, NARROW)


def _around(
    assignment: VariableAssignment, spared: Sequence[tuple[Point, int]], system: Ticks
) -> list[tuple[RegionBound, ...]]:
    """What single ticks, each a variable plus a constant, leave of time: pieces that some order allows."""
    pieces: list[tuple[RegionBound, ...]] = [()]
    for point, constant in spared:
        for variable in assignment.blocks[point.block].variables:
            ends = (RegionBound(variable, constant - 1, False), RegionBound(variable, constant + 1, True))
            longer = [(*piece, end) for piece in pieces for end in ends]
            pieces = [piece for piece in longer if _has_room(piece, system)]
            refuse_too_many(len(pieces))
    return pieces


def _has_room(piece: tuple[RegionBound, ...], system: Ticks) -> bool:
    """Whether every lower end of a piece can come before every upper one."""
    return all(
        int(system[high.variable, low.variable]) >= low.constant - high.constant
        for low in piece
        if low.is_lower
        for high in piece
        if not high.is_lower
    )


def _bounds(shape: Shape, assignment: VariableAssignment, region: Region) -> tuple[RegionBound, ...]:
    return tuple(
        RegionBound(
            NO_VARIABLE if end.point is None else assignment.variable_of(shape, end.point),
            end.constant,
            end.is_lower,
        )
        for end in region
    )
