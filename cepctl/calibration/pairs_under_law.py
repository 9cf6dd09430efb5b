"""Pairs of events of one key under a law of order: how probable it is that one is before the other.

Steps that the law does not name are one to it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import cast

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.calibration.blurring import BlurredEvents
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.concurrency import in_turn, usable_cores
from cepctl.engines.confidence.orders.steps import steps_of
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.pieces import KeyPieces
from cepctl.engines.order_laws.table import OrderPairs, in_parts, measure_keys
from cepctl.order_laws.law import BEGIN, END, OrderLaw

_OTHERS = "$"
"""No step that is named can be this one."""


def before_under_law(
    blurred: BlurredEvents, law: OrderLaw, first: Indexes, second: Indexes
) -> tuple[Reals, Flags]:
    """P(`first` happens before `second`) for pairs of events of one key whose intervals overlap.

    NaN of pairs of which the law says nothing, and of those whose piece of the key is beyond the limit; also
    which these are.  All of shape (n,).
    """
    order = np.argsort(blurred.truth.key, kind="stable")
    _, sizes = np.unique(blurred.truth.key, return_counts=True)
    step, names = _named_steps(law, blurred)
    starts, factors = np.concatenate([[0], np.cumsum(sizes)]), Factors.of_law(law, names)
    pieces = KeyPieces.of(Keys(masses_of(blurred.table.take(order)), starts, step[order]))
    piece = np.full(len(order), -1)
    piece[order[pieces.event]] = pieces.keys.key
    beyond = np.append(pieces.beyond(factors), False)[
        np.where(piece[first] == piece[second], piece[first], -1)
    ]
    pairs = _pairs_of(pieces.keys, factors)
    place = np.full(len(order), len(pieces.event))
    place[order[pieces.event]] = np.arange(len(pieces.event))
    return earlier(pairs, place[first], place[second], len(pieces.event) + 1), beyond


def _pairs_of(keys: Keys, factors: Factors) -> OrderPairs:
    """All pairs of keys, each part of them on a core of its own."""
    found = [*in_turn((partial(_measured, keys, factors, part) for part in in_parts(keys)), usable_cores())]
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    joined = {
        each.name: np.concatenate([nothing[each.name not in ("first", "second")], *columns])
        for each in fields(OrderPairs)
        for columns in [[getattr(pairs, each.name) for pairs in found]]
    }
    return OrderPairs(**joined)


def _measured(keys: Keys, factors: Factors, part: Indexes) -> OrderPairs:
    """The pairs of some keys, with the places of their events among those of all."""
    pairs = measure_keys(keys.take(part), factors, pairs=True).pairs
    assert pairs is not None
    run, place = places_in_runs(np.diff(keys.starts)[part])
    event = keys.starts[part][run] + place
    return replace(pairs, first=event[pairs.first], second=event[pairs.second])


def _named_steps(law: OrderLaw, blurred: BlurredEvents) -> tuple[Indexes, list[str]]:
    """The number of each event's step among those that the law names, and one for all others."""
    named = sorted({each for pair in (*law.following, *law.before) for each in pair} - {BEGIN, END})
    columns = list(dict.fromkeys(["event_id", *law.step]))
    frame = cast(pl.DataFrame, pl.from_arrow(blurred.table.select(columns)))
    number = dict(zip(named, range(len(named)), strict=True))
    step = steps_of(law, frame).replace_strict(number, default=len(named), return_dtype=pl.Int64)
    return step.to_numpy(), [*named, _OTHERS]


def earlier(pairs: OrderPairs, first: Indexes, second: Indexes, events: int) -> Reals:
    """P(the tick of `first` is before that of `second`), looked up among pairs; NaN of any other pair."""
    one, other = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    known = one * events + other
    order = np.argsort(known)
    wanted = np.minimum(first, second) * events + np.maximum(first, second)
    if not len(known):
        return np.full(len(wanted), np.nan)
    at = order[np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)]
    found = np.where(pairs.first[at] == first, pairs.earlier[at], pairs.later[at])
    return np.asarray(np.where(known[at] == wanted, found, np.nan))
