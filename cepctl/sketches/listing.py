"""Rare events one by one: those of a part's rarest types, and those with the extreme numbers of each type.

    which       events of a type
    0           all of it; the type is rare
    2r + 1      those whose attribute number r is less than `bound`, at most 1/32
    2r + 2      those where it is greater, at most 1/32

Of each the interval, the row group, and of the indexed attributes some bits: `is:` of the hash, `at:` of the
number.  Null is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa

from cepctl.numeric.arrays import Hashes, Indexes, Numbers, Ticks

SHARE = 0.125
EXTREMES = 32
"""Of each type the 32nd part with the smallest, and with the largest numbers is listed."""

VALUE_BITS = 16
"""Leading bits of the 32 of a hash that are kept."""

NUMBER_BITS = 24
"""Leading bits of the 64 of a code that are kept."""

LIST_SCHEMA = pa.schema(
    [("type", pa.uint32()), ("which", pa.int32()), ("rows", pa.int32()), ("bound", pa.uint64())]
)
ALL_OF_TYPE = 0
_MOST = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Indexed:
    """The attributes that a sketch knows: some by their values, some by their extremes."""

    values: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()


class KnownValues(Protocol):
    """Hashes, or codes, of an attribute, and which events have a value."""

    @property
    def hashes(self) -> Hashes: ...

    @property
    def valid(self) -> np.ndarray: ...


@dataclass(frozen=True)
class GroupEvents:
    """The events of one row group: `codes` number their type among `types`, hashes."""

    number: int
    types: Hashes
    codes: Indexes
    lower: Ticks
    upper: Ticks
    values: tuple[KnownValues, ...]
    numbers: tuple[KnownValues, ...]


Bounds = dict[tuple[int, Callable[[int], int]], tuple[Hashes, Hashes]]
"""By number and side of an attribute: types, ascending, and of each the bound of its list."""


def below(number: int) -> int:
    """Which list has the least values of the attribute with this number."""
    return 2 * number + 1


def above(number: int) -> int:
    """Which list has the largest values of the attribute with this number."""
    return 2 * number + 2


def listed_schema(indexed: Indexed) -> pa.Schema:
    """The columns of listed events."""
    return pa.schema(
        [
            ("lower", pa.int64()),
            ("width", pa.int64()),
            ("group", pa.int32()),
            *((f"is:{name}", pa.uint16()) for name in indexed.values),
            *((f"at:{name}", pa.uint32()) for name in indexed.ranges),
        ]
    )


def rare_types(groups: Sequence[GroupEvents], share: float) -> Hashes:
    """The rarest types that have at most so large a part of all events, by their hashes."""
    counts = [np.bincount(each.codes, minlength=len(each.types)) for each in groups]
    nothing = np.empty(0, dtype=np.uint64)
    types, place = np.unique(np.concatenate([nothing, *(each.types for each in groups)]), return_inverse=True)
    events = np.bincount(place, np.concatenate([np.empty(0), *counts]), len(types))
    order = np.lexsort([types, events])
    return np.sort(types[order][np.cumsum(events[order]) <= share * events.sum()])


def listing_of(groups: Sequence[GroupEvents], rare: Hashes, indexed: Indexed) -> tuple[pa.Table, pa.Table]:
    """The lists of a part, and the events of each, one list after the other, in their order within it."""
    bounds: Bounds = {
        (number, side): (types, bound)
        for number in range(len(indexed.ranges))
        for types, least, largest in [_extremes(groups, rare, number)]
        for side, bound in ((below, least), (above, largest))
    }
    found = []
    for group in groups:
        is_rare = np.isin(group.types, rare)
        found.append((group, ALL_OF_TYPE, np.flatnonzero(is_rare[group.codes])))
        for (number, side), (types, bound) in bounds.items():
            known = group.numbers[number]
            own = _bound_of(group, types, bound, np.uint64(0) if side is below else _MOST)
            beyond = known.hashes < own if side is below else known.hashes > own
            found.append((group, side(number), np.flatnonzero(beyond & known.valid)))
    rows = [_rows(group, chosen, indexed) for group, _, chosen in found]
    type_of = [group.types[group.codes[chosen]] for group, _, chosen in found]
    which = [np.full(len(chosen), number, dtype=np.uint64) for _, number, chosen in found]
    nothing = np.empty(0, dtype=np.uint64)
    key = (np.concatenate([nothing, *type_of]) << np.uint64(32)) | np.concatenate([nothing, *which])
    names, bound = _named(rare, bounds)
    number = np.searchsorted(names, key)
    lists = _lists(names, bound, np.bincount(number, minlength=len(names)))
    # The number of the list and that of the event in one, which sorts faster than two do.
    place = number.astype(np.uint64) << np.uint64(32)
    place |= np.arange(len(key), dtype=np.uint64)
    place.sort()
    listed = pa.concat_tables([listed_schema(indexed).empty_table(), *rows]).combine_chunks()
    return lists, listed.take(pa.array((place & np.uint64(0xFFFFFFFF)).astype(np.int64)))


def _named(rare: Hashes, bounds: Bounds) -> tuple[Hashes, Hashes]:
    """Type and kind of all lists of a part as one number, ascending, and the bound of each.

    Those without events are there for their bounds.
    """
    types, which, bound = [rare], [np.zeros(len(rare), dtype=np.uint64)], [np.zeros_like(rare)]
    for (number, side), (own, its) in bounds.items():
        types.append(own)
        which.append(np.full(len(own), side(number), dtype=np.uint64))
        bound.append(its)
    names = (np.concatenate(types) << np.uint64(32)) | np.concatenate(which)
    order = np.argsort(names)
    return names[order], np.concatenate(bound)[order]


def _lists(names: Hashes, bound: Hashes, rows: Numbers) -> pa.Table:
    """All lists of a part."""
    return pa.table(
        [
            pa.array(names >> np.uint64(32)).cast(pa.uint32()),
            pa.array(names & np.uint64(0xFFFFFFFF)).cast(pa.int32()),
            pa.array(rows).cast(pa.int32()),
            pa.array(bound),
        ],
        schema=LIST_SCHEMA,
    )


def _extremes(groups: Sequence[GroupEvents], rare: Hashes, number: int) -> tuple[Hashes, Hashes, Hashes]:
    """The common types, ascending, and the codes beyond which an attribute of each is extreme.

    The 32nd part of the values of a type, rounded up, is less than the first, or greater than the second, or
    fewer, where values are equal.
    """
    nothing = np.empty(0, dtype=np.uint64)
    types = np.setdiff1d(np.concatenate([nothing, *(each.types for each in groups)]), rare)
    rank, codes = [nothing], [nothing]
    for group in groups:
        known = group.numbers[number]
        at = np.searchsorted(types, group.types)
        at[np.isin(group.types, rare)] = len(types)
        chosen = (own := at[group.codes]) < len(types)
        chosen &= known.valid
        rank.append(own[chosen].astype(np.uint64))
        codes.append(known.hashes[chosen])
    ranks, held = np.concatenate(rank), np.concatenate(codes)
    key = (ranks << np.uint64(32)) | np.arange(len(ranks), dtype=np.uint64)
    key.sort()
    held = held[(key & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    edges = np.searchsorted(key >> np.uint64(32), np.arange(len(types) + 1, dtype=np.uint64))
    least, largest = np.full(len(types), _MOST), np.zeros(len(types), dtype=np.uint64)
    for place, (start, stop) in enumerate(pairwise(edges.tolist())):
        if start < stop:
            few = min(-(-(stop - start) // EXTREMES), stop - start - 1)
            own = np.partition(held[start:stop], [few, stop - start - 1 - few])
            least[place], largest[place] = own[few], own[stop - start - 1 - few]
    return types, least, largest


def _bound_of(group: GroupEvents, types: Hashes, bounds: Hashes, otherwise: np.uint64) -> Hashes:
    """Of each event of a row group the bound of its type."""
    at = np.minimum(np.searchsorted(types, group.types), max(len(types) - 1, 0))
    if not len(types):
        return np.full(len(group.codes), otherwise)
    own = np.where(types[at] == group.types, bounds[at], otherwise)
    return np.asarray(own[group.codes])


def _rows(group: GroupEvents, chosen: Indexes, indexed: Indexed) -> pa.Table:
    """What is kept of some events of a row group."""
    lower = group.lower[chosen]
    width = (group.upper[chosen].view(np.uint64) - lower.view(np.uint64)).view(np.int64)
    columns = [pa.array(lower), pa.array(width), pa.array(np.full(len(chosen), group.number, np.int32))]
    for known in group.values:
        bits = value_bits(known.hashes[chosen]).astype(np.uint16)
        columns.append(pa.array(bits, mask=~known.valid[chosen]))
    for known in group.numbers:
        bits = number_bits(known.hashes[chosen]).astype(np.uint32)
        columns.append(pa.array(bits, mask=~known.valid[chosen]))
    return pa.table(columns, schema=listed_schema(indexed))


def value_bits(hashes: Hashes) -> Hashes:
    """The bits of hashes that listed events keep."""
    return hashes >> np.uint64(32 - VALUE_BITS)


def number_bits(codes: Hashes) -> Hashes:
    """The bits of codes that listed events keep."""
    return codes >> np.uint64(64 - NUMBER_BITS)
