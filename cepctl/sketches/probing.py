"""Rows of a probe: stretches of time outside of which a pattern has no match.

Every match binds one event of the component with the fewest items.  Around each of these items lies what its
matches can reach; what overlaps is one row.

    at_most    for each such item, its events times the events of every other component in its reach
    about      what as many events at random times and with values at random would give: with rates r, window
               W and l components, r_1 ... r_l W^(l-1) / (l-1)! of a sequence in each tick (AND: times the
               orders of each block)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.errors import UnsupportedQueryError
from cepctl.numeric.arrays import Indexes, Numbers, Reals, Ticks
from cepctl.plan.plan import Plan
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.items import EARLIEST, LATEST, first_tick_of, last_tick_of
from cepctl.sketches.survivors import Survivors, survivors

ROW_SCHEMA = pa.schema(
    [("start", pa.int64()), ("end", pa.int64()), ("at_most", pa.int64()), ("about", pa.float64())]
)
_EXACT = 2.0**53


@dataclass(frozen=True)
class ItemReach:
    """Around each item of one alternative: the ticks of its matches, a bound on them, and about how many.

    `each` bounds the matches of one event of an item, `events` are the item's; those of several keys have one
    `origin`, which has `whole` events.
    """

    start: Ticks
    end: Ticks
    each: Reals
    events: Reals
    about: Reals
    origin: Indexes
    whole: Reals


def probe_rows(plan: Plan, archive: SketchArchive) -> pa.Table:
    """The rows of a probe, apart and ascending; `at_most` is null with Kleene, `about` without WITHIN.

    `[start, end]` of every match lies in one row.  What is given counts as true: it takes matches away, and
    adds none.

    Raises
    ------
    UnsupportedQueryError
        If the strategy passes over what may be absent.
    """
    if any(each.passes_over for each in plan.alternatives):
        raise UnsupportedQueryError(
            f"not supported yet: to probe for what may be absent under {plan.strategy.word}; probe with it "
            "and without it, each in a query of its own"
        )
    found = [reach(plan, each, lasting=archive.lasting) for each in survivors(plan, archive)]
    start, end = (_joined([getattr(each, name) for each in found]) for name in ("start", "end"))
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    ends = np.maximum.accumulate(end)
    begins = np.ones(len(start), dtype=np.bool_)
    begins[1:] = start[1:] > ends[:-1]
    firsts = np.flatnonzero(begins)
    if not len(firsts):
        return ROW_SCHEMA.empty_table()
    lasts = np.append(firsts[1:], len(start)) - 1
    row = np.empty(len(start), dtype=np.int64)
    row[order] = np.cumsum(begins) - 1
    parts = np.split(row, np.cumsum([len(each.start) for each in found])[:-1])
    bound, about = np.zeros(len(firsts)), np.zeros(len(firsts))
    for each, own in zip(found, parts, strict=True):
        bound += _at_most(each, own, len(firsts))
        about += np.bincount(own, each.about, len(firsts))
    kleene = any(component.kleene for each in plan.alternatives for component in each.components)
    return pa.table(
        [
            pa.array(start[firsts]),
            pa.array(ends[lasts]),
            pa.array(_whole(bound), mask=(bound >= _EXACT) | kleene),
            pa.array(
                _rounded(np.minimum(about, bound)), mask=np.full(len(firsts), plan.window is None or kleene)
            ),
        ],
        schema=ROW_SCHEMA,
    )


def _at_most(found: ItemReach, row: Indexes, rows: int) -> Reals:
    """A bound on the matches in each row.  An event of an origin has one key, whichever that is."""
    order = np.lexsort([found.origin, row])
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (np.diff(row[order]) != 0) | (np.diff(found.origin[order]) != 0)
    starts = np.flatnonzero(begins)
    apart = np.add.reduceat((found.events * found.each)[order], starts)
    together = found.whole[order][starts] * np.maximum.reduceat(found.each[order], starts)
    return np.bincount(row[order][starts], np.minimum(apart, together), rows).astype(np.float64)


def _rounded(numbers: Reals) -> Reals:
    """Numbers with three digits: more would promise too much."""
    digits = 10.0 ** (2 - np.floor(np.log10(np.where(numbers > 0, numbers, 1.0))))
    return np.asarray(np.round(numbers * digits) / digits)


def _joined(ticks: Sequence[Ticks]) -> Ticks:
    return np.concatenate([np.empty(0, dtype=np.int64), *ticks])


def _whole(bound: Reals) -> Numbers:
    """Numbers of matches; those that a float does not hold are left out."""
    return np.where(bound < _EXACT, bound, 0.0).astype(np.int64)


def reach(plan: Plan, found: Survivors, *, lasting: bool) -> ItemReach:
    """What the matches of one alternative can reach; where events are `lasting`, their ends reach further."""
    bounds, items = found.bounds, found.items
    anchor = min(range(len(items)), key=lambda each: len(items[each]))
    own = items[anchor]
    own_first, own_last = own.lower, own.upper
    start, end = np.full(len(own), LATEST), np.full(len(own), EARLIEST)
    each = np.ones(len(own))
    about = own.likely * _orders(plan, found)
    for other in range(len(items)):
        if other == anchor:
            continue
        first = first_tick_of(own.lower, bounds.between[anchor][other])
        last = last_tick_of(own.upper, bounds.between[other][anchor])
        meetings = items[other].meetings
        each *= meetings.events(own.key, first, last)
        about *= meetings.likely(own.key, first, last) / (last.astype(np.float64) - first + 1.0)
        first = np.maximum(first, meetings.first(own.key, first))
        ends = meetings.last(own.key, last)
        last = np.minimum(last, ends)
        start, end = np.minimum(start, first), np.maximum(end, ends if lasting else last)
        own_first = np.maximum(own_first, first_tick_of(first, bounds.between[other][anchor]))
        own_last = np.minimum(own_last, last_tick_of(last, bounds.between[anchor][other]))
    return ItemReach(
        np.minimum(start, own_first),
        np.maximum(end, own.upper if lasting else own_last),
        each,
        own.events.astype(np.float64),
        about,
        own.origin,
        found.whole[anchor][own.origin],
    )


def _orders(plan: Plan, found: Survivors) -> float:
    """In how much of the time between other events the events of a match can lie, at random."""
    count = len(found.bounds.components)
    if plan.window is None:
        return 1.0
    bound = set(found.alternative.positive)
    orders = math.prod(math.factorial(len(bound & set(block))) for block in found.alternative.blocks)
    return float(plan.window) ** (count - 1) / math.factorial(count - 1) * orders
