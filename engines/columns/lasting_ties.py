"""Ties of events that last: what is given of their starts and ends, and which events it connects.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.ties import connected, distinct

NO_COMPONENT = -1


@dataclass(frozen=True)
class LastingTies:
    """Differences `t_left - t_right <= bound` between endpoints, and the components of events they make.

    `left`, `right`, `bound`, shape (k,), stand by component: those of component c from tie_offsets[c] to
    tie_offsets[c + 1].  `component`, shape (n,), is that of each event, NO_COMPONENT where tied to none;
    `members` from member_offsets[c] on are its events, and `rank` says where an event stands there.
    `of_clock`: the component of all events of a clock, shape (clocks,), NO_COMPONENT where there is none.
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
    of_clock: Indexes
    probability: Reals

    @property
    def sizes(self) -> Indexes:
        """Number of events of each component."""
        return np.diff(self.member_offsets)


def event_of_endpoint(endpoints: Endpoints) -> Indexes:
    """The event of each endpoint, shape (n + k,)."""
    return np.concatenate([np.arange(len(endpoints)), endpoints.lasting])


def lasting_ties(
    endpoints: Endpoints, left: Indexes, right: Indexes, bound: Ticks, clocks: EventClocks | None
) -> LastingTies:
    """The ties between some endpoints; `clocks` are those of the endpoints, where events share some.

    What is given of events of several clocks tells of their offsets, so that it connects these, too.
    """
    count, owner = len(endpoints), event_of_endpoint(endpoints)
    many = 0 if clocks is None else len(clocks.offsets.lower)
    one, other = owner[left], owner[right]
    if clocks is not None:
        one, other = _through_clocks(one, other, clocks.clock[:count])
    label = connected(count + many, one, other)
    tied = distinct(np.concatenate([owner[left], owner[right]]), count)
    roots = distinct(label[tied], count + many)
    number = np.full(count + many, NO_COMPONENT)
    number[roots] = np.arange(len(roots))
    component = np.full(count, NO_COMPONENT)
    component[tied] = number[label[tied]]
    members = tied[np.argsort(component[tied], kind="stable")]
    member_offsets = np.searchsorted(component[members], np.arange(len(roots) + 1)).astype(np.int64)
    rank = np.full(count, -1)
    rank[members] = np.arange(len(members)) - member_offsets[component[members]]
    of_tie = component[owner[left]]
    order = np.lexsort((rank[owner[right]], rank[owner[left]], of_tie))
    return LastingTies(
        left[order],
        right[order],
        bound[order],
        np.searchsorted(of_tie[order], np.arange(len(roots) + 1)).astype(np.int64),
        component,
        rank,
        members,
        member_offsets,
        number[label[count:]],
        np.full(len(roots), np.nan),
    )


def _through_clocks(one: Indexes, other: Indexes, clock: Indexes) -> tuple[Indexes, Indexes]:
    """Pairs of events with those of an event and its clock, unless all that are connected have one clock."""
    count = len(clock)
    label = connected(count, one, other)
    tied = distinct(np.concatenate([one, other]), count)
    moves = np.zeros(count, dtype=bool)
    moves[label[tied[clock[tied] != clock[label[tied]]]]] = True
    through = tied[moves[label[tied]] & (clock[tied] != NO_CLOCK)]
    return np.concatenate([one, through]), np.concatenate([other, count + clock[through]])
