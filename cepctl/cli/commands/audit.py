"""`cepctl audit`: what the times of logs are worth, and what settles what they leave open."""

from __future__ import annotations

import click

from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import json_option, reading_memory_option, verbosity_options
from cepctl.cli.output.answers import print_answer
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import write_whole
from cepctl.library.audit import audited, require_kinds
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.process.memory import MemoryBudget

FOUND = 1
_SHOWN = 5


@click.command("audit", cls=GroupedCommand)
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="LOGS...")
@json_option
@click.option(
    "--fail-on",
    multiple=True,
    metavar="KIND,...",
    help="Exit with 1 if there are findings of these kinds, such as zone,steps,arrival.",
)
@click.option(
    "--write-model",
    type=click.Path(),
    metavar="FILE",
    help="Write the uncertainty model (TOML) and the options that settle what was found.",
)
@click.option("--full", is_flag=True, help="Print every source and finding, not just one screen.")
@raw_input_options("--input-format")
@reading_memory_option
@verbosity_options
def command(
    events: tuple[str, ...],
    as_json: bool,
    fail_on: tuple[str, ...],
    write_model: str | None,
    full: bool,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> int | None:
    """Tell what the times in LOGS are worth: for each source, the worst first, and what settles it.

    A source has one verdict: its events have a certain order, that of its file, one that is weighted, or none
    across hosts.  LOGS are raw logs, plain event files or datasets, which know least; nothing is changed.
    """
    from cepctl.render.audit import print_audit

    refuse_overwriting({"--write-model": write_model}, events, raw_input)
    kinds = require_kinds(kind.strip() for text in fail_on for kind in text.split(",") if kind.strip())
    found = audited(events, raw_input, memory, with_model=write_model is not None)
    if write_model is not None:
        write_whole(write_model, [found.model.encode()])
    if as_json:
        print_answer("audit", found.to_json())
    else:
        print_audit(found.audit, full=full)
    failing = found.audit.failing(kinds)
    for source, each in failing[:_SHOWN]:
        say("error", f"--fail-on {each.kind}: {source.source}: {each.said}")
    return FOUND if failing else None
