"""Events under the laws of order of a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.order_laws.key_orders import key_orders
from cepctl.engines.order_laws.under_laws import LawfulOrders
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine


def with_orders(plan: Plan, events: Events, options: MatchOptions) -> Events:
    """The same events, with the orders that laws weigh, if there are any that are open.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    UnsupportedQueryError
        If an event whose order is open lasts.
    """
    orders = key_orders(plan.laws, events)
    if orders is None:
        return events
    if events.last([np.flatnonzero(orders.cluster >= 0)]):
        require_engine(plan, "event", lasting=True)
    return replace(events, orders=LawfulOrders(orders, options.law_limit, options.beyond))
