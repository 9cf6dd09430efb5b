"""What cannot be asked yet of events that last: refused by name, never answered by their starts alone."""

from __future__ import annotations

import pyarrow as pa

from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan


def refuse_intervals(what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked."""
    raise UnsupportedQueryError(
        f"not supported yet: {what} for interval events; leave it out, or ingest without --intervals"
    )


def refuse_conditions_on_ends(plan: Plan, what: str) -> None:
    """The same where the query itself speaks of ends."""
    if any(each.reads_ends for each in plan.alternatives):
        refuse_intervals(what)


def refuse_lasting_events(plan: Plan, events: pa.Table, what: str) -> None:
    """The same where some of the events that matter to a plan lasts.

    Under contiguity such an event may be a rival alone, by its start; where it fits, the engine refuses it.
    """
    if plan.strategy.asks_all:
        return
    if "end_lower" in events.column_names and events.column("end_lower").null_count < len(events):
        refuse_intervals(what)
