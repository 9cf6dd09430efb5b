"""The whole inspection of a set of events: what `cepctl inspect` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from cepctl.clocks import Offset
from cepctl.inspection.attributes import AttributeColumn, attribute_columns
from cepctl.inspection.clock_graph import ClockGraph, clock_graph
from cepctl.inspection.clocks import ClockBound, clock_bounds, ordered_pairs
from cepctl.inspection.disorder import FileOrder, Ties, TypeFacts, file_orders, simultaneous, ties, type_facts
from cepctl.inspection.examples import ExampleQuery, example_queries
from cepctl.inspection.granularity import Grain, granularities
from cepctl.inspection.keys import JoinKey, best_key, join_keys
from cepctl.inspection.known_orders import KnownOrder, known_orders
from cepctl.inspection.observed import observed_attributes, observed_events
from cepctl.inspection.sampling import SampledSeries, sampled_series
from cepctl.inspection.values import AT_ONCE, MOST_ATTRIBUTES, AttributeValues, attribute_values
from cepctl.matching.inputs import EventInputs
from cepctl.matching.sketched import SketchFacts, sketch_facts
from cepctl.memory import MemoryBudget, reading_budget
from cepctl.side_figures import INPUT_ERRORS, SideFigure, beside


@dataclass(frozen=True)
class Inspection:
    """Everything that was found; ticks are counted in `time_unit`.

    `uncertain` events have an interval longer than one tick; `clocks` are bounds that the logs give,
    `clock_graph` what these say together, and `shared_clocks` the clocks by which events err together, with
    their offsets in ticks.  `values` are those of the attributes that most events have, `keys` join types by
    them, and `examples` can be asked.  `sketches` are those beside the datasets,
    `orders_known` those that formats guarantee and the dataset does not say yet.
    `layouts` are those that were learned from files, by their names, with how surely.
    """

    events: int
    time_unit: str
    first: int | None
    last: int | None
    uncertain: int
    ties: Ties
    types: tuple[TypeFacts, ...]
    attributes: tuple[AttributeColumn, ...]
    orders: tuple[FileOrder, ...]
    grains: tuple[Grain, ...]
    series: tuple[SampledSeries, ...]
    clocks: tuple[ClockBound, ...]
    clock_graph: ClockGraph = field(default_factory=ClockGraph)
    shared_clocks: Mapping[str, Offset] = field(default_factory=dict)
    values: tuple[AttributeValues, ...] = ()
    keys: tuple[JoinKey, ...] = ()
    examples: tuple[ExampleQuery, ...] = ()
    sketches: tuple[SketchFacts, ...] = ()
    orders_known: tuple[KnownOrder, ...] = ()
    layouts: tuple[tuple[str, str], ...] = ()


_COPIES = 6
"""Events are held as they are read, joined, as a frame, and sorted and grouped in some ways at a time."""


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
    first, last, uncertain = events.select(
        pl.col("lower").min(),
        pl.col("upper").max(),
        (pl.col("upper") > pl.col("lower")).sum().alias("uncertain"),
    ).row(0)
    types, attributes = type_facts(events, together), attribute_columns(inputs)
    names = [each.name for each in sorted(attributes, key=lambda each: -each.values) if each.values]
    looked_at = names[:MOST_ATTRIBUTES]
    room = sorted(looked_at[:AT_ONCE])
    inputs.require_room(room, _COPIES, memory or reading_budget(), "inspect")
    keys: tuple[JoinKey, ...] = ()
    found = shown(SideFigure.VALUES, lambda: attribute_values(inputs, looked_at), None)
    values, compared = ((), None) if found is None else found
    if compared is not None:
        keys = shown(SideFigure.KEYS, lambda: join_keys(compared), ())
    by_count = [each.event_type for each in sorted(types, key=lambda each: (-each.events, each.event_type))]
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
        grains=shown(SideFigure.GRAINS, lambda: granularities(events, unit), ()),
        series=series,
        clocks=shown(SideFigure.CLOCK_BOUNDS, lambda: clock_bounds(events, unit), ()),
        clock_graph=shown(
            SideFigure.CLOCK_GRAPH, lambda: clock_graph(ordered_pairs(events, unit)), ClockGraph()
        ),
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
    )
