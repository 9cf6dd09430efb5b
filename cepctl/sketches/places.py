"""What a sketch keeps of one part of a dataset: what its spans hold, and its rare events one by one.

    types     a common type in a span: how many, and between which 256th parts of the span they lie
    values    a value of an indexed attribute in a span: how many
    listed    events of rare types, and those with extreme numbers (`listing.py`)

What a place is of is known by 32 bits of its hash.  When they are written, places are in the order of these,
then of spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.numeric.arrays import Hashes, Indexes, Numbers, Ticks
from cepctl.sketches.hashing import floats, order_codes, value_hashes
from cepctl.sketches.listing import GroupEvents, Indexed, listing_of, rare_types
from cepctl.sketches.spans import Spans, spans_of

STEPS = 256
"""Into so many stretches of equal length a span is divided: between which of them a type lies is kept."""

SPAN_SCHEMA = pa.schema(
    [("row_group", pa.int32()), ("first", pa.int64()), ("last", pa.int64()), ("events", pa.int32())]
)
VALUE_SCHEMA = pa.schema([("hash", pa.uint32()), ("span", pa.int32()), ("events", pa.int32())])
TYPE_SCHEMA = pa.schema([*VALUE_SCHEMA, ("first", pa.uint8()), ("last", pa.uint8())])

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_EVENT_BITS = np.uint64(11)
_EVENTS = np.uint64((1 << 11) - 1)


@dataclass(frozen=True)
class PartPlaces:
    """What is kept of one part of a dataset; `values` has one table for each attribute indexed so.

    `row_groups` is how many it has, `lasting` whether some event has an end of its own.
    """

    spans: pa.Table
    types: pa.Table
    values: tuple[pa.Table, ...]
    lists: pa.Table
    listed: pa.Table
    row_groups: int
    lasting: bool


def places_of(row_groups: Iterable[tuple[int, pa.Table]], indexed: Indexed, share: float) -> PartPlaces:
    """What a sketch keeps of the events of a part, row group by row group.

    `row_groups`: their numbers and events: `event_type`, `lower`, `upper`, `end_upper` and what is indexed.
    `indexed`: what is kept beside types.  `share`: of the rarest types so large a part of all events is
    listed.
    """
    spans: list[Spans] = []
    types: list[dict[str, Numbers]] = []
    values: list[list[dict[str, Numbers]]] = [[] for _ in indexed.values]
    groups: list[GroupEvents] = []
    before, lasting, last = 0, False, -1
    for number, events in row_groups:
        lasting |= events.column("end_upper").null_count < len(events)
        last = number
        group, own, of_event = _group_of(events, number, indexed)
        groups.append(group)
        spans.append(own)
        found = _type_places(group, of_event, own)
        types.append(found | {"span": found["span"] + before})
        for held, known in zip(values, group.values, strict=True):
            some = slice(None) if known.valid.all() else known.valid
            held.append(_counted(known.hashes[some], of_event[some], before))
        before += len(own)
    rare = rare_types(groups, share)
    lists, listed = listing_of(groups, rare, indexed)
    own_types = _table(types, TYPE_SCHEMA)
    common = ~np.isin(own_types.column("hash").to_numpy(), rare)
    return PartPlaces(
        _table([vars(each) for each in spans], SPAN_SCHEMA),
        own_types.filter(pa.array(common)),
        tuple(_table(held, VALUE_SCHEMA) for held in values),
        lists,
        listed,
        last + 1,
        lasting,
    )


def _group_of(events: pa.Table, number: int, indexed: Indexed) -> tuple[GroupEvents, Spans, Indexes]:
    lower, upper = _bounds(events)
    own, of_event = spans_of(lower, upper, number)
    types = events.column("event_type").combine_chunks()
    if not pa.types.is_dictionary(types.type):
        types = types.dictionary_encode()
    group = GroupEvents(
        number,
        value_hashes(types.dictionary)[0],
        types.indices.to_numpy(zero_copy_only=False).astype(np.int64),
        lower,
        upper,
        tuple(_Known(*value_hashes(_column(events, name))) for name in indexed.values),
        tuple(_codes(_column(events, name)) for name in indexed.ranges),
    )
    return group, own, of_event


@dataclass(frozen=True)
class _Known:
    """Hashes, or codes, of an attribute, and which events have a value."""

    hashes: Hashes
    valid: np.ndarray


def _column(events: pa.Table, name: str) -> pa.Array:
    if name not in events.column_names:
        return pa.nulls(len(events), pa.float64())
    return events.column(name).combine_chunks()


def _codes(array: pa.Array) -> _Known:
    return _Known(order_codes(floats(array)), array.is_valid().to_numpy(zero_copy_only=False))


def _bounds(events: pa.Table) -> tuple[Ticks, Ticks]:
    """First and last tick of each event; of interval events those of start and end."""
    lower, upper = (events.column(name).to_numpy() for name in ("lower", "upper"))
    if events.column("end_upper").null_count < len(events):
        ends = events.column("end_upper").combine_chunks().fill_null(-(2**63)).to_numpy()
        upper = np.maximum(upper, ends)
    return lower, upper


def _begins(ordered: Hashes) -> Indexes:
    """Where the runs of equal numbers begin."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(begins)


