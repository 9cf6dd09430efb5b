"""What laws of order leave to be summed: keys with events whose order is open, and how many sets of these."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class OpenOrders:
    """Runs of events of one key whose order is open and weighed by a law.

    `runs` of so many `events` in all; `widest`: the key of that of which the most sets of events, `sets`, may
    have happened in one cell of time; `work`: the sets of all runs together; `beyond`: runs of keys of more
    sets than the limit.
    """

    runs: int
    events: int
    widest: str | None
    sets: float
    work: float
    beyond: int

    def to_json(self) -> dict[str, Any]:
        """What is open, as values that JSON has."""
        return asdict(self)


def open_orders(plan: Plan, table: pa.Table, limit: int) -> OpenOrders:
    """The open orders of events under the laws of a plan, as rows are measured.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    events = events_of(table, plan.clocks)
    orders = key_orders(plan.laws, events.frame, events.masses)
    weighed = np.zeros(0, dtype=np.int64) if orders is None else np.flatnonzero(orders.speaks)
    if orders is None or not len(weighed):
        return OpenOrders(0, 0, None, 0.0, 0.0, 0)
    sets = orders.sets[weighed]
    return OpenOrders(
        runs=len(weighed),
        events=int(np.diff(orders.starts)[weighed].sum()),
        widest=orders.name_of(int(weighed[np.argmax(sets)])),
        sets=float(sets.max()),
        work=float(sets.sum()),
        beyond=int(orders.beyond(limit)[weighed].sum()),
    )
