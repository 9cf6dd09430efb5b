"""The Spark runner: filters in the Java process, groups by key and time, the partition function on each.

The events that can matter are chosen by Spark from Parquet (types, predicates on one event, columns);
each is copied into the groups that need it (see `slices`), groups are sorted together in their
partitions and streamed to Python, one group after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepctl import errors
from cepctl.engines.alternative import MatchOptions
from cepctl.engines.match import match_batches, schema_for
from cepctl.engines.results import ordered
from cepctl.engines.slices import Slicing, choose_slicing
from cepctl.engines.spark_expressions import spark_column
from cepctl.errors import CepctlError, EventSchemaError, JobError
from cepctl.language.ast import Strategy
from cepctl.plan.plan import Component, Plan
from cepctl.plan.summary import KleeneRows, owning_component
from cepctl.schema import FIXED_COLUMNS, TICK_MAX

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_GROUP = "cepctl group"
_BUCKET_KEYS = "cepctl bucket"
_NEVER_READ = ("source", "end_lower", "end_upper")
_CONTIGUITY = (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)


@dataclass(frozen=True)
class Source:
    """Parquet files of events; `convert` brings a table to the common units and types, if it must."""

    paths: tuple[str, ...]
    convert: Callable[[pa.Table], pa.Table] | None = None


def run(
    plan: Plan,
    sources: Sequence[Source],
    session: SparkSession,
    options: MatchOptions | None = None,
    *,
    slice_length: int | None = None,
) -> pa.Table:
    """Run a plan on stored events; rows as `cepctl.engines.results.ordered` gives them.

    Raises
    ------
    JobError
        If the Spark job fails.
    CepctlError
        What the partition function raised in a task.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    options = options or MatchOptions()
    schema = schema_for(plan, options)
    if plan.never is not None:
        return ordered(schema.empty_table(), options.top)
    try:
        events = _events(plan, sources, session)
        _refuse_duplicates(events, sources)
        relevant = events.where(_can_matter(plan))
        slicing = _slicing(plan, relevant, session, options.kleene, slice_length)
        if slicing is None:
            return ordered(schema.empty_table(), options.top)
        found = _matched(plan, relevant, slicing, options).toArrow()
    except (Py4JError, PySparkException) as problem:
        raise _cause(problem) from problem
    options.check_count(found.num_rows)
    return ordered(found.cast(schema), options.top)


def _events(plan: Plan, sources: Sequence[Source], session: SparkSession) -> DataFrame:
    from pyspark.sql import functions as f

    names = [*(n for n in FIXED_COLUMNS if n not in _NEVER_READ), *plan.attributes]
    frames = []
    for source in sources:
        frame = session.read.parquet(*source.paths)
        if source.convert is not None:
            frame = _converted(frame, source.convert, names)
        frames.append(frame.select(*(f.col(_quoted(name)) for name in names)))
    together = frames[0]
    for frame in frames[1:]:
        together = together.unionByName(frame)
    return together


