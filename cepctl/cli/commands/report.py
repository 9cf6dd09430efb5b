"""`cepctl report`: run a query and draw its matches as one page for a browser."""

from __future__ import annotations

from functools import partial

import click

from cepctl.cli.match.summary import tell_summary
from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.matching import matching_options
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import runner_options, strict_option, verbosity_options
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_other_page, refuse_unwritable, tell_replaced, write_whole
from cepctl.errors import UsageError
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.pages import report_page
from cepctl.library.question import Question
from cepctl.library.raw_input import RawInput
from cepctl.library.selection import Matching
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.side_figures import SideFigure, beside


@click.command("report", cls=GroupedCommand)
@query_argument("EVENTS...")
@click.option(
    "-o", "--output", required=True, type=click.Path(), metavar="FILE", help="Write the page (HTML) to FILE."
)
@click.option("--no-clobber", is_flag=True, help="Refuse to replace an existing FILE.")
@click.option(
    "--listed",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="List the N most probable matches in the page, with GROUP BY keys; its charts count them all.",
)
@matching_options
@raw_input_options("--input-format")
@runner_options
@strict_option
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    output: str,
    no_clobber: bool,
    listed: int,
    matching: Matching,
    raw_input: RawInput,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run QUERY on EVENTS and draw its matches as one HTML page, which needs no network.

    The page lists the matches, which can be sorted and filtered; each opens as a timeline of its events,
    with their intervals, raw times and the window.  Charts show all matches by confidence, over time and
    by key.  With GROUP BY each key is one line, with its most probable match, and opens to its matches.
    QUERY is the text itself, or @FILE.
    """
    from cepctl.language.parser import parse
    from cepctl.library.finding import find_matches

    text, events = read_query(arguments, query_file)
    execution = Execution(matching.engine, runner, verbose)
    question = Question(
        text, parse(text), matching, "groups", raw_input, execution, judged=True, lawless=True, sketch="auto"
    )
    refuse_unwritable(output, no_clobber=no_clobber)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    file = query_file_of(arguments, query_file)
    refuse_overwriting({"-o": output}, events, raw_input, file, laws=matching.under.laws)
    refuse_other_page(output)
    execution.require_startable()
    with find_matches(question, events) as matches:
        tell_replaced(output)
        write_whole(output, [report_page(matches.found, listed).encode()])
    if not quiet:
        beside(SideFigure.SUMMARY, partial(tell_summary, matches.summary, hint=False), None)
        shown = f", which lists the {listed:,} most probable" if len(matches) > listed else ""
        say("summary", f"page in {output}{shown}")
