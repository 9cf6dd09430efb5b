"""`cepctl.ingest`: turn logs into a dataset of Parquet events."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.execution import runner_of
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_reading
from cepctl.library.options import IngestKeywords, PathText, raw_input, reading_in
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.library.selection import require_between
from cepctl.library.sketch import USUAL_SHARE, refuse_unsketchable, sketched
from cepctl.matching.execution import AUTO
from cepctl.process.memory import MemoryBudget, reading_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.ingestion.explaining import ExplainedFile
    from cepctl.ingestion.options import IngestOptions
    from cepctl.ingestion.summary import IngestSummary
    from cepctl.library.events import Events
    from cepctl.matching.execution import RunnerChoice
    from cepctl.runners.runner import Runner


@dataclass(frozen=True)
class Ingested:
    """A dataset that was written, and what an ingest took in for it; a path, wherever one is wanted.

    `str` says it in one line; `summary` has the account of every file, `seconds` is how long it took.
    """

    output: str
    summary: IngestSummary
    seconds: float

    def __fspath__(self) -> str:
        return self.output

    def __str__(self) -> str:
        summary = self.summary
        return (
            f"{counted(summary.events, 'event')} of {counted(len(summary.type_counts), 'type')} from "
            f"{counted(summary.files, 'file')} in {self.output} (time unit {summary.time_unit})"
        )


@errors_in_keywords
def ingest(
    paths: Events,
    output: PathText,
    *,
    format: str | None = None,
    overwrite: bool = False,
    max_memory: str | None = None,
    **keywords: Unpack[IngestKeywords],
) -> Ingested:
    """Turn logs into a dataset of Parquet events.

    Parameters
    ----------
    paths
        Files, directories, globs or `-` (standard input), or tables as `cepctl.match` takes them.
    output
        Directory of the dataset, which appears at once or not at all.
    format
        Of the logs, one of `cepctl formats`; without it derived from their content.
    overwrite
        Replace the dataset at `output`.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    keywords
        As the groups say that `help(cepctl.library.options)` shows.  `RunnerKeywords`, who does the work:
        `runner`, `spark`, `master`, `conf`.  `ReadingOptions`, how logs are read: `uncertainty`, `tz`,
        `zone`, `name`, `map`, `writer`, `no_writer`, `patterns`, `intervals` and more.  `IngestKeywords`,
        what is known of them, and whether the dataset is sketched, too: `strict`, `report`, `rejects`,
        `max_errors`, `sketch`, `sketch_on`, `sketch_share`.

    Returns
    -------
    Ingested
        The dataset, which `cepctl.match` takes as it is.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    reading = reading_in(keywords, IngestKeywords)
    choices = raw_input(reading, format)
    options = _options(choices, keywords, overwrite=overwrite, memory=reading_budget(max_memory))
    runner = runner_of(
        *(keywords.get("runner", AUTO), keywords.get("spark")),
        *(keywords.get("master"), keywords.get("conf")),
    )
    with ExitStack() as opened:
        sources, target = paths_of(paths, opened), os.fspath(output)
        written = {"output": target, "rejects": options.rejects, "report": options.report}
        refuse_overwriting(written, sources, choices, replaced="output")
        refuse_for_datasets(sources, reading, ingesting=True)
        return _with_sketch(target, keywords, lambda: ingested(sources, target, options, runner))


def _options(
    choices: RawInput, keywords: IngestKeywords, *, overwrite: bool, memory: MemoryBudget
) -> IngestOptions:
    most, report, rejects = keywords.get("max_errors"), keywords.get("report"), keywords.get("rejects")
    require_between("max_errors", most, 0, None)
    return ingest_options(
        choices,
        overwrite=overwrite,
        memory=memory,
        strict=keywords.get("strict", False),
        report=None if report is None else os.fspath(report),
        rejects=None if rejects is None else os.fspath(rejects),
        max_errors=most,
    )


def _with_sketch(target: str, keywords: IngestKeywords, ingest: Callable[[], Ingested]) -> Ingested:
    """The dataset, and its sketch where one is asked for, which is refused before anything is read."""
    named, asked = keywords.get("sketch_on", ()), keywords.get("sketch_share")
    on = [named] if isinstance(named, str) else list(named)
    if not (keywords.get("sketch", False) or on or asked is not None):
        return ingest()
    share = USUAL_SHARE if asked is None else asked
    refuse_unsketchable(target, on, share)
    dataset = ingest()
    sketched([target], on, None, share)
    return dataset


def explained_files(paths: Sequence[str], options: IngestOptions) -> list[ExplainedFile]:
    """How the beginnings of files are understood; raises as `cepctl.ingestion.explaining`."""
    from cepctl.ingestion import explaining

    return explaining.explained_files(paths, options)


def ingested(
    paths: Sequence[str], output: str, options: IngestOptions, runner: RunnerChoice, *, verbose: bool = False
) -> Ingested:
    """Ingest logs, and log what is to be said of them; raises as `cepctl.ingestion.jobs.ingest` does."""
    from cepctl.ingestion.jobs import ingest

    if runner.runner == AUTO:
        runner = runner.for_bytes(_bytes_of(paths, options))
    return written(lambda chosen: ingest(paths, output, options, chosen), output, runner, verbose=verbose)


def _bytes_of(paths: Sequence[str], options: IngestOptions) -> int:
    """How many bytes the files have; a stream, whose length nobody knows, counts as none."""
    from cepctl.datasets.stored import STANDARD_INPUT
    from cepctl.io.source.locations import is_stream, list_inputs

    named = [path for path in paths if path != STANDARD_INPUT and not is_stream(path)]
    files = list_inputs(named, follow_links=options.follow_links)
    return sum(file.size or 0 for file in files)


def written(
    write: Callable[[Runner], IngestSummary], output: str, runner: RunnerChoice, *, verbose: bool
) -> Ingested:
    """Have a dataset written by a runner, and log what is to be said of it."""
    began = time.monotonic()
    with runner.opened(verbose=verbose) as chosen:
        summary = write(chosen)
    tell_reading(summary)
    return Ingested(output, summary, time.monotonic() - began)
