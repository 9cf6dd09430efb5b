"""Questions and the clusters that decide them, as problems of kinds: columns for a kernel, each problem once.

Questions that are others moved in time, in whatever key, are one problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.arrays import Flags, Indexes, Numbers, Reals
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.confidence.orders.asked import Asked
from cepctl.engines.confidence.orders.cells import Kinds
from cepctl.engines.confidence.orders.key_orders import KeyOrders
from cepctl.engines.confidence.orders.sweep import sweep
from cepctl.errors import QueryTooLargeError


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
    kinds = _kinds_of(orders, asked, decided)
    first, problem = _once(orders, kinds, asked.plan)
    value, exponent = np.empty(len(first)), np.empty(len(first), dtype=np.int64)
    sweep(
        orders.masses.buckets, orders.tables, _taken(kinds, first), asked.plans, asked.plan[first],
        asked.machine, most, value, exponent,
    )  # fmt: skip
    if not np.isfinite(value).all():
        raise out_of_range()
    return Weights(np.where(value < 0.0, np.nan, value)[problem], exponent[problem])


def out_of_range() -> QueryTooLargeError:
    """What is raised where factors are too large or too small to be multiplied."""
    return QueryTooLargeError(
        "the factors of a law are so large or so small that their products are beyond what a number can "
        "hold; bring them between 1e-30 and 1e30"
    )


def _kinds_of(orders: KeyOrders, asked: Asked, decided: Decided) -> Kinds:
    slots = np.searchsorted(decided.question, np.arange(len(asked) + 1))
    question, event, letter = _events_of(orders, asked, decided)
    pairs, pair = (
        decided.question * len(orders) + decided.cluster,
        question * len(orders) + orders.cluster[event],
    )
    place = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
    slot = np.full(len(event), -1)
    if len(pairs):
        inside = (orders.cluster[event] >= 0) & (pairs[place] == pair)
        slot[inside] = (place - slots[question])[inside]
    code = np.where(slot >= 0, orders.codes[event], 0)
    masses = orders.masses
    told = [letter, code, slot, orders.alike[event], masses.upper[event], masses.lower[event], question]
    order = np.lexsort(told)
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in told], axis=0)
    begins = np.flatnonzero(new)
    chosen = order[begins]
    count = np.diff(np.append(begins, len(order)))
    starts = np.searchsorted(question[chosen], np.arange(len(asked) + 1))
    cluster = decided.cluster
    return Kinds(
        starts, event[chosen], count, slot[chosen], code[chosen], letter[chosen], slots,
        orders.before[cluster], orders.after[cluster], orders.law[orders.order[orders.starts[cluster]]],
    )  # fmt: skip


def _events_of(orders: KeyOrders, asked: Asked, decided: Decided) -> tuple[Indexes, Indexes, Indexes]:
    """Every event that matters to each question, once, and its letter."""
    run, place = places_in_runs(np.diff(orders.starts)[decided.cluster])
    others = orders.order[orders.starts[decided.cluster][run] + place]
    question = np.concatenate([asked.question, decided.question[run]])
    event = np.concatenate([asked.event, others])
    letter = np.concatenate([asked.letter, np.full(len(others), -1)])
    # Of an event that is told and in a cluster what is told comes first.
    order = np.lexsort((event, question))
    question, event, letter = question[order], event[order], letter[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (question[1:] != question[:-1]) | (event[1:] != event[:-1])
    return question[new], event[new], letter[new]


def _once(orders: KeyOrders, kinds: Kinds, plan: Indexes) -> tuple[Indexes, Indexes]:
    """The first of all questions that are the same problem, and the number of each among these."""
    lower, upper = orders.masses.lower[kinds.event], orders.masses.upper[kinds.event]
    run, _ = places_in_runs(np.diff(kinds.starts))
    since = lower[kinds.starts[:-1]][run] if len(lower) else lower
    told = [lower - since, upper - since, orders.shapes[kinds.event], kinds.slot, kinds.code, kinds.letter]
    parts = [
        _numbers(np.column_stack([*told, kinds.members]), kinds.starts),
        _numbers(np.column_stack([kinds.begin, kinds.end, kinds.law]), kinds.slots),
        plan,
    ]
    every = parts[0]
    for part in parts[1:]:
        every = np.unique(every * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1]
    _, first, number = np.unique(every, return_index=True, return_inverse=True)
    return first, number


def _numbers(rows: Numbers, starts: Indexes) -> Indexes:
    """A number for each run of rows, the same for those that are the same."""
    data = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    offsets = pa.py_buffer(starts.astype(np.int64) * rows.shape[1] * 8)
    texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, [None, offsets, data])
    return np.asarray(texts.dictionary_encode().indices.to_numpy(), dtype=np.int64)


def _taken(kinds: Kinds, problems: Indexes) -> Kinds:
    """The kinds of some problems."""
    sizes, slots = np.diff(kinds.starts)[problems], np.diff(kinds.slots)[problems]
    run, place = places_in_runs(sizes)
    chosen = kinds.starts[problems][run] + place
    run, place = places_in_runs(slots)
    keys = kinds.slots[problems][run] + place
    return Kinds(
        np.concatenate([[0], np.cumsum(sizes)]), kinds.event[chosen], kinds.members[chosen],
        kinds.slot[chosen], kinds.code[chosen], kinds.letter[chosen], np.concatenate([[0], np.cumsum(slots)]),
        kinds.begin[keys], kinds.end[keys], kinds.law[keys],
    )  # fmt: skip
