"""`cepctl.derive`: interval events made of runs of samples.

Events that last, made of runs of samples: of one key, all with some property, none far from the next.

What holds at one sample and not at the sample before began somewhere between the two, and ends likewise: the
sampling step is the uncertainty of both ends.  Where no sample is near enough, it is as far as samples may be
apart.  Source: Li10, section 5.4.2.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from cepctl.errors import QuerySemanticError
from cepctl.language.ast import Attribute, EventTime, Query
from cepctl.library.events import paths_of
from cepctl.library.ingest import Ingested, ingested
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.options import PathText
from cepctl.library.query_text import query_text
from cepctl.library.raw_input import RawInput, ingest_options
from cepctl.matching.execution import RunnerChoice
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Component
from cepctl.plan.polars_expressions import Leaf, compile_expression
from cepctl.runners.spark.settings import DEFAULT_MASTER
from cepctl.schema import END_TIME

if TYPE_CHECKING:
    from cepctl.library.events import Events


@errors_in_keywords
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
    from cepctl.matching.inputs import open_events
    from cepctl.process.memory import reading_budget
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


@dataclass(frozen=True)
class RunRequest:
    """What makes a run: samples that fit the component, with equal `keys`, at most `gap` ticks apart."""

    component: Component
    keys: tuple[str, ...]
    gap: int
    attributes: tuple[str, ...]


def run_request(query: Query, schema: EventSchema) -> RunRequest:
    """Read a query of one component as a request.

    Raises
    ------
    CepctlError
        If it is no such query, or names what no event has.
    """
    plan = analyze(query, schema)
    (alternative, *others) = plan.alternatives
    asks_more = alternative.timings or alternative.choices or alternative.links
    single = len(alternative.components) == 1 and not alternative.components[0].kleene
    if others or not single or asks_more or query.returns or query.group_by is not None or query.given:
        raise QuerySemanticError(
            "runs are made of the samples of one component, with conditions on its attributes, as in "
            "PATTERN cpu_user c WHERE [node] AND c.value > 95 WITHIN 20 s"
        )
    if plan.window is None:
        raise QuerySemanticError(
            "WITHIN is missing: how far samples of one run may be apart, as in WITHIN 20 s"
        )
    return RunRequest(alternative.components[0], plan.partition_by, plan.window - 1, plan.attributes)


def runs_of(request: RunRequest, samples: pa.Table, event_type: str) -> pa.Table:
    """One row for each run, as a plain event file has it: ends in ticks, the keys, the number of samples."""
    component, keys = request.component, list(request.keys)
    frame = pl.from_arrow(samples)
    assert isinstance(frame, pl.DataFrame)
    if component.event_types:
        frame = frame.filter(pl.col("event_type").is_in(list(component.event_types)))
    frame = frame.drop_nulls(keys).with_row_index("row")
    group = [pl.col(name) for name in keys] or [pl.lit(0)]
    frame = frame.with_columns(_condition(component).alias("holds")).sort([*keys, "lower", "row"])

    def beside(column: str, step: int) -> pl.Expr:
        return pl.col(column).shift(step).over(group)

    after = pl.col("upper") - beside("upper", 1)
    frame = frame.with_columns(near=(after <= request.gap).fill_null(False))
    frame = frame.with_columns(
        fresh=pl.col("holds") & ~(pl.col("near") & beside("holds", 1).fill_null(False)),
        before=pl.when(pl.col("near")).then(beside("lower", 1) + 1).otherwise(pl.col("lower") - request.gap),
        next=pl.when(beside("near", -1).fill_null(False))
        .then(beside("upper", -1) - 1)
        .otherwise(pl.col("upper") + request.gap),
    )
    frame = frame.with_columns(run=pl.col("fresh").cum_sum()).filter("holds")
    runs = frame.group_by("run", maintain_order=True).agg(
        pl.concat_str([pl.col("event_id").first(), pl.col("event_id").last()], separator="..").alias(
            "event_id"
        ),
        pl.min_horizontal(pl.col("before").first(), pl.col("upper").first()).alias("lower"),
        pl.col("upper").first().alias("upper"),
        pl.col("lower").last().alias("end_lower"),
        pl.max_horizontal(pl.col("next").last(), pl.col("lower").last()).alias("end_upper"),
        *(pl.col(name).first() for name in keys),
        pl.len().cast(pl.Int64).alias("samples"),
    )
    return runs.drop("run").with_columns(event_type=pl.lit(event_type)).to_arrow()


def _condition(component: Component) -> pl.Expr:
    """Whether a sample satisfies the component's own predicates; never null."""
    conditions = [compile_expression(each, _column) for each in component.filters]
    return pl.all_horizontal(conditions or [pl.lit(True)]).fill_null(False)


def _column(leaf: Leaf) -> pl.Expr:
    if isinstance(leaf, Attribute):
        return pl.col(leaf.name)
    assert isinstance(leaf, EventTime)
    return pl.col({"start": "time", "end": END_TIME}.get(leaf.which, leaf.which))
