"""What is to be told beside an answer: records of the logger `cepctl`, which says nothing by itself.

    cepctl.reading    what an ingest skipped, left out and noticed
    cepctl.query      what a query asks for that can hardly be meant

Notes are records of the level INFO.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.ingestion.summary import IngestSummary
    from cepctl.plan.plan import Plan

LOGGER = "cepctl"
QUERY, READING = f"{LOGGER}.query", f"{LOGGER}.reading"
# Without it Python itself would print warnings where a program has not said what is to become of them.
logging.getLogger(LOGGER).addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Notice:
    """What a record carries for programs, as its attribute `notice`; its message has the figures in words."""

    kind: Literal["note", "warning"]
    figures: dict[str, object] = field(default_factory=dict)


def tell_reading(summary: IngestSummary | None) -> None:
    """Say what was skipped, left out and noticed while raw input was read; nothing where there was none."""
    from cepctl.ingestion.rejects import sampled
    from cepctl.ingestion.summary import reasons

    if summary is None:
        return
    for notice in summary.notices:
        tell(READING, "note", notice)
    for cause, count in sorted(summary.skipped.items()):
        tell(READING, "note", f"{counted(count, 'record')} skipped: {cause}", cause=cause, records=count)
    if summary.unreadable:
        some = f"{len(summary.unreadable):,} of {counted(len(summary.accounts), 'file')}"
        shown = reasons(summary.unreadable)
        message = f"left out {some} as unreadable:\n{shown}"
        tell(READING, "warning", message, unreadable=len(summary.unreadable))
    if summary.rejected:
        bad = f"{summary.rejected.total():,} of {counted(summary.records, 'record')}"
        shown = sampled(summary.rejects, summary.rejected)
        tell(READING, "warning", f"left out {bad} as bad:\n{shown}", rejected=dict(summary.rejected))


def tell_plan(plan: Plan) -> None:
    """Say what a query asks for that can hardly be meant."""
    for warning in plan.warnings:
        tell(QUERY, "warning", warning)
    if plan.never is not None:
        tell(QUERY, "note", f"the query can never match: {plan.never}")


def tell(logger: str, kind: Literal["note", "warning"], message: str, **figures: object) -> None:
    """Log something; `figures` are for programs, the message has them in words."""
    level = logging.WARNING if kind == "warning" else logging.INFO
    logging.getLogger(logger).log(level, "%s", message, extra={"notice": Notice(kind, figures)})
