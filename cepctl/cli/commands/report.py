"""`cepctl report`: run a query and draw its matches as one page for a browser."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from cepctl.cli.match.planning import analyzed
from cepctl.cli.match.summary import Run, tell_summary
from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.matching import Matching, matching_options
from cepctl.cli.options.outputs import refuse_overwriting
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.raw_input import given_ingest_options
from cepctl.cli.options.shared import RawInput, raw_input_options, runner_options, verbosity_options
from cepctl.cli.output.accounts import report_reading
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_unwritable, write_whole
from cepctl.cli.output.run_figures import RunFigures, rejects_in
from cepctl.errors import UsageError
from cepctl.matching.raw_times import counts_of_rows
from cepctl.matching.run import Execution, RunnerChoice, find_rows, ticks_between

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan
    from cepctl.report.document import About


@click.command("report", cls=CheckedCommand)
@query_argument("EVENTS...")
@click.option(
    "-o", "--output", required=True, type=click.Path(), metavar="FILE", help="Write the page (HTML) to FILE."
)
@click.option(
    "--listed",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="List the N most probable matches in the page; its charts count them all.",
)
@matching_options
@raw_input_options("--input-format")
@runner_options
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    output: str,
    listed: int,
    matching: Matching,
    raw_input: RawInput,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run QUERY on EVENTS and draw its matches as one HTML page, which needs no network.

    The page lists the matches, to be sorted and filtered; each opens as a timeline of its events, with their
    intervals, raw times and the window.  Charts show all matches by confidence, over time and by key.
    QUERY is the text itself, or @FILE.
    """
    from cepctl.atomic.folders import temporary_folder
    from cepctl.engines.event.alternative import MatchOptions
    from cepctl.engines.event.raw_time_counts import RawTimeCounts
    from cepctl.language.parser import parse
    from cepctl.matching.inputs import open_events
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES
    from cepctl.report.document import About

    began = time.monotonic()
    text, events = read_query(arguments, query_file)
    query = parse(text)
    refuse_unwritable(output)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    refuse_overwriting({"-o": output}, events, raw_input, query_file_of(arguments, query_file))
    execution = Execution(matching.engine, runner, verbose)
    execution.require_startable()
    with temporary_folder() as folder, open_events(events, given_ingest_options(raw_input)) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        plan = analyzed(query, inputs, matching.min_confidence, quiet=quiet)
        counts = inputs.schema.type_counts
        wanted = MatchOptions(
            *(matching.order, counts, matching.max_matches),
            approximate=matching.approximate,
            top=matching.top_k,
            raw_times=True,
            starting=ticks_between(plan, matching.since, matching.until),
            memory=matching.memory,
        )
        rows = find_rows(plan, inputs, wanted, execution, folder)
        kept = counts_of_rows(plan, inputs, rows, judged=True)
        matches = rows.table()
        judged = None
        if FOUND_AT_RAW_TIMES in matches.column_names:
            judged = matches.column(FOUND_AT_RAW_TIMES).slice(0, listed).to_pylist()
            matches = matches.drop_columns([FOUND_AT_RAW_TIMES])
        total = sum((counts or {}).values())
        raw_times = RawTimeCounts(kept.judged, kept.missed, kept.untimed)
        about = About(text, total, matching.top_k is not None, raw_times, judged)
        page = _page(plan, inputs, matches, listed, about)
    write_whole(output, [page.encode()])
    if not quiet:
        figures = RunFigures(
            events=total,
            rejects=rejects_in(inputs.summary),
            seconds=time.monotonic() - began,
            matches=matches.num_rows,
        )
        tell_summary(Run(rows.found, kept, figures, matching.top_k is not None), judged=True, hint=False)
        shown = f", which lists the {listed:,} most probable" if matches.num_rows > listed else ""
        say("summary", f"page in {output}{shown}")


def _page(plan: Plan, inputs: EventInputs, matches: pa.Table, listed: int, about: About) -> str:
    from cepctl.report.document import document
    from cepctl.report.matched_events import matched_events
    from cepctl.report.overview import overview
    from cepctl.report.page import page_html

    found = matched_events(plan, inputs, matches.slice(0, listed))
    return page_html(document(found, overview(plan, inputs, matches), about))
