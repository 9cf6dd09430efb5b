"""The events behind some matches: what a picture of a match is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.events import events_of
from cepctl.engines.diagnosis.valid_intervals import (
    BoundEvents,
    ValidIntervals,
    bound_events,
    valid_intervals,
)
from cepctl.plan.clock_support import refuse_clocks
from cepctl.plan.grouping import refuse_groups
from cepctl.plan.plan import Plan

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs


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
    refuse_clocks(plan, "a drawing of matches")
    refuse_groups(plan, "a drawing of matches")
    events = inputs.read_ids(_bound_ids(matches.column("signature")), list(inputs.schema.attributes))
    bound = bound_events(matches.column("signature"), events.column("event_id").combine_chunks())
    valid = valid_intervals(plan, events_of(events), bound)
    empty = [name for name in inputs.schema.attributes if events.column(name).null_count == len(events)]
    return MatchedEvents(plan, matches, events.drop_columns(empty), bound, valid)


def _bound_ids(signatures: pa.ChunkedArray) -> pa.Array:
    ids = pa.chunked_array([chunk.flatten().flatten() for chunk in signatures.chunks], pa.string())
    return pc.unique(ids)
