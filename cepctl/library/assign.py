"""`cepctl.assign`: the intervals of a dataset anew, from the raw times that it kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cepctl.library.execution import runner_of
from cepctl.library.ingest import Ingested, written
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.options import PathText, Uncertainty
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.matching.execution import AUTO
from cepctl.process.memory import reading_budget
from cepctl.uncertainty.short_rules import words_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepctl.ingestion.options import IngestOptions
    from cepctl.matching.execution import RunnerChoice


@errors_in_keywords
def assign(
    events: PathText,
    output: PathText,
    *,
    uncertainty: Uncertainty,
    overwrite: bool = False,
    max_memory: str | None = None,
    runner: str = AUTO,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Ingested:
    """Write the events of a dataset with the intervals that an uncertainty model gives their times.

    Parameters
    ----------
    events, output
        Directories of the dataset that is read, and of the one that is written.
    uncertainty
        File of the uncertainty model (TOML), or rules as `cepctl.match` has them; an event that none fits
        keeps its interval.
    overwrite
        Replace the dataset at `output`.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    runner, spark, master, conf
        Who does the work, as `cepctl.match` has it.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    options = ingest_options(
        RawInput(uncertainty=words_of(uncertainty)), overwrite=overwrite, memory=reading_budget(max_memory)
    )
    return assigned(os.fspath(events), os.fspath(output), options, runner_of(runner, spark, master, conf))


def assigned(
    events: str, output: str, options: IngestOptions, runner: RunnerChoice, *, verbose: bool = False
) -> Ingested:
    """Assign intervals, and log what is to be said; raises as `cepctl.ingestion.assigning.assign_dataset`."""
    from cepctl.datasets.stored import stored_dataset
    from cepctl.ingestion.assigning import assign_dataset

    if runner.runner == AUTO:
        dataset = stored_dataset(events)
        runner = runner.for_events(0 if dataset is None else dataset.events or 0)
    return written(
        lambda chosen: assign_dataset(events, output, options, chosen), output, runner, verbose=verbose
    )
