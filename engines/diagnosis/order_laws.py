"""One match under a law of order: what the law makes of its confidence, of the orders in it, and by what.

A factor matters as much as the confidence changes where it is 1 instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.orders.asked import LawRows
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.engines.confidence.orders.under_laws import LawfulOrders
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.combinators import rows_of
from cepctl.laws.law import OrderLaw

_MOST_SHOWN = 3
_MOST_TRIED = 60
"""Factors that are tried at most, those that are farthest from 1."""


@dataclass(frozen=True)
class NeighbourOrder:
    """How probable it is that an event of a match is before the next one: by id, without and with the law."""

    first: str
    second: str
    without: float
    under: float


@dataclass(frozen=True)
class FactorShown:
    """A factor, and the confidence if it were 1.  `kind`: `next`, or `before`."""

    kind: str
    first: str
    second: str
    factor: float
    otherwise: float


@dataclass(frozen=True)
class LawShown:
    """What the law of each `by` makes of a match.

    `without`: the confidence without it; `neighbours`: of events next to each other in the match; `factors`:
    the three that matter most, the first most.
    """

    by: tuple[str, ...]
    without: float
    confidence: float
    neighbours: tuple[NeighbourOrder, ...]
    factors: tuple[FactorShown, ...]


def law_shown(
    prepared: PreparedAlternative, bound: dict[int, Bindings], confidence: float, limit: int
) -> LawShown | None:
    """A match of single events under the laws of its plan; None where they say nothing of it.

    `confidence`: without a law; `limit`: sets alive in a cell, above which a key is too much work.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    QueryTooLargeError
        If a key of the match is beyond the limit.
    """
    plan, events = prepared.plan, prepared.events
    orders = key_orders(plan.laws, events.frame, events.masses)
    if orders is None:
        return None
    row = rows_of(Batch(prepared.measure, bound, prepared.rivals(bound)))
    asked = _LawAsked(orders, limit, plan.window)
    lawful = asked.under(row)
    if np.isnan(lawful):
        return None
    return LawShown(
        by=tuple(law.by for law in plan.laws),
        without=confidence,
        confidence=lawful,
        neighbours=tuple(asked.neighbours(row, events)),
        factors=tuple(asked.factors(row, confidence, lawful, plan.laws)),
    )


@dataclass(frozen=True)
class _LawAsked:
    orders: KeyOrders
    limit: int
    window: int | None

    def under(self, row: LawRows, orders: KeyOrders | None = None) -> float:
        """P(row) under the law, NaN where that says nothing of it."""
        lawful = LawfulOrders(orders or self.orders, self.limit, "refuse")
        return float(lawful.probabilities(row, self.window)[0])

    def neighbours(self, row: LawRows, events: Events) -> Iterator[NeighbourOrder]:
        pairs = np.column_stack([row.events[0, :-1], row.events[0, 1:]])
        if not len(pairs):
            return
        rows = LawRows.plain(pairs)
        apart = replace(self.orders, cluster=np.full_like(self.orders.cluster, -1))
        lawless, lawful = (
            LawfulOrders(each, self.limit, "refuse").probabilities(rows, None, every=True)
            for each in (apart, self.orders)
        )
        for (first, second), without, under in zip(pairs.tolist(), lawless, lawful, strict=True):
            yield NeighbourOrder(events.ids[first], events.ids[second], float(without), float(under))

    def factors(
        self, row: LawRows, lawless: float, lawful: float, laws: tuple[OrderLaw, ...]
    ) -> list[FactorShown]:
        """The factors without which the confidence would change most."""
        tried = sorted(self._candidates(row, laws), key=lambda each: -abs(log(each[-1])))[:_MOST_TRIED]
        found = []
        for number, kind, steps, factor in tried:
            otherwise = self.under(row, self._without(number, kind, steps))
            otherwise = lawless if np.isnan(otherwise) else otherwise
            change = abs(log(otherwise / lawful)) if otherwise > 0 and lawful > 0 else inf
            found.append((change, FactorShown(kind, *steps, factor, otherwise)))
        found.sort(key=lambda each: -round(each[0], 12))
        return [each for change, each in found[:_MOST_SHOWN] if change > 1e-12]

    def _candidates(
        self, row: LawRows, laws: tuple[OrderLaw, ...]
    ) -> Iterator[tuple[int, str, tuple[str, str], float]]:
        """The factors of steps that can occur beside those of the match, with the number of their law."""
        for number, codes in self._codes(row).items():
            law, of = laws[number], self.orders.codes_of(number)
            for kind, stated in (("next", law.following), ("before", law.before)):
                for steps, factor in stated.items():
                    if of[steps[0]] in codes and of[steps[1]] in codes:
                        yield number, kind, steps, factor

    def _codes(self, row: LawRows) -> dict[int, set[int]]:
        """By law the codes of the steps in the clusters that decide a row, and around them."""
        found: dict[int, set[int]] = {}
        orders = self.orders
        for number in set(orders.cluster[row.spoken_of[1]].tolist()) - {-1}:
            events = orders.events_of(number)
            around = int(orders.before[number]), int(orders.after[number])
            found.setdefault(int(orders.law[events[0]]), set()).update(
                [*around, *orders.codes[events].tolist()]
            )
        return found

    def _without(self, number: int, kind: str, steps: tuple[str, str]) -> KeyOrders:
        """The orders with a factor of 1."""
        factors, codes = self.orders.factors[number], self.orders.codes_of(number)
        place = tuple(codes[each] for each in steps)
        changed = {"next": factors.following, "before": factors.before}[kind].copy()
        changed[place] = 1.0
        following, before = (changed, factors.before) if kind == "next" else (factors.following, changed)
        every = list(self.orders.factors)
        every[number] = replace(factors, following=following, before=before)
        return replace(self.orders, factors=tuple(every))
