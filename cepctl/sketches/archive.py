"""The sketches that a query is asked of, in one time unit: the spans, and which of them hold what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from cepctl.arrays import Flags, Hashes, Indexes, Numbers, Ticks
from cepctl.io.contract.rescaling import first_tick, last_tick
from cepctl.plan.plan import Component, EventSchema
from cepctl.schema import TimeUnit
from cepctl.sketches.conditions import Places, SpanCounts, satisfying
from cepctl.sketches.hashing import text_hashes
from cepctl.sketches.items import EARLIEST, LATEST, Items
from cepctl.sketches.manifest import SketchedDataset
from cepctl.sketches.places import stretches
from cepctl.sketches.reading import OF_TYPES, Sketch

_MOST_KEYS = 30_000_000
"""More values of events than these are not held against one another: spans alone then tell."""


@dataclass(frozen=True)
class SpanTable:
    """All spans as columns: number of the input, of the part in it, of the row group; ticks; events."""

    source: Indexes
    part: Indexes
    row_group: Indexes
    lower: Ticks
    upper: Ticks
    events: Numbers


@dataclass(frozen=True)
class Archive:
    """Sketches that are asked together; `schema` has the attributes and the time unit of the query."""

    sketches: tuple[Sketch, ...]
    schema: EventSchema
    _counts: dict[tuple[int, str, bytes], SpanCounts] = field(default_factory=dict, compare=False)

    @cached_property
    def _own_spans(self) -> list[pa.Table]:
        return [sketch.spans() for sketch in self.sketches]

    @cached_property
    def _first_spans(self) -> Indexes:
        counts = [len(table) for table in self._own_spans]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @property
    def lasting(self) -> bool:
        """Whether some event has an end of its own."""
        datasets = (dataset for sketch in self.sketches for dataset in sketch.manifest.datasets)
        return any(part.lasting for dataset in datasets for part in dataset.parts)

    @cached_property
    def spans(self) -> SpanTable:
        """The spans of all sketches, numbered through."""
        columns: list[list[Numbers]] = [[] for _ in range(6)]
        for number, table in enumerate(self._own_spans):
            own = {name: table.column(name).to_numpy().astype(np.int64) for name in table.column_names}
            ticks = self._common(number, own["part"], own["first"], own["last"])
            source = np.full(len(table), number, dtype=np.int64)
            for held, column in zip(
                columns, (source, own["part"], own["row_group"], *ticks, own["events"]), strict=True
            ):
                held.append(column)
        return SpanTable(*(np.concatenate([np.empty(0, dtype=np.int64), *held]) for held in columns))

    def _common(self, number: int, part: Indexes, first: Ticks, last: Ticks) -> tuple[Ticks, Ticks]:
        """Ticks of a sketch in the common unit."""
        begin, end = first.copy(), last.copy()
        before = 0
        for dataset in self.sketches[number].manifest.datasets:
            own = (part >= before) & (part < before + len(dataset.parts))
            before += len(dataset.parts)
            begin[own], end[own] = _rescaled(dataset, self.schema.time_unit, first[own], last[own])
        return np.clip(begin, EARLIEST, LATEST), np.clip(end, EARLIEST, LATEST)

    def items(self, component: Component) -> Items:
        """The items of a component: where events can be that fit it, as far as types and filters tell."""
        found = [self._items(number, component) for number in range(len(self.sketches))]
        span, lower, upper, events = (np.concatenate(columns) for columns in zip(*found, strict=True))
        nothing = np.zeros(len(span), dtype=np.uint64)
        return Items(
            span,
            lower,
            upper,
            events,
            nothing,
            events.astype(np.float64),
            np.arange(len(span), dtype=np.int64),
        )

    def _items(self, number: int, component: Component) -> tuple[Indexes, Ticks, Ticks, Numbers]:
        sketch, before = self.sketches[number], int(self._first_spans[number])
        if not component.event_types:
            stop = int(self._first_spans[number + 1])
            span = np.arange(before, stop)
            lower, upper, events = (
                getattr(self.spans, name)[before:stop] for name in ("lower", "upper", "events")
            )
            extremes: Mapping[str, tuple[Numbers, Numbers]] = {}
        else:
            hashes = text_hashes(pa.array(component.event_types, pa.string()))
            table = sketch.places(OF_TYPES, hashes)
            if table is None:
                return (np.empty(0, dtype=np.int64),) * 4
            span, events = (table.column(name).to_numpy().astype(np.int64) for name in ("span", "events"))
            lower, upper = self._stretch(number, span, table)
            extremes = {
                name: (
                    table.column(f"least:{name}").to_numpy().astype(np.int64),
                    table.column(f"largest:{name}").to_numpy().astype(np.int64),
                )
                for name in sketch.manifest.indexed.ranges
            }
            span = span + before
        places = Places(span, events, extremes, partial(self._with_values, number))
        possible = events
        for condition in component.filters:
            possible = np.minimum(possible, satisfying(places, condition))
        kept = possible > 0
        return span[kept], lower[kept], upper[kept], possible[kept]

    def _stretch(self, number: int, span: Indexes, table: pa.Table) -> tuple[Ticks, Ticks]:
        """Between which common ticks the places of types lie, told from the steps of their spans."""
        own = self._own_spans[number]
        first, last = (own.column(name).to_numpy()[span] for name in ("first", "last"))
        begin, step = stretches(first, last)
        from_step, to_step = (table.column(name).to_numpy().astype(np.uint64) for name in ("first", "last"))
        lower = (begin + from_step * step).view(np.int64)
        # Beyond the end of the span nothing is; the last step may reach there, and wrap around.
        length = last.view(np.uint64) - begin
        upper = (begin + np.minimum((to_step + np.uint64(1)) * step - np.uint64(1), length)).view(np.int64)
        return self._common(number, own.column("part").to_numpy()[span], lower, upper)

    def _with_values(self, number: int, name: str, hashes: Hashes) -> SpanCounts | None:
        """Spans of a sketch that hold values with these hashes, and how many; None where it cannot tell."""
        if not self._tells(number, name):
            return None
        asked = (number, name, np.unique(hashes).tobytes())
        if asked not in self._counts:
            span, _, events = self._values(number, name, hashes)
            spans, place = np.unique(span, return_inverse=True)
            self._counts[asked] = spans, np.bincount(place, events, len(spans)).astype(np.int64)
        return self._counts[asked]

    def _values(self, number: int, name: str, hashes: Hashes | None) -> tuple[Indexes, Hashes, Numbers]:
        """Places of values of an attribute, in no order: span, hash, events."""
        sketch = self.sketches[number]
        table = sketch.places(sketch.manifest.indexed.values.index(name), hashes)
        if table is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        return (
            table.column("span").to_numpy() + int(self._first_spans[number]),
            table.column("hash").to_numpy().astype(np.uint64),
            table.column("events").to_numpy().astype(np.int64),
        )

    def _tells(self, number: int, name: str) -> bool:
        """Whether a sketch knows an attribute by values as the query compares them: texts, or numbers."""
        manifest = self.sketches[number].manifest
        if name not in manifest.indexed.values or name not in self.schema.attributes:
            return False
        text = pa.types.is_string(self.schema.attributes[name])
        return all((each.attributes[name] == "string") == text for each in manifest.datasets)

    def tells(self, name: str) -> bool:
        """Whether all sketches know an attribute by values that can be compared with one another."""
        return all(self._tells(number, name) for number in range(len(self.sketches)))

    def keyed(self, items: Items, name: str, keys: Hashes | None) -> Items | None:
        """Items by the value of an attribute that their events share with others.

        Parameters
        ----------
        items, name
            Items without keys, and the attribute.
        keys
            The hashes that can be, None for all.

        Returns
        -------
        An item for each value in the span of each; None where they are too many.
        """
        wanted = np.zeros(int(self._first_spans[-1]), dtype=np.bool_)
        wanted[items.span] = True
        found = [self._keys_of(number, name, wanted, keys) for number in range(len(self.sketches))]
        span, key, events = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.argsort(span, kind="stable")
        span, key, events = span[order], key[order], events[order]
        begin, end = (np.searchsorted(span, items.span, side) for side in ("left", "right"))
        count = end - begin
        if count.sum() > _MOST_KEYS:
            return None
        item = np.repeat(np.arange(len(items)), count)
        value = np.arange(len(item)) - np.repeat(np.cumsum(count) - count, count) + begin[item]
        chosen = items.where(item)
        share = events[value] / np.maximum(self.spans.events[chosen.span], 1)
        return replace(
            chosen,
            events=np.minimum(chosen.events, events[value]),
            key=key[value],
            likely=chosen.likely * share,
        )

    def _keys_of(
        self, number: int, name: str, wanted: Flags, keys: Hashes | None
    ) -> tuple[Indexes, Hashes, Numbers]:
        span, key, events = self._values(number, name, keys)
        kept = wanted[span]
        return span[kept], key[kept], events[kept]


def _rescaled(dataset: SketchedDataset, unit: TimeUnit, first: Ticks, last: Ticks) -> tuple[Ticks, Ticks]:
    own = TimeUnit.parse(dataset.time_unit)
    begin, end = first_tick(first, own, unit), last_tick(last, own, unit)
    if dataset.clocked and own != unit:
        # Own part and offset each grow to all the ticks that they cover, less than a tick of this unit.
        end = np.minimum(end, LATEST) + own.microseconds // unit.microseconds
    return begin, end
