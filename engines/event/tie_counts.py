"""How many events what is given ties, and how many of them together: for `cepctl explain`."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cepctl.engines.columns.events import events_of
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class TieCounts:
    """Ties that no interval implies, the components that they make, and the events of the largest."""

    ties: int
    components: int
    largest: int


def tie_counts(plan: Plan, table: pa.Table) -> TieCounts:
    """Count them in the events of a query that the event engine runs.

    Raises
    ------
    ContradictionError
        If no possible world satisfies what is given.
    """
    from cepctl.engines.given.known import known_events

    known = known_events(plan, events_of(table, plan.clocks))
    ties = known.ties or known.endpoint_ties
    if ties is None:
        return TieCounts(0, 0, 0)
    return TieCounts(len(ties.left), len(ties.sizes), int(ties.sizes.max()))
