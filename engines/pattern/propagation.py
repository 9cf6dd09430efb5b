"""What differences leave to ticks: lower and upper bounds are tightened edge by edge until nothing moves.

The solutions of difference constraints, each variable on any set of ticks, are closed under taking the
smaller value of each: there is a smallest one.  Bounds are tightened edge by edge (Bellman and Ford) and
moved to the next tick that has mass until nothing moves; then each end is reached in some world, at once for
all.

    who narrows ticks in another way        because
    `difference_constraints`                its systems are closed: one look at each pair is enough
    `offset_bounds`                         few offsets stand for many events: closed over these, row by row
    `confidence.given.closing`              millions of ties, whose events are named where they contradict
    `confidence.gaps.time_range`            a rival leaves a choice: before it or after it

    name here      meaning
    edge           (i, j, c): t_i - t_j <= c
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks


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
