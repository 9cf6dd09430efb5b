"""What is remembered between two runs: how far time has come, and the events that can still matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from cepctl.engines.event.match import match_schema
from cepctl.engines.rows.order import ordered
from cepctl.plan.plan import Plan
from cepctl.schema import TICK_MIN
from cepctl.state.written_order import Steps


@dataclass(frozen=True)
class Counts:
    """How many there have been in all runs: events read, of them late, reopened or with a known id."""

    events: int = 0
    late: int = 0
    reopened: int = 0
    repeated: int = 0
    emitted: int = 0
    retracted: int = 0


@dataclass(frozen=True)
class Progress:
    """The state between two runs; ticks throughout.

    Attributes
    ----------
    newest, watermark
        Largest `lower` seen, and the tick before which an event is late; None before the first event.
    finalized_before
        Every match that ends before it has been emitted, and is final.
    pending
        No match that is still to be emitted or changed can end before it.
    complete_from
        All events that can matter and reach this tick or a later one are kept.
    events
        Those events, sorted by (lower, event_id).
    late
        Late events that a run with `reopen` can still take in.
    provisional
        Rows that were emitted although they may change: those of eager runs and of reopened spans.
    closed
        Whether everything has been emitted.
    steps
        Where writers begin anew, as far as their events are kept.
    closed_records
        Along what the last record of each writer stands that no later one may stand before; only where they
        stand along something else than the files have them.
    """

    events: pa.Table
    late: pa.Table
    provisional: pa.Table
    newest: int | None = None
    watermark: int | None = None
    finalized_before: int = TICK_MIN
    pending: int = TICK_MIN
    complete_from: int = TICK_MIN
    closed: bool = False
    counts: Counts = field(default_factory=Counts)
    steps: Mapping[str, Steps] = field(default_factory=dict)
    closed_records: Mapping[str, int] = field(default_factory=dict)

    def with_rows_of(self, plan: Plan) -> Progress:
        """The same, with provisional rows in the types of a plan whose attributes have become wider."""
        schema = no_rows(plan).schema
        return (
            self
            if self.provisional.schema == schema
            else replace(self, provisional=self.provisional.cast(schema, safe=False))
        )


def beginning(plan: Plan, events: pa.Schema) -> Progress:
    """The state before the first run; `events` are the columns of events that the plan reads."""
    return Progress(events.empty_table(), events.empty_table(), no_rows(plan))


def no_rows(plan: Plan) -> pa.Table:
    """The rows of a plan where there are none."""
    return ordered(match_schema(plan).empty_table())
