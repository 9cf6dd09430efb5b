"""`cepctl.derive`: interval events made of runs of samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.library.events import paths_of
from cepctl.library.ingest import Ingested, ingested
from cepctl.library.keywords import told_in_keywords
from cepctl.library.options import PathText
from cepctl.library.query_text import query_text
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.matching.run import RunnerChoice
from cepctl.spark.settings import DEFAULT_MASTER

if TYPE_CHECKING:
    from cepctl.library.events import Events


@told_in_keywords
def derive(
    query: str | Path, events: Events, output: PathText, *, event_type: str, overwrite: bool = False
) -> Ingested:
    """Write a dataset of events that last, one for each run of samples that satisfy a condition.

    Parameters
    ----------
    query
        `PATTERN cpu_user c WHERE [node] AND c.value > 95 WITHIN 20 s`: one component, what its samples
        satisfy, the attributes that those of a run share, and how far apart they may be.
    events
        As `cepctl.match` takes them.
    output
        Directory of the dataset, which appears at once or not at all.
    event_type
        The type of the new events.
    overwrite
        Replace the dataset at `output`.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    with ExitStack() as opened:
        return derived(
            query_text(query), paths_of(events, opened), os.fspath(output), event_type, overwrite=overwrite
        )


def derived(
    text: str, paths: Sequence[str], output: str, event_type: str, *, overwrite: bool, verbose: bool = False
) -> Ingested:
    """Derive events from those at some paths, and log what is to be said; raises as `derive`."""
    import pyarrow.parquet as pq

    from cepctl.atomic.folders import temporary_folder
    from cepctl.language.parser import parse
    from cepctl.library.sample_runs import run_request, runs_of
    from cepctl.matching.inputs import open_events
    from cepctl.memory import reading_budget
    from cepctl.uncertainty.model import UncertaintyModel

    with open_events(paths, None, reading_budget(None)) as inputs, temporary_folder() as folder:
        request = run_request(parse(text), inputs.schema)
        file = Path(folder, f"{event_type}.parquet".replace(os.sep, "_"))
        table = inputs.read(request.attributes, request.component.event_types or None)
        pq.write_table(runs_of(request, table, event_type), file)
        options = ingest_options(RawInput(), overwrite=overwrite)
        options = replace(options, model=UncertaintyModel(time_unit=inputs.schema.time_unit))
        runner = RunnerChoice("local", DEFAULT_MASTER, ())
        return ingested([str(file)], output, options, runner, verbose=verbose)
