"""Events under the laws of order of a plan; keys of GROUP BY, and what rows tell of the law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, MatchBatch
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.orders.asked import LawRows
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.confidence.orders.under_laws import LawfulOrders
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.combinators import rows_of
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine


def with_orders(plan: Plan, events: Events, options: MatchOptions) -> Events:
    """Events with the orders that laws weigh, if there are any that are open.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    UnsupportedQueryError
        If an event whose order is open lasts.
    """
    orders = key_orders(plan.laws, events.frame, events.masses)
    if orders is None:
        return events
    if events.last([np.flatnonzero(orders.cluster >= 0)]):
        require_engine(plan, "event", lasting=True)
    return replace(events, orders=LawfulOrders(orders, options.law_limit, options.beyond))


def without_orders(source: PreparedAlternative) -> PreparedAlternative:
    """The alternative of events that no law weighs."""
    return replace(source, events=replace(source.events, orders=None))


def law_columns(
    source: PreparedAlternative, matches: MatchBatch, names: Sequence[str]
) -> dict[str, pa.Array]:
    """What rows tell of the law: the confidence without it, and whether it was applied."""
    columns = {}
    if LAWLESS in names:
        columns[LAWLESS] = pa.array(lawless_confidence(source, matches))
    if LAW in names:
        columns[LAW] = pa.array(~beyond(source, matches))
    return columns


def lawless_confidence(source: PreparedAlternative, matches: MatchBatch) -> Reals:
    """The confidences of matches without the law."""
    if source.events.orders is None or not len(matches):
        return matches.confidence
    found = without_orders(source).judged(_bound(source, matches))
    return np.maximum(found.confidence, SMALLEST)


def beyond(source: PreparedAlternative, matches: MatchBatch) -> Flags:
    """Which matches were measured without the law, for a key that is too much work."""
    orders = source.events.orders
    if orders is None or not len(matches):
        return np.zeros(len(matches), dtype=bool)
    return orders.beyond_of(_rows(source, matches))


def occurrences_under_laws(
    source: PreparedAlternative, parts: Iterable[tuple[PreparedAlternative, MatchBatch, Indexes]], count: int
) -> tuple[Reals, Flags]:
    """P(some row of each group holds), NaN where it is too costly; and of which the law says nothing.

    `parts`: matches with the group of each, -1 for none.
    """
    orders = source.events.orders
    assert orders is not None
    rows: list[LawRows] = []
    groups: list[Indexes] = []
    for each, batch, group in parts:
        chosen = np.flatnonzero(group >= 0)
        rows.append(_rows(each, batch.take(chosen)))
        groups.append(group[chosen])
    return orders.unions(LawRows.joined(rows), np.concatenate(groups), count, source.plan.window)


def _rows(source: PreparedAlternative, matches: MatchBatch) -> LawRows:
    bound = _bound(source, matches)
    rivals = [] if source.shape.plain_chain else source.rivals(bound)
    return rows_of(Batch(source.measure, bound, rivals))


def _bound(source: PreparedAlternative, matches: MatchBatch) -> dict[int, Bindings]:
    return dict(zip(source.search.singles, matches.bound, strict=True))
