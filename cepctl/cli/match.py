"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.ingest import ingest_options, report_reading
from cepctl.cli.match_options import Matching, matching_options
from cepctl.cli.match_progress import shown_progress
from cepctl.cli.match_run import Execution, analyzed, run_plan, starting_between
from cepctl.cli.match_summary import Run, split_raw_times, tell_summary
from cepctl.cli.match_why_not import tell_why_not
from cepctl.cli.metrics import metrics_option, write_metrics
from cepctl.cli.options import RawInput, RunnerChoice, raw_input_options, runner_options, verbosity_options
from cepctl.cli.query_text import query_argument, read_query
from cepctl.cli.row_output import row_form, write_pieces, write_rows
from cepctl.cli.run_figures import RunFigures, rejects_in
from cepctl.cli.state_options import Incremental, state_options
from cepctl.errors import UsageError
from cepctl.plan.summary import KLEENE_ROWS, KleeneRows

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.dataset import EventInputs
    from cepctl.plan.plan import Plan

MATCHES_FOUND = 1


@click.command("match")
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
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "jsonl", "parquet", "trace"]),
    help="Form of the rows; trace draws them for Perfetto.  [default: told by FILE's name; table on a "
    "terminal, else csv]",
)
@click.option(
    "-o", "--output", type=click.Path(), metavar="FILE", help="Write the rows to FILE, whole or not at all."
)
@click.option(
    "--time",
    "times",
    type=click.Choice(["iso", "ticks"]),
    default="iso",
    show_default=True,
    help="How start and end are written.",
)
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
    output_format: str | None,
    output: str | None,
    times: str,
    why_not: bool,
    fail_on_match: bool,
    metrics: str | None,
    incremental: Incremental,
    raw_input: RawInput,
    where: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with the time it may have taken and how probable it is.
    """
    from cepctl.dataset import open_events
    from cepctl.engines.alternative import MatchOptions
    from cepctl.language.parser import parse

    began = time.monotonic()
    text, events = read_query(arguments, query_file)
    query = parse(text)
    how = Execution(matching.engine, where, verbose)
    incremental.require_state()
    if incremental.state is not None:
        from cepctl.cli.match_state import run_with_state
        from cepctl.cli.state_run import StateRun

        if why_not or kleene == "summary":
            raise UsageError("--state goes neither with --why-not nor with --kleene summary")
        asked = StateRun(
            *(query, events, incremental, matching, raw_input, how, output_format, output, times, quiet)
        )
        return MATCHES_FOUND if run_with_state(asked, metrics) and fail_on_match else 0
    form = row_form(output_format, output)
    _refuse_beside_summary(kleene, form, matching)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    with open_events(events, ingest_options(raw_input)) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        plan = analyzed(query, inputs, matching.min_confidence, quiet=quiet)
        judged = not quiet and kleene == "groups"
        wanted = MatchOptions(
            *(matching.order, inputs.schema.type_counts, matching.max_matches),
            approximate=matching.approximate, kleene=kleene, top=matching.best, raw_times=judged,
        )  # fmt: skip
        with shown_progress(quiet=quiet) as progress:
            matches = run_plan(plan, inputs, wanted, how, progress)
        found = matches.num_rows
        matches = starting_between(matches, plan, matching.since, matching.until).slice(0, matching.top_k)
        raw_times = None
        if judged:
            matches, raw_times = split_raw_times(plan, inputs, matches)
        if form == "trace":
            trace = _trace(plan, inputs, matches)
        if why_not:
            tell_why_not(plan, inputs, form)
    figures = RunFigures(
        events=sum((inputs.schema.type_counts or {}).values()),
        rejects=rejects_in(inputs.summary),
        seconds=time.monotonic() - began,
        matches=matches.num_rows,
        relevant=progress.relevant,
        slices=progress.slicing.tasks if progress.slicing is not None else None,
    )
    if not quiet:
        hint = not why_not and plan.never is None
        tell_summary(Run(found, matches, figures, matching.best is not None), raw_times, hint=hint)
    if form == "trace":
        write_pieces(trace, output)
    else:
        _write(matches, plan, times, form, output, quiet=quiet)
    write_metrics(metrics, figures)
    return MATCHES_FOUND if fail_on_match and matches.num_rows else 0


def _refuse_beside_summary(kleene: KleeneRows, form: str, matching: Matching) -> None:
    """Refuse what a summary of Kleene groups has no sense for."""
    if kleene != "summary":
        return
    if matching.approximate is not None:
        raise UsageError(
            "--approximate goes with --kleene groups alone: a summary sums what would be estimates"
        )
    if form == "trace":
        raise UsageError("--format trace goes with --kleene groups alone: a summary names no events to draw")


def _write(matches: pa.Table, plan: Plan, times: str, form: str, output: str | None, *, quiet: bool) -> None:
    from cepctl.io.match_rows import TimeFormat, presented

    rows = presented(matches, plan.time_unit, cast(TimeFormat, times), typed=form == "parquet")
    write_rows(rows, form, output, quiet=quiet)


def _trace(plan: Plan, inputs: EventInputs, matches: pa.Table) -> Iterator[bytes]:
    """The matches as a trace; their events are read now, while the inputs are open."""
    from cepctl.report.matched_events import matched_events
    from cepctl.report.trace import trace_pieces

    return trace_pieces(matched_events(plan, inputs, matches))
