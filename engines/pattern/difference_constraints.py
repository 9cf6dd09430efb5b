"""A pattern as difference constraints over the ticks of its events, and what differences leave to ticks.

SEQ is `t_i - t_j <= -1`, WITHIN is `t_l - t_1 <= W - 1`, a timing constraint is one more edge
(semantics, "One idea underneath").  Closing the system under addition (Floyd and Warshall) makes
every implied bound explicit, so that one look at the raw intervals of the bound events gives each
event's valid interval.

Where an event can be on certain ticks alone, one look is not enough.  The solutions of difference
constraints, each variable on any set of ticks, are closed under taking the smaller value of each: there is a
smallest one.  Bounds are tightened edge by edge (Bellman and Ford) and moved to the next tick that has mass
until nothing moves; then each end is reached in some world, at once for all.

    who narrows ticks in another way        because
    `offset_bounds`                         few offsets stand for many events: closed over these, row by row
    `confidence.given.closing`              millions of ties, whose events are named where they contradict
    `confidence.gaps.distinct_gaps`         a rival leaves a choice: before it or after it

    name here          in ZDI10, section 5.1
    lower, upper       e.lower, e.upper   uncertainty interval, ticks, both ends included
    valid_lower        vlb                valid lower bound
    valid_upper        vub                valid upper bound

    edge               (i, j, c): t_i - t_j <= c
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks

if TYPE_CHECKING:
    from cepctl.plan.plan import Alternative, Timing

UNBOUNDED = 2**63 - 1
"""Stands for "no constraint"; a real bound is smaller in absolute value (`cepctl.plan.timings`)."""


def closed_system(
    block_of: Sequence[int], window: int | None, edges: Sequence[tuple[int, int, int]] = ()
) -> Ticks:
    """Close the constraints of a pattern.

    `block_of`: for each variable the number of its block: variables of a later block come strictly later,
    those of one block (AND) are unordered.  `window`: W in ticks, None for none.  `edges`: further
    constraints (i, j, c): t_i - t_j <= c ticks.  Returns shape (l, l), int64: entry [i, j] bounds `t_i - t_j`
    from above.  Negative on the diagonal where the system has no solution.

    Examples
    --------
    >>> closed_system([0, 1, 2], window=4).tolist()
    [[0, -1, -2], [2, 0, -1], [3, 2, 0]]
    """
    count = len(block_of)
    bound = np.full((count, count), UNBOUNDED, dtype=np.int64)
    np.fill_diagonal(bound, 0)
    for i in range(count):
        for j in range(count):
            if i != j and window is not None:
                bound[i, j] = min(bound[i, j], window - 1, UNBOUNDED)
            if block_of[i] < block_of[j]:
                bound[i, j] = min(bound[i, j], -1)
    direct = [(i, j, int(bound[i, j])) for i in range(count) for j in range(count)]
    return closure(count, [*direct, *edges])


def system_of(alternative: Alternative, window: int | None) -> Ticks:
    """Close the constraints over the positive components; a Kleene group stands as any of its members."""
    return system_between(alternative.positive, alternative.blocks, alternative.timings, window)


def system_between(
    components: Sequence[int],
    blocks: Sequence[Sequence[int]],
    timings: Iterable[Timing],
    window: int | None,
) -> Ticks:
    """Close what the order of blocks, window and timings say of some components; shape (l, l)."""
    block_of = {component: number for number, block in enumerate(blocks) for component in block}
    place = {component: number for number, component in enumerate(components)}
    edges = [
        (place[each.left], place[each.right], each.bound)
        for each in timings
        if not each.not_equal and each.left in place and each.right in place
    ]
    return closed_system([block_of[each] for each in components], window, edges)


def closure(count: int, edges: Sequence[tuple[int, int, int]]) -> Ticks:
    """Close constraints (i, j, c), t_i - t_j <= c, over `count` variables; shape (count, count)."""
    bound = np.full((count, count), UNBOUNDED, dtype=np.int64)
    np.fill_diagonal(bound, 0)
    for i, j, limit in edges:
        bound[i, j] = min(bound[i, j], max(-UNBOUNDED, min(UNBOUNDED, limit)))
    for k in range(count):
        bound = np.minimum(bound, _through(bound[:, k, None], bound[k]))
    return bound


def _through(to: Ticks, onward: Ticks) -> Ticks:
    """The sums of two bounds, none where one of them is none; they stop at the ends of int64."""
    total = to + onward
    total[(to < 0) & (onward < 0) & ((total >= 0) | (total < -UNBOUNDED))] = -UNBOUNDED
    total[(to == UNBOUNDED) | (onward == UNBOUNDED) | ((to > 0) & (onward > 0) & (total < 0))] = UNBOUNDED
    return total


def valid_bounds(lower: Ticks, upper: Ticks, system: Ticks) -> tuple[Ticks, Ticks]:
    """Valid intervals of the events of candidate matches.

    `lower`, `upper`: uncertainty intervals, shape (n, l): row i is a candidate match, column j the event of
    variable j; not modified.  `system`: closed system of the l variables, shape (l, l).

    Returns
    -------
    valid_lower, valid_upper
        Shape (n, l).  Where masses have no holes, row i can happen iff all of its intervals are
        non-empty, and then each end is reached in some world.

    Examples
    --------
    >>> system = closed_system([0, 1, 2], window=4)
    >>> lower, upper = valid_bounds(np.array([[1, 3, 3]]), np.array([[5, 5, 5]]), system)
    >>> lower.tolist(), upper.tolist()
    ([[1, 3, 4]], [[3, 4, 5]])
    """
    valid_lower, valid_upper = np.empty_like(lower), np.empty_like(upper)
    _tighten(lower, upper, system, valid_lower, valid_upper)
    return valid_lower, valid_upper


@kernel
def _tighten(lower, upper, system, valid_lower, valid_upper):
    for row in range(lower.shape[0]):
        for i in range(system.shape[0]):
            earliest, latest = lower[row, i], upper[row, i]
            for j in range(system.shape[0]):
                if i != j and system[j, i] < UNBOUNDED:
                    earliest = max(earliest, plus(lower[row, j], -system[j, i]))
                if i != j and system[i, j] < UNBOUNDED:
                    latest = min(latest, plus(upper[row, j], system[i, j]))
            valid_lower[row, i], valid_upper[row, i] = earliest, latest


def possible(valid_lower: Ticks, valid_upper: Ticks) -> Flags:
    """Rows whose valid intervals are all non-empty."""
    return np.asarray(np.all(valid_lower <= valid_upper, axis=1))


def ticks_left(masses: Masses, events: Indexes, edges: Indexes) -> tuple[Ticks, Ticks, Flags]:
    """First and last ticks of the events of n rows, shape (n, l), and which rows some world allows.

    `edges` between columns, shape (e, 3), are the same for all rows.
    """
    lower, upper = masses.lower[events], masses.upper[events]
    possible = np.empty(len(events), dtype=bool)
    _settle_rows(masses.buckets, events, edges, lower, upper, possible)
    return lower, upper, possible


@kernel
def _settle_rows(buckets, events, edges, lower, upper, possible):
    for row in range(len(events)):
        possible[row] = settled(buckets, events[row], edges, lower[row], upper[row])


def narrowed(
    lower: Ticks, upper: Ticks, offsets: Indexes, edges: Indexes, edge_offsets: Indexes
) -> tuple[Ticks, Ticks, Flags]:
    """Narrow rows of different sizes, whose masses have no holes: row i owns what is from offsets[i] on.

    It owns the `edges` from edge_offsets[i] on, which count its variables from 0.
    """
    lower, upper, possible = lower.copy(), upper.copy(), np.empty(len(offsets) - 1, dtype=bool)
    _narrow_rows(lower, upper, offsets, edges, edge_offsets, possible)
    return lower, upper, possible


@kernel
def _narrow_rows(lower, upper, offsets, edges, edge_offsets, possible):
    for row in range(len(possible)):
        own = edges[edge_offsets[row] : edge_offsets[row + 1]]
        begin, end = offsets[row], offsets[row + 1]
        possible[row] = propagated(own, lower[begin:end], upper[begin:end])


@inner
def settled(buckets, event, edges, lower, upper):
    """Tighten bounds, and move them onto ticks with mass, until nothing moves; whether ticks are left."""
    while propagated(edges, lower, upper):
        if not _onto_masses(buckets, event, lower, upper):
            return True
    return False


@inner
def propagated(edges, lower, upper):
    """Tighten bounds until nothing moves; whether ticks are left."""
    rounds, moving = 0, True
    while moving:
        moving = False
        for e in range(len(edges)):
            i, j, bound = edges[e, 0], edges[e, 1], edges[e, 2]
            most, least = plus(upper[j], bound), plus(lower[i], -bound)
            if most < upper[i]:
                upper[i], moving = most, True
            if least > lower[j]:
                lower[j], moving = least, True
        rounds += 1
        if rounds > len(lower) + 1:  # without a contradiction nothing moves that often
            return False
        for p in range(len(lower)):
            if lower[p] > upper[p]:
                return False
    return True


@inner
def _onto_masses(buckets, event, lower, upper):
    """Move ends, none of which is beyond its mass, onto ticks that have some; whether anything moved."""
    moved = False
    for p in range(len(event)):
        begin, end = buckets.starts[event[p]], buckets.starts[event[p] + 1]
        if end - begin == 1:
            continue
        b = begin
        while buckets.hi[b] < lower[p]:
            b += 1
        if buckets.lo[b] > lower[p]:
            lower[p], moved = buckets.lo[b], True
        b = end - 1
        while buckets.lo[b] > upper[p]:
            b -= 1
        if buckets.hi[b] < upper[p]:
            upper[p], moved = buckets.hi[b], True
    return moved
