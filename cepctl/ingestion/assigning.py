"""Assigning the intervals of a dataset anew: an ingest whose input is the dataset itself."""

from __future__ import annotations

from dataclasses import replace

from cepctl.datasets.stored import stored_dataset
from cepctl.errors import EventSchemaError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.runners.runner import Runner


def assign_dataset(
    dataset: str, output: str, options: IngestOptions, runner: Runner | None = None
) -> IngestSummary:
    """Write the events of a dataset with the intervals that a model gives their times.

    An event that no rule fits, or whose time is null, keeps its interval.  The time unit stays that
    of the dataset unless the model names one, or records of one writer need finer ticks.

    Raises
    ------
    EventSchemaError
        If there is no dataset, or it is incomplete.
    UsageError
        If the output exists and may not be overwritten.
    """
    stored = stored_dataset(dataset)
    if stored is None:
        raise EventSchemaError(
            f"{dataset} is not an event dataset; make one of logs with: cepctl ingest {dataset} -o EVENTS"
        )
    parts = [stored.location.beside(part).uri for part in stored.parts]
    return ingest(parts, output, replace(options, input_format="parquet"), runner)