def _converted(frame: DataFrame, convert: Callable[[pa.Table], pa.Table], names: list[str]) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    def batches(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in parts:
            yield from convert(pa.Table.from_batches([part])).select(names).to_batches()

    # An empty table has the types of a full one.
    sample = convert(frame.limit(0).toArrow()).select(names)
    return frame.mapInArrow(batches, from_arrow_schema(sample.schema))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _can_matter(plan: Plan) -> Column:
    """Events that fit some component; under contiguity every event counts."""
    from pyspark.sql import functions as f

    conditions = f.lit(plan.strategy in _CONTIGUITY)
    for alternative in plan.alternatives:
        for component in alternative.components:
            conditions = conditions | _fits(component)
    for name in plan.partition_by:
        conditions = conditions & f.col(_quoted(name)).isNotNull()
    return conditions


def _fits(component: Component) -> Column:
    from pyspark.sql import functions as f

    fits = f.lit(True)
    if component.event_types:
        fits = f.col("event_type").isin(list(component.event_types))
    for condition in component.filters:
        fits = fits & spark_column(condition, lambda leaf: f.col(_quoted(_column(leaf))))
    return f.coalesce(fits, f.lit(False))


def _column(leaf: Any) -> str:
    from cepctl.engines.predicates import column_name

    return column_name(leaf)


def _slicing(
    plan: Plan, relevant: DataFrame, session: SparkSession, rows: KleeneRows, length: int | None
) -> Slicing | None:
    """Slices from one pass over the ticks of the events that can matter; None if there are none."""
    from pyspark.sql import functions as f

    first = f.lit(False)
    for alternative in plan.alternatives:
        first = first | _fits(alternative.components[owning_component(alternative, rows)])
    row = relevant.agg(
        f.count(f.lit(1)),
        f.min("lower"),
        f.max("lower"),
        f.max(f.when(first, f.col("upper") - f.col("lower"))),
    ).first()
    assert row is not None
    if not row[0] or row[3] is None:
        return None
    return choose_slicing(
        events=row[0], first_lower=row[1], last_lower=row[2], first_width=row[3], window=plan.window,
        keyed=bool(plan.partition_by), parallelism=session.sparkContext.defaultParallelism, length=length,
    )  # fmt: skip


def _matched(plan: Plan, relevant: DataFrame, slicing: Slicing, options: MatchOptions) -> DataFrame:
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import from_arrow_schema

    # Clipped and subtracted before anything is added, so that no tick leaves int64.
    end = min(slicing.origin + slicing.length * slicing.count - 1, TICK_MAX)
    last = f.floor((f.least("upper", f.lit(end)) - slicing.origin + slicing.reach_before) / slicing.length)
    first = f.ceil(
        (f.col("lower") - slicing.origin - slicing.reach_after - slicing.length + 1) / slicing.length
    )
    grouped = relevant
    if slicing.count == 1:
        grouped = grouped.withColumn(_GROUP, f.lit(0).cast("long"))
    else:
        # Ticks divided as floats may be off by one slice at the edge: one slice more loses nothing.
        least = f.greatest(first - 1, f.lit(0)).cast("long")
        most = f.least(last + 1, f.lit(slicing.count - 1)).cast("long")
        grouped = grouped.withColumn(_GROUP, f.explode(f.sequence(least, f.greatest(most, least))))
    if slicing.buckets > 1:
        bucket = f.pmod(f.xxhash64(*(f.col(_quoted(n)) for n in plan.partition_by)), f.lit(slicing.buckets))
        grouped = grouped.withColumn(_GROUP, f.col(_quoted(_GROUP)) * slicing.buckets + bucket)
    groups = slicing.count * slicing.buckets
    # In the order of a dataset, so that sums over events round alike in both runners.
    spread = grouped.repartition(min(groups, 200), _GROUP).sortWithinPartitions(_GROUP, "lower", "event_id")
    task = _GroupedMatch(plan, slicing, options)
    schema = schema_for(plan, options)
    return spread.mapInArrow(task, from_arrow_schema(schema))


@dataclass(frozen=True)
class _GroupedMatch:
    """The task: cut the stream of sorted rows into groups and match each."""

    plan: Plan
    slicing: Slicing
    options: MatchOptions

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group, table in _groups(batches):
            owned = self.slicing.owned(group // self.slicing.buckets)
            # Spark shuffles: sums and products must come in the order that the local runner has.
            in_order = table.sort_by([("lower", "ascending"), ("event_id", "ascending")])
            yield from match_batches(self.plan, in_order, self.options, owned)


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Tables of consecutive rows with the same group number."""
    current: int | None = None
    held: list[pa.RecordBatch] = []
    for batch in batches:
        numbers = batch.column(_GROUP).to_numpy()
        events = batch.drop_columns([_GROUP])
        begin = 0
        while begin < len(numbers):
            end = begin + int((numbers[begin:] == numbers[begin]).argmin()) if (
                numbers[-1] != numbers[begin]) else len(numbers)  # fmt: skip
            if current is not None and numbers[begin] != current:
                yield current, pa.Table.from_batches(held)
                held = []
            current = int(numbers[begin])
            held.append(events.slice(begin, end - begin))
            begin = end
    if current is not None:
        yield current, pa.Table.from_batches(held)


def _refuse_duplicates(events: DataFrame, sources: Sequence[Source]) -> None:
    if len(sources) < 2:
        return
    repeated = events.groupBy("event_id").count().where("count > 1").select("event_id").orderBy("event_id")
    row = repeated.first()
    if row is not None:
        raise EventSchemaError(
            f"event ids occur in more than one input, such as '{row[0]}'; ingest the inputs together, or "
            "give each event an id of its own"
        )


def _cause(problem: Exception) -> CepctlError:
    """The error that a task raised, found in the text of the job's failure."""
    text = str(problem)
    for kind, message in re.findall(r"cepctl\.errors\.(\w+): ([^\n]+)", text):
        known = getattr(errors, kind, None)
        if isinstance(known, type) and issubclass(known, CepctlError):
            return known(message)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return JobError(f"the Spark job failed: {lines[0] if lines else type(problem).__name__}")
