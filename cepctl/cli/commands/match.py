"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.match.last_match import ROWS_REMEMBERED, LastMatch, absolute, remember
from cepctl.cli.match.progress import shown_progress
from cepctl.cli.match.request import MatchRequest, RowChoice, row_options
from cepctl.cli.match.runner_hint import hint_at_runner
from cepctl.cli.match.summary import figures_of, tell_summary
from cepctl.cli.match.why_not import tell_why_not
from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.incremental import Incremental, state_options
from cepctl.cli.options.matching import matching_options
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.shared import raw_input_options, runner_options, verbosity_options
from cepctl.cli.output.metrics import metrics_option, write_metrics
from cepctl.cli.output.rows import refuse_unwritable, row_target, write_pieces, write_rows
from cepctl.errors import UsageError
from cepctl.io.rows.forms import TYPED_FORMS, RowFile
from cepctl.library.finding import Question, find_matches
from cepctl.library.matches import Matches
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.library.selection import Matching
from cepctl.library.sketch import SKETCH_USES, SketchUse
from cepctl.matching.run import Execution, RunnerChoice
from cepctl.plan.grouping import refuse_groups
from cepctl.plan.summary import KLEENE_ROWS, KleeneRows

if TYPE_CHECKING:
    import pyarrow as pa

MATCHES_FOUND = 1


@click.command("match", cls=CheckedCommand)
@query_argument("EVENTS...")
@matching_options
@click.option(
    "--kleene",
    type=click.Choice(KLEENE_ROWS),
    default="groups",
    show_default=True,
    help="groups: a row for each group of a Type+; summary: one row for all groups between the same "
    "events, with the probability that there is any.",
)
@click.option(
    "--sketch",
    type=click.Choice(SKETCH_USES),
    default="auto",
    show_default=True,
    help="auto: where every dataset has a sketch beside it (cepctl sketch), read only row groups that can "
    "hold a match; changes no row.",
)
@row_options
@click.option(
    "--why-not",
    "why_not",
    is_flag=True,
    help="Say on standard error how far partial matches got, what stopped them, and what came nearest; with "
    "--format jsonl as one JSON object.",
)
@click.option("--fail-on-match", is_flag=True, help="Exit with 1 when there are matches.")
@metrics_option
@state_options
@raw_input_options("--input-format")
@runner_options
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    matching: Matching,
    kleene: KleeneRows,
    sketch: SketchUse,
    rows: RowChoice,
    why_not: bool,
    fail_on_match: bool,
    metrics: str | None,
    incremental: Incremental,
    raw_input: RawInput,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with the time it may have taken and how probable it is.
    """
    from cepctl.language.parser import parse

    text, paths = read_query(arguments, query_file)
    question = Question(
        text, parse(text), matching, kleene, raw_input, Execution(matching.engine, runner, verbose),
        judged=not quiet and kleene == "groups", columns=rows.chosen,
        sketch="off" if why_not else sketch,
    )  # fmt: skip
    if incremental.follow and fail_on_match:
        raise UsageError("--fail-on-match cannot apply with --follow: it runs until it is interrupted")
    request = MatchRequest(question, paths, incremental, rows, why_not, metrics, quiet)
    if incremental.state is None and rows.output is not None:
        refuse_unwritable(rows.output)
    written = {"-o": rows.output, "--metrics": metrics, "--late": incremental.late}
    refuse_overwriting(written, paths, raw_input, query_file_of(arguments, query_file))
    question.execution.require_startable()
    if incremental.state is None:
        count = _run_once(request)
    else:
        from cepctl.cli.match.incremental_run import run_with_state

        if incremental.follow:
            from cepctl.cli.match.following import follow

            follow(request, run_with_state)
        count = run_with_state(request)
    return MATCHES_FOUND if count and fail_on_match else 0


def _run_once(request: MatchRequest) -> int:
    """Match all events that are named; returns how many rows were written."""
    target = row_target(request.rows.form, request.rows.output)
    request.rows.require_writable(target.form)
    guarded = request.rows.guarded(target.form)
    if target.form == "trace":
        refuse_groups(request.question.query, "--format trace")
    if not request.paths:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    with _found(request) as matches:
        plan, inputs = matches.found.plan, matches.found.inputs
        trace = _trace(matches, request.rows.limit) if target.form == "trace" else None
        if request.why_not:
            tell_why_not(plan, inputs, target.form)
        if not request.quiet:
            hint = not request.why_not and plan.never is None
            tell_summary(matches.summary, hint=hint, limit=request.rows.limit)
            hint_at_runner(request.question.execution, matches.summary.events)
        if trace is not None:
            write_pieces(trace, request.rows.output, target.compression)
        else:
            _write(matches, request, target, guarded=guarded)
        if not request.quiet and request.question.kleene == "groups":
            _remember(request, matches)
    write_metrics(request.metrics, figures_of(matches.summary))
    return len(matches)


def _remember(request: MatchRequest, matches: Matches) -> None:
    """Keep what was asked and the first rows for `cepctl show --last`."""
    asked, rows = request.question, matches.head(ROWS_REMEMBERED)
    raw_input = replace(
        asked.raw_input,
        uncertainty=absolute(asked.raw_input.uncertainty),
        patterns=absolute(asked.raw_input.patterns),
    )
    paths = tuple(absolute(path) or path for path in request.paths)
    ids = rows.column("match" if asked.query.group_by is None else "best").to_pylist()
    remember(LastMatch(asked.text, paths, raw_input, tuple(ids)))


def _found(request: MatchRequest) -> Matches:
    with shown_progress(quiet=request.quiet) as progress:
        return find_matches(request.question, request.paths, progress)


def _write(matches: Matches, request: MatchRequest, target: RowFile, *, guarded: bool) -> None:
    from cepctl.io.rows.columns import chosen_columns
    from cepctl.io.rows.encoding import TimeFormat, presented, require_calendar
    from cepctl.io.rows.safe_cells import safe_cells

    times, counts = cast(TimeFormat, request.rows.times), matches.summary.counts
    unit, ticks = matches.found.plan.time_unit, matches.found.plan.tick_columns
    require_calendar(counts.start, counts.end, unit, times)

    def shown(block: pa.Table) -> pa.Table:
        rows = presented(block, unit, times, ticks=ticks, typed=target.form in TYPED_FORMS)
        rows = chosen_columns(rows, request.rows.chosen)
        return safe_cells(rows) if guarded else rows

    chosen = bool(request.rows.chosen)
    write_rows(
        matches.blocks(request.rows.limit),
        shown,
        target,
        request.rows.output,
        quiet=request.quiet,
        chosen=chosen,
    )


def _trace(matches: Matches, limit: int | None) -> Iterator[bytes]:
    """The matches as a trace."""
    from cepctl.report.matched_events import matched_events
    from cepctl.report.trace import trace_pieces

    return trace_pieces(matched_events(matches.found.plan, matches.found.inputs, matches.table()[:limit]))
