"""What is shown of one match: its events, their bins, its rivals, and how its confidence comes about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from cepctl.engines.columns.events import Events
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.engines.diagnosis.order_laws import LawShown
from cepctl.engines.diagnosis.valid_intervals import OffsetShown, time_shares
from cepctl.engines.diagnosis.worlds_left import GivenShown
from cepctl.engines.solve.stated import StatedMethod
from cepctl.numeric.arrays import Reals
from cepctl.plan.plan import Alternative, Plan


@dataclass(frozen=True)
class TickSpan:
    """Ticks from one to another, both included; none where they are reversed."""

    lower: int
    upper: int


@dataclass(frozen=True)
class EventShown:
    """An event: id, type, raw time in nanoseconds, interval in ticks, and how probable each bin is.

    Of one that lasts they are of its start; `until` and `raw_end_nanoseconds` are of its end, and each bin
    says how probable it is that the event is under way, times the ticks of the bin.
    """

    event_id: str
    event_type: str
    raw_nanoseconds: int | None
    lower: int
    upper: int
    prior: Reals
    until: TickSpan | None = None
    raw_end_nanoseconds: int | None = None


@dataclass(frozen=True)
class BoundMember:
    """A bound event, its valid interval in ticks (empty where reversed), and the probability of each bin
    given the match, None where that is not known.  `valid_until` is that of its end, if it lasts.
    """

    variable: str
    event: EventShown
    valid_lower: int
    valid_upper: int
    posterior: Reals | None
    valid_until: TickSpan | None = None


@dataclass(frozen=True)
class Factor:
    """The probability that this condition holds together with those above it."""

    condition: Condition
    probability: float


@dataclass(frozen=True)
class RivalShown:
    """An event that breaks the match where it lies in a gap: how probable that is, were it the only rival."""

    condition: Condition
    event: EventShown
    probability: float


class AllReadings(NamedTuple):
    """Time range, in ticks, and confidence of a signature that some of its readings by OR returns."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class OneMatch:
    """Everything about one signature; with `reasons` it is not a match, and only members are told.

    `bins`: edges of the drawing's bins in ticks.  `error` bounds the error of the probabilities; 0 where
    they are exact.  `methods`: by which the confidence was measured.  `offsets` are those of clocks that its
    events share.  `other_readings` bind the same events, and `whole` is the row that all of them have
    together, where it is known; all else is of the first.  `relations` says what the query asks of
    interval events, in words.  `given`: what is given, where something is; intervals of events are those of
    all worlds, and what of them is valid, the confidence, its factors and the rivals are of the worlds that
    remain.  `law`: what a law of order makes of the confidence, where it says something of these events; all
    that is told of how the confidence comes about is then without it.
    """

    plan: Plan
    alternative: Alternative
    events: Events
    members: tuple[BoundMember, ...]
    bins: Reals
    reasons: tuple[Reason, ...] = ()
    start: int = 0
    end: int = 0
    confidence: float = 0.0
    error: float = 0.0
    factors: tuple[Factor, ...] = ()
    methods: tuple[StatedMethod, ...] = ()
    rivals: tuple[RivalShown, ...] = ()
    offsets: tuple[OffsetShown, ...] = ()
    other_readings: int = 0
    whole: AllReadings | None = None
    relations: tuple[str, ...] = ()
    given: GivenShown | None = None
    law: LawShown | None = None


def event_shown(events: Events, event: int, edges: Reals) -> EventShown:
    """An event, with how probable it is to lie in each bin."""
    row = events.frame.row(event, named=True)
    raw = logged_nanoseconds(events, "time", event)
    lower, upper = int(events.masses.lower[event]), int(events.masses.upper[event])
    shares = time_shares(events, event, edges)
    return EventShown(row["event_id"], row["event_type"], raw, lower, upper, shares)


def logged_nanoseconds(events: Events, column: str, event: int) -> int | None:
    """The logged time of an event since the epoch, which 64 bits need not hold; None where it has none."""
    if column not in events.frame.columns:
        return None
    times = events.frame.get_column(column)
    count = times.to_physical()[event]
    per_count = 1 if times.dtype == pl.Datetime("ns", "UTC") else 1_000
    return None if count is None else int(count) * per_count


def bin_edges(first: int, last: int, bins: int) -> Reals:
    """Edges of the bins from one tick to another, none of which is narrower than a tick."""
    count = int(min(bins, float(last) - float(first) + 1))
    return np.linspace(float(first) - 0.5, float(last) + 0.5, count + 1)
