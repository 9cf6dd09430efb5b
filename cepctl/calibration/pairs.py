"""Pairs of events of one key with different steps: how probable it is that the smaller step comes first.

Pairs whose intervals do not overlap are certain: they are counted, and need not be listed.  Of the others
the probability is that of `SEQ(* a, * b)`, measured as the engine measures its matches; under a law of order
all pairs of a key are measured at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.rows import RowsOfSeed, ShownRows
from cepctl.calibration.truth import numbered_texts
from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.concurrency import in_turn, usable_cores
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from cepctl.engines.order_laws.table import OrderPairs, in_parts, measure_keys
from cepctl.errors import QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.laws.law import OrderLaw
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.schema import TimeUnit

_PAIRS_AT_ONCE = 1 << 20
_BYTES_OF_PAIR = 150
_IN_ORDER = "PATTERN SEQ(* a, * b)"


@dataclass(frozen=True)
class Overlapping:
    """Pairs of events whose intervals overlap, `first` of the smaller step; shape (n,) each."""

    first: Indexes
    second: Indexes


def pair_rows(
    blurred: BlurredEvents,
    steps: pa.ChunkedArray,
    unit: TimeUnit,
    memory: MemoryBudget,
    law: OrderLaw | None = None,
) -> RowsOfSeed:
    """The pairs of blurred events, all of which have a key; `steps`: of each event, and those of the `law`.

    Raises
    ------
    QueryTooLargeError
        If there are too many for the memory, or one is too costly to measure.
    """
    key, (step, names) = blurred.truth.key, numbered_texts(steps)
    overlapping = overlapping_pairs(blurred, step, memory)
    first, second, tick = overlapping.first, overlapping.second, blurred.truth.tick
    kinds, type_ = np.unique(step[first] * len(names) + step[second], return_inverse=True)
    found = RowsOfSeed(
        stated=_before(blurred, unit, first, second),
        happened=tick[first] < tick[second],
        tied=tick[first] == tick[second],
        cluster=key[first],
        type_=type_.reshape(-1),
        types=tuple((names[kind // len(names)], names[kind % len(names)]) for kind in kinds.tolist()),
        events=ShownRows.of(
            blurred, steps, 2 * np.arange(len(first) + 1), np.stack([first, second], 1).ravel()
        ),
        plain=_all_pairs(key, step) - len(first),
        unreturned=_outside(blurred),
    )
    if law is None:
        return found
    lawful, beyond = _before_under_law(blurred, law, first, second)
    return found.under_law(np.where(np.isnan(lawful), found.stated, lawful), beyond)


def overlapping_pairs(blurred: BlurredEvents, step: Indexes, memory: MemoryBudget) -> Overlapping:
    """The events of these pairs, in the order of the rows of `pair_rows`; `step`: the number of each's step.

    Raises
    ------
    QueryTooLargeError
        If there are too many for the memory.
    """
    lower, upper = (blurred.table.column(name).to_numpy() for name in ("lower", "upper"))
    runs = _Runs.of(blurred.truth.key, lower, upper)
    _require_room(int(runs.sizes.sum()), memory)
    parts = [_stepped(step, *each) for each in runs.pairs()]
    first, second = (
        np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(each, name) for each in parts)])
        for name in ("first", "second")
    )
    return Overlapping(first, second)


@dataclass(frozen=True)
class _Runs:
    """Events by key and `lower`: after each, so many (`sizes`) of its key that begin before it ends."""

    order: Indexes
    sizes: Indexes

    @classmethod
    def of(cls, key: Indexes, lower: Ticks, upper: Ticks) -> _Runs:
        order = np.lexsort((lower, key))
        # Keys are put one after the other on one line, on which ticks are numbered.
        starts = np.unique(lower)
        line = (key * (len(starts) + 1))[order]
        begin = line + np.searchsorted(starts, lower[order])
        end = line + np.searchsorted(starts, upper[order], side="right")
        return cls(order, np.searchsorted(begin, end) - np.arange(len(order)) - 1)

    def pairs(self) -> Iterator[tuple[Indexes, Indexes]]:
        """All pairs, so many at a time."""
        upto = np.cumsum(self.sizes)
        cuts = np.searchsorted(upto, np.arange(0, upto[-1] if len(upto) else 0, _PAIRS_AT_ONCE))
        edges = [0, *np.unique(cuts[1:]).tolist(), len(self.order)]
        for begin, end in pairwise(edges):
            row, place = places_in_runs(self.sizes[begin:end])
            one = row + begin
            yield self.order[one], self.order[one + 1 + place]


def _require_room(pairs: int, memory: MemoryBudget) -> None:
    needed = pairs * _BYTES_OF_PAIR
    if needed > memory.own:
        raise QueryTooLargeError(
            f"the intervals of {pairs:,} pairs overlap, which takes about {size_text(needed)} of memory, and "
            f"{size_text(memory.own)} are available; take a part of the keys (--part 0/10), or raise "
            "--max-memory"
        )


def _stepped(step: Indexes, one: Indexes, other: Indexes) -> Overlapping:
    """Those of different steps, the smaller one first."""
    kept = step[one] != step[other]
    one, other = one[kept], other[kept]
    turned = step[one] > step[other]
    return Overlapping(np.where(turned, other, one), np.where(turned, one, other))


def _all_pairs(key: Indexes, step: Indexes) -> int:
    """How many pairs of one key have different steps."""
    size = int(step.max(initial=0)) + 1
    together = np.unique(key * size + step, return_counts=True)[1]
    return (_square(np.bincount(key, minlength=1)) - _square(together)) // 2


def _square(counts: Indexes) -> int:
    return int((counts.astype(np.int64) ** 2).sum())


def _outside(blurred: BlurredEvents) -> int:
    """How many events are truly where they cannot be: of these what seems certain may be wrong."""
    lower, upper = (blurred.table.column(name).to_numpy() for name in ("lower", "upper"))
    tick = blurred.truth.tick
    return int(((tick < lower) | (tick > upper)).sum())


def _before(blurred: BlurredEvents, unit: TimeUnit, first: Indexes, second: Indexes) -> Reals:
    """The probability that `first` happens before `second`, shape (n,)."""
    plan = analyze(parse(_IN_ORDER), EventSchema({}, unit, clocks=blurred.clocks))
    events = events_of(blurred.table, blurred.clocks)
    (prepared,) = prepared_alternatives(plan, events, MatchOptions())
    found = np.zeros(len(first))
    possible = np.flatnonzero(_can_precede(blurred.table, first, second))
    for begin in range(0, len(possible), _PAIRS_AT_ONCE):
        rows = possible[begin : begin + _PAIRS_AT_ONCE]
        found[rows] = prepared.judged({0: first[rows], 1: second[rows]}).confidence
    return found


def _can_precede(table: pa.Table, first: Indexes, second: Indexes) -> Flags:
    """Pairs that can be in order by their intervals; the engine is asked for no others."""
    lower, upper = (table.column(name).to_numpy() for name in ("lower", "upper"))
    return np.asarray(lower[first] < upper[second])


def _before_under_law(
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
