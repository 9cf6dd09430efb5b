"""`cepctl ingest`: logs -> a dataset of Parquet events."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.outputs import refuse_overwriting
from cepctl.cli.options.shared import (
    RawInput,
    raw_input_options,
    reject_options,
    runner_options,
    verbosity_options,
)
from cepctl.cli.output.metrics import metrics_option, write_metrics
from cepctl.cli.output.notices import in_json, say
from cepctl.cli.output.run_figures import RunFigures, rejects_in
from cepctl.errors import UsageError
from cepctl.matching.run import RunnerChoice
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.ingest.jobs import IngestOptions
    from cepctl.ingest.summary import IngestSummary


@click.command("ingest", cls=CheckedCommand)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="EVENTS",
    help="Directory of the dataset to write.",
)
@raw_input_options("--format")
@click.option("--overwrite", is_flag=True, help="Replace the dataset at EVENTS.")
@click.option("--strict", is_flag=True, help="Fail when a file in a directory cannot be read.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(),
    metavar="FILE",
    help="Write an account of every file as JSON.",
)
@reject_options
@metrics_option
@runner_options
@verbosity_options
def command(
    paths: tuple[str, ...],
    output: str,
    raw_input: RawInput,
    overwrite: bool,
    strict: bool,
    report_file: str | None,
    rejects: str | None,
    max_errors: int | None,
    metrics: str | None,
    where: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> None:
    """Turn logs into a dataset of Parquet events.

    PATH is a file, a directory, a glob or - (standard input).  The format is told from the content
    (`cepctl formats` lists them); all may be compressed with gzip, zstd or bzip2.  A file in a
    directory that cannot be read is named and left out, one that is named on its own is an error.
    """
    from cepctl.ingest.jobs import ingest
    from cepctl.ingest.runners import chosen_runner

    began = time.monotonic()
    options = ingest_options(
        raw_input,
        overwrite=overwrite,
        strict=strict,
        report=report_file,
        rejects=rejects,
        max_errors=max_errors,
    )
    written = {"-o": output, "--rejects": rejects, "--report": report_file, "--metrics": metrics}
    refuse_overwriting(written, paths, raw_input, replaced="-o")
    with chosen_runner(where.runner, where.master, where.conf, verbose=verbose) as chosen:
        summary = ingest(paths, output, options, chosen)
    report(summary, output, time.monotonic() - began, metrics, quiet=quiet)


def given_ingest_options(raw_input: RawInput) -> IngestOptions | None:
    """The options of the library for raw input; None where none was given, as datasets need no reader."""
    return None if raw_input == RawInput() else ingest_options(raw_input)


def ingest_options(
    raw_input: RawInput,
    *,
    overwrite: bool = False,
    strict: bool = False,
    report: str | None = None,
    rejects: str | None = None,
    max_errors: int | None = None,
) -> IngestOptions:
    """The options of the library from those of the command line; reads the uncertainty model."""
    from cepctl.ingest.jobs import IngestOptions
    from cepctl.io.contract.reader import ReadOptions
    from cepctl.io.contract.written_times import check_form
    from cepctl.io.log4j.patterns import load_patterns
    from cepctl.io.tabular.mapping import parse_mapping
    from cepctl.uncertainty.model import UncertaintyModel, load_model

    return IngestOptions(
        input_format=raw_input.input_format,
        read=ReadOptions(
            time_zone=raw_input.tz,
            type_names=raw_input.renames,
            drop_domain=raw_input.drop_domain,
            patterns=load_patterns(raw_input.patterns) if raw_input.patterns is not None else (),
            keep_unmatched=raw_input.keep_unmatched,
            intervals=raw_input.intervals,
            epoch=_instant(raw_input.epoch, raw_input.tz),
            columns=parse_mapping(raw_input.columns),
            epoch_unit=raw_input.epoch_unit,
            time_format=None if raw_input.time_format is None else check_form(raw_input.time_format),
        ),
        model=load_model(raw_input.uncertainty) if raw_input.uncertainty is not None else UncertaintyModel(),
        max_errors=max_errors,
        rejects=rejects,
        report=report,
        strict=strict,
        overwrite=overwrite,
        follow_links=raw_input.follow_links,
    )


def _instant(text: str | None, tz: str | None) -> int | None:
    """A time of the command line in microseconds since 1970; without a zone it is in `tz`, else UTC."""
    from cepctl.io.contract.times import named_zone, parse_time

    if text is None:
        return None
    time = parse_time(text, named_zone(tz))
    if time is None:
        raise UsageError(f"--epoch '{text}' is no time; write it as 2024-05-01T12:00:00Z")
    return time.micros


def report(
    summary: IngestSummary, output: str, seconds: float, metrics: str | None = None, *, quiet: bool
) -> None:
    """Say on standard error what was written in so many seconds, after what went wrong; write the metrics."""
    from cepctl.render.ingest import print_accounts

    figures = RunFigures(summary.events, rejects_in(summary), seconds)
    report_reading(summary, quiet=quiet)
    if not quiet:
        if in_json():
            for account in summary.accounts:
                say("file", f"{counted(account.events, 'event')} from {account.file}", **asdict(account))
        elif len(summary.accounts) > 1:
            print_accounts(summary.accounts)
        say(
            "summary",
            f"{counted(summary.events, 'event')} of {counted(len(summary.type_counts), 'type')} from "
            f"{counted(summary.files, 'file')} in {output} (time unit {summary.time_unit})",
            **figures.known(),
        )
    write_metrics(metrics, figures)


def report_reading(summary: IngestSummary, *, quiet: bool) -> None:
    """Say on standard error what was skipped, left out and noticed; what was left out also when quiet."""
    from cepctl.ingest.rejects import sampled
    from cepctl.ingest.summary import reasons

    if not quiet:
        for notice in summary.notices:
            say("note", notice)
        for cause, count in sorted(summary.skipped.items()):
            say("note", f"{counted(count, 'record')} skipped: {cause}", cause=cause, records=count)
    if summary.unreadable:
        some = f"{len(summary.unreadable):,} of {counted(len(summary.accounts), 'file')}"
        shown = reasons(summary.unreadable)
        say("warning", f"left out {some} as unreadable:\n{shown}", unreadable=len(summary.unreadable))
    if summary.rejected:
        bad = f"{summary.rejected.total():,} of {counted(summary.records, 'record')}"
        shown = sampled(summary.rejects, summary.rejected)
        say("warning", f"left out {bad} as bad:\n{shown}", rejected=dict(summary.rejected))
