"""Matches as the page of `cepctl report`: all of them, or the first for a notebook."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cepctl.errors import CepctlError
from cepctl.library.key_pages import document_of_keys
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.matches import Matches


def report_page(matches: Matches, listed: int) -> str:
    """One HTML page that lists the `listed` most probable matches and counts them all.

    Raises
    ------
    QueryTooLargeError
        If all rows do not fit in memory.
    """
    rows = matches.found.rows.table()
    return _page(matches, rows, listed, best_only=matches.summary.best)


def first_page(matches: Matches, count: int) -> str | None:
    """A page of the most probable matches alone; None where rows are not of events that can still be read."""
    summary = matches.summary
    if not summary.judged or (matches.closed and matches.found.inputs.temporary is not None):
        return None
    rows = next(matches.found.rows.pieces(count))()
    return _page(matches, rows, count, best_only=summary.best or len(matches) > count)


def _why_not(matches: Matches) -> str | None:
    """What stopped partial matches, as text; None where nobody can tell."""
    from cepctl.engines.diagnosis.why_not import why_not
    from cepctl.matching.run import types_read
    from cepctl.render.why_not import print_why_not

    # What sketches rule out can be what stopped a partial match.
    plan, inputs = matches.found.plan, replace(matches.found.inputs, only=None)
    if plan.never is not None:
        return plan.never
    told = io.StringIO()
    try:
        print_why_not(why_not(plan, inputs.read(plan.attributes, types_read(plan))), told)
    except CepctlError as problem:
        return str(problem)
    return told.getvalue().rstrip()


def _page(matches: Matches, rows: pa.Table, listed: int, *, best_only: bool) -> str:
    from cepctl.engines.event.raw_time_counts import RawTimeCounts, found_or_missed
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.report.document import About, document
    from cepctl.report.matched_events import matched_events
    from cepctl.report.overview import overview_beside
    from cepctl.report.page import page_html
    from cepctl.report.strip import strip_of

    found, counts = matches.found, matches.summary.counts
    judged = None
    if FOUND_AT_RAW_TIMES in rows.column_names:
        judged = found_or_missed(rows.column(FOUND_AT_RAW_TIMES).slice(0, listed))
        rows = rows.drop_columns([FOUND_AT_RAW_TIMES])
    raw_times = RawTimeCounts(counts.judged, counts.missed, counts.untimed)
    why = None if rows.num_rows else beside(SideFigure.WHY_NOT, partial(_why_not, matches), None)
    about = About(
        found.query,
        matches.summary.events,
        best_only,
        raw_times,
        judged,
        why,
        beside(SideFigure.STRIP, partial(strip_of, found.plan, found.inputs), None),
    )
    if found.plan.group_by is not None and rows.num_rows:
        return page_html(document_of_keys(matches, rows, listed, about))
    shown = matched_events(found.plan, found.inputs, rows.slice(0, listed))
    charts = overview_beside(found.plan, found.inputs, rows)
    return page_html(document(shown, charts, about))
