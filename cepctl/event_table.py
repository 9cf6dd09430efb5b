"""The event table: the types of its columns."""

from __future__ import annotations

import pyarrow as pa

from cepctl.schema import (
    ALONG,
    CLOCK,
    END_PMF,
    END_TIME,
    LENGTH_LOWER,
    LENGTH_UPPER,
    RECORD,
    SOURCE,
    WRITER,
    TimeUnit,
)

PMF_TYPE = pa.list_(pa.struct([("lo", pa.int64()), ("hi", pa.int64()), ("p", pa.float64())]))
TIME_TYPE = pa.timestamp("us", tz="UTC")

FIXED_COLUMNS: dict[str, pa.DataType] = {
    "event_id": pa.string(),
    "event_type": pa.string(),
    "source": pa.string(),
    "lower": pa.int64(),
    "upper": pa.int64(),
    "end_lower": pa.int64(),
    "end_upper": pa.int64(),
    "pmf": PMF_TYPE,
    "time": TIME_TYPE,
}
LENGTH_COLUMNS: dict[str, pa.DataType] = {
    END_PMF: PMF_TYPE,
    LENGTH_LOWER: pa.int64(),
    LENGTH_UPPER: pa.int64(),
}
ORIGIN_COLUMNS: dict[str, pa.DataType] = {
    SOURCE: pa.string(),
    RECORD: pa.int64(),
    WRITER: pa.string(),
    ALONG: pa.int64(),
}
OFFSET_TEXTS = pa.dictionary(pa.int32(), pa.string())
"""Offsets as text while events are taken in: many events have the same, which may be long."""


def is_attribute(column: pa.Field) -> bool:
    """Whether a column of a dataset is an attribute of its events.

    Those of old may have one called like a column of ORIGIN_COLUMNS, of another type.

    Examples
    --------
    >>> [is_attribute(pa.field(name, pa.int64())) for name in ("port", "record", "lower")]
    [True, False, False]
    """
    others = column.name in (END_TIME, CLOCK) or ORIGIN_COLUMNS.get(column.name) == column.type
    return column.name not in FIXED_COLUMNS | LENGTH_COLUMNS and not others


def time_type(unit: TimeUnit) -> pa.DataType:
    """The type of the column `time` beside ticks of a length."""
    return TIME_TYPE if unit.resolution == "us" else pa.timestamp("ns", tz="UTC")
