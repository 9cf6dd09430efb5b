"""What is given, clause by clause: the events in the worlds that each leaves, and what it is charged with.

A binding that has a world if nothing is given, and none in the worlds that remain, is charged to each clause
that alone leaves it no world; where there is none, to all clauses together.  Of one match that is shown,

    confidence = P(match and what is given) / P(what is given)

both of what is given of its events and its rivals, and of all that are tied to these: the rest cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.given.components import share_of_worlds
from cepctl.engines.confidence.given.known import depends_on_ends, known_endpoints, known_events
from cepctl.engines.confidence.intervals.rows import require_worlds
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.valid_intervals import valid_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.preparing import passing_by, prepared_alternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given, Plan


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
