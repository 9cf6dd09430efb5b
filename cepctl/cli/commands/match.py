"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.match.planning import analyzed
from cepctl.cli.match.progress import shown_progress
from cepctl.cli.match.request import MatchRequest, RowChoice, row_options
from cepctl.cli.match.summary import Run, tell_summary
from cepctl.cli.match.why_not import tell_why_not
from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.incremental import Incremental, state_options
from cepctl.cli.options.matching import Matching, matching_options
from cepctl.cli.options.outputs import refuse_overwriting
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.raw_input import given_ingest_options
from cepctl.cli.options.shared import RawInput, raw_input_options, runner_options, verbosity_options
from cepctl.cli.output.accounts import report_reading
from cepctl.cli.output.metrics import metrics_option, write_metrics
from cepctl.cli.output.rows import refuse_unwritable, row_target, write_pieces, write_rows
from cepctl.cli.output.run_figures import RunFigures, rejects_in
from cepctl.errors import UsageError
from cepctl.io.rows.forms import TYPED_FORMS, RowFile
from cepctl.matching.raw_times import counts_of_rows
from cepctl.matching.run import Execution, RunnerChoice, find_rows, ticks_between
from cepctl.plan.summary import KLEENE_ROWS, KleeneRows

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.rows.counts import RowCounts
    from cepctl.engines.rows.sorted import SortedRows
    from cepctl.engines.runners.progress import Progress
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

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
    request = MatchRequest(
        parse(text), paths, incremental, matching, kleene, raw_input,
        Execution(matching.engine, runner, verbose), rows, why_not, metrics, quiet,
    )  # fmt: skip
    if incremental.state is None and rows.output is not None:
        refuse_unwritable(rows.output)
    written = {"-o": rows.output, "--metrics": metrics, "--late": incremental.late}
    refuse_overwriting(written, paths, raw_input, query_file_of(arguments, query_file))
    request.execution.require_startable()
    if incremental.state is None:
        count = _run_once(request)
    else:
        from cepctl.cli.match.incremental_run import run_with_state

        count = run_with_state(request)
    return MATCHES_FOUND if count and fail_on_match else 0


def _run_once(request: MatchRequest) -> int:
    """Match all events that are named; returns how many rows were written."""
    from cepctl.atomic.folders import temporary_folder
    from cepctl.matching.inputs import open_events

    began = time.monotonic()
    target = row_target(request.rows.form, request.rows.output)
    guarded = request.rows.guarded(target.form)
    if not request.paths:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    with temporary_folder() as folder:
        with open_events(request.paths, given_ingest_options(request.raw_input)) as inputs:
            if inputs.summary is not None:
                report_reading(inputs.summary, quiet=request.quiet)
            plan = analyzed(request.query, inputs, request.matching.min_confidence, quiet=request.quiet)
            rows, progress = _matched(request, plan, inputs, folder)
            counts = counts_of_rows(plan, inputs, rows, judged=_is_judged(request))
            if target.form == "trace":
                trace = _trace(plan, inputs, rows.table())
            if request.why_not:
                tell_why_not(plan, inputs, target.form)
        figures = RunFigures(
            events=sum((inputs.schema.type_counts or {}).values()),
            rejects=rejects_in(inputs.summary),
            seconds=time.monotonic() - began,
            matches=counts.rows,
            relevant=progress.relevant,
            slices=progress.slicing.tasks if progress.slicing is not None else None,
        )
        if not request.quiet:
            hint = not request.why_not and plan.never is None
            run = Run(rows.found, counts, figures, request.matching.top_k is not None)
            tell_summary(run, judged=_is_judged(request), hint=hint)
        if target.form == "trace":
            write_pieces(trace, request.rows.output, target.compression)
        else:
            _write(rows, counts, plan, request, target, guarded=guarded)
    write_metrics(request.metrics, figures)
    return counts.rows


def _is_judged(request: MatchRequest) -> bool:
    """Whether matches are held to raw times, for the summary."""
    return not request.quiet and request.kleene == "groups"


def _matched(
    request: MatchRequest, plan: Plan, inputs: EventInputs, folder: Path
) -> tuple[SortedRows, Progress]:
    """The rows that are asked for, and the work done."""
    from cepctl.engines.event.alternative import MatchOptions

    matching = request.matching
    wanted = MatchOptions(
        *(matching.order, inputs.schema.type_counts, matching.max_matches),
        approximate=matching.approximate,
        kleene=request.kleene,
        top=matching.top_k,
        raw_times=_is_judged(request),
        starting=ticks_between(plan, matching.since, matching.until),
        memory=matching.memory,
    )
    with shown_progress(quiet=request.quiet) as progress:
        rows = find_rows(plan, inputs, wanted, request.execution, folder, progress)
    return rows, progress


def _write(
    rows: SortedRows, counts: RowCounts, plan: Plan, request: MatchRequest, target: RowFile, *, guarded: bool
) -> None:
    from cepctl.io.rows.encoding import TimeFormat, presented, require_calendar
    from cepctl.io.rows.safe_cells import safe_cells
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES

    times = cast(TimeFormat, request.rows.times)
    require_calendar(counts.start, counts.end, plan.time_unit, times)

    def shown(block: pa.Table) -> pa.Table:
        if FOUND_AT_RAW_TIMES in block.column_names:
            block = block.drop_columns([FOUND_AT_RAW_TIMES])
        rows = presented(block, plan.time_unit, times, typed=target.form in TYPED_FORMS)
        return safe_cells(rows) if guarded else rows

    write_rows(rows.blocks(), shown, target, request.rows.output, quiet=request.quiet)


def _trace(plan: Plan, inputs: EventInputs, matches: pa.Table) -> Iterator[bytes]:
    """The matches as a trace; their events are read now, while the inputs are open."""
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.report.matched_events import matched_events
    from cepctl.report.trace import trace_pieces

    if FOUND_AT_RAW_TIMES in matches.column_names:
        matches = matches.drop_columns([FOUND_AT_RAW_TIMES])
    return trace_pieces(matched_events(plan, inputs, matches))
