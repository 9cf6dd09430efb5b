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
    group, width = clauses.group_of_problems, len(events) + 1
    of_clauses, of_differences = group[clauses.problem_of_clauses], group[clauses.problem_of_differences]
    both = np.concatenate([clauses.left, clauses.right])
    known = np.flatnonzero(both != NO_EVENT)
    rank, owner = events.id_rank, np.tile(of_differences, 2)
    names, named = np.unique(owner[known] * width + rank[both[known]], return_inverse=True)
    of_events, row_of_rank = names // width, np.empty(width, dtype=np.int64)
    row_of_rank[rank] = np.arange(len(events))
    own = row_of_rank[names % width]
    begins = np.searchsorted(of_events, np.arange(clauses.groups))
    asked = np.zeros(len(both), dtype=np.int64)
    asked[known] = named.reshape(-1) - begins[owner[known]] + 1
    left, right = np.split(asked, 2)
    place = events.masses.upper[own]
    since = place[begins[of_events]]
    fixed = np.zeros(clauses.groups, dtype=bool)
    fixed[of_differences[(left == 0) | (right == 0)]] = True
    keys = (
        np.diff(clauses.clause_offsets), 2 * np.diff(clauses.difference_offsets) + clauses.absent,
        clauses.bound, events.masses.shape_numbers[own],
    )  # fmt: skip
    places = (
        np.full(len(group), _PROBLEM), np.full(len(of_clauses), _CLAUSE),
        left * width + right, place - np.where(fixed[of_events], 0, since),
    )  # fmt: skip
    owners = np.concatenate([group, of_clauses, of_differences, of_events])
    order = np.argsort(owners, kind="stable")
    offsets = np.searchsorted(owners[order], np.arange(clauses.groups + 1)).astype(np.int64)
    return first_alike(offsets, np.concatenate(keys)[order], np.concatenate(places)[order])
