"""`cepctl assign`: the intervals of a dataset anew, from the raw times that it kept."""

from __future__ import annotations

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.shared import reading_memory_option, runner_options, verbosity_options
from cepctl.cli.output.accounts import report
from cepctl.library.assign import assigned
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.matching.run import RunnerChoice
from cepctl.memory import MemoryBudget


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
    "--uncertainty", required=True, type=click.Path(), metavar="MODEL", help="Uncertainty model (TOML)."
)
@click.option("--overwrite", is_flag=True, help="Replace the dataset at EVENTS2.")
@reading_memory_option
@runner_options
@verbosity_options
def command(
    events: str,
    output: str,
    uncertainty: str,
    overwrite: bool,
    memory: MemoryBudget,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Assign new uncertainty intervals to the events of the dataset EVENTS.

    The model applies to the times in the logs; an event that no rule fits keeps its interval.
    """
    options = ingest_options(RawInput(uncertainty=uncertainty), overwrite=overwrite, memory=memory)
    report(assigned(events, output, options, runner, verbose=verbose), quiet=quiet)
