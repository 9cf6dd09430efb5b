"""Rows of Parquet in pieces that take bounded memory once every row has its text.

A dictionary holds each text once, however many rows it stands in, in a column of its own or within lists,
structures and maps.  So the room of each row is added up before any text is copied.  A row that is longer
than any line of a text format may be comes alone, as a number: what is made of it would take many times its
room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.source.streams import LONGEST_LINE
from cepctl.numeric.arrays import Numbers

PIECE_BYTES = 64 << 20
LONGEST_ROW = LONGEST_LINE
ROW_TOO_LONG = f"the row is longer than {LONGEST_ROW >> 20} MiB"


@dataclass(frozen=True)
class BlockPiece:
    """Some rows of a block: their places in it, and their columns without dictionaries."""

    places: Numbers
    columns: dict[str, pa.Array]


def pieces(columns: Mapping[str, pa.Array]) -> tuple[Numbers, Iterator[BlockPiece]]:
    """The places of rows that take more than LONGEST_ROW bytes, and all other rows in order, in pieces."""
    count = len(next(iter(columns.values()), ()))
    sizes = np.zeros(count, np.int64)
    for column in columns.values():
        sizes += _text_bytes(column)
    too_long = np.flatnonzero(sizes > LONGEST_ROW)
    if not len(too_long):
        return too_long, _cut(dict(columns), np.arange(count, dtype=np.int64), sizes)
    kept = np.flatnonzero(sizes <= LONGEST_ROW)
    return too_long, _cut({name: column.take(kept) for name, column in columns.items()}, kept, sizes[kept])


def _cut(columns: dict[str, pa.Array], places: Numbers, sizes: Numbers) -> Iterator[BlockPiece]:
    number = (np.cumsum(sizes) - sizes) // PIECE_BYTES
    begins = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist()]
    for begin, end in zip(begins, [*begins[1:], len(sizes)], strict=True):
        rows = {name: _decoded(column.slice(begin, end - begin)) for name, column in columns.items()}
        yield BlockPiece(places[begin:end], rows)


def _text_bytes(column: pa.Array) -> Numbers:
    """How many bytes of text each value takes; numbers take none that matter."""
    kind = column.type
    if pa.types.is_dictionary(kind) and is_text(kind.value_type):
        lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
    elif is_text(kind):
        lengths = pc.binary_length(column.cast(pa.string()) if pa.types.is_string_view(kind) else column)
    elif pa.types.is_struct(kind):
        total = np.zeros(len(column), np.int64)
        for field in column.flatten():
            total += _text_bytes(field)
        return total
    elif _is_list(kind):
        return _text_bytes_of_lists(column)
    else:
        return np.zeros(len(column), np.int64)
    known: Numbers = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return known


def _text_bytes_of_lists(column: pa.Array) -> Numbers:
    """As `_text_bytes`; the values of a list that is null are none of any row."""
    kind = column.type
    parts = [column.keys, column.items] if pa.types.is_map(kind) else [column.values]
    if pa.types.is_fixed_size_list(kind):
        ends = (np.arange(len(column) + 1, dtype=np.int64) + column.offset) * kind.list_size
    else:
        ends = column.offsets.to_numpy().astype(np.int64)
    until = np.zeros(int(ends[-1]) + 1 if len(ends) else 1, np.int64)
    for part in parts:
        until[1:] += np.cumsum(_text_bytes(part)[: len(until) - 1])
    sizes: Numbers = np.diff(until[ends])
    return sizes


def _decoded(column: pa.Array) -> pa.Array:
    plain = _without_dictionaries(column.type)
    if plain == column.type:
        return column
    if pa.types.is_nested(plain):
        # A slice of lists is cast with all values of the whole column.
        column = column.take(np.arange(len(column)))
    return column.cast(plain)


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    """The type of the same values, each with its own text, large and small texts in one."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_map(kind):
        return pa.map_(_without_dictionaries(kind.key_type), _without_dictionaries(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_without_dictionaries(each.type)) for each in kind])
    if _is_list(kind):
        values = kind.value_field.with_type(_without_dictionaries(kind.value_type))
        if pa.types.is_fixed_size_list(kind):
            return pa.list_(values, kind.list_size)
        return pa.large_list(values) if pa.types.is_large_list(kind) else pa.list_(values)
    return kind


_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map)
_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_TEXTS = (*_STRINGS, pa.types.is_binary, pa.types.is_large_binary)


def _is_list(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in _LISTS)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts, or bytes of any number."""
    return any(is_kind(kind) for is_kind in _TEXTS)
