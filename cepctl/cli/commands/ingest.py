"""`cepctl ingest`: logs -> a dataset of Parquet events."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from cepctl.cli.options.help_groups import GroupedCommand, HelpGroup, grouped_option
from cepctl.cli.options.reading import raw_input_options, write_model_option
from cepctl.cli.options.shared import (
    metrics_option,
    reading_memory_option,
    reject_options,
    runner_options,
    verbosity_options,
)
from cepctl.cli.output.accounts import report, tell_sketches
from cepctl.cli.output.rows import write_whole
from cepctl.errors import UsageError
from cepctl.library.ingest import explained_files, ingested
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.library.sketch import USUAL_SHARE, refuse_unsketchable, sketched
from cepctl.matching.execution import RunnerChoice
from cepctl.process.memory import MemoryBudget

if TYPE_CHECKING:
    from cepctl.ingestion.options import IngestOptions

MOVED = {
    HelpGroup.READ: ("format", "uncertainty", "tz", "name", "map", "intervals"),
    HelpGroup.WHERE: ("quiet",),
    HelpGroup.WRITE_FURTHER: ("metrics",),
}


@click.command("ingest", cls=GroupedCommand, moved=MOVED)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@grouped_option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="EVENTS",
    help="Directory of the dataset to write; required, except with --explain.",
    group=HelpGroup.WRITE,
)
@grouped_option(
    "--explain",
    is_flag=True,
    help="Write nothing; show the fields that are read from the first three records of every file.",
    group=HelpGroup.WRITE,
)
@raw_input_options("--format")
@grouped_option(
    "--overwrite",
    is_flag=True,
    help="Replace the dataset at EVENTS.",
    group=HelpGroup.WRITE,
)
@grouped_option(
    "--strict",
    is_flag=True,
    help="Fail if a file in a directory cannot be read, or marks uncertainty that has no model here.",
    group=HelpGroup.WRITE_FURTHER,
)
@grouped_option(
    "--report",
    "report_file",
    type=click.Path(),
    metavar="FILE",
    help="Write an account of every file as JSON.",
    group=HelpGroup.WRITE_FURTHER,
)
@grouped_option(
    "--sketch",
    is_flag=True,
    help="Sketch the dataset, too: cepctl sketch.",
    group=HelpGroup.SKETCHES,
)
@grouped_option(
    "--sketch-on",
    multiple=True,
    metavar="ATTR,ATTR:range",
    help="Attributes for the sketch in addition to types, like --on of cepctl sketch; needs --sketch.",
    group=HelpGroup.SKETCHES,
)
@grouped_option(
    "--sketch-share",
    type=float,
    metavar="SHARE",
    help="The sketch lists events of the rarest types one by one, up to this part of all events "
    "(0.125); needs --sketch.",
    group=HelpGroup.SKETCHES,
)
@reject_options
@metrics_option
@write_model_option
@reading_memory_option
@runner_options
@verbosity_options
def command(
    paths: tuple[str, ...],
    output: str | None,
    explain: bool,
    raw_input: RawInput,
    overwrite: bool,
    strict: bool,
    report_file: str | None,
    sketch: bool,
    sketch_on: tuple[str, ...],
    sketch_share: float | None,
    rejects: str | None,
    max_errors: int | None,
    metrics: str | None,
    write_model: str | None,
    memory: MemoryBudget,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Turn logs into a dataset of Parquet events.

    PATH is a file, a directory, a glob or - (standard input).  The content tells the format (`cepctl
    formats` lists them); all may be compressed with gzip, zstd, bzip2 or xz.  An unreadable file in a
    directory is reported and left out; one that is named itself is an error.
    """
    options = ingest_options(
        raw_input,
        overwrite=overwrite,
        strict=strict,
        report=report_file,
        rejects=rejects,
        max_errors=max_errors,
        memory=memory,
    )
    if explain:
        _explain(paths, options)
        return
    if write_model is not None and not raw_input.uncertainty:
        raise UsageError("--write-model writes what --uncertainty says; give that, too")
    if output is None:
        raise UsageError("name the directory of the dataset to write: -o EVENTS")
    written = {
        "-o": output,
        "--rejects": rejects,
        "--report": report_file,
        "--metrics": metrics,
        "--write-model": write_model,
    }
    refuse_overwriting(written, paths, raw_input, replaced="-o")
    sketching = sketch or bool(sketch_on) or sketch_share is not None
    share = USUAL_SHARE if sketch_share is None else sketch_share
    if sketching:
        refuse_unsketchable(output, sketch_on, share)
    report(ingested(paths, output, options, runner, verbose=verbose), metrics, quiet=quiet)
    if write_model is not None:
        write_whole(write_model, [options.model.text.encode()])
    if sketching:
        tell_sketches(sketched([output], sketch_on, None, share), quiet=quiet)


def _explain(paths: tuple[str, ...], options: IngestOptions) -> None:
    """Print how the beginnings of files are understood."""
    from cepctl.render.explain import explanation

    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    click.echo(
        explanation(
            explained_files(paths, options),
            lambda text, colour: click.style(text, fg=colour) if colours else text,
        )
    )
