"""One run of `cepctl match` over all events that are named: its rows, its summary, what is kept of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cepctl.cli.match.kernel_hint import hint_at_kernels
from cepctl.cli.match.last_match import ROWS_REMEMBERED, remember_match
from cepctl.cli.match.progress import shown_progress
from cepctl.cli.match.request import MatchRequest
from cepctl.cli.match.summary import figures_of, tell_summary
from cepctl.cli.match.unordered import run_unordered
from cepctl.cli.match.why_not import tell_why_not
from cepctl.cli.output.answers import answer_around
from cepctl.cli.output.metrics import write_metrics
from cepctl.cli.output.rows import row_target, write_pieces, write_rows
from cepctl.errors import UsageError
from cepctl.io.rows.forms import RowFile
from cepctl.library.finding import find_matches
from cepctl.library.matches import Matches
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.io.rows.folder import RowFolder


def run_once(request: MatchRequest) -> int:
    """Match all events that are named; returns how many rows were written."""
    # A table is laid out when all its rows are known.
    form = request.rows.form or ("csv" if request.unordered and request.rows.output is None else None)
    target = row_target(form, request.rows.output)
    request.rows.require_writable(target.form)
    guarded = request.rows.guarded(target.form)
    if not request.paths:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    _share_memory()
    if request.unordered:
        with _folder(request, target) as folder:
            return run_unordered(request, target, folder, guarded=guarded)
    with _folder(request, target) as folder, _found(request, folder) as matches:
        plan, inputs = matches.found.plan, matches.found.inputs
        trace = _trace(matches, request.rows.limit) if target.form == "trace" else None
        if request.why_not:
            beside(SideFigure.WHY_NOT, partial(tell_why_not, plan, inputs, target.form), None)
        if not request.quiet:
            _tell(request, matches)
        if trace is not None:
            write_pieces(trace, request.rows.output, target.compression)
        else:
            _write(matches, request, target, folder, guarded=guarded)
        if not request.quiet and request.question.kleene == "groups":
            beside(SideFigure.LAST_MATCH, partial(_remember, request, matches), None)
    write_metrics(request.metrics, figures_of(matches.summary))
    return len(matches)


def _share_memory() -> None:
    """Have Arrow take memory from where all others of this process do.

    Its own allocator gives back what is freed, page by page, and to get it again took a sixth of the
    processor time of a match with many rows.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def _tell(request: MatchRequest, matches: Matches) -> None:
    """The summary of a run, and what would have been quicker."""
    execution, hint = request.question.execution, not request.why_not and matches.found.plan.never is None
    tell = partial(tell_summary, matches.summary, hint=hint, limit=request.rows.limit)
    beside(SideFigure.SUMMARY, tell, None)
    beside(SideFigure.KERNEL_HINT, partial(hint_at_kernels, execution), None)


def _remember(request: MatchRequest, matches: Matches) -> None:
    """Keep what was asked and the first rows for `cepctl show --last`."""
    asked, rows = request.question, matches.head(ROWS_REMEMBERED)
    ids = rows.column("match" if "match" in rows.column_names else "best").to_pylist()
    remember_match(asked, request.paths, [each for each in ids if each is not None])


@contextmanager
def _folder(request: MatchRequest, target: RowFile) -> Iterator[RowFolder | None]:
    """Where the parts of a folder of rows are made; None where rows go elsewhere."""
    if not target.parts:
        yield None
        return
    from cepctl.io.rows.folder import row_folder

    assert request.rows.output is not None
    with row_folder(Path(request.rows.output), overwrite=request.overwrite) as made:
        yield made


def _found(request: MatchRequest, folder: RowFolder | None) -> Matches:
    scratch = None if folder is None else folder.scratch
    with shown_progress(quiet=request.quiet) as progress:
        return find_matches(request.question, request.paths, progress, scratch=scratch)


def _write(
    matches: Matches, request: MatchRequest, target: RowFile, folder: RowFolder | None, *, guarded: bool
) -> None:
    from cepctl.io.rows.encoding import TimeFormat, encoded_rows, require_calendar
    from cepctl.io.rows.shown import PresentedRows

    times, counts = cast(TimeFormat, request.rows.times), matches.summary.counts
    unit, ticks = matches.found.plan.time_unit, matches.found.plan.tick_columns
    require_calendar(counts.start, counts.end, unit, times)
    shown = PresentedRows(unit, times, target.form, request.rows.chosen, guarded, ticks)
    if folder is not None:
        from cepctl.library.row_parts import write_parts

        execution, limit = request.question.execution, request.rows.limit
        with shown_progress(quiet=request.quiet) as progress:
            count = write_parts(matches, folder, shown, execution, limit, progress)
        folder.publish(count)
        return
    if request.as_json:
        pieces = encoded_rows(matches.pieces(request.rows.limit), "json", shown)
        write_pieces(answer_around("match", pieces, _beside_rows(request, matches)), None)
        return
    chosen = bool(request.rows.chosen)
    write_rows(
        matches.pieces(request.rows.limit, nested=request.rows.nested(target.form)),
        shown,
        target,
        request.rows.output,
        quiet=request.quiet,
        chosen=chosen,
    )


def _beside_rows(request: MatchRequest, matches: Matches) -> dict[str, object]:
    """What `--json` says beside the rows."""
    summary = matches.summary
    figures = {"found": summary.found, "text": str(summary), **figures_of(summary).known()}
    return {"query": request.question.text, "summary": figures}


def _trace(matches: Matches, limit: int | None) -> Iterator[bytes]:
    """The matches as a trace, or the keys of GROUP BY."""
    from cepctl.render.pictures.matched_events import matched_events
    from cepctl.render.pictures.trace import trace_pieces

    plan, inputs, rows = matches.found.plan, matches.found.inputs, matches.table()[:limit]
    if plan.group_by is None:
        return trace_pieces(matched_events(plan, inputs, rows))
    from cepctl.library.pages import best_matches

    return trace_pieces(best_matches(plan, inputs, rows), rows)
