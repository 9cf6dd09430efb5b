"""Rows under laws of order: which of them a law touches, and how probable they are by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.confidence.orders.asked import Asked, LawRows, asked_each, asked_of_any, nothing_asked
from cepctl.engines.confidence.orders.key_orders import MOST_EVENTS, KeyOrders
from cepctl.engines.confidence.orders.sweep import Questions, sweep
from cepctl.engines.confidence.work import NARROW, ORDERS, most_products, too_costly
from cepctl.engines.order_laws.kinds import Kinds, Roots, Slots, habits, kinds_of, numbers_of_runs
from cepctl.errors import QueryTooLargeError
from cepctl.laws.choices import Beyond
from cepctl.numeric.arrays import Flags, Indexes, Reals


@dataclass(frozen=True)
class LawfulOrders:
    """Events under laws of order, and what is done with a key of which more than `limit` sets are alive.

    If that is not refused all of its orders have the same weight.
    """

    orders: KeyOrders
    limit: int
    beyond: Beyond

    def probabilities(self, rows: LawRows, window: int | None, *, every: bool = False) -> Reals:
        """P(row) of each, NaN where no law says anything of it, or all of its keys are beyond the limit.

        `every`: also there, without a law.

        Raises
        ------
        QueryTooLargeError
            If a key is beyond the limit and that is refused, or an answer takes too much work.
        """
        decided = self._decided(rows)
        chosen = np.arange(len(rows)) if every else np.unique(decided.question)
        found = np.full(len(rows), np.nan)
        if len(chosen):
            some = rows.take(chosen)
            found[chosen] = self._shares(asked_each(self.orders.masses, some, window or 0), len(some))
        if np.isinf(found).any():
            raise _exceeded()
        return found

    def unions(self, rows: LawRows, of: Indexes, count: int, window: int | None) -> tuple[Reals, Flags]:
        """P(some row of each of `count` groups holds), NaN where that takes too much work.

        `of`: the group of each row.  Also of which groups no law says anything, or only of keys beyond the
        limit: they are not measured.

        Raises
        ------
        QueryTooLargeError
            If a key is beyond the limit and that is refused.
        """
        silent = np.ones(count, dtype=bool)
        silent[of[self._decided(rows).question]] = False
        rows, of = rows.take(np.flatnonzero(~silent[of])), of[~silent[of]]
        part = self._parts(rows, of)
        order, sizes = np.argsort(part, kind="stable"), np.bincount(part, minlength=len(rows))
        alone, found = np.flatnonzero(sizes[part] == 1), np.full(len(rows), np.nan)
        if len(alone):
            asked = asked_each(self.orders.masses, rows.take(alone), window or 0)
            found[alone] = self._shares(asked, len(alone))
        parts = np.flatnonzero(sizes)
        for first, some in zip(parts.tolist(), rows.take(order).cut(sizes[parts]), strict=True):
            if len(some) > 1:
                asked = asked_of_any(self.orders.masses, some, window or 0)
                found[first] = self._shares(asked, 1)[0]
        missing = np.ones(count)
        np.multiply.at(missing, of[parts], 1.0 - np.where(np.isinf(found[parts]), np.nan, found[parts]))
        return 1.0 - missing, silent

    def beyond_of(self, rows: LawRows) -> Flags:
        """Which rows have a key that is beyond the limit."""
        found = np.zeros(len(rows), dtype=bool)
        found[Decided.of(self.orders, self.orders.beyond(self.limit), *rows.spoken_of).question] = True
        return found

    def _decided(self, rows: LawRows) -> Decided:
        """Which clusters decide which rows, unless one of a key beyond the limit is refused."""
        beyond = self.orders.beyond(self.limit)
        found = Decided.of(self.orders, beyond, *rows.spoken_of)
        if len(found.cluster) and self.beyond == "refuse":
            raise self._refused(int(found.cluster[0]))
        return Decided.of(self.orders, self._weighed, *rows.spoken_of)

    @cached_property
    def _weighed(self) -> Flags:
        """Clusters in which an order has more weight than another, none of keys beyond the limit."""
        return np.asarray(self.orders.speaks & ~self.orders.beyond(self.limit))

    def _shares(self, asked: Asked | None, count: int) -> Reals:
        """How much of the weights of its clusters each question has; infinite where that is too much work."""
        if asked is None:
            return np.full(count, np.inf)
        decided = Decided.of(self.orders, self._weighed, asked.question, asked.event)
        held = self._weights(asked, decided)
        wholes = self._wholes(decided.cluster)
        whole, exponent = np.ones(count), np.zeros(count, dtype=np.int64)
        np.multiply.at(whole, decided.question, wholes.value)
        np.add.at(exponent, decided.question, wholes.exponent)
        if not whole.all():
            raise out_of_range()
        found = np.ldexp(held.value / whole, np.maximum(held.exponent - exponent, -2000).astype(np.int32))
        return np.where(np.isfinite(found), np.minimum(found, 1.0), np.inf)

    def _wholes(self, clusters: Indexes) -> Weights:
        """The weights of all orders of each cluster."""
        new = np.unique(clusters[~self._known[clusters]])
        if len(new):
            made = self._weights(nothing_asked(len(new)), Decided(np.arange(len(new)), new))
            self._whole.value[new], self._whole.exponent[new] = made.value, made.exponent
            self._known[new] = True
        return Weights(self._whole.value[clusters], self._whole.exponent[clusters])

    @cached_property
    def _known(self) -> Flags:
        """Of which clusters the weights of all orders are known; then they are in `_whole`."""
        return np.zeros(len(self.orders), dtype=bool)

    @cached_property
    def _whole(self) -> Weights:
        return Weights(np.zeros(len(self.orders)), np.zeros(len(self.orders), dtype=np.int64))

    def _weights(self, asked: Asked, decided: Decided) -> Weights:
        return weights_of(self.orders, asked, decided, float(most_products(ORDERS)))

    def _parts(self, rows: LawRows, of: Indexes) -> Indexes:
        """Rows of one group that share an uncertain event, or a cluster: the number of the first of them."""
        row, event = rows.spoken_of
        masses, cluster = self.orders.masses, self.orders.cluster[event]
        uncertain = masses.lower[event] < masses.upper[event]
        shared = np.concatenate([event[uncertain], len(masses.lower) + cluster[cluster >= 0]])
        by = np.concatenate([row[uncertain], row[cluster >= 0]])
        _, thing = np.unique(of[by] * (len(masses.lower) + len(self.orders)) + shared, return_inverse=True)
        return _connected(by, thing, len(rows))

    def _refused(self, number: int) -> QueryTooLargeError:
        sets, events = self.orders.sets[number], len(self.orders.events_of(number))
        excess = (
            f"{events:,} of its events may each be in either order with another, {MOST_EVENTS:,} are taken "
            "together; "
        )
        if sets > self.limit:
            some = f"{sets:,.0f}" if np.isfinite(sets) else "more than 2^62"
            excess = (
                f"{some} sets of its events may have happened in one cell of time, {self.limit:,} are "
                "allowed; raise --law-limit, "
            )
        return QueryTooLargeError(
            f"the law of order of {self.orders.name_of(number)}: {excess}compute such keys without the law "
            "(--beyond lawless), or leave the law out (--no-laws leaves out that of the dataset)"
        )


def _connected(row: Indexes, thing: Indexes, count: int) -> Indexes:
    """The first of all rows that are connected by things that they share, for each of `count` rows.

    Examples
    --------
    >>> _connected(np.array([0, 1, 1, 3]), np.array([5, 5, 7, 7]), 4).tolist()
    [0, 0, 2, 0]
    """
    first = np.arange(count)
    while True:
        least = np.full(int(thing.max(initial=-1)) + 1, count)
        np.minimum.at(least, thing, first[row])
        found = first.copy()
        np.minimum.at(found, row, least[thing])
        found = found[found]
        if (found == first).all():
            return first
        first = found


def _exceeded() -> QueryTooLargeError:
    """What is raised when an answer takes too many steps."""
    return too_costly(
        "a confidence",
        ORDERS,
        f"{most_products(ORDERS):,} steps",
        "too many events of its keys may happen in any order",
        NARROW,
        "leave the law out (--no-laws leaves out that of the dataset)",
    )


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
