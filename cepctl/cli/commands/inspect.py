"""`cepctl inspect`: what is in a set of events, and what its times can be trusted for."""

from __future__ import annotations

import shlex

import click

from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import json_option, reading_memory_option, verbosity_options
from cepctl.cli.output.answers import print_answer, print_json
from cepctl.cli.output.rows import write_whole
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.notices import READING, tell
from cepctl.process.memory import MemoryBudget


@click.command("inspect", cls=GroupedCommand)
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="EVENTS...")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Tables for people, JSON for programs.",
)
@json_option
@click.option(
    "--write-model",
    type=click.Path(),
    metavar="FILE",
    help="Write the uncertainty model (TOML) that the times suggest, with its evidence.",
)
@click.option("--full", is_flag=True, help="Print everything, not just one screen.")
@click.option(
    "--templates",
    "list_templates",
    is_flag=True,
    help="Print the templates of messages, by program where that is the type; --templates FILE reads them.",
)
@raw_input_options("--input-format", lists_templates=True)
@reading_memory_option
@verbosity_options
def command(
    events: tuple[str, ...],
    output_format: str,
    as_json: bool,
    write_model: str | None,
    full: bool,
    list_templates: bool,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> None:
    """Show what can be asked of EVENTS: types, attributes, their values, keys that join types, queries.

    With --full also how far the times can be trusted: ties, disorder, granularity, sampling steps and the
    clocks of hosts.  EVENTS are ingested datasets, plain event files or raw logs; nothing is changed.
    """
    from cepctl.library.inspect import inspected, templates_of_events
    from cepctl.render.inspection import inspection_facts, print_inspection

    refuse_overwriting({"--write-model": write_model}, events, raw_input)
    if list_templates:
        templates = templates_of_events(events, raw_input, memory)
        if not templates.strip():
            tell(READING, "warning", "no templates: no input is a log of messages whose kinds are not named")
        click.echo(templates, nl=False)
        return
    found = inspected(events, raw_input, memory)
    if write_model is not None:
        write_whole(write_model, [found.model.encode()])
    if as_json:
        print_answer("inspect", inspection_facts(found.facts))
    elif output_format == "json":
        print_json(inspection_facts(found.facts))
    else:
        print_inspection(found.facts, full=full, events=shlex.join(events))
