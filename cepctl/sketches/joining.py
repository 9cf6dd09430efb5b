"""Small parts of a sketch as one: those of many short runs would cost more than their events.

What the events of two parts are known by stays known: counts are added, stretches of time united, and of two
bounds the weaker one holds.  Where their row groups began is lost, so that a joined part has one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from cepctl.numeric.arrays import Hashes, Indexes, Numbers, Ticks
from cepctl.sketches.listing import LIST_SCHEMA
from cepctl.sketches.manifest import PartIdentity, SketchedPart
from cepctl.sketches.places import (
    SPAN_SCHEMA,
    TYPE_SCHEMA,
    VALUE_SCHEMA,
    PartPlaces,
    between_steps,
    in_order,
    steps_between,
)
from cepctl.sketches.sections import section_of
from cepctl.sketches.spans import together

PART_EVENTS = 1 << 20
"""A part that is joined of others has at most so many events, as those of a dataset have."""

FEW_PARTS = 64
"""So many small parts stay as they are: each tells the stretch of time of its own run."""

_HALF = np.uint64(32)


def joined_counts(rows: Sequence[int]) -> list[int]:
    """How many successive parts become one, each time, told by their events.

    Examples
    --------
    >>> joined_counts([3, 4, 1 << 20, 5])
    [1, 1, 1, 1]
    >>> joined_counts([3] * 70 + [1 << 20, 5])
    [70, 1, 1]
    """
    if sum(each < PART_EVENTS // 2 for each in rows) <= FEW_PARTS:
        return [1] * len(rows)
    counts: list[int] = []
    held = 0
    for each in rows:
        if counts and held + each <= PART_EVENTS:
            counts[-1] += 1
            held += each
        else:
            counts.append(1)
            held = each
    return counts


def joined_identities(parts: Sequence[SketchedPart], counts: Sequence[int]) -> Iterator[SketchedPart]:
    """What is known of parts that are joined, so many each time."""
    before = 0
    for count in counts:
        own = parts[before : before + count]
        before += count
        yield own[0] if count == 1 else SketchedPart(_identity([each.identity for each in own]), own[0].share)


def _identity(parts: Sequence[PartIdentity]) -> PartIdentity:
    footers = b"".join(each.footer.to_bytes(4, "little") for each in parts)
    rows, size = sum(each.rows for each in parts), sum(each.size for each in parts)
    return PartIdentity(parts[0].name, rows, size, zlib.crc32(footers))


def joined_places(parts: Iterator[PartPlaces], counts: Sequence[int]) -> Iterator[PartPlaces]:
    """What is kept of parts that are joined, so many each time."""
    for count in counts:
        own = [next(parts) for _ in range(count)]
        yield own[0] if count == 1 else joined(own)


def joined(parts: Sequence[PartPlaces]) -> PartPlaces:
    """What is kept of some parts as one part."""
    section = section_of(parts)
    first, last, events = (section.spans.column(name).to_numpy() for name in ("first", "last", "events"))
    of_span = together(first, last, events.astype(np.int64))
    count = int(of_span.max()) + 1 if len(of_span) else 0
    begin = np.full(count, np.iinfo(np.int64).max)
    end = np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(begin, of_span, first)
    np.maximum.at(end, of_span, last)
    spans = {
        "row_group": np.zeros(count, dtype=np.int64),
        "first": begin,
        "last": end,
        "events": np.bincount(of_span, events, count).astype(np.int64),
    }
    lists = section.lists
    listed = section.listed
    return PartPlaces(
        _cast(spans, SPAN_SCHEMA),
        _types(section.types, of_span, (first, last), (begin, end)),
        tuple(_values(each, of_span) for each in section.values),
        _lists(lists),
        listed.set_column(
            listed.column_names.index("group"), "group", pa.array(np.zeros(len(listed), dtype=np.int32))
        ),
        1,
        any(part.lasting for part in parts),
    )


def _grouped(places: pa.Table, of_span: Indexes) -> tuple[Indexes, Indexes, dict[str, Numbers]]:
    """The order of places by hash and joined span, where each begins in it, and what is kept then."""
    hashes = places.column("hash").to_numpy().astype(np.uint64)
    key = (hashes << _HALF) | of_span[places.column("span").to_numpy()].astype(np.uint64)
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    events = places.column("events").to_numpy().astype(np.int64)[order]
    kept = {
        "hash": (key[starts] >> _HALF).astype(np.int64),
        "span": (key[starts] & np.uint64(0xFFFFFFFF)).astype(np.int64),
        "events": np.add.reduceat(events, starts) if len(starts) else events,
    }
    return order, starts, kept


def _values(places: pa.Table, of_span: Indexes) -> pa.Table:
    return _table(_grouped(places, of_span)[2], VALUE_SCHEMA)


def _types(
    places: pa.Table, of_span: Indexes, before: tuple[Ticks, Ticks], after: tuple[Ticks, Ticks]
) -> pa.Table:
    """Places of types; between which steps they lie is told of longer spans, whose steps are longer."""
    if not len(places):
        return places
    order, starts, kept = _grouped(places, of_span)
    span = places.column("span").to_numpy()
    steps = (places.column(name).to_numpy() for name in ("first", "last"))
    lower, upper = between_steps(before[0][span], before[1][span], *steps)
    first, last = (each[kept["span"]] for each in after)
    own = steps_between(
        first, last, np.minimum.reduceat(lower[order], starts), np.maximum.reduceat(upper[order], starts)
    )
    return _table(kept | dict(zip(("first", "last"), own, strict=True)), TYPE_SCHEMA)


def _lists(lists: pa.Table) -> pa.Table:
    """Lists of one type and kind as one, whose rows stand together already."""
    if not len(lists):
        return lists.drop_columns("part")
    types, which, rows = (lists.column(name).to_numpy().astype(np.int64) for name in LIST_SCHEMA.names[:3])
    bound: Hashes = lists.column("bound").to_numpy()
    name = (types << 32) | which
    starts = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
    # Less than all bounds is less than the smallest; the lists of large numbers have even kinds.
    own = np.where(
        which[starts] % 2, np.minimum.reduceat(bound, starts), np.maximum.reduceat(bound, starts)
    ).astype(np.uint64)
    columns = {
        "type": types[starts],
        "which": which[starts],
        "rows": np.add.reduceat(rows, starts),
        "bound": own,
    }
    return _cast(columns, LIST_SCHEMA)


def _table(columns: dict[str, Numbers], schema: pa.Schema) -> pa.Table:
    return in_order(_cast(columns, schema))


def _cast(columns: dict[str, Numbers], schema: pa.Schema) -> pa.Table:
    return pa.table([pa.array(columns[each.name]).cast(each.type) for each in schema], schema=schema)
