"""Columns of a plain event file as flags and whole numbers, and in the plain type that holds their values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import TIME_TYPE
from cepctl.numeric.arrays import Flags, Numbers


def without(texts: pa.Array, rows: Flags) -> pa.Array:
    """Texts with null in these rows."""
    return pc.if_else(pa.array(rows), pa.scalar(None, pa.string()), texts)


def blanks(column: pa.Array) -> Flags:
    """Rows that hold no value: null, or a string of blanks."""
    if pa.types.is_string(column.type):
        return flags(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True))
    return flags(column.is_null())


def simple(column: pa.Array) -> pa.Array:
    """Dictionary, large-string and date columns in the plain type that holds the same values."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(TIME_TYPE) if pa.types.is_date(column.type) else column


def filled(column: pa.Array) -> Numbers:
    """A column as integers, 0 where it is null."""
    values: Numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def flags(column: pa.Array) -> Flags:
    """A column of truth values."""
    found: Flags = column.to_numpy(zero_copy_only=False).astype(bool)
    return found
