"""What is said of reading the input and of the query, as records of the logger `cepctl`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from cepctl.language.ast import Attribute, Binary
from cepctl.language.messages import line_and_column
from cepctl.language.traversal import walk
from cepctl.notices import QUERY, READING, tell
from cepctl.render.counting import counted
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.ingestion.summary import IngestSummary
    from cepctl.language.ast import Query
    from cepctl.library.summary import MatchSummary
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

_DAY = 86_400_000_000
_IN_ORDER = ("<", "<=", ">", ">=")
_DOUBTS = ("read as UTC", "applies to no event", "no event has", "cut while it was read")
"""What a notice on reading says where a default decided which instants are meant, or an option has no use."""


def tell_reading(summary: IngestSummary | None) -> None:
    """Say what was skipped, left out and noticed while raw input was read; nothing where there was none."""
    if summary is not None:
        beside(SideFigure.READING_NOTICES, partial(_tell_reading, summary), None)


def _tell_reading(summary: IngestSummary) -> None:
    for notice in summary.notices:
        kind: Literal["note", "warning"] = "warning" if any(doubt in notice for doubt in _DOUBTS) else "note"
        tell(READING, kind, notice)
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
        tell(QUERY, "warning", f"the query can never match: {plan.never}")


def tell_texts(query: Query, inputs: EventInputs) -> None:
    """Say where WHERE has two columns of text in an order that hold numbers above all: in which order."""
    beside(SideFigure.QUERY_NOTICES, partial(_tell_texts, query, inputs), None)


def _tell_texts(query: Query, inputs: EventInputs) -> None:
    for each in walk(query.where) if query.where is not None else ():
        if not isinstance(each, Binary) or each.operator not in _IN_ORDER:
            continue
        names = [side.name for side in (each.left, each.right) if isinstance(side, Attribute)]
        if len(names) < 2 or any(str(inputs.schema.attributes.get(name)) != "string" for name in names):
            continue
        from cepctl.library.texts import holds_numbers, no_numbers

        if all(holds_numbers(inputs, name) for name in names):
            line, column = line_and_column(query.text, each.span.start)
            written = query.text[each.span.start : each.span.end]
            reasons = "; ".join(no_numbers(inputs, names))
            message = f"{written} compares texts, of which '70' comes before '9'; {reasons}"
            tell(QUERY, "warning", f"line {line}, column {column}: {message}")


def tell_doubts(summary: MatchSummary) -> None:
    """Say what of an answer was left out, is an estimate, or cost too much."""
    beside(SideFigure.SUMMARY, partial(_tell_doubts, summary), None)


def _tell_doubts(summary: MatchSummary) -> None:
    for doubt in filter(None, (summary.left_out, summary.estimates, summary.refusals)):
        tell(QUERY, "warning", doubt)


def tell_absent_values(plan: Plan, inputs: EventInputs) -> None:
    """Say which texts that a query without a match asks for no event has."""

    def tell_all() -> None:
        from cepctl.matching.absent_values import absent_values

        for absent in absent_values(plan, inputs):
            tell(QUERY, "warning", absent)

    beside(SideFigure.QUERY_NOTICES, tell_all, None)


def tell_exact_times(plan: Plan, inputs: EventInputs, counts: RowCounts) -> None:
    """Say what it means where every interval is one tick, and how to say more."""

    def tell_once() -> None:
        from cepctl.matching.exact_times import exact_times

        if exact_times(plan, inputs, counts):
            tell(
                QUERY,
                "note",
                f"every time is taken as exact, to one tick of {plan.time_unit}: nothing else could have "
                "happened; --uncertainty '±500 ms' says how far times can be off",
            )

    beside(SideFigure.QUERY_NOTICES, tell_once, None)


def tell_shared_stamps(plan: Plan, inputs: EventInputs, rows: FoundRows, counts: RowCounts) -> None:
    """Say how many rows the order of the records of their source would settle."""

    def tell_once() -> None:
        from cepctl.matching.shared_stamps import settled_by_order

        settled = settled_by_order(plan, inputs, rows, counts)
        if settled:
            tell(
                QUERY,
                "note",
                f"{counted(settled, 'row is', 'rows are')} uncertain only because records of one source "
                "share a stamp; --writer source takes these in the order in which they stand",
            )

    beside(SideFigure.QUERY_NOTICES, tell_once, None)


def tell_missing_window(plan: Plan, counts: RowCounts) -> None:
    """Say that a query sets no limit to the time that its matches take, where they take more than a day."""
    alone = all(len(each.components) < 2 for each in plan.alternatives)
    if plan.window is not None or alone or counts.start is None or counts.end is None:
        return
    days = (counts.end - counts.start) * plan.time_unit.microseconds / _DAY
    if days > 1:
        tell(
            QUERY,
            "note",
            f"the query has no WITHIN, and these matches are spread over {days:,.0f} days; WITHIN 1 hour "
            "keeps those whose events are near",
        )
