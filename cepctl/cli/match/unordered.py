"""`cepctl match --unordered`: rows are written as they are found, and the summary is told after them."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from cepctl.cli.match.kernel_hint import hint_at_kernels
from cepctl.cli.match.last_match import ROWS_REMEMBERED, remember_match
from cepctl.cli.match.progress import shown_progress
from cepctl.cli.match.request import MatchRequest
from cepctl.cli.match.summary import figures_of, tell_summary
from cepctl.cli.match.why_not import tell_why_not
from cepctl.cli.options.exclusions import refuse_or_leave_out
from cepctl.cli.output.metrics import write_metrics
from cepctl.cli.output.rows import write_rows
from cepctl.io.rows.forms import RowFile
from cepctl.library.notices import tell_doubts
from cepctl.library.rows_as_found import RowsAsFound, searched
from cepctl.matching.execution import AUTO
from cepctl.runners.kinds import RUNNERS
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.io.rows.folder import RowFolder
    from cepctl.language.ast import Query


def applies_to(query: Query) -> bool:
    """Whether rows can be written as they are found.

    Raises
    ------
    UsageError
        If the command line asks for that and the query gives no row before all matches are found.
    """
    context = click.get_current_context()
    if query.group_by is not None:
        because = "with GROUP BY: the row of a key is known when all its matches are found"
        refuse_or_leave_out(context, "unordered", because)
        return False
    is_said = context.get_parameter_source("runner") is ParameterSource.COMMANDLINE
    runner = context.params["runner"]
    if is_said and runner != AUTO and not RUNNERS[runner].here:
        because = f"with --runner {runner}: its tasks give rows when they have ended; --runner local does it"
        refuse_or_leave_out(context, "unordered", because)
    return True


def run_unordered(request: MatchRequest, target: RowFile, folder: RowFolder | None, *, guarded: bool) -> int:
    """Match all events that are named, writing what is found at once; returns how many rows were written."""
    on_terminal = request.rows.output is None and sys.stdout.isatty()
    with (
        shown_progress(quiet=request.quiet or on_terminal) as progress,
        searched(request.question, request.paths, progress) as rows,
    ):
        _write(request, rows, target, folder, guarded=guarded)
    summary = rows.summary
    tell_doubts(summary)
    if request.why_not:
        beside(SideFigure.WHY_NOT, partial(tell_why_not, rows.plan, rows.inputs, target.form), None)
    if not request.quiet:
        hint = not request.why_not and rows.plan.never is None
        beside(SideFigure.SUMMARY, partial(tell_summary, summary, hint=hint), None)
        beside(SideFigure.KERNEL_HINT, partial(hint_at_kernels, request.question.execution), None)
        if request.question.kleene == "groups":
            ids = tuple(rows.first[:ROWS_REMEMBERED])
            beside(SideFigure.LAST_MATCH, partial(remember_match, request.question, request.paths, ids), None)
    write_metrics(request.metrics, figures_of(summary))
    return summary.rows


def _write(
    request: MatchRequest, rows: RowsAsFound, target: RowFile, folder: RowFolder | None, *, guarded: bool
) -> None:
    from cepctl.io.rows.encoding import TimeFormat
    from cepctl.io.rows.shown import PresentedRows

    times = cast(TimeFormat, request.rows.times)
    plan = rows.plan
    shown = PresentedRows(plan.time_unit, times, target.form, request.rows.chosen, guarded, plan.tick_columns)
    pieces = rows.pieces(nested=request.rows.nested(target.form))
    if folder is None:
        chosen = bool(request.rows.chosen)
        write_rows(pieces, shown, target, request.rows.output, quiet=request.quiet, chosen=chosen)
        return
    from cepctl.library.row_parts import write_in_turn

    folder.publish(write_in_turn(pieces, folder, shown, rows.ran.progress))
