"""`cepctl export`: events written back in the form of other programs."""

from __future__ import annotations

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import memory_option, verbosity_options
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import refuse_unwritable, write_pieces
from cepctl.errors import UsageError
from cepctl.library.export import CASE_ID, Exported, xes_pieces
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.process.memory import MemoryBudget
from cepctl.render.counting import counted


@click.command("export", cls=CheckedCommand)
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="EVENTS...")
@click.option(
    "--xes",
    is_flag=True,
    help="Write an event log in XES (IEEE 1849), with its keys for uncertain times; the only form there is.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="ATTR",
    help=f"Attribute that names the case of an event; may be given several times.  [default: {CASE_ID}]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write to FILE, whole or not at all; compressed if its name ends with .gz.",
)
@raw_input_options("--input-format")
@memory_option
@verbosity_options
def command(
    events: tuple[str, ...],
    xes: bool,
    by: tuple[str, ...],
    output: str | None,
    raw_input: RawInput,
    memory: MemoryBudget,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write EVENTS for programs of process mining, with intervals and masses of their times.

    Reading it again gives the same types, cases, intervals and masses.
    """
    if not xes:
        raise UsageError("name the form to write: --xes")
    if output is not None:
        refuse_unwritable(output)
    refuse_overwriting({"-o": output}, events, raw_input)
    done = Exported()
    compressed = output is not None and output.endswith(".gz")
    write_pieces(xes_pieces(events, by or (CASE_ID,), raw_input, memory, done, compressed=compressed), output)
    if not quiet:
        place = "" if output is None else f" in {output}"
        say("summary", f"{counted(done.events, 'event')} of {counted(done.cases, 'case')}{place}")
