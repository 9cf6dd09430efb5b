"""Pairs of events of one key under a law of order: how probable it is that one is before the other."""

from __future__ import annotations

from typing import cast

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.truth import numbered_texts
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.confidence.orders.steps import steps_of
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.table import OrderPairs, measure_keys
from cepctl.order_laws.law import OrderLaw


def before_under_law(
    blurred: BlurredEvents, law: OrderLaw, first: Indexes, second: Indexes
) -> tuple[Reals, Flags]:
    """P(`first` happens before `second`) for pairs of events of one key whose intervals overlap.

    The steps of each pair differ.  Also of which pairs the key is beyond the limit: they are NaN.  All of
    shape (n,).
    """
    order = np.argsort(blurred.truth.key, kind="stable")
    _, sizes = np.unique(blurred.truth.key, return_counts=True)
    columns = list(dict.fromkeys(["event_id", *law.step]))
    frame = cast(pl.DataFrame, pl.from_arrow(blurred.table.select(columns)))
    step, names = numbered_texts(steps_of(law, frame).to_arrow())
    starts = np.concatenate([[0], np.cumsum(sizes)])
    keys = Keys(masses_of(blurred.table.take(order)), starts, step[order])
    measured = measure_keys(keys, Factors.of_law(law, names), pairs=True)
    assert measured.pairs is not None
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    beyond = measured.beyond[keys.key[place[first]]]
    found = np.full(len(first), np.nan)
    found[~beyond] = earlier(measured.pairs, place[first[~beyond]], place[second[~beyond]], len(order))
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
