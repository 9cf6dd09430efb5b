"""`cepctl follows`: which types directly follow which in a case, under uncertain times."""

from __future__ import annotations

from dataclasses import dataclass

import click

from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.laws import no_laws_option
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import in_one, json_option, memory_option, no_given_option, verbosity_options
from cepctl.cli.output.answers import print_answer
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_unwritable, write_pieces
from cepctl.library.follows import CASE, followed
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.process.memory import MemoryBudget


@dataclass(frozen=True)
class _GraphOutput:
    """Where the graph goes, and in which form."""

    form: str
    output: str | None
    as_json: bool


@click.command("follows", cls=GroupedCommand)
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="EVENTS...")
@click.option(
    "--by",
    multiple=True,
    metavar="ATTR",
    help=f"Attribute that names the case of an event; may be given several times.  [default: {CASE}]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "dot", "mermaid"]),
    default="table",
    show_default=True,
    help="A table, CSV, or a drawing for Graphviz or Mermaid; an edge that may never happen is dashed.",
)
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all.")
@json_option
@no_given_option
@no_laws_option
@raw_input_options("--input-format")
@memory_option
@verbosity_options
@in_one("answer", _GraphOutput)
def command(
    events: tuple[str, ...],
    by: tuple[str, ...],
    answer: _GraphOutput,
    no_given: bool,
    no_laws: bool,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> None:
    """Count how often events of a type directly follow those of another in a case of EVENTS.

    No other event of the case lies between the two.  With uncertain times the number differs between
    possible worlds: the least, the expected and the greatest are shown.
    """
    from cepctl.render.follows import follows_facts, follows_summary, follows_text, print_follows

    if answer.output is not None:
        refuse_unwritable(answer.output)
    refuse_overwriting({"-o": answer.output}, events, raw_input)
    graph = followed(events, by or (CASE,), raw_input, memory, no_given=no_given, no_laws=no_laws)
    if answer.as_json:
        print_answer("follows", follows_facts(graph))
    elif answer.form == "table" and answer.output is None:
        print_follows(graph)
    else:
        write_pieces([follows_text(graph, answer.form).encode()], answer.output)
    if not quiet:
        say("summary", follows_summary(graph))
