"""Which groups are others moved in time: rows that ask the same of the same masses at the same distances.

Regular and coarse stamps put few intervals at few distances, so that the rows of many keys are those of
another key at another time.  The sum over their union knows nothing of time but distances, so such groups
have the same probability to the last bit.

What a group asks is a list of numbers, compared as those of matches are (`alike_matches`):

    of each problem       how many clauses it has
    of each clause        how many differences, and whether it is absent
    of each difference    its bound, and the places of its events in the order of their ids
    of each event         its shape, and where it is; of groups that know constants by the ticks themselves
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.alike_matches import first_alike
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Clauses
from cepctl.engines.confidence.occurrence.settled import places_of_events
from cepctl.engines.kernels.kernel import kernel
from cepctl.numeric.arrays import Indexes

_FEWEST = 1 << 8
"""Of fewer groups none is looked for."""
_TRIED = 1 << 10
"""So many groups say whether they repeat: to look takes a fiftieth of measuring them."""
_PROBLEM, _CLAUSE = -1, -2
"""Stand in the place of what a group asks; differences have natural ones."""


def moved_groups(events: Events, clauses: Clauses) -> Indexes | None:
    """For each of g groups the first that it is when moved, shape (g,).

    None where hardly any repeats, or there are so few of them, that it is quicker to measure each.
    """
    count = clauses.groups
    if count < _FEWEST or not events.masses.can_be_moved:
        return None
    if count > _TRIED and _mostly_differ(_alike(events, clauses.of_groups(np.arange(_TRIED)))):
        return None
    found = _alike(events, clauses)
    return None if _mostly_differ(found) else found


def _mostly_differ(first: Indexes) -> bool:
    """Whether all but an eighth of some groups differ."""
    return bool(8 * np.count_nonzero(first == np.arange(len(first))) > 7 * len(first))


def _alike(events: Events, clauses: Clauses) -> Indexes:
    rank = events.id_rank - 1
    row_of_rank = np.empty(len(events), dtype=np.int64)
    row_of_rank[rank] = np.arange(len(events))
    # A difference has two events at most.
    most = len(clauses.clause_offsets) + len(clauses.absent) + 3 * len(clauses.bound)
    offsets = np.zeros(clauses.groups + 1, dtype=np.int64)
    keys, places = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    masses = events.masses
    _write(clauses, rank, row_of_rank, masses.shape_numbers, masses.upper, offsets, keys, places)
    return first_alike(offsets, keys, places)


@kernel
def _write(clauses, rank, row_of_rank, shape, place, offsets, keys, places):
    """Write what each group asks."""
    at = 0
    for group in range(len(offsets) - 1):
        own = places_of_events(clauses, group, rank, row_of_rank)
        first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
        begin, end = clauses.clause_offsets[first], clauses.clause_offsets[last]
        for p in range(first, last):
            keys[at], places[at] = clauses.clause_offsets[p + 1] - clauses.clause_offsets[p], _PROBLEM
            at += 1
        for k in range(begin, end):
            size = clauses.difference_offsets[k + 1] - clauses.difference_offsets[k]
            keys[at], places[at] = 2 * size + clauses.absent[k], _CLAUSE
            at += 1
        low, width, fixed = clauses.difference_offsets[begin], len(own.event) + 1, False
        for i in range(len(own.left)):
            keys[at], places[at] = clauses.bound[low + i], (own.left[i] + 1) * width + own.right[i] + 1
            fixed |= own.left[i] == NO_EVENT or own.right[i] == NO_EVENT
            at += 1
        since = np.int64(0) if fixed or not len(own.event) else place[own.event[0]]
        for event in own.event:
            keys[at], places[at] = shape[event], place[event] - since
            at += 1
        offsets[group + 1] = at
