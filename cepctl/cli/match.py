"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.ingest import ingest_options, report_reading
from cepctl.cli.match_options import matching_options
from cepctl.cli.match_run import Execution, analyzed, run_plan, sampling_note, starting_between
from cepctl.cli.match_summary import Run, split_raw_times, summary
from cepctl.cli.match_why_not import HINT, tell_why_not
from cepctl.cli.options import Conf, raw_input_options, runner_options, verbosity_options
from cepctl.cli.query_text import query_argument, read_query
from cepctl.cli.row_output import row_form, write_pieces, write_rows
from cepctl.errors import UsageError
from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.summary import KLEENE_ROWS, KleeneRows
from cepctl.plan.support import Engine

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
@click.option("-o", "--output", metavar="FILE", help="Write the rows to FILE, whole or not at all.")
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
@raw_input_options("--input-format")
@runner_options
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    engine: Engine,
    order: OrderName,
    min_confidence: float | None,
    kleene: KleeneRows,
    top_k: int | None,
    max_matches: int,
    approximate: float | None,
    output_format: str | None,
    output: str | None,
    times: str,
    since: str | None,
    until: str | None,
    why_not: bool,
    fail_on_match: bool,
    input_format: str | None,
    uncertainty: str | None,
    tz: str | None,
    renames: Conf,
    drop_domain: bool,
    patterns: str | None,
    keep_unmatched: bool,
    intervals: bool,
    epoch: str | None,
    columns: tuple[str, ...],
    runner: str,
    master: str,
    conf: Conf,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with the time it may have taken and how probable it is.
    """
    from cepctl.dataset import open_events
    from cepctl.engines.alternative import MatchOptions
    from cepctl.io.match_rows import TimeFormat, presented
    from cepctl.language.parser import parse

    began = time.monotonic()
    text, events = read_query(arguments, query_file)
    query = parse(text)
    form = row_form(output_format, output)
    if approximate is not None and kleene == "summary":
        raise UsageError(
            "--approximate goes with --kleene groups alone: a summary sums what would be estimates"
        )
    if form == "trace" and kleene == "summary":
        raise UsageError("--format trace goes with --kleene groups alone: a summary names no events to draw")
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    options = ingest_options(
        input_format=input_format,
        uncertainty=uncertainty,
        tz=tz,
        renames=renames,
        drop_domain=drop_domain,
        patterns=patterns,
        keep_unmatched=keep_unmatched,
        intervals=intervals,
        epoch=epoch,
        columns=columns,
    )
    how = Execution(engine, runner, master, conf, verbose)
    with open_events(events, options) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        plan = analyzed(query, inputs, min_confidence, quiet=quiet)
        best = top_k if since is None and until is None else None
        counts = inputs.schema.type_counts
        judged = not quiet and kleene == "groups"
        wanted = MatchOptions(
            *(order, counts, max_matches), approximate=approximate, kleene=kleene, top=best, raw_times=judged
        )
        matches = run_plan(plan, inputs, wanted, how)
        found = matches.num_rows
        matches = starting_between(matches, plan, since, until).slice(0, top_k)
        raw_times = None
        if judged:
            matches, raw_times = split_raw_times(plan, inputs, matches)
        if form == "trace":
            trace = _trace(plan, inputs, matches)
        if why_not:
            tell_why_not(plan, inputs, form)
    if not quiet:
        total = sum((inputs.schema.type_counts or {}).values())
        run = Run(found, matches, total, time.monotonic() - began, best is not None)
        click.echo(summary(run, raw_times), err=True)
        if note := sampling_note(matches):
            click.echo(f"note: {note}", err=True)
        if not found and not why_not and plan.never is None:
            click.echo(HINT, err=True)
    if form == "trace":
        write_pieces(trace, output)
    else:
        rows = presented(matches, plan.time_unit, cast(TimeFormat, times), typed=form == "parquet")
        write_rows(rows, form, output, quiet=quiet)
    return MATCHES_FOUND if fail_on_match and matches.num_rows else 0


def _trace(plan: Plan, inputs: EventInputs, matches: pa.Table) -> Iterator[bytes]:
    """The matches as a trace; their events are read now, while the inputs are open."""
    from cepctl.report.matched_events import matched_events
    from cepctl.report.trace import trace_pieces

    return trace_pieces(matched_events(plan, inputs, matches))
