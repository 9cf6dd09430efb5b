"""What is given, for one match: the share of worlds where it holds, and where the match does, too.

    confidence = P(match and what is given) / P(what is given)

Both are of what is given of the events of the match and its rivals, and of all that are tied to these: the
rest cancels.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.engines.diagnosis.shared_offsets import valid_of
from cepctl.engines.diagnosis.worlds_left import given_condition
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.given.components import share_of_worlds
from cepctl.engines.given.known import known_events
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class GivenShown:
    """The clauses; the probability of what they say of these events; the confidence if nothing were given.

    `probability` is None where events share clocks, and both are where they are too much work.
    """

    clauses: tuple[str, ...]
    probability: float | None
    without: float | None

    @property
    def changes(self) -> bool:
        """Whether what is given says something of these events that does not hold in every world anyway."""
        return self.probability is None or self.probability < 1.0


def given_shown(prepared: PreparedAlternative, events: Events, bound: dict[int, Bindings]) -> GivenShown:
    """What is given, for a match; `events` are those of all worlds, `prepared` has those that remain."""
    known, probability = prepared.events, None
    if known.clocks is None:
        rivals = [each.event for each in prepared.rivals(bound)]
        touched = np.concatenate([*map(_events, bound.values()), *rivals])
        # Where they are too many the confidence has been estimated, too.
        with suppress(QueryTooLargeError):
            probability = share_of_worlds(events, known, touched)
    plan = prepared.plan
    freely = PreparedAlternative.of(
        replace(plan, given=()), prepared.alternative, events, prepared.options, of_intervals=False
    )
    without: float | None = None
    with suppress(QueryTooLargeError):
        without = float(freely.decided(bound, freely.rivals(bound)).confidence[0])
    return GivenShown(tuple(each.text for each in plan.given), probability, without)


def given_against(plan: Plan, events: Events, system: Ticks, match: Indexes) -> tuple[Reason, ...]:
    """The clauses that leave a match, shape (1, l), no world: each that is enough, else all of them."""
    enough = []
    for clause in plan.given:
        try:
            known = known_events(replace(plan, given=(clause,)), events)
        except ContradictionError:
            continue
        if not possible(*valid_of(known, system, match))[0]:
            enough.append(clause)
    return tuple(Reason(given_condition(each)) for each in enough or plan.given)


def _events(bound: Bindings) -> Indexes:
    return bound.members if isinstance(bound, Group) else bound
