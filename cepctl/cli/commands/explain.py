"""`cepctl explain`: how a query is understood and how it would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.query_text import query_argument, read_query
from cepctl.cli.options.shared import (
    memory_option,
    raw_input_options,
    verbosity_options,
    words_or_json,
)
from cepctl.errors import UsageError
from cepctl.library.notices import tell_reading
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.memory import MemoryBudget
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


@click.command("explain", cls=CheckedCommand)
@query_argument("[EVENTS...]")
@words_or_json
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="auto",
    show_default=True,
    help="The order of evaluation to explain.",
)
@memory_option
@click.option("--support", is_flag=True, help="Show what runs on which engine instead; takes no QUERY.")
@raw_input_options("--input-format")
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    output_format: str,
    order: OrderName,
    memory: MemoryBudget,
    support: bool,
    raw_input: RawInput,
    quiet: bool,
    verbose: bool,
) -> None:
    """Show the plan of QUERY; nothing is run.

    With EVENTS, attributes and types are checked against them and counts are estimated.  QUERY is
    the text itself, or @FILE.
    """
    from cepctl.language.parser import parse
    from cepctl.plan import analyze
    from cepctl.plan.support import support_table
    from cepctl.render.explain import ShownFacts, print_plan

    if support:
        if arguments:
            raise UsageError("--support takes no QUERY and no EVENTS")
        click.echo(support_table())
        return
    text, events = read_query(arguments, query_file)
    query = parse(text)
    if events:
        from cepctl.engines.runners.memory_estimate import MemoryEstimate
        from cepctl.matching.inputs import open_events

        with open_events(events, given_ingest_options(raw_input)) as inputs:
            tell_reading(inputs.summary)
            plan = analyze(query, inputs.schema)
            counts = inputs.schema.type_counts
            estimate = MemoryEstimate.of(plan, counts or {}, memory)
            facts = ShownFacts(counts, order, _slices(plan, inputs), estimate.text(), estimate.to_json())
    else:
        plan, facts = analyze(query, None), ShownFacts(None, order)
    print_plan(plan, facts, as_json=output_format == "json")


def _slices(plan: Plan, inputs: EventInputs) -> str:
    """How Spark would split the events, with as many tasks at once as this machine has cores."""
    from cepctl.datasets.row_groups import row_groups
    from cepctl.engines.concurrency import usable_cores
    from cepctl.engines.runners.slices import choose_slicing

    cores = usable_cores()
    slicing = choose_slicing(row_groups(inputs.sources(plan.attributes)), plan, cores)
    return f"{slicing.text()} ({counted(cores, 'task')} at once)"
