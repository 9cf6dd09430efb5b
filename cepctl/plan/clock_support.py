"""What cannot be asked yet of events that share clocks: refused by name, never answered without them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import EventSchemaError, UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.schema import CLOCK


def refuse_clocks(plan: Plan, what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked, where the events of a plan share clocks."""
    if not plan.clocks:
        return
    names = sorted(plan.clocks)
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    raise UnsupportedQueryError(
        f"not supported yet: {what} for events that share clocks ('{names[0]}'{more}); leave it out, or give "
        "the events intervals without `clock`: cepctl assign"
    )


def require_known_clocks(plan: Plan, table: pa.Table) -> None:
    """Raise EventSchemaError where an event has a clock whose offset the plan does not know."""
    if CLOCK not in table.column_names:
        return
    for name in pc.unique(table.column(CLOCK)).drop_null().to_pylist():
        if name not in plan.clocks:
            raise EventSchemaError(
                f"clock '{name}' has no offset in the metadata of its dataset; ingest the events again"
            )
