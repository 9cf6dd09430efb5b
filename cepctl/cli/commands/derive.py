"""`cepctl derive`: events that last, made of runs of samples."""

from __future__ import annotations

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.shared import verbosity_options
from cepctl.cli.output.accounts import report
from cepctl.errors import UsageError
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput


@click.command("derive", cls=CheckedCommand)
@query_argument("EVENTS...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="Directory of the dataset to write.",
)
@click.option("--type", "event_type", required=True, metavar="NAME", help="Type of the interval events.")
@click.option("--overwrite", is_flag=True, help="Replace the dataset at DIR.")
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    output: str,
    event_type: str,
    overwrite: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Make interval events from runs of samples in EVENTS, and write them as a dataset.

    QUERY names the samples: PATTERN cpu_user c WHERE [node] AND c.value > 95 WITHIN 20 s makes an event
    of consecutive samples of one node that are all above 95, each less than 20 s after the previous one.
    It starts between the sample before them and the first, and ends between the last and the sample after
    them.
    """
    text, paths = read_query(arguments, query_file)
    if not paths:
        raise UsageError("EVENTS is missing: name a dataset or a log after the query")
    refuse_overwriting({"-o": output}, paths, RawInput(), query_file_of(arguments, query_file), replaced="-o")
    from cepctl.library.derive import derived

    report(derived(text, paths, output, event_type, overwrite=overwrite, verbose=verbose), quiet=quiet)
