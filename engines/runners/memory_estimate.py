"""What a plan will take of memory, estimated from counts of types alone: what `cepctl explain` says of it.

Imports what the engine does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cepctl.engines.concurrency import usable_cores
from cepctl.engines.measure.rival_blocks import COUPLED_PAIR_BYTES, PAIR_BYTES
from cepctl.engines.runners.slice_task import EVENT_COPIES
from cepctl.memory import MemoryBudget, size_text
from cepctl.plan.evaluation_order import estimated_count
from cepctl.plan.plan import Alternative, Plan

_EVENT_BYTES, _ATTRIBUTE_BYTES = 80, 16
"""An event as it is read: id, type, interval and raw time, and one value more."""


@dataclass(frozen=True)
class MemoryEstimate:
    """How many events are held at most, and how many can break one match; both with their bytes."""

    budget: MemoryBudget
    events: int
    event_bytes: int
    rivals: int
    rival_bytes: int

    @classmethod
    def of(cls, plan: Plan, counts: Mapping[str, int], budget: MemoryBudget) -> MemoryEstimate:
        """Estimate from the number of events of each type, as if none failed a predicate."""
        events = sum(counts.values())
        each = EVENT_COPIES * (_EVENT_BYTES + _ATTRIBUTE_BYTES * len(plan.attributes))
        rivals = max((_rivals(plan, each, counts) for each in plan.alternatives), default=0)
        return cls(budget, events, events * each, rivals, rivals * (PAIR_BYTES + COUPLED_PAIR_BYTES))

    def text(self) -> str:
        """In words, with what is there for each."""
        budget = self.budget
        said = [
            f"{size_text(budget.total)} at most",
            f"{self.events:,} events about {size_text(self.event_bytes)} of {size_text(budget.events)}",
        ]
        if self.rivals:
            said.append(
                f"a match with at most {self.rivals:,} rivals about {size_text(self.rival_bytes)} of "
                f"{size_text(2 * budget.block(usable_cores()))}"
            )
        said.append(f"rows beyond {size_text(budget.rows)} go to disk")
        return "; ".join(said)

    def to_json(self) -> dict[str, int]:
        """The same numbers for machines."""
        return {
            "max_bytes": self.budget.total,
            "events": self.events,
            "event_bytes": self.event_bytes,
            "rivals_of_a_match": self.rivals,
            "rival_bytes": self.rival_bytes,
            "row_bytes_in_memory": self.budget.rows,
        }


def _rivals(plan: Plan, alternative: Alternative, counts: Mapping[str, int]) -> int:
    """How many events can break a match of one reading at most, whatever their times."""
    if plan.strategy.asks_all:
        return sum(counts.values())
    every = plan.strategy.asks_others
    return sum(
        estimated_count(alternative, i, counts) or 0
        for i, component in enumerate(alternative.components)
        if component.negated or (every and i > 0)
    )
