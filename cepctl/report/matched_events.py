"""The events behind some matches: what a picture of a match is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.diagnosis.posteriors import bin_ticks
from cepctl.engines.diagnosis.shared_offsets import time_shares
from cepctl.engines.diagnosis.valid_intervals import (
    BoundEvents,
    ValidIntervals,
    bound_events,
    valid_intervals,
)
from cepctl.plan.given import refuse_given
from cepctl.plan.grouping import refuse_groups
from cepctl.plan.interval_support import refuse_conditions_on_ends, refuse_lasting_events
from cepctl.plan.plan import Plan
from cepctl.schema import PMF_TYPE

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs

_BINS = 32
"""How finely the mass of an event with a clock is drawn."""


@dataclass(frozen=True)
class MatchedEvents:
    """Matches and all events that they bind.

    `events` is an event table (cepctl.schema.FIXED_COLUMNS, then every attribute that one of these events
    has); `bound` says which of its rows make each match, `valid` which part of its interval each can use.
    """

    plan: Plan
    matches: pa.Table
    events: pa.Table
    bound: BoundEvents
    valid: ValidIntervals

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that some event has."""
        at = self.events.column_names.index("time") + 1
        return [str(name) for name in self.events.column_names[at:]]


def matched_events(plan: Plan, inputs: EventInputs, matches: pa.Table) -> MatchedEvents:
    """Read the events of matches, and no others.

    Parameters
    ----------
    plan, inputs
        What gave the matches.
    matches
        Rows of `cepctl.engines.rows.order.ordered`, each a match of its own (no summary of groups).
    """
    refuse_groups(plan.query, "a drawing of matches")
    refuse_given(plan, "a drawing of matches")
    events = inputs.read_ids(_bound_ids(matches.column("signature")), list(inputs.schema.attributes))
    bound = bound_events(matches.column("signature"), events.column("event_id").combine_chunks())
    refuse_conditions_on_ends(plan, "a drawing of matches")
    refuse_lasting_events(plan, events, "a drawing of matches")
    columns = events_of(events, plan.clocks)
    valid = valid_intervals(plan, columns, bound)
    empty = [name for name in inputs.schema.attributes if events.column(name).null_count == len(events)]
    events = _with_offsets(events, columns).drop_columns(empty)
    return MatchedEvents(plan, matches, events, bound, valid)


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


def _bound_ids(signatures: pa.ChunkedArray) -> pa.Array:
    ids = pa.chunked_array([chunk.flatten().flatten() for chunk in signatures.chunks], pa.string())
    return pc.unique(ids)
