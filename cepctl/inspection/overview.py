"""The whole inspection of a set of events: what `cepctl inspect` shows.

The columns that an inspection looks at, of all events, as one frame.

column                     meaning
event_id, event_type,      as in the event table
  source
lower, upper               the interval that the event has now, ticks
time                       the time of the log since the epoch, in the resolution of the time unit; null
                           where it gave none
zone                       offset from UTC of the zone in which it was written, counted alike
node, task_id, case_id,    attributes, null where the dataset has none; as text
  attempt_id, status
record, writer             which record of its source it is, and who wrote it; null where that is not known
value                      attribute, as a number; null where it is none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.clocks.checks.in_use import ClocksInUse
from cepctl.clocks.shared import Offset
from cepctl.event_table import FIXED_COLUMNS
from cepctl.inspection.clock_graph import ClockGraph, clock_graph
from cepctl.inspection.clocks import ClockBound, clock_bounds, ordered_pairs
from cepctl.inspection.disorder import (
    FileOrder,
    SharedTimes,
    TypeFacts,
    file_orders,
    simultaneous,
    ties,
    type_facts,
)
from cepctl.inspection.drifting_clocks import (
    DriftingClocks,
    HullQuestion,
    drifting_clocks,
    question_of_attempts,
)
from cepctl.inspection.granularity import Grain, granularities
from cepctl.inspection.keys import ExampleQuery, SharedKey, best_key, example_queries, join_keys
from cepctl.inspection.known_orders import KnownOrder, known_orders
from cepctl.inspection.recorded_clocks import recorded_clocks
from cepctl.inspection.sampling import SampledSeries, sampled_series
from cepctl.inspection.values import AT_ONCE, MOST_ATTRIBUTES, AttributeValues, attribute_values
from cepctl.inspection.written_orders import WrittenOrder, written_orders
from cepctl.matching.inputs import EventInputs
from cepctl.matching.sketched import SketchFacts, sketch_facts
from cepctl.process.memory import MemoryBudget, reading_budget
from cepctl.schema import RECORD, WRITER, TimeUnit
from cepctl.side_figures import INPUT_ERRORS, SideFigure, beside

_PER_SECOND = 1_000_000
_ZONE = "zone_seconds"
_TEXTS = ("node", "task_id", "case_id", "attempt_id", "status")
_NUMBER = "value"


def observed_attributes(inputs: EventInputs) -> list[str]:
    """The attributes that an inspection reads, of those that there are."""
    known = inputs.schema.attributes
    return [name for name in (_ZONE, *_TEXTS, _NUMBER) if name in known]


def observed_events(inputs: EventInputs) -> pl.DataFrame:
    """All events of the inputs, with the columns that the module lists, by (lower, event_id)."""
    table = inputs.read([*observed_attributes(inputs), RECORD, WRITER])
    columns = [pl.from_arrow(table.column(name)) for name in ("event_id", "event_type", "source")]
    columns += [pl.from_arrow(table.column(name)) for name in ("lower", "upper")]
    columns += [
        pl.from_arrow(table.column("time").cast(pa.int64())),
        pl.from_arrow(_zone(table, inputs.schema.time_unit)),
    ]
    columns += [pl.from_arrow(_text(table, name)) for name in _TEXTS]
    columns += [pl.from_arrow(table.column(name)) for name in (RECORD, WRITER)]
    columns.append(pl.from_arrow(_number(table)))
    names = ["event_id", "event_type", "source", "lower", "upper", "time", "zone", *_TEXTS, RECORD, WRITER]
    names.append(_NUMBER)
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _zone(table: pa.Table, unit: TimeUnit) -> pa.ChunkedArray:
    if _ZONE in table.column_names and pa.types.is_integer(table.schema.field(_ZONE).type):
        return pc.multiply(pc.fill_null(table.column(_ZONE), 0), _PER_SECOND * unit.per_microsecond)
    return pa.chunked_array([pa.repeat(pa.scalar(0, pa.int64()), len(table))])


def _text(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name in table.column_names:
        return table.column(name).cast(pa.string())
    return pa.chunked_array([pa.nulls(len(table), pa.string())])


def _number(table: pa.Table) -> pa.ChunkedArray:
    if _NUMBER in table.column_names:
        kind = table.schema.field(_NUMBER).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return table.column(_NUMBER).cast(pa.float64(), safe=False)
    return pa.chunked_array([pa.nulls(len(table), pa.float64())])


@dataclass(frozen=True)
class AttributeColumn:
    """One attribute: its type, and how many events have a value."""

    name: str
    type: str
    values: int


def attribute_columns(inputs: EventInputs) -> tuple[AttributeColumn, ...]:
    """The attributes in code-point order of their names; reads the footers of the files only."""
    counts: Counter[str] = Counter()
    for dataset in inputs.datasets:
        filesystem, _ = dataset.location.resolve()
        for part in dataset.parts:
            metadata = pq.read_metadata(part, filesystem=filesystem)
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    # A row group without rows has no statistics.
                    if column.path_in_schema in inputs.schema.attributes and column.num_values:
                        counts[column.path_in_schema] += column.num_values - column.statistics.null_count
    return tuple(
        AttributeColumn(name, str(kind), counts[name])
        for name, kind in inputs.schema.attributes.items()
        if name not in FIXED_COLUMNS
    )


@dataclass(frozen=True)
class Inspection:
    """Everything that was found; ticks are counted in `time_unit`.

    `uncertain` events have an interval longer than one tick; `clocks` are bounds that the logs give,
    `clock_graph` what these say together, and `shared_clocks` the clocks by which events err together, with
    their offsets in ticks.  `values` are those of the attributes that most events have, `keys` join types by
    them, and `examples` can be asked.  `sketches` are those beside the datasets,
    `orders_known` those that formats guarantee and the dataset does not say yet.
    `hull_question` is what to ask of clocks that no constant offsets fit.
    `written` says of each source and host what the order of its records says.
    `layouts` are those that were learned from files, by their names, with how surely.  `recorded_clocks` is
    what hosts recorded of their clocks, None where the datasets were made without.
    """

    events: int
    time_unit: str
    first: int | None
    last: int | None
    uncertain: int
    ties: SharedTimes
    types: Sequence[TypeFacts]
    attributes: tuple[AttributeColumn, ...]
    orders: tuple[FileOrder, ...]
    grains: Sequence[Grain]
    series: tuple[SampledSeries, ...]
    clocks: tuple[ClockBound, ...]
    clock_graph: ClockGraph = field(default_factory=ClockGraph)
    shared_clocks: Mapping[str, Offset] = field(default_factory=dict)
    values: tuple[AttributeValues, ...] = ()
    keys: tuple[SharedKey, ...] = ()
    examples: tuple[ExampleQuery, ...] = ()
    sketches: tuple[SketchFacts, ...] = ()
    orders_known: tuple[KnownOrder, ...] = ()
    layouts: tuple[tuple[str, str], ...] = ()
    hull_question: HullQuestion | None = None
    recorded_clocks: ClocksInUse | None = None
    written: tuple[WrittenOrder, ...] = ()


_COPIES = 6
"""Events are held as they are read, joined, as a frame, and sorted and grouped in some ways at a time."""


def _values_and_keys(
    inputs: EventInputs, attributes: Sequence[AttributeColumn], memory: MemoryBudget
) -> tuple[tuple[AttributeValues, ...], tuple[SharedKey, ...]]:
    """The values of the attributes that most events have, and the keys among them.

    Of millions of types what is compared takes hundreds of megabytes, which are free again behind it.
    """
    names = [each.name for each in sorted(attributes, key=lambda each: -each.values) if each.values]
    looked_at = names[:MOST_ATTRIBUTES]
    inputs.require_room(sorted(looked_at[:AT_ONCE]), _COPIES, memory, "inspect")
    shown = partial(beside, passing=INPUT_ERRORS)
    found = shown(SideFigure.VALUES, lambda: attribute_values(inputs, looked_at), None)
    values, compared = ((), None) if found is None else found
    return values, () if compared is None else shown(SideFigure.KEYS, partial(join_keys, compared), ())


def inspect_events(inputs: EventInputs, memory: MemoryBudget | None = None) -> Inspection:
    """Count and measure all events of the inputs.

    Raises
    ------
    QueryTooLargeError
        If they do not fit in memory.
    """
    inputs.require_room(observed_attributes(inputs), _COPIES, memory or reading_budget(), "inspect")
    events = observed_events(inputs)
    unit, together = inputs.schema.time_unit, simultaneous(events)
    shown = partial(beside, passing=INPUT_ERRORS)
    series = shown(SideFigure.SERIES, lambda: sampled_series(events, unit), ())
    # Of millions of types this takes the most memory, so it comes before what is kept.
    grains = shown(SideFigure.GRAINS, lambda: granularities(events, unit), ())
    first, last, uncertain = events.select(
        pl.col("lower").min(),
        pl.col("upper").max(),
        (pl.col("upper") > pl.col("lower")).sum().alias("uncertain"),
    ).row(0)
    types, attributes = type_facts(events, together), attribute_columns(inputs)
    values, keys = _values_and_keys(inputs, attributes, memory or reading_budget())
    graph = shown(SideFigure.CLOCK_GRAPH, lambda: clock_graph(ordered_pairs(events, unit)), ClockGraph())
    drifting = shown(SideFigure.DRIFTING_CLOCKS, lambda: drifting_clocks(inputs), DriftingClocks())
    by_count = types.columns.get_column("event_type").to_list()
    return Inspection(
        events=events.height,
        time_unit=str(unit),
        first=first,
        last=last,
        uncertain=uncertain,
        ties=ties(together),
        types=types,
        attributes=attributes,
        orders=shown(SideFigure.FILE_ORDERS, lambda: file_orders(events, unit), ()),
        grains=grains,
        series=series,
        clocks=shown(SideFigure.CLOCK_BOUNDS, lambda: clock_bounds(events, unit), ()),
        clock_graph=replace(graph, contradictions=graph.contradictions + drifting.contradictions),
        hull_question=drifting.question or question_of_attempts(graph, events),
        shared_clocks=inputs.schema.clocks,
        values=values,
        keys=keys,
        examples=shown(SideFigure.EXAMPLES, lambda: example_queries(inputs, by_count, best_key(keys)), ()),
        sketches=shown(SideFigure.SKETCH_FACTS, lambda: sketch_facts(inputs), ()),
        layouts=tuple(each for dataset in inputs.datasets for each in dataset.layouts),
        orders_known=tuple(
            each
            for each in shown(SideFigure.KNOWN_ORDERS, lambda: known_orders(events, series), ())
            if each.holds not in inputs.schema.given
        ),
        written=shown(SideFigure.WRITTEN_ORDERS, lambda: written_orders(events), ()),
        recorded_clocks=shown(SideFigure.RECORDED_CLOCKS, lambda: recorded_clocks(inputs), None),
    )
