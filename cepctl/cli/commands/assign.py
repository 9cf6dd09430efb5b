"""`cepctl assign`: the intervals of a dataset anew, from the raw times that it kept."""

from __future__ import annotations

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.reading import HOW_UNCERTAIN, write_model_option
from cepctl.cli.options.shared import reading_memory_option, runner_options, verbosity_options
from cepctl.cli.output.accounts import report
from cepctl.cli.output.rows import write_whole
from cepctl.library.assign import assigned
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.matching.execution import RunnerChoice
from cepctl.process.memory import MemoryBudget


@click.command("assign", cls=CheckedCommand)
@click.argument("events", type=click.Path(), metavar="EVENTS")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="EVENTS2",
    help="Directory of the dataset to write.",
)
@click.option(
    "--uncertainty",
    required=True,
    multiple=True,
    type=click.Path(),
    metavar="[WHICH=]HOW",
    help=HOW_UNCERTAIN,
)
@write_model_option
@click.option("--overwrite", is_flag=True, help="Replace the dataset at EVENTS2.")
@reading_memory_option
@runner_options
@verbosity_options
def command(
    events: str,
    output: str,
    uncertainty: tuple[str, ...],
    write_model: str | None,
    overwrite: bool,
    memory: MemoryBudget,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Assign new uncertainty intervals to the events of the dataset EVENTS.

    The model applies to the times in the logs; an event that no rule fits keeps its interval.
    """
    raw_input = RawInput(uncertainty=uncertainty)
    options = ingest_options(raw_input, overwrite=overwrite, memory=memory)
    refuse_overwriting({"--write-model": write_model}, [events], raw_input)
    report(assigned(events, output, options, runner, verbose=verbose), quiet=quiet)
    if write_model is not None:
        write_whole(write_model, [options.model.text.encode()])
