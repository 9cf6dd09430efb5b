"""What is known beside the events: what each clause of GIVEN leaves, what a law of order makes of a match.

A binding that has a world if nothing is given, and none in the worlds that remain, is charged to each clause
that alone leaves it no world; where there is none, to all clauses together.  Of one match that is shown,

    confidence = P(match and what is given) / P(what is given)

both of what is given of its events and its rivals, and of all that are tied to these: the rest cancels.

A law of order changes its confidence and the probabilities of the orders in it.  A factor of the law matters
as much as the confidence changes where it is 1 instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.given.components import share_of_worlds
from cepctl.engines.confidence.given.known import depends_on_ends, known_endpoints, known_events
from cepctl.engines.confidence.intervals.rows import require_worlds
from cepctl.engines.confidence.orders.asked import LawRows
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.engines.confidence.orders.under_laws import LawfulOrders
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.valid_intervals import valid_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.preparing import passing_by, prepared_alternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.combinators import rows_of
from cepctl.errors import QueryTooLargeError
from cepctl.laws.law import OrderLaw
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given, Plan

_MOST_SHOWN = 3
_MOST_TRIED = 60
"""Factors that are tried at most, those that are farthest from 1."""


def given_condition(clause: Given) -> Condition:
    """A clause that is given, in the words of the query."""
    return Condition("given", f"GIVEN {clause.text}")


_TOGETHER = Condition("given", "the clauses of GIVEN together")


@dataclass(frozen=True)
class WorldsLeft:
    """The events `stamped`, and what each clause that is given with a plan leaves of them."""

    plan: Plan
    stamped: Events

    @cached_property
    def known(self) -> Events:
        """The events in the worlds that satisfy all clauses.

        Raises
        ------
        ContradictionError
            If there is no such world.
        QueryTooLargeError
            If what is given speaks of too many combinations of events.
        """
        return self._satisfying(self.plan.given)

    @cached_property
    def alone(self) -> tuple[Events, ...]:
        """The events in the worlds that satisfy each clause alone."""
        if len(self.plan.given) == 1:
            return (self.known,)
        return tuple(self._satisfying((clause,)) for clause in self.plan.given)

    @property
    def ends_tied(self) -> bool:
        """Whether all clauses, or one, tie ends of events: then even points are taken for interval events."""
        return self._of_ends and any(each.endpoint_ties is not None for each in (self.known, *self.alone))

    @cached_property
    def _of_ends(self) -> bool:
        return bool(self.plan.given) and depends_on_ends(self.plan, self.stamped)

    def _satisfying(self, given: tuple[Given, ...]) -> Events:
        if not self._of_ends:
            return known_events(replace(self.plan, given=given), self.stamped)
        left = known_endpoints(given, self.stamped)
        require_worlds(given, left)
        return left


class ChargedClauses:
    """Counts of bindings that what is given leaves no world."""

    def __init__(self, given: Sequence[Given]) -> None:
        self.given = given
        self.against = [0] * len(given)
        self.against_together = 0

    def charge(self, left: Flags, possible: Callable[[int, Indexes | None], Flags]) -> Flags:
        """Charge the bindings that all clauses leave no world; tells which have one if nothing is given.

        `left`: which bindings have a world that remains.  `possible` says which of some have one, by the
        number of the worlds: 1 for all, and from 2 on for those that each clause leaves.
        """
        if not self.given:
            return left
        freely = possible(1, None)
        lost = np.flatnonzero(freely & ~left)
        explained = np.zeros(len(lost), dtype=bool)
        for at in range(len(self.given) if len(lost) else 0):
            own = ~possible(2 + at, lost)
            self.against[at] += int(own.sum())
            explained |= own
        self.against_together += int((~explained).sum())
        return freely

    def losses(self) -> list[Loss]:
        """What each clause alone leaves no world, and what only all together do."""
        if not self.given:
            return []
        found = [
            Loss(given_condition(clause), count)
            for clause, count in zip(self.given, self.against, strict=True)
        ]
        return [*found, Loss(_TOGETHER, self.against_together)]


@dataclass(frozen=True)
class GivenShown:
    """The clauses; the probability of what they say of these events; the confidence if nothing were given.

    `probability` is None where events share clocks, or last, and both are where they are too much work.
    """

    clauses: tuple[str, ...]
    probability: float | None
    without: float | None

    @property
    def changes(self) -> bool:
        """Whether what is given says something of these events that does not hold in every world anyway."""
        return self.probability is None or self.probability < 1.0


def given_shown(
    prepared: PreparedAlternative, events: Events, bound: dict[int, Bindings]
) -> GivenShown | None:
    """What is given, for a match; `events` are those of all worlds, `prepared` has those that remain."""
    plan, known, probability = prepared.plan, prepared.events, None
    if not plan.given:
        return None
    of_intervals = bool(prepared.lasting)
    if not (known.depends.on_clocks or of_intervals):
        rivals = [each.event for each in prepared.rivals(bound)]
        touched = np.concatenate([*map(events_in, bound.values()), *rivals])
        # Where they are too many the confidence has been estimated, too.
        with suppress(QueryTooLargeError):
            probability = share_of_worlds(events, known, touched)
    asked = replace(plan, given=())
    if isinstance(prepared, RunAlternative):
        freely: PreparedAlternative = in_world(prepared, asked, events)
    else:
        own = prepared.alternative, events, prepared.options
        freely = prepared_alternative(asked, *own, of_intervals=of_intervals)
    without: float | None = None
    with suppress(QueryTooLargeError):
        without = float(freely.decided(bound, freely.rivals(bound)).confidence[0])
    return GivenShown(tuple(each.text for each in plan.given), probability, without)


def in_world(run: RunAlternative, plan: Plan, events: Events) -> RunAlternative:
    """Runs among events in other worlds, which may leave some of them none."""
    events = passing_by(events) if plan.strategy.asks_all else events
    return replace(run, plan=plan, events=events, sifted=False)


def given_against(plan: Plan, events: Events, system: Ticks, match: Indexes) -> tuple[Reason, ...]:
    """The clauses that leave a match, shape (1, l), no world."""

    def is_left(at: int) -> bool:
        known = known_events(replace(plan, given=(plan.given[at],)), events)
        return bool(possible(*valid_of(known, system, match))[0])

    return clauses_against(plan.given, is_left)


def clauses_against(given: Sequence[Given], is_left: Callable[[int], bool]) -> tuple[Reason, ...]:
    """The clauses, by their number, that leave a match no world: each that is enough, else all of them."""
    enough = [clause for at, clause in enumerate(given) if not is_left(at)]
    return tuple(Reason(given_condition(each)) for each in enough or given)


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
