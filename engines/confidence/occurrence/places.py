"""The events of one group, and the places among them of what its clauses compare.

They are in the order of their ids' ranks, which no other group changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.confidence.coupled.clauses import NO_EVENT
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes


class PlacesOfEvents(NamedTuple):
    """The events of a group by the rank of their ids, and the places among them that differences compare."""

    event: Indexes
    left: Indexes
    right: Indexes


@inner
def places_of_events(clauses, group, rank, row_of_rank):
    """The events of a group, as its differences name them one after the other."""
    first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
    low = clauses.difference_offsets[clauses.clause_offsets[first]]
    high = clauses.difference_offsets[clauses.clause_offsets[last]]
    ranks = _ranks(clauses.left[low:high], clauses.right[low:high], rank)
    event = np.empty(len(ranks), np.int64)
    for i in range(len(ranks)):
        event[i] = row_of_rank[ranks[i]]
    left, right = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    for i in range(high - low):
        left[i] = _place(clauses.left[low + i], rank, ranks)
        right[i] = _place(clauses.right[low + i], rank, ranks)
    return PlacesOfEvents(event, left, right)


@inner
def _ranks(left, right, rank):
    """The distinct ranks of all events, ascending."""
    found = np.empty(2 * len(left), np.int64)
    count = 0
    for i in range(len(left)):
        if left[i] != NO_EVENT:
            found[count] = rank[left[i]]
            count += 1
        if right[i] != NO_EVENT:
            found[count] = rank[right[i]]
            count += 1
    return found[: sort_cuts(found, count)]


@inner
def _place(event, rank, ranks):
    return np.int64(NO_EVENT) if event == NO_EVENT else np.int64(np.searchsorted(ranks, rank[event]))
