"""The sketches that a query is asked of, in one time unit: the spans, and which of them hold what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from cepctl.io.contract.rescaling import first_tick, last_tick
from cepctl.numeric.arrays import Flags, Hashes, Indexes, Numbers, Ticks
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Component
from cepctl.schema import TimeUnit
from cepctl.sketches.conditions import CountedPlaces, extremes_asked, satisfying
from cepctl.sketches.hashing import text_hashes
from cepctl.sketches.items import EARLIEST, LATEST, Items
from cepctl.sketches.listing import ALL_OF_TYPE, VALUE_BITS, below, listed_schema, value_bits
from cepctl.sketches.manifest import SketchedDataset
from cepctl.sketches.places import between_steps
from cepctl.sketches.reading import OF_TYPES, HashRanges, Sketch, just
from cepctl.sketches.sections import runs

_MOST_KEYS = 30_000_000
"""More values of events than these are not held against one another: spans alone then tell."""

_REST = np.uint64(32 - VALUE_BITS)


@dataclass(frozen=True)
class SpanTable:
    """All spans as columns: the row group, numbered through all sketches; ticks; events."""

    group: Indexes
    lower: Ticks
    upper: Ticks
    events: Numbers


@dataclass(frozen=True)
class _FoundItems:
    """Items of one sketch, as the columns of `Items` have them."""

    place: Indexes
    group: Indexes
    lower: Ticks
    upper: Ticks
    events: Numbers


@dataclass(frozen=True)
class SketchArchive:
    """Sketches that are asked together; `schema` has the attributes and the time unit of the query."""

    sketches: tuple[Sketch, ...]
    schema: EventSchema
    _counts: dict[tuple[int, str, bytes], tuple[Indexes, Numbers]] = field(
        default_factory=dict, compare=False
    )
    _listed: list[tuple[int, pa.Table]] = field(default_factory=list, compare=False)

    @cached_property
    def _first_spans(self) -> Indexes:
        return _summed([int(sketch.first_spans[-1]) for sketch in self.sketches])

    @cached_property
    def first_groups(self) -> Indexes:
        """The number of the first row group of each sketch, and at last how many there are."""
        return _summed([int(sketch.first_groups[-1]) for sketch in self.sketches])

    @property
    def lasting(self) -> bool:
        """Whether some event has an end of its own."""
        return any(part.lasting for sketch in self.sketches for part in sketch.manifest.parts)

    @cached_property
    def spans(self) -> SpanTable:
        """The spans of all sketches, numbered through."""
        columns: list[list[Numbers]] = [[] for _ in range(4)]
        for number, sketch in enumerate(self.sketches):
            own = {name: sketch.spans.column(name).to_numpy() for name in sketch.spans.column_names}
            group = self._group(number, own["part"], own["row_group"])
            ticks = self._common(number, own["part"], own["first"], own["last"])
            for held, column in zip(columns, (group, *ticks, own["events"]), strict=True):
                held.append(column.astype(np.int64))
        return SpanTable(*(np.concatenate([np.empty(0, dtype=np.int64), *held]) for held in columns))

    def _group(self, number: int, part: Indexes, row_group: Indexes) -> Indexes:
        return np.asarray(self.first_groups[number] + self.sketches[number].first_groups[part] + row_group)

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
        found = [each for number in range(len(self.sketches)) for each in self._items(number, component)]
        nothing = np.empty(0, dtype=np.int64)
        place, group, lower, upper, events = (
            np.concatenate([nothing, *(getattr(each, name) for each in found)])
            for name in ("place", "group", "lower", "upper", "events")
        )
        key = np.zeros(len(place), dtype=np.uint64)
        return Items(
            place, group, lower, upper, events, key, events.astype(np.float64), np.arange(len(place))
        )

    def _items(self, number: int, component: Component) -> list[_FoundItems]:
        if not component.event_types:
            return [self._whole_spans(number, component)]
        types = np.unique(text_hashes(pa.array(component.event_types, pa.string())))
        chosen, known = self._lists(number, types, component)
        return [
            self._listed_items(number, chosen, component),
            self._in_spans(number, types, known, component),
        ]

    def _whole_spans(self, number: int, component: Component) -> _FoundItems:
        """Spans of a component that may be of any type."""
        place = np.arange(int(self._first_spans[number]), int(self._first_spans[number + 1]))
        spans = self.spans
        found = _FoundItems(
            place, spans.group[place], spans.lower[place], spans.upper[place], spans.events[place]
        )
        return self._satisfying(number, found, component)

    def _satisfying(self, number: int, found: _FoundItems, component: Component) -> _FoundItems:
        """The spans that hold events which satisfy the filters of a component, and how many."""
        places = CountedPlaces(found.events, {}, partial(self._with_values, number, found.place))
        possible = found.events
        for condition in component.filters:
            possible = np.minimum(possible, satisfying(places, condition))
        kept = possible > 0
        return _FoundItems(
            found.place[kept], found.group[kept], found.lower[kept], found.upper[kept], possible[kept]
        )

    def _lists(self, number: int, types: Hashes, component: Component) -> tuple[Indexes, Hashes]:
        """The lists that hold all events of a component in some part, and of which type and part they do."""
        lists, ranges = self.sketches[number].lists, self.sketches[number].manifest.indexed.ranges
        of_types = np.flatnonzero(np.isin(lists.type, types))
        chosen = [of_types[lists.which[of_types] == ALL_OF_TYPE]]
        known = np.empty(0, dtype=np.uint64)
        for name, side, code in extremes_asked(component.filters):
            if name in ranges:
                own = of_types[lists.which[of_types] == side(ranges.index(name))]
                beyond = code < lists.bound[own] if side is below else code > lists.bound[own]
                named = _of_part(lists.type[own], lists.part[own])
                new = beyond & ~np.isin(named, known)
                chosen.append(own[new])
                known = np.concatenate([known, named[new]])
        return np.sort(np.concatenate(chosen)), known

    def _listed_items(self, number: int, chosen: Indexes, component: Component) -> _FoundItems:
        """The events of some lists that satisfy the filters of a component, as far as their bits tell."""
        sketch = self.sketches[number]
        table = sketch.listed(chosen, listed_schema(sketch.manifest.indexed).names)
        part = np.repeat(sketch.lists.part[chosen], sketch.lists.rows[chosen])
        places = CountedPlaces(
            np.ones(len(table), dtype=np.int64),
            {name: _crossed(table.column(f"at:{name}")) for name in sketch.manifest.indexed.ranges},
            partial(self._with_bits, number, table),
        )
        possible = places.events
        for condition in component.filters:
            possible = np.minimum(possible, satisfying(places, condition))
        kept = np.flatnonzero(possible > 0)
        table, part = table.take(pa.array(kept)), part[kept]
        before = sum(len(each) for _, each in self._listed)
        self._listed.append((number, table))
        lower, width = (table.column(name).to_numpy() for name in ("lower", "width"))
        upper = (lower.view(np.uint64) + width.view(np.uint64)).view(np.int64)
        lower, upper = self._common(number, part, lower, upper)
        group = self._group(number, part, table.column("group").to_numpy())
        return _FoundItems(-1 - before - np.arange(len(table)), group, lower, upper, possible[kept])

    def _with_bits(self, number: int, table: pa.Table, name: str, hashes: Hashes) -> Numbers | None:
        """Which listed events have a value whose bits are those of one of the hashes."""
        if not self._tells(number, name):
            return None
        bits, valid = _bits(table, name)
        return np.asarray(np.isin(bits, value_bits(hashes)) & valid).astype(np.int64)

    def _in_spans(self, number: int, types: Hashes, known: Hashes, component: Component) -> _FoundItems:
        """Spans that hold events of common types, but for the types and parts that lists tell of."""
        sketch = self.sketches[number]
        table = sketch.places(OF_TYPES, just(types))
        span = table.column("span").to_numpy()
        if len(known):
            part = np.searchsorted(sketch.first_spans, span, "right") - 1
            kept = ~np.isin(_of_part(table.column("hash").to_numpy().astype(np.uint64), part), known)
            table, span = table.filter(pa.array(kept)), span[kept]
        if not len(span):
            return _FoundItems(*(np.empty(0, dtype=np.int64),) * 5)
        lower, upper = self._stretch(number, span, table)
        place = span + self._first_spans[number]
        events = table.column("events").to_numpy().astype(np.int64)
        return self._satisfying(
            number, _FoundItems(place, self.spans.group[place], lower, upper, events), component
        )

    def _stretch(self, number: int, span: Indexes, table: pa.Table) -> tuple[Ticks, Ticks]:
        """Between which common ticks the places of types lie, derived from the steps of their spans."""
        own = self.sketches[number].spans
        first, last = (own.column(name).to_numpy()[span] for name in ("first", "last"))
        steps = (table.column(name).to_numpy() for name in ("first", "last"))
        lower, upper = between_steps(first, last, *steps)
        return self._common(number, own.column("part").to_numpy()[span], lower, upper)

    def _with_values(self, number: int, place: Indexes, name: str, hashes: Hashes) -> Numbers | None:
        """How many events of spans have values with these hashes; None where the sketch cannot tell."""
        if not self._tells(number, name):
            return None
        asked = (number, name, np.unique(hashes).tobytes())
        if asked not in self._counts:
            span, _, events = self._values(number, name, just(hashes))
            spans, at = np.unique(span, return_inverse=True)
            self._counts[asked] = spans, np.bincount(at, events, len(spans)).astype(np.int64)
        spans, events = self._counts[asked]
        at = np.searchsorted(spans, place)
        return np.where(np.append(spans, -1)[at] == place, np.append(events, 0)[at], 0)

    def _values(self, number: int, name: str, wanted: HashRanges | None) -> tuple[Indexes, Hashes, Numbers]:
        """Places of values of an attribute, in no order: span, hash, events."""
        sketch = self.sketches[number]
        table = sketch.places(sketch.manifest.indexed.values.index(name), wanted)
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

    def cost_of_keys(self, items: Items, name: str, keys: Hashes | None, *, short: bool) -> int:
        """How many places of values `keyed` reads, at most."""
        if not (items.place >= 0).any():
            return 0
        wanted = None if keys is None else _ranges(keys, short=short)
        return sum(
            sketch.rows_of_places(sketch.manifest.indexed.values.index(name), wanted)
            for sketch in self.sketches
        )

    def keyed(self, items: Items, name: str, keys: Hashes | None, *, short: bool) -> Items | None:
        """Items by the value of an attribute that their events share with others: by its hash.

        `items`, `name`: items without keys, and the attribute.  `keys`: the keys that can be, None for all.
        `short`: whether keys are the bits of hashes that listed events have: where some are held against
        others.  Returns an item for each value of each; None where they are too many.
        """
        listed = items.place < 0
        alone, in_spans = items.where(listed), items.where(~listed)
        keyed = self._keyed_alone(alone, name, keys)
        if not len(in_spans):
            return keyed
        wanted = np.zeros(int(self._first_spans[-1]), dtype=np.bool_)
        wanted[in_spans.place] = True
        ranges = None if keys is None else _ranges(keys, short=short)
        found = [self._keys_of(number, name, wanted, ranges) for number in range(len(self.sketches))]
        span, key, events = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.argsort(span, kind="stable")
        span, key, events = span[order], key[order], events[order]
        begin, end = (np.searchsorted(span, in_spans.place, side) for side in ("left", "right"))
        if (end - begin).sum() > _MOST_KEYS:
            return None
        item, value = np.repeat(np.arange(len(in_spans)), end - begin), runs(begin, end - begin)
        chosen = in_spans.where(item)
        share = events[value] / np.maximum(self.spans.events[chosen.place], 1)
        return keyed.joined(
            replace(
                chosen,
                events=np.minimum(chosen.events, events[value]),
                key=value_bits(key[value]) if short else key[value],
                likely=chosen.likely * share,
            )
        )

    def _keyed_alone(self, items: Items, name: str, keys: Hashes | None) -> Items:
        """Listed events by the bits of their value."""
        key, valid = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.bool_)
        for _, table in self._listed:
            own, held = _bits(table, name)
            key, valid = np.concatenate([key, own]), np.concatenate([valid, held])
        row = -1 - items.place
        kept = valid[row] if keys is None else valid[row] & np.isin(key[row], keys)
        return replace(items.where(kept), key=key[row[kept]])

    def _keys_of(
        self, number: int, name: str, wanted: Flags, ranges: HashRanges | None
    ) -> tuple[Indexes, Hashes, Numbers]:
        span, key, events = self._values(number, name, ranges)
        kept = wanted[span]
        return span[kept], key[kept], events[kept]


def _bits(table: pa.Table, name: str) -> tuple[Hashes, Flags]:
    """The bits of values of listed events, and which have one."""
    column = table.column(f"is:{name}").combine_chunks()
    return column.fill_null(0).to_numpy().astype(np.uint64), column.is_valid().to_numpy(zero_copy_only=False)


def _crossed(column: pa.ChunkedArray) -> tuple[Numbers, Numbers]:
    """The bits of numbers as least and as largest; crossed where there are none."""
    held = column.combine_chunks()
    return held.fill_null(1).to_numpy().astype(np.int64), held.fill_null(0).to_numpy().astype(np.int64)


def _ranges(keys: Hashes, *, short: bool) -> HashRanges:
    """The hashes that have one of some keys, ascending."""
    if not short:
        return keys, keys
    return keys << _REST, (keys << _REST) | ((np.uint64(1) << _REST) - np.uint64(1))


def _of_part(types: Hashes, part: Indexes) -> Hashes:
    """A type in a part as one number."""
    return (types << np.uint64(32)) | part.astype(np.uint64)


def _summed(counts: Sequence[int]) -> Indexes:
    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))]).astype(np.int64)


def _rescaled(dataset: SketchedDataset, unit: TimeUnit, first: Ticks, last: Ticks) -> tuple[Ticks, Ticks]:
    own = TimeUnit.parse(dataset.time_unit)
    begin, end = first_tick(first, own, unit), last_tick(last, own, unit)
    if dataset.clocked and own != unit:
        # Own part and offset each grow to all the ticks that they cover, less than a tick of this unit.
        end = np.minimum(end, LATEST) + own.microseconds // unit.microseconds
    return begin, end
