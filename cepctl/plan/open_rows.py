"""Which plans have rows that the end of the log may leave open, and what the columns are called."""

from __future__ import annotations

from cepctl.plan.plan import Plan

OPEN, OPEN_UNTIL = "open", "open_until"


def awaits_windows(plan: Plan) -> bool:
    """Whether a match of a plan may rest on what happens after its last event: up to the end of a window."""
    return plan.window is not None and any(
        each.decided_by_window(plan.strategy) for each in plan.alternatives
    )


def rests_on_absences(plan: Plan) -> bool:
    """Whether events that a match does not bind can decide it."""
    negated = any(component.negated for each in plan.alternatives for component in each.components)
    return negated or plan.strategy.asks_others
