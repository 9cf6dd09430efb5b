"""The events behind some matches: what a picture of a match is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.diagnosis.posteriors import bin_ticks
from cepctl.engines.diagnosis.valid_intervals import (
    BoundEvents,
    ValidIntervals,
    bound_events,
    time_shares,
    valid_intervals,
)
from cepctl.event_table import LENGTH_COLUMNS, PMF_TYPE
from cepctl.plan.plan import Plan
from cepctl.schema import END_TIME

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs

_BINS = 32
"""How finely the mass of an event with a clock is drawn, and a bar that rises and falls."""


@dataclass(frozen=True)
class Bar:
    """An event that lasts: the latest tick of its start, the first and last of its end, the logged end.

    `under_way` are ticks, from and to, with how probable it is that the event is under way there, times
    their number.  `end_time` is in nanoseconds since the epoch.
    """

    start_upper: int
    end_lower: int
    end_upper: int
    end_time: int | None
    under_way: list[tuple[int, int, float]]


@dataclass(frozen=True)
class MatchedEvents:
    """Matches and all events that they bind.

    `events` is an event table (cepctl.event_table.FIXED_COLUMNS, then every attribute that one of these
    events has); `bound` says which of its rows make each match, `valid` which part of its interval each can
    use, of one that lasts from its start to its end.  `bars` has the rows of events that last.
    """

    plan: Plan
    matches: pa.Table
    events: pa.Table
    bound: BoundEvents
    valid: ValidIntervals
    bars: Mapping[int, Bar]

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that some event has."""
        at = self.events.column_names.index("time") + 1
        of_ends = (END_TIME, *LENGTH_COLUMNS)
        return [str(name) for name in self.events.column_names[at:] if name not in of_ends]


def matched_events(plan: Plan, inputs: EventInputs, matches: pa.Table) -> MatchedEvents:
    """Read the events of matches, and no others.

    `plan`, `inputs`: what gave the matches.  `matches`: rows of `cepctl.engines.rows.order.ordered`, each a
    match of its own (no summary of groups).
    """
    events = inputs.read_ids(bound_ids(matches.column("signature")), list(inputs.schema.attributes))
    bound = bound_events(matches.column("signature"), events.column("event_id").combine_chunks())
    columns = events_of(events, plan.clocks)
    valid = _valid(plan, inputs, columns, bound, events)
    empty = [name for name in inputs.schema.attributes if events.column(name).null_count == len(events)]
    events = _with_offsets(events, columns).drop_columns(empty)
    return MatchedEvents(plan, matches, events, bound, valid, _bars(events, columns))


def nanoseconds(times: pa.ChunkedArray) -> list[int | None]:
    """Logged times since the epoch, which 64 bits need not hold; None where there is none."""
    per_count = 1 if times.type.unit == "ns" else 1_000
    return [None if each is None else each * per_count for each in times.cast(pa.int64()).to_pylist()]


def _valid(
    plan: Plan, inputs: EventInputs, columns: Events, bound: BoundEvents, events: pa.Table
) -> ValidIntervals:
    """The part of its interval that each event can use: where something is given, all other events count."""
    if not plan.given or not len(events):
        return valid_intervals(plan, columns, bound)
    from cepctl.engines.confidence.given.known import known_events
    from cepctl.matching.run import types_read

    read = replace(inputs, only=None).read(plan.attributes, types_read(plan))
    every = events_of(read, plan.clocks)
    place = pl.Series(events.column("event_id").combine_chunks())
    of_id = pl.DataFrame({"id": every.ids, "row": np.arange(len(every))})
    rows = pl.DataFrame({"id": place}).join(of_id, on="id", how="left", maintain_order="left")
    moved = replace(bound, rows=rows.get_column("row").to_numpy()[bound.rows])
    return valid_intervals(plan, known_events(plan, every), moved)


def _bars(events: pa.Table, columns: Events) -> dict[int, Bar]:
    """The events that last, by their rows."""
    if columns.ends is None:
        return {}
    from cepctl.engines.diagnosis.posteriors import endpoint_spans, shares_under_way

    # The events of a dataset stand in its order, in which `columns` has them too.
    times: list[int | None] = [None] * len(events)
    if END_TIME in events.column_names:
        times = nanoseconds(events.column(END_TIME))
    found, ends, spans = {}, columns.ends, endpoint_spans(columns)
    for row in ends.lasting.tolist():
        lower, upper = int(spans.lower[row]), int(spans.upper[ends.end[row]])
        edges = np.linspace(lower - 0.5, upper + 0.5, min(_BINS, upper - lower + 1) + 1)
        first, last = bin_ticks(edges)
        middle = (first & last) + ((first ^ last) >> 1)
        held = shares_under_way(columns, row, middle) * (last - first + 1)
        found[row] = Bar(
            int(spans.upper[row]),
            int(spans.lower[ends.end[row]]),
            upper,
            times[row],
            [each for each in zip(first.tolist(), last.tolist(), held.tolist(), strict=True) if each[2] > 0],
        )
    return found


def _with_offsets(events: pa.Table, columns: Events) -> pa.Table:
    """The events with masses of when they happened, in bins: own part and offset of a clock's together."""
    if columns.clocks is None:
        return events
    masses = events.column("pmf").to_pylist()
    for row, clock in enumerate(columns.clocks.clock.tolist()):
        if clock != NO_CLOCK:
            lower, upper = int(columns.masses.lower[row]), int(columns.masses.upper[row])
            edges = np.linspace(lower - 0.5, upper + 0.5, min(_BINS, upper - lower + 1) + 1)
            first, last = (ends.tolist() for ends in bin_ticks(edges))
            shares = time_shares(columns, row, edges).tolist()
            masses[row] = [
                {"lo": lo, "hi": hi, "p": p} for lo, hi, p in zip(first, last, shares, strict=True) if p > 0
            ]
    return events.set_column(events.column_names.index("pmf"), "pmf", pa.array(masses, PMF_TYPE))


def bound_ids(signatures: pa.ChunkedArray) -> pa.Array:
    """The ids of all events of some matches, each once."""
    ids = pa.chunked_array([chunk.flatten().flatten() for chunk in signatures.chunks], pa.string())
    return pc.unique(ids)
