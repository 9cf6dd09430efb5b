"""Ties of interval events: what is given of their starts and ends, and which events it connects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.ties import NO_COMPONENT, Ties, connected, distinct, numbered, ties_of


@dataclass(frozen=True)
class EndpointTies(Ties):
    """Ties between endpoints.

    `of_clock`: the component of all events of a clock, shape (clocks,), NO_COMPONENT where there is none.
    """

    of_clock: Indexes


def event_of_endpoint(endpoints: Endpoints) -> Indexes:
    """The event of each endpoint, shape (n + k,)."""
    return np.concatenate([np.arange(len(endpoints)), endpoints.lasting])


def endpoint_ties(
    endpoints: Endpoints, left: Indexes, right: Indexes, bound: Ticks, clocks: EventClocks | None
) -> EndpointTies:
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
    number = numbered(label, tied)
    component = np.full(count, NO_COMPONENT)
    component[tied] = number[label[tied]]
    members = tied[np.argsort(component[tied], kind="stable")]
    ties = ties_of(left, right, bound, (owner[left], owner[right]), component, members)
    return EndpointTies(**vars(ties), of_clock=number[label[count:]])


def _through_clocks(one: Indexes, other: Indexes, clock: Indexes) -> tuple[Indexes, Indexes]:
    """Pairs of events with those of an event and its clock, unless all that are connected have one clock."""
    count = len(clock)
    label = connected(count, one, other)
    tied = distinct(np.concatenate([one, other]), count)
    moves = np.zeros(count, dtype=bool)
    moves[label[tied[clock[tied] != clock[label[tied]]]]] = True
    through = tied[moves[label[tied]] & (clock[tied] != NO_CLOCK)]
    return np.concatenate([one, through]), np.concatenate([other, count + clock[through]])
