"""Questions and the clusters that decide them, as problems of kinds, each problem once.

Questions that are others moved in time, in whatever key, are one problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.confidence.orders.asked import Asked
from cepctl.engines.confidence.orders.key_orders import KeyOrders
from cepctl.engines.confidence.orders.sweep import Questions, sweep
from cepctl.engines.order_laws.kinds import Kinds, Roots, Slots, habits, kinds_of, numbers_of_runs
from cepctl.errors import QueryTooLargeError

_PAIRS_AT_ONCE = 1 << 20
"""Pairs of kinds whose factors are held in memory at once."""


@dataclass(frozen=True)
class Weights:
    """Sums of the weights of orders, value * 2^exponent each; NaN where one takes too many steps."""

    value: Reals
    exponent: Indexes


@dataclass(frozen=True)
class Decided:
    """Which clusters decide which questions, pairs in ascending order, each once."""

    question: Indexes
    cluster: Indexes

    @classmethod
    def of(cls, orders: KeyOrders, weighed: Flags, question: Indexes, event: Indexes) -> Decided:
        """By the events of which questions speak; only clusters that are `weighed`, shape (clusters,)."""
        cluster = orders.cluster[event]
        matters = (cluster >= 0) & weighed[cluster]
        pair = np.unique(question[matters] * len(orders) + cluster[matters])
        return cls(pair // len(orders), pair % len(orders))


def weights_of(orders: KeyOrders, asked: Asked, decided: Decided, most: float) -> Weights:
    """The weights of all orders in which the answer is yes, for each question, in at most so many steps.

    Raises
    ------
    QueryTooLargeError
        If the factors of a law are so large that their products are no numbers.
    """
    kinds, slots = _kinds_of(orders, asked, decided)
    first, number = _once(orders, kinds, slots, asked.plan)
    value, exponent = np.empty(len(first)), np.empty(len(first), dtype=np.int64)
    pairs = np.diff(kinds.pairs[kinds.starts])[first]
    for part in np.split(
        np.arange(len(first)), np.flatnonzero(np.diff(np.cumsum(pairs) // _PAIRS_AT_ONCE)) + 1
    ):
        some, own = kinds.take(first[part]), slots.take(first[part])
        factors = Roots.of(some, own, habits(some)).under(orders.tables)
        questions = Questions(asked.machine, asked.plans, asked.plan[first[part]])
        found = np.empty(len(part)), np.empty(len(part), dtype=np.int64)
        sweep(
            orders.masses.buckets, orders.tables, some._replace(factors=factors), own, questions, most, *found
        )
        value[part], exponent[part] = found
    if not np.isfinite(value).all():
        raise out_of_range()
    return Weights(np.where(value < 0.0, np.nan, value)[number], exponent[number])


def out_of_range() -> QueryTooLargeError:
    """What is raised where factors are too large or too small to be multiplied."""
    return QueryTooLargeError(
        "the factors of a law are so large or so small that their products are beyond what a number can "
        "hold; bring them between 1e-30 and 1e30"
    )


def _kinds_of(orders: KeyOrders, asked: Asked, decided: Decided) -> tuple[Kinds, Slots]:
    """The kinds of each question, and the clusters that are its keys."""
    starts = np.searchsorted(decided.question, np.arange(len(asked) + 1))
    question, event, letter = _events_of(orders, asked, decided)
    pairs, pair = (
        decided.question * len(orders) + decided.cluster,
        question * len(orders) + orders.cluster[event],
    )
    place = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
    slot = np.full(len(event), -1)
    if len(pairs):
        inside = (orders.cluster[event] >= 0) & (pairs[place] == pair)
        slot[inside] = (place - starts[question])[inside]
    code = np.where(slot >= 0, orders.codes[event], 0)
    labels, alike = (slot, code, letter), orders.alike[event]
    kinds, _ = kinds_of(orders.masses, question, len(asked), event, labels, alike)
    cluster = decided.cluster
    law = orders.law[orders.order[orders.starts[cluster]]]
    return kinds, Slots(starts, orders.before[cluster], orders.after[cluster], law)


def _events_of(orders: KeyOrders, asked: Asked, decided: Decided) -> tuple[Indexes, Indexes, Indexes]:
    """Every event that matters to each question, once, and its letter."""
    run, place = places_in_runs(np.diff(orders.starts)[decided.cluster])
    others = orders.order[orders.starts[decided.cluster][run] + place]
    question = np.concatenate([asked.question, decided.question[run]])
    event = np.concatenate([asked.event, others])
    letter = np.concatenate([asked.letter, np.full(len(others), -1)])
    # Of an event of which a question speaks, and in a cluster, its letter comes first.
    order = np.lexsort((event, question))
    question, event, letter = question[order], event[order], letter[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (question[1:] != question[:-1]) | (event[1:] != event[:-1])
    return question[new], event[new], letter[new]


def _once(orders: KeyOrders, kinds: Kinds, slots: Slots, plan: Indexes) -> tuple[Indexes, Indexes]:
    """The first of all questions that are the same problem, and the number of each among these."""
    since = kinds.lower[np.minimum(kinds.starts[kinds.problem], len(kinds.lower) - 1)]
    columns = [
        kinds.lower - since, kinds.upper - since, orders.shapes[kinds.event], kinds.slot, kinds.code,
        kinds.letter, kinds.members,
    ]  # fmt: skip
    parts = [
        numbers_of_runs(np.column_stack(columns), kinds.starts),
        numbers_of_runs(np.column_stack([slots.begin, slots.end, slots.law]), slots.starts),
        plan,
    ]
    return distinct_rows(np.column_stack(parts))
