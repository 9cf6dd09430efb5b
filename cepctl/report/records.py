"""Events and values in the plain types that JSON has, nothing lost on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from cepctl.plan.plan import Plan
from cepctl.report.matched_events import Bar, MatchedEvents, nanoseconds

Plain: TypeAlias = str | int | float | bool | None

_EXACT = 2**53
"""Integers below this in absolute value are exact in every reader of JSON."""


@dataclass(frozen=True)
class EventRecord:
    """One event: its interval in ticks, its buckets (lo, hi, p) where it is not uniform, its raw time.

    `time` is in nanoseconds since the epoch, None where the log gave none.  One that lasts has a `bar`: its
    interval reaches to the end of that, and its buckets say where it is under way.
    """

    event_id: str
    event_type: str
    source: str | None
    lower: int
    upper: int
    buckets: list[tuple[int, int, float]] | None
    time: int | None
    attributes: dict[str, Plain]
    bar: Bar | None = None


def event_records(found: MatchedEvents) -> list[EventRecord]:
    """The bound events in the order of their table."""
    events, names = found.events, found.attributes
    columns = ["event_id", "event_type", "source", "lower", "upper", "pmf"]
    fixed = events.select(columns).to_pylist()
    attributes = events.select(names).to_pylist() if names else [{} for _ in fixed]
    records = [
        EventRecord(
            row["event_id"],
            row["event_type"],
            row["source"],
            row["lower"],
            row["upper"],
            [(each["lo"], each["hi"], each["p"]) for each in row["pmf"]] if row["pmf"] else None,
            time,
            {name: plain(value) for name, value in given.items() if value is not None},
        )
        for row, time, given in zip(fixed, nanoseconds(events.column("time")), attributes, strict=True)
    ]
    for row, bar in found.bars.items():
        records[row] = replace(records[row], upper=bar.end_upper, buckets=bar.under_way, bar=bar)
    return records


def plain(value: Plain) -> Plain:
    """A value that JSON readers keep as it is: what they would round or refuse becomes text.

    Examples
    --------
    >>> plain(7), plain(2**60), plain(float("inf"))
    (7, '1152921504606846976', 'inf')
    """
    if isinstance(value, int) and not -_EXACT < value < _EXACT:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def variables(plan: Plan) -> list[list[str]]:
    """For each alternative the variables of its positive components, in pattern order."""
    return [[each.components[i].variable for i in each.positive] for each in plan.alternatives]
