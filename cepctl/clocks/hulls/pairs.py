"""Pairs of events of two hosts that are known to be ordered, with the readings between which each happened.

The orders are those of SEQ in clauses of GIVEN; of an event that lasts, the end comes before the start of the
next.  Where the intervals of events hold more than one reading, each end is known to be in its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.confidence.given.edges import MOST_DIFFERENCES, combinations, spoken_of, too_many
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given
from cepctl.schema import TimeUnit
from cepctl.uncertainty.stamping import nanoseconds_of

NO_HOST = -1
NAMELESS = ""
"""The host of events that have none, where they are the reference."""
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class HostEvents:
    """n events, arrays of shape (n,), with the readings of their hosts in nanoseconds, both ends included.

    `host` is a place in `hosts`, by name, or NO_HOST.  `start` and `end` are pairs of least and last
    readings. `first`, `last`: the readings of all events of hosts, and what the log shows of them.
    """

    events: Events
    hosts: tuple[str, ...]
    host: Indexes
    start: tuple[Ticks, Ticks]
    end: tuple[Ticks, Ticks]
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class EventPairs:
    """Events by row number, `first` before `second`, and the clause that says so; shape (k,)."""

    first: Indexes
    second: Indexes
    clause: Indexes


def host_events(
    table: pa.Table, by: str, unit: TimeUnit, clocks: Clocks, granularity: int, *, bare: bool = False
) -> HostEvents:
    """The events of a table, `by` the attribute that names their hosts.

    `clocks`: those that stamped events, whose offsets are no part of what was read.  `granularity`: for how
    many nanoseconds after its last reading each event can be.  With `bare` all events without a host are of
    one without a name, NAMELESS.
    """
    events = events_of(table, clocks)
    names = events.frame.get_column(by).cast(pl.String)
    names = names.fill_null(NAMELESS) if bare else names
    hosts = names.drop_nulls().unique().sort()
    places = pl.Series(np.arange(len(hosts)))
    host = names.replace_strict(hosts, places, default=NO_HOST, return_dtype=pl.Int64).to_numpy()
    ends = events.endpoints
    lower, upper = (_nanoseconds(each, unit) for each in (ends.masses.lower, ends.masses.upper))
    upper = upper + granularity
    known = host != NO_HOST
    of_hosts = np.flatnonzero(known[ends.owner])
    shown = _shown(events, unit)[known] if "time" in events.frame.columns else lower[:0]
    readings = np.concatenate([lower[of_hosts], upper[of_hosts], shown[shown != _LARGEST]])
    count = len(events)
    return HostEvents(
        events,
        tuple(hosts.to_list()),
        host,
        (lower[:count], upper[:count]),
        (lower[ends.end], upper[ends.end]),
        int(readings.min(initial=_LARGEST)),
        int(readings.max(initial=-_LARGEST)),
    )


def _nanoseconds(ticks: Ticks, unit: TimeUnit) -> Ticks:
    limit = _LARGEST // unit.nanoseconds
    return np.asarray(np.clip(ticks, -limit, limit) * unit.nanoseconds)


def _shown(events: Events, unit: TimeUnit) -> Ticks:
    """What the log shows of events, _LARGEST where it shows nothing."""
    times = events.frame.get_column("time")
    instants = times.dt.cast_time_unit(unit.resolution).cast(pl.Int64)
    shown = nanoseconds_of(instants.fill_null(0).to_numpy(), unit)
    return np.where(times.is_not_null().to_numpy(), shown, _LARGEST)


def ordered_pairs(own: HostEvents, given: Sequence[Given]) -> tuple[Flags, EventPairs, tuple[str, ...]]:
    """Which events clauses speak of, their pairs, and the clauses that no event fits in some component.

    Raises
    ------
    QueryTooLargeError
        If clauses speak of too many combinations of events.
    """
    none = np.zeros(0, dtype=np.int64)
    found = [(none, none, none)]
    spoken = spoken_of(given, own.events)
    for number, clause, fitting in spoken.clauses:
        kept = 0
        for first, second in _of_clause(clause, fitting, own):
            found.append((first, second, np.full(len(first), number)))
            kept += len(first)
            if kept > MOST_DIFFERENCES:
                raise too_many(clause, kept)
    columns = (np.concatenate(each) for each in zip(*found, strict=True))
    return spoken.events, EventPairs(*columns), spoken.empty


def _of_clause(
    clause: Given, fitting: tuple[Indexes, ...], own: HostEvents
) -> Iterator[tuple[Indexes, Indexes]]:
    count = len(fitting)
    if count == 2:
        fitting = (*(each[own.host[each] != NO_HOST] for each in fitting),)
    system = np.full((count, count), UNBOUNDED, dtype=np.int64)
    np.fill_diagonal(system, 0)
    for rows in combinations(clause, own.events, fitting, system):
        for i in range(count):
            for j in range(i + 1, count):
                one, other = own.host[rows[:, i]], own.host[rows[:, j]]
                kept = (one != other) & (one != NO_HOST) & (other != NO_HOST)
                yield rows[kept, i], rows[kept, j]
