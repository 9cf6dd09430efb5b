"""Matches as the page of `cepctl report`: all of them, or the first for a notebook.

Pictures of keys of GROUP BY: of a page each key and the matches behind it, which are found once more.

Of a trace the best match of each key, which its row names.
"""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cepctl.errors import CepctlError, QueryTooLargeError
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.found import Found
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan
    from cepctl.render.pictures.document import About
    from cepctl.render.pictures.matched_events import MatchedEvents


def report_page(found: Found, listed: int) -> str:
    """One HTML page that lists the `listed` most probable matches and counts them all.

    Raises
    ------
    QueryTooLargeError
        If all rows do not fit in memory.
    """
    return _page(found, found.rows.table(), listed, best_only=found.summary.best)


def first_page(found: Found, count: int) -> str | None:
    """A page of the most probable matches alone; None where rows are not of events."""
    summary = found.summary
    if not summary.judged:
        return None
    rows = next(found.rows.pieces(count))()
    return _page(found, rows, count, best_only=summary.best or summary.rows > count)


def _why_not(found: Found) -> str | None:
    """What stopped partial matches, as text; None where nobody can tell."""
    from cepctl.engines.diagnosis.why_not import why_not
    from cepctl.matching.run import types_read
    from cepctl.render.why_not import print_why_not

    # What sketches rule out can be what stopped a partial match.
    plan, inputs = found.plan, replace(found.inputs, only=None).whole()
    if plan.never is not None:
        return plan.never
    text = io.StringIO()
    try:
        print_why_not(why_not(plan, inputs.read(plan.attributes, types_read(plan))), text)
    except CepctlError as problem:
        return str(problem)
    return text.getvalue().rstrip()


def _page(found: Found, rows: pa.Table, listed: int, *, best_only: bool) -> str:
    from cepctl.engines.event.raw_time_counts import RawTimeCounts, found_or_missed
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.render.pictures.document import About, document
    from cepctl.render.pictures.matched_events import matched_events
    from cepctl.render.pictures.overview import overview_beside
    from cepctl.render.pictures.page import page_html
    from cepctl.render.pictures.strip import strip_of

    counts = found.summary.counts
    judged = None
    if FOUND_AT_RAW_TIMES in rows.column_names:
        judged = found_or_missed(rows.column(FOUND_AT_RAW_TIMES).slice(0, listed))
        rows = rows.drop_columns([FOUND_AT_RAW_TIMES])
    raw_times = RawTimeCounts(counts.judged, counts.missed, counts.untimed)
    why = None if rows.num_rows else beside(SideFigure.WHY_NOT, partial(_why_not, found), None)
    about = About(
        found.query,
        found.summary.events,
        best_only,
        raw_times,
        judged,
        why,
        beside(SideFigure.STRIP, partial(strip_of, found.plan, found.inputs), None),
    )
    if found.plan.group_by is not None and rows.num_rows:
        return page_html(document_of_keys(found, rows, listed, about))
    shown = matched_events(found.plan, found.inputs, rows.slice(0, listed))
    charts = overview_beside(found.plan, found.inputs, rows)
    return page_html(document(shown, charts, _with_evidence(about, shown, found.inputs)))


def _with_evidence(about: About, shown: MatchedEvents, inputs: EventInputs) -> About:
    """With what was recorded of the clocks of the events that are shown; nothing is read where none were."""
    from cepctl.library.clock_evidence import evidence_of_events
    from cepctl.render.clock_evidence import evidence_texts

    found = beside(SideFigure.RECORDED_CLOCKS, partial(evidence_of_events, shown.events, inputs), None)
    return about if found is None else replace(about, recorded=evidence_texts(found))


_MOST_BEHIND = 1_000_000
"""Of keys with more matches, such as sets of a Kleene group that were counted, only the best is drawn."""


def document_of_keys(found: Found, keys: pa.Table, listed: int, about: About) -> dict[str, Any]:
    """The document of a page that lists the `listed` most probable of some keys, which are not none."""
    import pyarrow as pa

    from cepctl.engines.event.raw_time_counts import found_or_missed
    from cepctl.plan.grouping import ungrouped
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.render.pictures.document import document
    from cepctl.render.pictures.matched_events import matched_events
    from cepctl.render.pictures.overview import overview_beside
    from cepctl.render.pictures.records import NO_KEY, KeyLines, owners

    plan = ungrouped(found.plan)
    names = tuple(each.name for each in plan.returns)
    shown = keys.slice(0, max(listed, 1))
    behind = _behind(found, shown, max(listed, 1))
    rows = _best_rows(shown, names) if behind is None else behind
    owner = owners(names, shown, rows)
    rows, owner = rows.filter(pa.array(owner != NO_KEY)), owner[owner != NO_KEY]
    judged = None
    if FOUND_AT_RAW_TIMES in rows.column_names:
        judged = found_or_missed(rows.column(FOUND_AT_RAW_TIMES))
        rows = rows.drop_columns([FOUND_AT_RAW_TIMES])
    drawn = matched_events(plan, found.inputs, rows)
    if behind is None:
        drawn = _with_own_ranges(drawn)
    lines = KeyLines(names, shown, owner, found.summary.rows, found.summary.answer or "", behind is None)
    about = _with_evidence(replace(about, found_at_raw_times=judged, keys=lines), drawn, found.inputs)
    return document(drawn, overview_beside(plan, found.inputs, drawn.matches), about)


def best_matches(plan: Plan, inputs: EventInputs, keys: pa.Table) -> MatchedEvents:
    """The best match of each key, in their order, without those of which it is not known."""
    from cepctl.plan.grouping import ungrouped
    from cepctl.render.pictures.matched_events import matched_events

    matches = ungrouped(plan)
    known = keys.filter(keys.column("signature").is_valid())
    return matched_events(matches, inputs, _best_rows(known, tuple(each.name for each in matches.returns)))


def _behind(found: Found, keys: pa.Table, count: int) -> pa.Table | None:
    """The most probable of all matches, and the best of each key; None where they are too many to look at."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    find, sizes = found.behind, found.rows.table().column("matches")
    if find is None or sizes.null_count or pc.sum(sizes).as_py() > _MOST_BEHIND:
        return None
    try:
        listed = find()
    except QueryTooLargeError:
        return None
    best, kept, left = keys.column("best").combine_chunks(), [], count
    for block in listed.blocks():
        wanted = np.arange(block.num_rows) < left
        left -= int(wanted.sum())
        kept.append(block.filter(pc.or_(pa.array(wanted), pc.is_in(block.column("match"), best))))
    return pa.concat_tables(kept)


def _best_rows(keys: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The best match of each key as a row of its own; its range is not known, but that of all of them."""
    rows = keys.select([*names, "signature", "best", "confidence", "start", "end"])
    return rows.rename_columns([*names, "signature", "match", "confidence", "start", "end"])


def _with_own_ranges(found: MatchedEvents) -> MatchedEvents:
    """Matches with ranges of what the events of each can use."""
    import numpy as np
    import pyarrow as pa

    begin, rows = found.bound.offsets[:-1], found.matches
    for name, ticks in (
        ("start", np.minimum.reduceat(found.valid.lower, begin)),
        ("end", np.maximum.reduceat(found.valid.upper, begin)),
    ):
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(ticks))
    return replace(found, matches=rows)
