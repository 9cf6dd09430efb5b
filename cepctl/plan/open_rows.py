"""Which plans have rows that the end of the log may leave open, and what the columns are called."""

from __future__ import annotations

from cepctl.plan.plan import Plan

OPEN, OPEN_UNTIL = "open", "open_until"


def awaits_windows(plan: Plan) -> bool:
    """Whether a match of a plan may rest on what happens after its last event: up to the end of a window."""
    return plan.window is not None and any(
        each.decided_by_window(plan.strategy) for each in plan.alternatives
    )


def may_be_open(plan: Plan) -> bool:
    """Whether rows say that they are open; keys of GROUP BY, which are about many matches, do not."""
    return plan.group_by is None and awaits_windows(plan)
