"""Matches as the page of `cepctl report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.library.matches import Matches


def report_page(matches: Matches, listed: int) -> str:
    """One HTML page that lists the `listed` most probable matches and counts them all.

    Raises
    ------
    QueryTooLargeError
        If all rows do not fit in memory.
    """
    from cepctl.engines.event.raw_time_counts import RawTimeCounts
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.report.document import About, document
    from cepctl.report.matched_events import matched_events
    from cepctl.report.overview import overview
    from cepctl.report.page import page_html

    found, summary = matches.found, matches.summary
    rows, table = found.rows.table(), matches.table()
    judged = None
    if FOUND_AT_RAW_TIMES in rows.column_names:
        judged = rows.column(FOUND_AT_RAW_TIMES).slice(0, listed).to_pylist()
    counts = summary.counts
    raw_times = RawTimeCounts(counts.judged, counts.missed, counts.untimed)
    about = About(found.query, summary.events, summary.best, raw_times, judged)
    shown = matched_events(found.plan, found.inputs, table.slice(0, listed))
    return page_html(document(shown, overview(found.plan, found.inputs, table), about))
