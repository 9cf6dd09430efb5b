"""What ties bound between the events of matches: closed systems, row by row."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure


def tied_systems(ties: EventTies, system: Ticks, matches: Indexes) -> Ticks:
    """The system of a pattern with the ties of the events of each match, shape (n, l, l), not closed.

    Parameters
    ----------
    ties
        What ties the events.
    system
        Bounds of `t_i - t_j` for events i and j of every match, shape (l, l).
    matches
        Row numbers of events, shape (n, l).
    """
    component, rank = ties.component[matches], ties.rank[matches]
    pair = (component[:, :, None] == component[:, None, :]) & (component[:, :, None] >= 0)
    match, left, right = np.nonzero(pair & ~np.eye(matches.shape[1], dtype=bool))
    own = component[match, left]
    found = np.full(len(match), UNBOUNDED, dtype=np.int64)
    serial = ties.serial[own]
    found[serial] = _along(ties, own[serial], rank[match, left][serial], rank[match, right][serial])
    for number in np.unique(own[~serial]):
        at = np.flatnonzero(own == number)
        apart = _closed(ties, int(number))
        found[at] = apart[rank[match[at], left[at]], rank[match[at], right[at]]]
    systems = np.repeat(system[None, :, :], len(matches), axis=0)
    systems[match, left, right] = np.minimum(systems[match, left, right], found)
    return systems


def _along(ties: EventTies, component: Indexes, left: Indexes, right: Indexes) -> Ticks:
    """The sum of the ties of a series from one rank to another; no bound the other way."""
    total = np.concatenate([[0], np.cumsum(ties.bound)])
    begin = ties.tie_offsets[component]
    forward = left < right
    apart = total[begin + np.where(forward, right, 0)] - total[begin + np.where(forward, left, 0)]
    return np.where(forward, apart, UNBOUNDED)


def _closed(ties: EventTies, component: int) -> Ticks:
    at = slice(int(ties.tie_offsets[component]), int(ties.tie_offsets[component + 1]))
    edges = zip(
        ties.rank[ties.left[at]].tolist(),
        ties.rank[ties.right[at]].tolist(),
        ties.bound[at].tolist(),
        strict=True,
    )
    return closure(int(ties.sizes[component]), list(edges))
