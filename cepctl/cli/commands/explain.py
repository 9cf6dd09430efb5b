"""`cepctl explain`: how a query is understood and how it would run."""

from __future__ import annotations

from dataclasses import dataclass

import click

from cepctl.cli.match.progress import shown_progress
from cepctl.cli.options.exclusions import asked_for, refuse_or_leave_out
from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.laws import law_options
from cepctl.cli.options.query_text import query_argument, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import (
    in_one,
    json_option,
    memory_option,
    strict_option,
    verbosity_options,
    words_or_json,
)
from cepctl.cli.output.answers import print_answer
from cepctl.errors import UsageError
from cepctl.library.laws import LawChoice
from cepctl.library.raw_input import RawInput
from cepctl.plan.evaluation_order import ORDERS, OrderName
from cepctl.process.memory import MemoryBudget


@dataclass(frozen=True)
class _PlanOutput:
    """What is known of a plan, in which form; or with `support` what is supported."""

    output_format: str
    as_json: bool
    support: bool


@click.command("explain", cls=GroupedCommand)
@query_argument("[EVENTS...]")
@words_or_json
@json_option
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="auto",
    show_default=True,
    help="The order of evaluation to explain.",
)
@law_options
@memory_option
@click.option("--support", is_flag=True, help="Show what runs on which engine instead; takes no QUERY.")
@raw_input_options("--input-format")
@strict_option
@verbosity_options
@in_one("answer", _PlanOutput)
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    answer: _PlanOutput,
    order: OrderName,
    under: LawChoice,
    memory: MemoryBudget,
    raw_input: RawInput,
    quiet: bool,
    verbose: bool,
) -> None:
    """Show the plan of QUERY; only a trial is run.

    With EVENTS, attributes and types are checked against them and counts are estimated.  A trial with a
    few events forecasts the number of matches and the time they take.  QUERY is the text itself, or
    @FILE.
    """
    from cepctl.language.parser import parse
    from cepctl.library.explain import explained
    from cepctl.plan.support import support_table
    from cepctl.render.explain import plan_json, print_plan

    if answer.support:
        if arguments:
            raise UsageError("--support takes no QUERY and no EVENTS")
        click.echo(support_table())
        return
    text, events = read_query(arguments, query_file)
    if not events:
        for name in asked_for(click.get_current_context(), ("laws", "no-laws", "law-limit")):
            because = "without EVENTS: a law is about the order of events"
            refuse_or_leave_out(click.get_current_context(), name, because)
    with shown_progress(quiet=quiet):
        explanation = explained(parse(text), events, order, memory, raw_input, under)
    if answer.as_json:
        print_answer("explain", plan_json(explanation.plan, explanation.facts))
        return
    print_plan(explanation.plan, explanation.facts, as_json=answer.output_format == "json")
