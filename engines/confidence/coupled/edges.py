"""What a shape asks between the variables of coupled problems, as edges, and which rivals can decide there.

Order, window and timing are edges.  Where a rule has its events absent are regions between variables; the
ways to stay out of one are edges, too.

A rival can decide a match if it lies in its region in some world where order and timing hold.  It joins the
closed system of difference constraints of its match as one more tick x, held by its own interval and by the
ends of its region, t_a + c <= x and x <= t_b + d.  The system stays solvable exactly if

    its interval reaches over each end      upper(x) >= valid_lower(a) + c, lower(x) <= valid_upper(b) + d
    both ends leave room between them       t_b - t_a >= c - d for some ticks of the two

All others are dropped before anything is measured.  So a match is measured in the same way, to the last bit,
wherever it is found: a slice leaves out only events that cannot decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, CoupledMatches, Edge, RegionBound
from cepctl.engines.confidence.coupled.variables import VariableAssignment
from cepctl.engines.confidence.work import NARROW, NESTED, too_costly
from cepctl.engines.pattern.blocks import AbsenceRule, Point, Region, Rivals, Shape
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Timing, members_of_sides

if TYPE_CHECKING:
    from cepctl.language.ast import MemberIndex

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


_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Constrained:
    """Problems of one assignment, and what order, window and timing say of their variables.

    `edges`: as written; `system`: closed, shape (m, m).  `lower`, `upper`: valid intervals, shape (n, m),
    empty where a problem is impossible.
    """

    assignment: VariableAssignment
    edges: tuple[Edge, ...]
    system: Ticks
    lower: Ticks
    upper: Ticks

    @property
    def possible(self) -> Flags:
        """Problems with no empty interval, shape (n,)."""
        return possible(self.lower, self.upper)


def constrained(matches: CoupledMatches, assignment: VariableAssignment) -> Iterator[Constrained]:
    """The problems of an assignment; times may make several of each, which exclude each other.

    Raises
    ------
    QueryTooLargeError
        If there are more than CASES_BOUND.
    """
    shape, masses, event = matches.shape, matches.masses, assignment.event
    fixed = _Limits.of(event.shape[1], _fixed_edges(shape, assignment))
    for sides in _cases(shape, assignment, fixed.edges):
        limits = fixed.and_also(sides)
        system = closure(event.shape[1], limits.edges)
        if (np.diag(system) >= 0).all():
            lower = np.maximum(masses.lower[event], limits.low)
            upper = np.minimum(masses.upper[event], limits.high)
            yield Constrained(assignment, limits.edges, system, *valid_bounds(lower, upper, system))


@dataclass(frozen=True)
class _Limits:
    """Edges between two variables, and the constant limits on single ones, shape (m,)."""

    edges: tuple[Edge, ...]
    low: Ticks
    high: Ticks

    @classmethod
    def of(cls, count: int, edges: Sequence[Edge]) -> _Limits:
        return cls((), np.full(count, -_LAST), np.full(count, _LAST)).and_also(edges)

    def and_also(self, edges: Sequence[Edge]) -> _Limits:
        between, low, high = list(self.edges), self.low.copy(), self.high.copy()
        for i, j, limit in edges:
            if i == j:
                if limit < 0:
                    high[i], low[i] = -_LAST, _LAST
            elif i == NO_VARIABLE:
                low[j] = max(low[j], -limit)
            elif j == NO_VARIABLE:
                high[i] = min(high[i], limit)
            else:
                between.append((i, j, limit))
        return _Limits(tuple(between), low, high)


def _fixed_edges(shape: Shape, assignment: VariableAssignment) -> list[Edge]:
    """Order, window, and timing without `<>`; limits on single variables are edges to NO_VARIABLE."""
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
    for timing in (*shape.timings, *shape.member_timings):
        if not timing.not_equal:
            edges += _timed_pairs(shape, assignment, timing)
    return edges


def _cases(shape: Shape, assignment: VariableAssignment, fixed: Sequence[Edge]) -> list[list[Edge]]:
    """Every way to choose a side of each `<>`, and to stay out of each region, but those that are impossible.

    `fixed` are the edges that hold anyway.
    """
    cases: list[list[Edge]] = [[]]
    for ways in (*_sides(shape, assignment), *_ways_out(shape, assignment, fixed)):
        longer = [[*case, *way] for case in cases for way in ways]
        cases = [case for case in longer if _has_solution(assignment, [*fixed, *case])]
        refuse_too_many(len(cases))
    return cases


def _sides(shape: Shape, assignment: VariableAssignment) -> Iterator[Sequence[list[Edge]]]:
    """`<` and `>` for each `<>` between variables."""
    for timing in (*shape.timings, *shape.member_timings):
        for u, v, c in _timed_pairs(shape, assignment, timing) if timing.not_equal else ():
            yield [(u, v, c - 1)], [(v, u, -c - 1)]


def _ways_out(
    shape: Shape, assignment: VariableAssignment, fixed: Sequence[Edge]
) -> Iterator[Sequence[list[Edge]]]:
    """The ways of variables to be outside of each region in which they must not be."""
    own = [(assignment.variables_of(shape, component)[0], rule) for component, rule in shape.outside]
    own += assignment.outside
    system = closure(assignment.event.shape[1], fixed if own else ())
    for variable, rule in own:
        for region in bounds_of(shape, assignment, rule, system):
            yield list(ways_out(variable, region))


def _has_solution(assignment: VariableAssignment, edges: Sequence[Edge]) -> bool:
    between = [(i, j, limit) for i, j, limit in edges if NO_VARIABLE not in (i, j)]
    return bool((np.diag(closure(assignment.event.shape[1], between)) >= 0).all())


def _timed_pairs(shape: Shape, assignment: VariableAssignment, timing: Timing) -> Iterator[Edge]:
    """The pairs of variables that a timing constraint ties, with its bound."""
    left, right = (assignment.variables_of(shape, side) for side in (timing.left, timing.right))
    of_left, of_right = members_of_sides(timing)
    left, right = _of_member(left, of_left), _of_member(right, of_right)
    for u, v in product(left, right):
        yield u, v, timing.bound


def _of_member(variables: tuple[int, ...], which: MemberIndex | None) -> tuple[int, ...]:
    """Of the variables of a group in order that of its first or last member, or all of them."""
    return variables if which is None else {"first": variables[:1], "last": variables[-1:]}[which]


def _ends_of_unordered(slots: Sequence[int], first: int, last: int) -> list[Edge]:
    """The first variable precedes all others of its block, ties broken by slot; so the last follows."""
    edges: list[Edge] = [(first, last, -1)]
    for variable in slots:
        if variable not in (first, last):
            edges.append((first, variable, -1 if slots.index(variable) < slots.index(first) else 0))
            edges.append((variable, last, -1 if slots.index(variable) < slots.index(last) else 0))
    return edges


def can_lie_in(
    region: Sequence[RegionBound],
    system: Ticks,
    lower: Ticks,
    upper: Ticks,
    row: Indexes,
    first: Ticks,
    last: Ticks,
) -> Flags:
    """Pairs of a match and an event that can lie in a region, shape (p,).

    Parameters
    ----------
    region
        Its ends, between variables of the match.
    system
        Closed system over the m variables.
    lower, upper
        Valid intervals of the variables of n matches, shape (n, m).
    row, first, last
        Of each pair the match, and the interval of the event, shape (p,).

    Examples
    --------
    Between a = [0, 9] and b = [5, 20], at most 4 ticks apart, lies nothing that ends before 2:

    >>> gap = [RegionBound(0, 1, True), RegionBound(1, -1, False)]
    >>> system = np.array([[0, -1], [4, 0]])
    >>> ends = np.array([[1, 5]]), np.array([[9, 13]])
    >>> can_lie_in(gap, system, *ends, np.array([0, 0]), np.array([0, 0]), np.array([1, 2])).tolist()
    [False, True]
    """
    can = np.ones(len(row), dtype=bool)
    for end in region:
        if end.is_lower:
            can &= last >= _tick(end, lower)[row]
        else:
            can &= first <= _tick(end, upper)[row]
    room = np.ones(len(lower), dtype=bool)
    for begin in region:
        for end in region:
            if begin.is_lower and not end.is_lower:
                room &= _tick(begin, lower) <= _tick(end, upper)
                if NO_VARIABLE not in (begin.variable, end.variable):
                    room &= bool(system[end.variable, begin.variable] >= begin.constant - end.constant)
    return can if room.all() else np.asarray(can & room[row])


def _tick(end: RegionBound, ticks: Ticks) -> Ticks:
    """The tick of an end for each match, its variables being at `ticks`."""
    if end.variable == NO_VARIABLE:
        return np.full(len(ticks), end.constant)
    return shifted(ticks[:, end.variable], end.constant)


def deciding_in_chains(
    rivals: Sequence[Rivals], masses: Masses, system: Ticks, lower: Ticks, upper: Ticks
) -> list[Rivals]:
    """Of matches that bind single events, with these valid intervals, the rivals that can decide them."""
    found = []
    for each in rivals:
        first, last = masses.lower[each.event], masses.upper[each.event]
        can = np.zeros(len(each.row), dtype=bool)
        for region in each.rule.regions:
            can |= can_lie_in(_between_events(region), system, lower, upper, each.row, first, last)
        found.append(each if can.all() else replace(each, row=each.row[can], event=each.event[can]))
    return found


def _between_events(region: Region) -> list[RegionBound]:
    """A region where every block is one event."""
    return [
        RegionBound(NO_VARIABLE if end.point is None else end.point.block, end.constant, end.is_lower)
        for end in region
    ]
