"""Pairs of events of one key under a law of order: how probable it is that one is before the other."""

from __future__ import annotations

from typing import cast

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.calibration.blurring import BlurredEvents
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.order_laws.keys import DEFAULT_LIMIT, Factors, Keys
from cepctl.engines.order_laws.table import OrderPairs, measure_keys
from cepctl.order_laws.law import OrderLaw

_OTHERS = "\0"
"""Stands for all steps that a law does not name."""


def before_under_law(
    blurred: BlurredEvents, law: OrderLaw, first: Indexes, second: Indexes
) -> tuple[Reals, Flags]:
    """P(`first` happens before `second`) for pairs of events of one key whose intervals overlap.

    The steps of each pair differ.  Also of which pairs the key is beyond the limit, as rows are.  The
    probability is NaN there, and where the law weighs no order of the key.  All of shape (n,).
    """
    found, beyond = np.full(len(first), np.nan), np.zeros(len(first), dtype=bool)
    columns = list(dict.fromkeys(["event_id", law.by, *law.step]))
    frame, masses = cast(pl.DataFrame, pl.from_arrow(blurred.table.select(columns))), masses_of(blurred.table)
    orders = key_orders((law,), frame, masses)
    if orders is None:
        return found, beyond
    large, weighed = orders.beyond(DEFAULT_LIMIT), np.zeros(int(orders.key.max()) + 1, dtype=bool)
    np.logical_or.at(weighed, orders.key, orders.speaks & ~large)
    # Events of one key that overlap are in one cluster.
    cluster = orders.cluster[first]
    beyond = large[cluster]
    wanted = np.flatnonzero(weighed[orders.key[cluster]])
    of_key = np.isin(blurred.truth.key, np.unique(blurred.truth.key[first[wanted]]))
    chosen = np.flatnonzero(of_key)
    order = chosen[np.argsort(blurred.truth.key[chosen], kind="stable")]
    _, sizes = np.unique(blurred.truth.key[order], return_counts=True)
    keys = Keys(masses.take(order), np.concatenate([[0], np.cumsum(sizes)]), orders.codes[order])
    factors = Factors.of_law(law, [_OTHERS, *orders.factors[0].codes])
    measured = measure_keys(keys, factors, pairs=True)
    assert measured.pairs is not None
    place = np.full(len(masses.lower), -1)
    place[order] = np.arange(len(order))
    found[wanted] = earlier(measured.pairs, place[first[wanted]], place[second[wanted]], len(order))
    return found, beyond


def earlier(pairs: OrderPairs, first: Indexes, second: Indexes, events: int) -> Reals:
    """P(the tick of `first` is before that of `second`), looked up among all pairs."""
    one, other = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    known = one * events + other
    order = np.argsort(known)
    wanted = np.minimum(first, second) * events + np.maximum(first, second)
    at = order[np.searchsorted(known[order], wanted)]
    found: Reals = np.where(pairs.first[at] == first, pairs.earlier[at], pairs.later[at])
    return found
