"""Measure keys under a law of order: the sum over all orders, and how probable each order of two events is.

A world's weight is the mean over the orders that agree with its ticks, so that of one order every world
with which it agrees has a share.  One pass forwards through the cells of a key sums them all; a pass
backwards tells how probable each step is.

    log_z      ln of the mean weight of the key's worlds, `ln Z`
    following  expected number of times that y is next after x: d ln Z / d ln following[x, y]
    before     expected number of pairs with x before y, each divided by m: d ln Z / d ln before[x, y]
    pairs      of two events that can share a tick, the order and the strict order of their ticks

What has the same factor in every order is left out of the weight: pairs of events that share no tick, and
pairs of one step.  It would change ln Z by a constant, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

import numpy as np

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.key_passes import measure
from cepctl.engines.order_laws.keys import Factors, Keys, LawTables
from cepctl.engines.order_laws.kinds import (
    KindsOfEvents,
    Roots,
    Slots,
    habits,
    kinds_of_keys,
)
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.numeric.arrays import Flags, Indexes, Numbers, Reals

_LN_2 = log(2.0)


@dataclass(frozen=True)
class OrderPairs:
    """Pairs of events of one key that can share a tick; of other pairs the order is certain.

    Attributes
    ----------
    first, second
        Places of both events among the events of the keys.
    in_order
        How probable it is that the first comes before the second in the order.
    earlier, later
        How probable it is that the tick of the first is before that of the second, and after it; what is
        missing to 1 is that both are at one tick.
    """

    first: Indexes
    second: Indexes
    in_order: Reals
    earlier: Reals
    later: Reals

    @classmethod
    def joined(cls, parts: Iterable[OrderPairs]) -> OrderPairs:
        """All pairs of one part or more, of the same events."""
        return cls(*map(np.concatenate, zip(*(vars(each).values() for each in parts), strict=True)))

    def before(self, first: Indexes, second: Indexes) -> Reals:
        """P(the tick of `first` is before that of `second`), shape (n,); NaN of what is none of the pairs.

        Examples
        --------
        >>> pairs = OrderPairs(*np.array([[0], [2]]), *np.array([[0.8], [0.75], [0.125]]))
        >>> pairs.before(np.array([0, 2, 0]), np.array([2, 0, 1])).tolist()
        [0.75, 0.125, nan]
        """
        if not len(self.first):
            return np.full(len(first), np.nan)
        size = int(max(each.max(initial=0) for each in (self.first, self.second, first, second))) + 1
        known = np.concatenate([self.first * size + self.second, self.second * size + self.first])
        order = np.argsort(known)
        wanted = first * size + second
        at = order[np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)]
        values = np.concatenate([self.earlier, self.later])
        return np.where(known[at] == wanted, values[at], np.nan)


@dataclass(frozen=True)
class LawAnswers:
    """What a law says of k keys.

    Attributes
    ----------
    beyond
        Keys that are not measured: of more sets alive in a cell than the limit.  Shape (k,).
    sets
        The most sets alive in a cell of each, infinite from 2^62 on.
    log_z
        ln of the mean weight, NaN of keys beyond.
    following
        Expected counts by fold, shape (f, s + 1, s + 1), as the factors stand; None unless asked for.
    before
        Expected pairs by fold, each divided by its m, shape (f, s, s); None unless asked for.
    pairs
        None unless asked for.
    """

    beyond: Flags
    sets: Reals
    log_z: Reals
    following: Reals | None
    before: Reals | None
    pairs: OrderPairs | None


def sets_alive(keys: Keys) -> Reals:
    """The most sets of events that are alive in a cell of each key, shape (k,): the work before any of it."""
    return kinds_of_keys(keys).kinds.sets_alive()


def in_parts(keys: Keys, count: int = 16) -> list[Indexes]:
    """The numbers of all keys in so many parts of about the same work: the dearest first, dealt in turn."""
    order = np.argsort(-(sets_alive(keys) * np.diff(keys.starts)), kind="stable")
    return [np.sort(order[part::count]) for part in range(min(count, len(order)))]


def measure_keys(
    keys: Keys,
    factors: Factors,
    limit: int = MOST_SETS_ALIVE,
    *,
    folds: Indexes | None = None,
    expected: bool = False,
    pairs: bool = False,
) -> LawAnswers:
    """Measure keys under a law; for the parameters see `KeyTables`."""
    return KeyTables.of(keys, limit).measure(factors, folds=folds, expected=expected, pairs=pairs)


@dataclass(frozen=True)
class KeyTables:
    """Keys that can be measured under one law after the other: what depends on no factor is found once.

    `sets`: the most sets alive in a cell of each of `keys`; those of more than a limit are `beyond`, and
    `within` lists the others, which are `kept`.  `kinds`, `m` of each pair, `roots`: of these.
    """

    keys: Keys
    sets: Reals
    beyond: Flags
    within: Indexes
    kept: Keys
    kinds: KindsOfEvents
    m: Numbers
    roots: Roots

    @classmethod
    def of(cls, keys: Keys, limit: int = MOST_SETS_ALIVE) -> KeyTables:
        """Of keys; those of more than `limit` sets alive in a cell are not measured."""
        found, kept = kinds_of_keys(keys), keys
        sets = found.kinds.sets_alive()
        beyond = sets > limit
        within = np.flatnonzero(~beyond)
        if len(within) < keys.count:
            kept = keys.take(within)
            found = kinds_of_keys(kept)
        m = habits(found.kinds, kept.stamps)
        roots = Roots.of(found.kinds, _slots(kept, 0), m)
        return cls(keys, sets, beyond, within, kept, found, m, roots)

    def measure(
        self, factors: Factors, *, folds: Indexes | None = None, expected: bool = False, pairs: bool = False
    ) -> LawAnswers:
        """Measure the keys under a law.

        Parameters
        ----------
        factors
            Of the steps whose codes the events have.
        folds
            The fold of each key, shape (k,), by which expected counts are summed; all are in one if None.
        expected, pairs
            What is wanted beside ln Z.
        """
        kept, laws = self.kept, LawTables.of([factors], each_last=expected)
        fold = np.zeros(self.keys.count, dtype=np.int64) if folds is None else folds
        count = int(fold.max(initial=0)) + 1
        following = np.zeros((count if expected else 0, factors.steps + 1, factors.steps + 1))
        values, exponents = np.zeros(kept.count), np.zeros(kept.count, dtype=np.int64)
        found = np.zeros((2 if pairs else 1 if expected else 0, 2, len(self.m)))
        fold = fold[self.within]
        kinds = self.kinds.kinds._replace(factors=self.roots.under(laws))
        slots = _slots(kept, factors.steps)
        measure(kept.masses.buckets, laws, kinds, slots, fold, values, exponents, following, found)
        log_z = np.full(self.keys.count, np.nan)
        log_z[self.within] = [
            _ln(value) + power * _LN_2 for value, power in zip(values, exponents, strict=True)
        ]
        return LawAnswers(
            self.beyond,
            self.sets,
            log_z,
            following if expected else None,
            self._expected_before(factors, fold, found[0], count) if expected else None,
            self._pairs_of_events(found) if pairs else None,
        )

    def _expected_before(self, factors: Factors, fold: Indexes, in_order: Reals, folds: int) -> Reals:
        """Sums over pairs of kinds of what is expected of each pair of their events, by fold and steps."""
        kinds, steps = self.kinds.kinds, factors.steps
        first, second = kinds.pair_kinds
        step, count, fold = kinds.code, kinds.members, fold[kinds.problem]
        found = np.zeros((folds, steps, steps))
        for one, other, probability in ((first, second, in_order[0]), (second, first, in_order[1])):
            pairs = np.where(step[one] == step[other], 0.0, probability * count[one] * count[other] / self.m)
            np.add.at(found, (fold[one], step[one], step[other]), pairs)
        return found

    def _pairs_of_events(self, found: Reals) -> OrderPairs:
        """What was found for pairs of kinds, for each pair of their events."""
        kinds, of_event = self.kinds
        order = np.argsort(of_event, kind="stable")
        begin = np.concatenate([[0], np.cumsum(kinds.members)])
        # Events in the order of their kinds: those of later kinds that share a tick come right after it.
        own = of_event[order]
        later = begin[own + np.diff(kinds.pairs)[own]] - np.arange(len(order)) - 1
        first, place = places_in_runs(later)
        second = first + 1 + place
        pair = kinds.pairs[own[first]] + own[second] - own[first]
        events = np.flatnonzero(~self.beyond[self.keys.key])
        return OrderPairs(
            events[order[first]],
            events[order[second]],
            found[0, 0, pair],
            found[1, 0, pair],
            found[1, 1, pair],
        )


def _slots(keys: Keys, edge: int) -> Slots:
    """Of problems of one key each, all under one law; `edge`: the code of both ends of a key."""
    ends = np.full(keys.count, edge)
    begin, end = (ends, ends) if keys.around is None else keys.around
    return Slots(np.arange(keys.count + 1), begin, end, np.zeros_like(ends))


def _ln(value: float) -> float:
    return log(value) if value > 0 else -np.inf
