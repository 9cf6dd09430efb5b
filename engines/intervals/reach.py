"""The ticks left to the endpoints of matches, and which of their difference constraints are open.

The solutions of difference constraints, each variable on any set of ticks, are closed under taking the
smaller value of each: there is a smallest one.  Bounds are tightened edge by edge (Bellman and Ford) and
moved to the next tick that has mass until nothing moves; then each end is reached in some world, at once for
all.  An edge is open if some ticks of its endpoints violate it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner, kernel

MOST_TOLD = 62
"""Of more edges, the others count as open."""
IMPOSSIBLE = -1
"""Stands for the open edges of a match that no world returns."""


class Reached(NamedTuple):
    """Of n matches with m endpoints the ticks left to each, shape (n, m), and their open edges.

    Bit e of `open_edges`, shape (n,), says that edge e is open.  `start` and `end` are the first and the last
    tick of all, shape (n,).
    """

    lower: Ticks
    upper: Ticks
    open_edges: Indexes
    start: Ticks
    end: Ticks


def reached(
    endpoints: Endpoints, matches: Indexes, lasting: Flags, allowed: Ticks, edges: Indexes
) -> Reached:
    """Tighten the endpoints of n matches that bind points at the same places.

    Parameters
    ----------
    endpoints, matches
        The l events of each match, shape (n, l); place 2 k is the start of the k-th, 2 k + 1 its end.
    lasting
        Which of the l events last, shape (l,); the end of another is its start.
    allowed
        First and last tick that constants leave to each endpoint, shape (2 l, 2).
    edges
        (i, j, c): t_i - t_j <= c, shape (e, 3).  The last two for each event that lasts are those of its
        length, whose c is the event's own.
    """
    count, places = len(matches), 2 * matches.shape[1]
    found = Reached(
        *(np.empty((count, places), np.int64) for _ in range(2)),
        *(np.empty(count, np.int64) for _ in range(3)),
    )
    lengths = endpoints.shortest, endpoints.longest
    _reach(endpoints.masses.buckets, endpoints.end, *lengths, matches, lasting, allowed, edges, found)
    return found


@kernel
def _reach(buckets, ends, shortest, longest, matches, lasting, allowed, edges, found):
    places = 2 * matches.shape[1]
    endpoint, bound = np.empty(places, dtype=np.int64), edges[:, 2].copy()
    shared = len(edges) - 2 * lasting.sum()
    for row in range(len(matches)):
        earliest, latest = found.lower[row], found.upper[row]
        own = shared
        for k in range(matches.shape[1]):
            event = matches[row, k]
            endpoint[2 * k], endpoint[2 * k + 1] = event, ends[event] if lasting[k] else event
            if lasting[k]:
                bound[own], bound[own + 1] = -shortest[event], longest[event]
                own += 2
        for p in range(places):
            earliest[p] = max(buckets.lower[endpoint[p]], allowed[p, 0])
            latest[p] = min(buckets.upper[endpoint[p]], allowed[p, 1])
        found.open_edges[row] = _open(edges, bound, earliest, latest)
        if not _settled(buckets, endpoint, edges, bound, earliest, latest):
            found.open_edges[row] = IMPOSSIBLE
        for k in range(matches.shape[1]):
            if not lasting[k]:
                earliest[2 * k + 1], latest[2 * k + 1] = earliest[2 * k], latest[2 * k]
        found.start[row], found.end[row] = earliest[0], latest[0]
        for p in range(places):
            found.start[row] = min(found.start[row], earliest[p])
            found.end[row] = max(found.end[row], latest[p])


@inner
def _open(edges, bound, earliest, latest):
    bits = np.int64(0)
    for e in range(min(len(edges), MOST_TOLD)):
        if latest[edges[e, 0]] > plus(earliest[edges[e, 1]], bound[e]):
            bits |= np.int64(1) << e
    return bits


@inner
def _settled(buckets, endpoint, edges, bound, earliest, latest):
    """Tighten until nothing moves; whether ticks are left."""
    places = len(endpoint)
    rounds, moving = 0, True
    while moving:
        moving = _tightened(edges, bound, earliest, latest)
        rounds += 1
        if rounds > places + 1:  # without a contradiction nothing moves that often
            return False
        for p in range(places):
            if earliest[p] > latest[p]:
                return False
        if not moving and _onto_masses(buckets, endpoint, earliest, latest):
            rounds, moving = 0, True
    return True


@inner
def _tightened(edges, bound, earliest, latest):
    """Tighten by every edge once; whether anything moved."""
    moved = False
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        most, least = plus(latest[j], bound[e]), plus(earliest[i], -bound[e])
        if most < latest[i]:
            latest[i], moved = most, True
        if least > earliest[j]:
            earliest[j], moved = least, True
    return moved


@inner
def _onto_masses(buckets, endpoint, earliest, latest):
    """Move ends, none of which is beyond its mass, onto ticks that have some; whether anything moved."""
    moved = False
    for p in range(len(endpoint)):
        begin, end = buckets.starts[endpoint[p]], buckets.starts[endpoint[p] + 1]
        if end - begin == 1:
            continue
        b = begin
        while buckets.hi[b] < earliest[p]:
            b += 1
        if buckets.lo[b] > earliest[p]:
            earliest[p], moved = buckets.lo[b], True
        b = end - 1
        while buckets.lo[b] > latest[p]:
            b -= 1
        if buckets.hi[b] < latest[p]:
            latest[p], moved = buckets.hi[b], True
    return moved
