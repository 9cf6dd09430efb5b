"""`cepctl show`: one match of a query, drawn and explained."""

from __future__ import annotations

from typing import cast

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.query_text import query_argument, read_query
from cepctl.cli.options.shared import memory_option, raw_input_options, verbosity_options
from cepctl.errors import NoMatchError, UsageError
from cepctl.library.finding import planned
from cepctl.library.notices import tell_reading
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.memory import MemoryBudget

_COPIES = 4
"""Events are held as they are read, joined, in order, and as what the engine computes of each."""


@click.command("show", cls=CheckedCommand)
@query_argument("EVENTS...")
@click.option(
    "--match",
    "signature",
    required=True,
    metavar="IDS",
    help="The match: what `cepctl match` writes in its column `match`, such as 'a1 b3+b4 c2'.",
)
@click.option(
    "--time",
    "times",
    type=click.Choice(["iso", "ticks"]),
    default="iso",
    show_default=True,
    help="How times are written.",
)
@raw_input_options("--input-format")
@memory_option
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    signature: str,
    times: str,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> None:
    """Show one match of QUERY in EVENTS: its events, their times, its rivals, its confidence.

    The events are drawn on one axis of time.  Where they are not a match, the command says which condition
    they fail, and fails.  QUERY is the text itself, or @FILE.
    """
    from cepctl.engines.diagnosis.one_match import ids_of, one_match
    from cepctl.language.parser import parse
    from cepctl.matching.inputs import open_events
    from cepctl.render.one_match import Times, drawing_width, print_match, reason_text

    text, events = read_query(arguments, query_file)
    query = parse(text)
    if not events:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    with open_events(events, given_ingest_options(raw_input), memory) as inputs:
        tell_reading(inputs.summary)
        plan = planned(query, inputs, None)
        inputs.require_room(plan.attributes, _COPIES, memory, "show")
        match = one_match(plan, inputs.read(plan.attributes), ids_of(signature), bins=drawing_width())
    print_match(match, cast(Times, times))
    if match.reasons:
        reasons = "; ".join(reason_text(match, each) for each in match.reasons)
        raise NoMatchError(f"'{signature}' is not a match of the query: {reasons}")
