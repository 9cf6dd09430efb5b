"""The plan of a query, and what is said of it before it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepctl.cli.output.notices import say

if TYPE_CHECKING:
    from cepctl.language.ast import Query
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


def analyzed(query: Query, inputs: EventInputs, min_confidence: float | None, *, quiet: bool) -> Plan:
    """The plan of a query, after its warnings have been said."""
    from cepctl.plan import analyze

    plan = analyze(query, inputs.schema)
    if min_confidence is not None:
        plan = replace(plan, minimum_confidence=max(min_confidence, plan.minimum_confidence or 0.0))
    if not quiet:
        for warning in plan.warnings:
            say("warning", warning)
        if plan.never is not None:
            say("note", f"the query can never match: {plan.never}")
    return plan
