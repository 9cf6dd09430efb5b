"""What `explain` shows of the events: pairs left out unmeasured, what is given ties, open orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from cepctl.plan.plan import Plan

MOST_STATED = 20
"""Pairs of shapes that are told."""


@dataclass(frozen=True)
class StatedRange:
    """Of pairs shaped as two events, a and b, how many ticks `upper_b - upper_a` may be.

    None where there is no end.  No pair of these shapes reaches the threshold where `least` exceeds `most`.
    """

    variable_a: str
    variable_b: str
    example_a: str
    example_b: str
    least: int | None
    most: int | None


def stated_ranges(plan: Plan, table: pa.Table) -> list[StatedRange]:
    """The ranges of a plan that asks for a confidence, of at most MOST_STATED pairs of shapes."""
    if plan.minimum_confidence is None or plan.minimum_confidence <= 0.0 or not table.num_rows:
        return []
    prepared = prepared_alternatives(plan, events_of(table), MatchOptions())
    found = (each for one in prepared for each in _of_alternative(one, plan.minimum_confidence))
    return list(islice(found, MOST_STATED))


def _of_alternative(prepared: PreparedAlternative, confidence: float) -> Iterator[StatedRange]:
    ids, components = prepared.events.ids, prepared.alternative.components
    names = [components[i].variable for i in prepared.search.singles]
    for each in prepared.ranges(confidence):
        pairs = product(enumerate(each.examples_a.tolist()), enumerate(each.examples_b.tolist()))
        for (i, a), (j, b) in pairs:
            least, most = int(each.least[i, j]), int(each.most[i, j])
            nobody = least > most
            yield StatedRange(
                *(names[each.column_a], names[each.column_b], ids[a], ids[b]),
                1 if nobody else None if least == FIRST else least,
                0 if nobody else None if most == LAST else most,
            )


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
    from cepctl.engines.confidence.given.known import known_events

    known = known_events(plan, events_of(table, plan.clocks))
    ties = known.ties or known.tied_endpoints
    return TieCounts(len(ties.left), len(ties.sizes), int(ties.sizes.max(initial=0)))


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
