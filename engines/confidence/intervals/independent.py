"""Time range and confidence of matches whose endpoints are independent: nothing given, no clock shared.

For each case of the conditions, matches that bind points at the same places share a system of edges between
endpoints.  Edges that hold whatever the ticks are left out, match by match; the probability of the others is
summed, and divided by that of the events' own laws, where these are among them.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.confidence.intervals.edges import (
    MOST_TOLD,
    SHARED,
    OpenEdges,
    Reached,
    Skeleton,
    coupled_groups,
    reached,
    skeleton_of,
)
from cepctl.engines.confidence.intervals.measure import IntervalMeasure
from cepctl.engines.confidence.intervals.sums import (
    probability,
)
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.numeric.arrays import Indexes, Reals, Ticks

BLOCK = 1 << 16
"""Matches that are measured at once."""
OWN_LENGTHS = 1 << MOST_TOLD


def measured_independently(measure: IntervalMeasure, matches: Indexes) -> Measured:
    """Measure matches, shape (n, l), that nothing can break.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many products.
    """
    total = Total(len(matches))
    for lasting, rows in measure.by_points(matches):
        for case in measure.cases:
            skeleton = skeleton_of(case, lasting)
            own = matches[rows]
            left = reached(measure.endpoints, own, np.array(lasting), skeleton.allowed, skeleton.edges)
            happens = np.flatnonzero(left.open_edges >= 0)
            some = taken(left, happens)
            ends = reduce(np.minimum, some.lower.T), reduce(np.maximum, some.upper.T)
            total.add(rows[happens], _summed(measure, skeleton, some, own[happens]), *ends)
    return total.measured()


def _summed(measure: IntervalMeasure, skeleton: Skeleton, left: Reached, matches: Indexes) -> Reals:
    """P(all edges) over P(the events' own): for matches alike in which edges are open at once."""
    total = np.ones(len(matches))
    undecided = np.flatnonzero(left.open_edges) if skeleton.can_be_certain else np.arange(len(matches))
    if not len(undecided):
        return total
    if len(undecided) < len(matches):
        matches, left = matches[undecided], taken(left, undecided)
    endpoint = measure.endpoints.places(matches)
    own = measure.endpoints.lengths(matches[:, np.array(skeleton.lasting)])
    open_edges = _with_own_lengths(skeleton, left.open_edges, own)
    part = np.ones(len(matches))
    for mask in _distinct(open_edges):
        rows = np.flatnonzero(open_edges == mask)
        chosen = _chosen(skeleton, int(mask))
        some = taken(left, rows)
        found = probability(measure, chosen, endpoint[rows], some, own[rows])
        part[rows] = _conditioned(measure.endpoints, found, chosen, matches[rows])
    total[undecided] = part
    return total


def _conditioned(endpoints: Endpoints, found: Reals, chosen: OpenEdges, matches: Indexes) -> Reals:
    """Given that the stamps of every event agree with its law."""
    for event in range(matches.shape[1]):
        if event not in chosen.free:
            found = found / endpoints.whole[matches[:, event]]
    return found


def taken(left: Reached, rows: Indexes) -> Reached:
    """Of some matches."""
    return Reached(*(each[rows] for each in left))


def _distinct(masks: Indexes) -> Indexes:
    if len(masks) and int(masks.max()) < len(masks) + 1024:
        return np.flatnonzero(np.bincount(masks))
    return np.unique(masks)


def _with_own_lengths(skeleton: Skeleton, open_edges: Indexes, own: Ticks) -> Indexes:
    """Open edges that matter; the bit OWN_LENGTHS where a length has bounds of its own.

    `0 <= end - start` does not matter where other edges imply it, but another bound does.
    """
    found = open_edges & skeleton.needed
    for number in range(own.shape[1]):
        edge = skeleton.shared + number
        if edge < MOST_TOLD:
            is_open = (open_edges >> edge & 1).astype(bool)
            # Of both edges of an event the second bounds its length from above, also by 0.
            bounded = is_open & ((own[:, number] != 0) | (number % 2 == 1))
            found |= np.where(bounded, np.int64(1) << edge | OWN_LENGTHS, 0)
    return found


def _chosen(skeleton: Skeleton, mask: int) -> OpenEdges:
    count = len(skeleton.edges)
    numbers = [each for each in range(count) if each >= MOST_TOLD or mask >> each & 1]
    return coupled_groups(
        tuple(map(tuple, skeleton.edges[numbers].tolist())),
        tuple(number - skeleton.shared if number >= skeleton.shared else SHARED for number in numbers),
        skeleton.restricted,
        own_lengths=bool(mask & OWN_LENGTHS) or count > MOST_TOLD,
    )