def _counted(hashes: Hashes, of_event: Indexes, before: int) -> dict[str, Numbers]:
    """How many events of each span have each hash."""
    key = (hashes << _HALF) | of_event.astype(np.uint64)
    key.sort()
    starts = _begins(key)
    return {
        "hash": (key[starts] >> _HALF).astype(np.int64),
        "span": (key[starts] & _LOW).astype(np.int64) + before,
        "events": np.diff(np.append(starts, len(key))),
    }


def _type_places(group: GroupEvents, of_event: Indexes, spans: Spans) -> dict[str, Numbers]:
    """Of each type in each span of a row group: how many, and between which steps."""
    # Type, span and event in one number: a row group has fewer than 2^16 of each.
    place = group.codes * len(spans) + of_event
    key = (place.astype(np.uint64) << _HALF) | np.arange(len(place), dtype=np.uint64)
    key.sort()
    order = (key & _LOW).astype(np.int64)
    starts = _begins(key >> _HALF)
    if not len(starts):
        return dict.fromkeys(TYPE_SCHEMA.names, np.empty(0, dtype=np.int64))
    code, span = np.divmod((key[starts] >> _HALF).astype(np.int64), len(spans))
    first = np.minimum.reduceat(group.lower[order], starts)
    last = np.maximum.reduceat(group.upper[order], starts)
    from_step, to_step = steps_between(spans.first[span], spans.last[span], first, last)
    return {
        "hash": group.types[code].astype(np.int64),
        "span": span,
        "events": np.diff(np.append(starts, len(key))),
        "first": from_step,
        "last": to_step,
    }


def steps_between(first: Ticks, last: Ticks, lower: Ticks, upper: Ticks) -> tuple[Numbers, Numbers]:
    """In which steps of their spans, [first, last], stretches [lower, upper] begin and end."""
    begin, step = _steps(first, last)
    from_step, to_step = ((each.view(np.uint64) - begin) // step for each in (lower, upper))
    return from_step.astype(np.int64), to_step.astype(np.int64)


def between_steps(first: Ticks, last: Ticks, from_step: Numbers, to_step: Numbers) -> tuple[Ticks, Ticks]:
    """First and last tick of stretches that lie between two steps of their spans, [first, last]."""
    begin, step = _steps(first, last)
    lower = begin + from_step.astype(np.uint64) * step
    # Beyond the end of the span nothing is; the last step may reach there, and wrap around.
    length = last.view(np.uint64) - begin
    ends = np.minimum((to_step.astype(np.uint64) + np.uint64(1)) * step - np.uint64(1), length)
    return lower.view(np.int64), (begin + ends).view(np.int64)


def _steps(first: Ticks, last: Ticks) -> tuple[Hashes, Hashes]:
    """Where spans begin, and how many ticks one of their STEPS has; unsigned, as sums wrap around."""
    begin = first.view(np.uint64)
    return begin, (last.view(np.uint64) - begin) // np.uint64(STEPS) + np.uint64(1)


def _table(columns: Sequence[Mapping[str, Numbers]], schema: pa.Schema) -> pa.Table:
    joined = {
        field.name: pa.array(
            np.concatenate([np.empty(0, dtype=np.int64), *(each[field.name] for each in columns)])
        ).cast(field.type)
        for field in schema
    }
    return pa.table(joined, schema=schema)


def in_order(places: pa.Table) -> pa.Table:
    """Places in the order of hashes, then of spans."""
    hashes, span = (places.column(name).to_numpy().astype(np.uint64) for name in ("hash", "span"))
    key = (hashes << _HALF) | span
    if (key[1:] >= key[:-1]).all():
        return places
    if places.schema == VALUE_SCHEMA and (packed := _packed(places)) is not None:
        return packed
    return places.take(pa.array(np.argsort(key)))


def _packed(places: pa.Table) -> pa.Table | None:
    """Places of values in order, sorted as one number each, which is faster; None where these are too big."""
    hashes, span, events = (column.to_numpy().astype(np.uint64) for column in places.columns)
    if max(int(events.max()) >> int(_EVENT_BITS), int(span.max()) >> int(_HALF - _EVENT_BITS)):
        return None
    key = (hashes << _HALF) | (span << _EVENT_BITS) | events
    key.sort()
    columns = {
        "hash": (key >> _HALF).astype(np.uint32),
        "span": ((key & _LOW) >> _EVENT_BITS).astype(np.int32),
        "events": (key & _EVENTS).astype(np.int32),
    }
    return pa.table([pa.array(columns[each.name]) for each in VALUE_SCHEMA], schema=VALUE_SCHEMA)
