"""Places: which spans hold what, and how many of it; of one part of a dataset.

    types     a type in a span: how many, between which ticks, between which numbers
    values    a value of an indexed attribute in a span: how many

What a place is of is known by 32 bits of its hash.  Places are in the order of these, then of spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.arrays import Hashes, Indexes, Numbers, Ticks
from cepctl.sketches.hashing import LARGEST_CODE, LEAST_CODE, floats, order_codes, value_hashes
from cepctl.sketches.spans import Spans, spans_of

STEPS = 256
"""Into so many stretches of equal length a span is divided: between which of them a type lies is kept."""

SPAN_SCHEMA = pa.schema(
    [("row_group", pa.int32()), ("first", pa.int64()), ("last", pa.int64()), ("events", pa.int32())]
)
VALUE_SCHEMA = pa.schema([("hash", pa.uint32()), ("span", pa.int32()), ("events", pa.int32())])


def type_schema(ranges: Sequence[str]) -> pa.Schema:
    """The columns of the places of types, with the extremes of some attributes."""
    stretch = [pa.field("first", pa.uint8()), pa.field("last", pa.uint8())]
    codes = [pa.field(f"{end}:{name}", pa.int32()) for name in ranges for end in ("least", "largest")]
    return pa.schema([*VALUE_SCHEMA, *stretch, *codes])


@dataclass(frozen=True)
class Indexed:
    """The attributes that a sketch knows: some by their values, some by their extremes."""

    values: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartPlaces:
    """What is kept of one part of a dataset; `values` has one table for each attribute indexed so.

    `lasting`: whether some event has an end of its own.
    """

    spans: pa.Table
    types: pa.Table
    values: tuple[pa.Table, ...]
    lasting: bool


def places_of(row_groups: Iterable[tuple[int, pa.Table]], indexed: Indexed) -> PartPlaces:
    """The places of the events of a part, row group by row group.

    Parameters
    ----------
    row_groups
        Their numbers and events: `event_type`, `lower`, `upper`, `end_upper` and what is indexed.
    indexed
        What is kept beside types.
    """
    spans: list[Spans] = []
    types: list[dict[str, Numbers]] = []
    values: list[list[dict[str, Numbers]]] = [[] for _ in indexed.values]
    before, lasting = 0, False
    for number, events in row_groups:
        lasting |= events.column("end_upper").null_count < len(events)
        lower, upper = _bounds(events)
        own, of_event = spans_of(lower, upper, number)
        spans.append(own)
        hashes, _ = value_hashes(events.column("event_type"))
        found = _TypePlaces(hashes, of_event, lower, upper, own).columns(events, indexed.ranges)
        types.append(found | {"span": found["span"] + before})
        for held, name in zip(values, indexed.values, strict=True):
            if name in events.column_names:
                known, valid = value_hashes(events.column(name))
                held.append(_counted(known[valid], of_event[valid], before))
        before += len(own)
    return PartPlaces(
        _table(
            [
                {"row_group": each.row_group, "first": each.first, "last": each.last, "events": each.events}
                for each in spans
            ],
            SPAN_SCHEMA,
        ),
        _in_order(_table(types, type_schema(indexed.ranges))),
        tuple(_in_order(_table(held, VALUE_SCHEMA)) for held in values),
        lasting,
    )


def _bounds(events: pa.Table) -> tuple[Ticks, Ticks]:
    """First and last tick of each event; of interval events those of start and end."""
    lower, upper = (events.column(name).to_numpy() for name in ("lower", "upper"))
    if events.column("end_upper").null_count < len(events):
        ends = events.column("end_upper").combine_chunks().fill_null(-(2**63)).to_numpy()
        upper = np.maximum(upper, ends)
    return lower, upper


@dataclass(frozen=True)
class _Groups:
    """Events in order of what they are of and their span: `starts` is where each group begins."""

    order: Indexes
    starts: Indexes
    hashes: Numbers
    span: Indexes
    events: Numbers

    @classmethod
    def of(cls, hashes: Hashes, of_event: Indexes) -> _Groups:
        key = (hashes << np.uint64(32)) | of_event.astype(np.uint64)
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        begins = np.ones(len(key), dtype=np.bool_)
        begins[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(begins)
        first = ordered[starts]
        return cls(
            order,
            starts,
            (first >> np.uint64(32)).astype(np.int64),
            (first & np.uint64(0xFFFFFFFF)).astype(np.int64),
            np.diff(np.append(starts, len(key))),
        )


def _counted(hashes: Hashes, of_event: Indexes, before: int) -> dict[str, Numbers]:
    groups = _Groups.of(hashes, of_event)
    return {"hash": groups.hashes, "span": groups.span + before, "events": groups.events}


@dataclass(frozen=True)
class _TypePlaces:
    """The events of one row group on their way to places of types."""

    hashes: Hashes
    of_event: Indexes
    lower: Ticks
    upper: Ticks
    spans: Spans

    def columns(self, events: pa.Table, ranges: Sequence[str]) -> dict[str, Numbers]:
        groups = _Groups.of(self.hashes, self.of_event)
        found = {"hash": groups.hashes, "span": groups.span, "events": groups.events}
        if not len(groups.starts):
            empty = np.empty(0, dtype=np.int64)
            names = ["first", "last", *(f"{end}:{name}" for name in ranges for end in ("least", "largest"))]
            return found | dict.fromkeys(names, empty)
        first = np.minimum.reduceat(self.lower[groups.order], groups.starts)
        last = np.maximum.reduceat(self.upper[groups.order], groups.starts)
        begin, step = stretches(self.spans.first[groups.span], self.spans.last[groups.span])
        found["first"] = ((first.view(np.uint64) - begin) // step).astype(np.int64)
        found["last"] = ((last.view(np.uint64) - begin) // step).astype(np.int64)
        for name in ranges:
            least, largest = _extremes(events, name, groups)
            found |= {f"least:{name}": least, f"largest:{name}": largest}
        return found


def stretches(first: Ticks, last: Ticks) -> tuple[Hashes, Hashes]:
    """Where spans begin, and how many ticks one of their STEPS has; unsigned, as sums wrap around."""
    begin = first.view(np.uint64)
    return begin, (last.view(np.uint64) - begin) // np.uint64(STEPS) + np.uint64(1)


def _extremes(events: pa.Table, name: str, groups: _Groups) -> tuple[Numbers, Numbers]:
    """The least and the largest code of an attribute in each group; crossed where all are null."""
    if name not in events.column_names:
        nothing = np.full(len(groups.starts), LEAST_CODE, dtype=np.int64)
        return nothing + LARGEST_CODE, nothing
    array = events.column(name).combine_chunks()
    codes, null = order_codes(floats(array)), array.is_null().to_numpy(zero_copy_only=False)
    least = np.where(null, LARGEST_CODE, codes)[groups.order]
    largest = np.where(null, LEAST_CODE, codes)[groups.order]
    return np.minimum.reduceat(least, groups.starts), np.maximum.reduceat(largest, groups.starts)


def _table(columns: Sequence[Mapping[str, Numbers]], schema: pa.Schema) -> pa.Table:
    joined = {
        field.name: pa.array(
            np.concatenate([np.empty(0, dtype=np.int64), *(each[field.name] for each in columns)])
        ).cast(field.type)
        for field in schema
    }
    return pa.table(joined, schema=schema)


def _in_order(places: pa.Table) -> pa.Table:
    hashes, span = (places.column(name).to_numpy().astype(np.int64) for name in ("hash", "span"))
    return places.take(pa.array(np.lexsort([span, hashes])))
