"""What is said of reading the input and of the query, as records of the logger `cepctl`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cepctl.notices import QUERY, READING, tell
from cepctl.render.counting import counted
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.ingestion.summary import IngestSummary
    from cepctl.plan.plan import Plan


def tell_reading(summary: IngestSummary | None) -> None:
    """Say what was skipped, left out and noticed while raw input was read; nothing where there was none."""
    if summary is not None:
        beside(SideFigure.READING_NOTICES, partial(_tell_reading, summary), None)


def _tell_reading(summary: IngestSummary) -> None:
    for notice in summary.notices:
        tell(READING, "note", notice)
    for cause, count in sorted(summary.skipped.items()):
        tell(READING, "note", f"{counted(count, 'record')} skipped: {cause}", cause=cause, records=count)
    if summary.unreadable:
        from cepctl.ingestion.summary import reasons

        some = f"{len(summary.unreadable):,} of {counted(len(summary.accounts), 'file')}"
        shown = reasons(summary.unreadable)
        message = f"left out {some} as unreadable:\n{shown}"
        tell(READING, "warning", message, unreadable=len(summary.unreadable))
    if summary.rejected:
        from cepctl.ingestion.rejects import sampled

        bad = f"{summary.rejected.total():,} of {counted(summary.records, 'record')}"
        shown = sampled(summary.rejects, summary.rejected)
        tell(READING, "warning", f"left out {bad} as bad:\n{shown}", rejected=dict(summary.rejected))


def tell_plan(plan: Plan) -> None:
    """Say what a query asks for that can hardly be meant."""
    beside(SideFigure.QUERY_NOTICES, partial(_tell_plan, plan), None)


def _tell_plan(plan: Plan) -> None:
    for warning in plan.warnings:
        tell(QUERY, "warning", warning)
    if plan.never is not None:
        tell(QUERY, "note", f"the query can never match: {plan.never}")
