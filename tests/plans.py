"""Small streams of events and queries over them, for tests that read as examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import pyarrow as pa

from cepctl.clocks.shared import Clocks, extremes
from cepctl.event_table import FIXED_COLUMNS, LENGTH_COLUMNS, PMF_TYPE
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import CLOCK, MILLISECOND, RECORD, WRITER

ATTRIBUTES: dict[str, pa.DataType] = {"x": pa.int64(), "k": pa.string(), "g": pa.string()}
OF_WRITERS: dict[str, pa.DataType] = {WRITER: pa.string(), RECORD: pa.int64()}
"""Of events that are known to be in the order in which someone wrote them."""


@dataclass(frozen=True)
class Event:
    """One event of a test: uniform over [lower, upper], or `pmf` as buckets (lo, hi, p).

    With a `clock`, lower and upper hold all its possible ticks, and `pmf` is the own part's (see `on`).
    """

    event_id: str
    event_type: str
    lower: int
    upper: int
    pmf: tuple[tuple[int, int, float], ...] | None = None
    x: int | None = None
    k: str | None = None
    g: str | None = None
    clock: str | None = None
    end_lower: int | None = None
    end_upper: int | None = None
    end_pmf: tuple[tuple[int, int, float], ...] | None = None
    length_lower: int | None = None
    length_upper: int | None = None
    writer: str | None = None
    record: int | None = None

    def __repr__(self) -> str:
        """Only what differs from the defaults, so that a failing example is short."""
        shown = [repr(getattr(self, f.name)) for f in fields(self)[:4]]
        rest = {f.name: getattr(self, f.name) for f in fields(self)[4:]}
        shown += [f"{name}={value!r}" for name, value in rest.items() if value is not None]
        return f"Event({', '.join(shown)})"


def histogram(event_id: str, event_type: str, *pmf: tuple[int, int, float], x: int | None = None) -> Event:
    """An event whose interval is that of its buckets."""
    return Event(event_id, event_type, min(lo for lo, _, _ in pmf), max(hi for _, hi, _ in pmf), pmf, x=x)


def lasting(
    event_id: str,
    event_type: str,
    start: tuple[int, int],
    end: tuple[int, int],
    *,
    length: tuple[int | None, int | None] = (None, None),
) -> Event:
    """An event that lasts, start and end uniform over intervals."""
    event = Event(event_id, event_type, *start)
    return replace(event, end_lower=end[0], end_upper=end[1], length_lower=length[0], length_upper=length[1])


def on(clock: str, clocks: Clocks, event: Event) -> Event:
    """An event, given as its own part, that a clock stamped; of one that lasts, start and end."""
    first, last = extremes(clocks[clock])
    moved = replace(event, lower=event.lower + first, upper=event.upper + last, clock=clock)
    if event.end_lower is None or event.end_upper is None:
        return moved
    return replace(moved, end_lower=event.end_lower + first, end_upper=event.end_upper + last)


def event_table(events: Iterable[Event], *, written: bool = False) -> pa.Table:
    """The event table of some test events, in the given order; with clocks where there are any.

    `written`: with columns of writers, which else there are where some event has one.
    """
    rows = list(events)
    columns: dict[str, pa.Array] = {}
    clock = {CLOCK: pa.string()} if any(row.clock is not None for row in rows) else {}
    lengths = {
        name: kind
        for name, kind in LENGTH_COLUMNS.items()
        if any(getattr(row, name) is not None for row in rows)
    }
    written |= any(row.writer is not None for row in rows)
    writers = OF_WRITERS if written else {}
    for name, kind in {**FIXED_COLUMNS, **lengths, **clock, **ATTRIBUTES, **writers}.items():
        values = [getattr(row, name, None) for row in rows]
        if kind == PMF_TYPE:
            values = [v and [{"lo": lo, "hi": hi, "p": p} for lo, hi, p in v] for v in values]
        columns[name] = pa.array(values, kind)
    return pa.table(columns)


def plan_of(
    query: str, clocks: Clocks | None = None, *, lasting: bool = False, in_units: bool = False
) -> Plan:
    """The plan of a query over test events; one tick is 1 ms.

    `in_units`: those of a writer overlap in time only where they have the same interval.
    """
    attributes = {**ATTRIBUTES, **(OF_WRITERS if WRITER in query else {})}
    schema = EventSchema(attributes, MILLISECOND, clocks=clocks or {}, lasting=lasting, in_units=in_units)
    return analyze(parse(query), schema)
