"""Pairs of events of one key under a law of order: how probable it is that one is before the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.calibration.blurring import BlurredEvents
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.concurrency import in_turn, usable_cores
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.engines.order_laws.table import OrderPairs, in_parts, measure_keys
from cepctl.order_laws.choices import MOST_SETS_ALIVE
from cepctl.order_laws.law import OrderLaw


def before_under_law(
    blurred: BlurredEvents, law: OrderLaw, first: Indexes, second: Indexes
) -> tuple[Reals, Flags]:
    """P(`first` happens before `second`) for n pairs of events of one key whose intervals overlap.

    NaN of pairs of which the law says nothing, and of those whose cluster is beyond the limit; also which
    these are.  All of shape (n,).
    """
    columns = list(dict.fromkeys(["event_id", law.by, *law.step]))
    frame = cast(pl.DataFrame, pl.from_arrow(blurred.table.select(columns)))
    orders = key_orders((law,), frame, masses_of(blurred.table))
    if orders is None:
        return np.full(len(first), np.nan), np.zeros(len(first), dtype=bool)
    wide, cluster = np.append(orders.wide(MOST_SETS_ALIVE), False), orders.cluster
    beyond = wide[np.where(cluster[first] == cluster[second], cluster[first], -1)]
    return _pairs_of(orders).before(first, second), beyond


def _pairs_of(orders: KeyOrders) -> OrderPairs:
    """All pairs of all clusters, by rows of events; each part of them on a core of its own."""
    parts = (partial(_measured, orders, part) for part in in_parts(orders.keys))
    return OrderPairs.joined(in_turn(parts, usable_cores()))


def _measured(orders: KeyOrders, part: Indexes) -> OrderPairs:
    """The pairs of some clusters."""
    pairs = measure_keys(orders.keys.take(part), orders.factors[0], pairs=True).pairs
    assert pairs is not None
    event = np.concatenate([orders.events_of(number) for number in part.tolist()])
    return replace(pairs, first=event[pairs.first], second=event[pairs.second])
