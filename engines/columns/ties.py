"""Ties: what is given of pairs of events and their intervals do not imply, so that they are not independent.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks


@dataclass(frozen=True)
class EventTies:
    """Differences `t_left - t_right <= bound` between events, by row number, and their components.

    `left`, `right`, `bound`, shape (k,), stand by component: those of component c from tie_offsets[c] to
    tie_offsets[c + 1].  `component`, shape (n,), is that of each event, -1 where it is tied to none;
    `members` from member_offsets[c] on are its events in order, and `rank` says where an event stands there.
    `probability`: that all ties of a component hold, NaN as long as it is not known.
    """

    left: Indexes
    right: Indexes
    bound: Ticks
    tie_offsets: Indexes
    component: Indexes
    rank: Indexes
    members: Indexes
    member_offsets: Indexes
    probability: Reals

    @property
    def sizes(self) -> Indexes:
        """Number of events of each component."""
        return np.diff(self.member_offsets)

    def touches(self, event: Indexes) -> Flags:
        """Which events are tied."""
        return np.asarray(self.component[event] >= 0)


def event_ties(count: int, left: Indexes, right: Indexes, bound: Ticks) -> EventTies:
    """Ties between some of `count` events."""
    label = connected(count, left, right)
    tied = np.unique(np.concatenate([left, right]))
    roots, number = np.unique(label[tied], return_inverse=True)
    component = np.full(count, -1, dtype=np.int64)
    component[tied] = number.reshape(-1)
    members = tied[np.argsort(component[tied], kind="stable")]
    member_offsets = np.searchsorted(component[members], np.arange(len(roots) + 1)).astype(np.int64)
    rank = np.full(count, -1, dtype=np.int64)
    rank[members] = np.arange(len(members)) - member_offsets[component[members]]
    order = np.lexsort((rank[right], rank[left], component[left]))
    left, right, bound = left[order], right[order], bound[order]
    tie_offsets = np.searchsorted(component[left], np.arange(len(roots) + 1)).astype(np.int64)
    unknown = np.full(len(roots), np.nan)
    return EventTies(left, right, bound, tie_offsets, component, rank, members, member_offsets, unknown)


def connected(count: int, left: Indexes, right: Indexes) -> Indexes:
    """For each of `count` events the smallest one that pairs connect it to, shape (count,)."""
    label = np.arange(count)
    while True:
        smaller = np.minimum(label[left], label[right])
        found = label.copy()
        for side in (left, right):
            np.minimum.at(found, side, smaller)
            np.minimum.at(found, label[side], smaller)
        while not (found[found] == found).all():
            found = found[found]
        if (found == label).all():
            return label
        label = found
