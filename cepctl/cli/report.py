"""`cepctl report`: run a query and draw its matches as one page for a browser."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from cepctl.cli.ingest import ingest_options, report_reading
from cepctl.cli.match_options import matching_options
from cepctl.cli.match_run import Execution, analyzed, run_plan, sampling_note, starting_between
from cepctl.cli.options import Conf, raw_input_options, runner_options, verbosity_options
from cepctl.cli.query_text import query_argument, read_query
from cepctl.cli.row_output import row_form, write_whole
from cepctl.errors import UsageError
from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.support import Engine
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.dataset import EventInputs
    from cepctl.plan.plan import Plan
    from cepctl.report.document import Run


@click.command("report")
@query_argument("EVENTS...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the page (HTML) to FILE.")
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
    engine: Engine,
    order: OrderName,
    min_confidence: float | None,
    top_k: int | None,
    max_matches: int,
    approximate: float | None,
    since: str | None,
    until: str | None,
    runner: str,
    master: str,
    conf: Conf,
    quiet: bool,
    verbose: bool,
    **reading: Any,
) -> None:
    """Run QUERY on EVENTS and draw its matches as one HTML page, which needs no network.

    The page lists the matches, to be sorted and filtered; each opens as a timeline of its events, with their
    intervals, raw times and the window.  Charts show all matches by confidence, over time and by key.
    QUERY is the text itself, or @FILE.
    """
    from cepctl.dataset import open_events
    from cepctl.engines.alternative import MatchOptions
    from cepctl.language.parser import parse
    from cepctl.report.document import Run

    began = time.monotonic()
    text, events = read_query(arguments, query_file)
    query = parse(text)
    row_form(None, output)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    with open_events(events, ingest_options(**reading)) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        plan = analyzed(query, inputs, min_confidence, quiet=quiet)
        best = top_k if since is None and until is None else None
        counts = inputs.schema.type_counts
        wanted = MatchOptions(order, counts, max_matches, approximate=approximate, top=best)
        matches = run_plan(plan, inputs, wanted, Execution(engine, runner, master, conf, verbose))
        matches = starting_between(matches, plan, since, until).slice(0, top_k)
        total = sum((counts or {}).values())
        page = _page(plan, inputs, matches, listed, Run(text, total, best_only=top_k is not None))
    write_whole(output, [page.encode()])
    if not quiet:
        shown = "" if matches.num_rows <= listed else f", the {listed:,} most probable of them listed"
        found = f"{counted(matches.num_rows, 'match', 'matches')} in {counted(total, 'event')}{shown}"
        click.echo(f"{found}, {time.monotonic() - began:.1f} s; page in {output}", err=True)
        if note := sampling_note(matches):
            click.echo(f"note: {note}", err=True)


def _page(plan: Plan, inputs: EventInputs, matches: pa.Table, listed: int, run: Run) -> str:
    from cepctl.report.document import document
    from cepctl.report.matched_events import matched_events
    from cepctl.report.overview import overview
    from cepctl.report.page import page_html

    found = matched_events(plan, inputs, matches.slice(0, listed))
    return page_html(document(found, overview(plan, inputs, matches), run))
