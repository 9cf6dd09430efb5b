"""`cepctl ingest`: logs -> a dataset of Parquet events."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from cepctl.cli.options.help_groups import GroupedCommand, HelpGroup, grouped_option
from cepctl.cli.options.reading import raw_input_options, write_model_option
from cepctl.cli.options.shared import (
    in_one,
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


@dataclass(frozen=True)
class _Sketching:
    """Whether the dataset is sketched, and what that keeps."""

    sketch: bool
    sketch_on: tuple[str, ...]
    sketch_share: float | None

    @property
    def asked(self) -> bool:
        """Whether it is."""
        return self.sketch or bool(self.sketch_on) or self.sketch_share is not None

    @property
    def share(self) -> float:
        """How much of the dataset a sketch may take."""
        return USUAL_SHARE if self.sketch_share is None else self.sketch_share


@dataclass(frozen=True)
class _Files:
    """What is written beside the dataset, what may be replaced, and which faults are borne."""

    overwrite: bool
    strict: bool
    report_file: str | None
    rejects: str | None
    max_errors: int | None
    metrics: str | None
    write_model: str | None

    def written(self, output: str) -> dict[str, str | None]:
        """All that is written, by the options that say so."""
        return {
            "-o": output,
            "--rejects": self.rejects,
            "--report": self.report_file,
            "--metrics": self.metrics,
            "--write-model": self.write_model,
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
@in_one("sketch", _Sketching)
@in_one("files", _Files)
def command(
    paths: tuple[str, ...],
    output: str | None,
    explain: bool,
    raw_input: RawInput,
    sketch: _Sketching,
    files: _Files,
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
        overwrite=files.overwrite,
        strict=files.strict,
        report=files.report_file,
        rejects=files.rejects,
        max_errors=files.max_errors,
        memory=memory,
    )
    if explain:
        _explain(paths, options)
        return
    if files.write_model is not None and not raw_input.uncertainty:
        raise UsageError("--write-model writes what --uncertainty says; give that, too")
    if output is None:
        raise UsageError("name the directory of the dataset to write: -o EVENTS")
    refuse_overwriting(files.written(output), paths, raw_input, replaced="-o")
    if sketch.asked:
        refuse_unsketchable(output, sketch.sketch_on, sketch.share)
    report(ingested(paths, output, options, runner, verbose=verbose), files.metrics, quiet=quiet)
    if files.write_model is not None:
        write_whole(files.write_model, [options.model.text.encode()])
    if sketch.asked:
        tell_sketches(sketched([output], sketch.sketch_on, None, sketch.share), quiet=quiet)


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
