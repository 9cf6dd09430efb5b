"""Columns of Parquet that nobody reads: row groups tell what must be known of them.

A query names few of the columns of a wide table.  Of one of numbers that it does not name it has to be known
how many values there are, and of what kind, as everywhere else; counts of nulls and extremes say that, so
that no page of it is unpacked.  Text is always read: only its bytes tell whether it is text, and how long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.io.contract.sieve import Sieve

_MOST_EXACT = 1 << 53
_INTEGERS = frozenset([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()])
_NUMBERS = _INTEGERS | {pa.bool_(), pa.float32(), pa.float64()}


def columns_to_read(
    file: pq.ParquetFile, groups: Iterable[int], names: Sequence[str], sieve: Sieve | None
) -> list[str] | None:
    """The columns of a file to be read, None for all; the sieve takes account of the others.

    `groups` are the row groups that are read; `names` are those of raw events, one for each column.
    """
    schema = file.schema_arrow
    flat = len(schema) == file.metadata.num_columns and len(set(schema.names)) == len(schema)
    if sieve is None or not flat:
        return None
    groups = [file.metadata.row_group(number) for number in groups]
    counts = {
        name: count
        for place, (name, field) in enumerate(zip(names, schema, strict=True))
        if (count := _values(groups, place, field.type)) is not None
    }
    left_out = sieve.leave_out(dict(zip(names, schema.types, strict=True)), counts)
    if not left_out:
        return None
    return [own for own, name in zip(schema.names, names, strict=True) if name not in left_out]


def _values(groups: Sequence[pq.RowGroupMetaData], place: int, kind: pa.DataType) -> int | None:
    """How many values a column has; None where row groups do not tell all that must be known of it."""
    if kind not in _NUMBERS:
        return None
    count = 0
    for group in groups:
        column = group.column(place)
        statistics = column.statistics if column.is_stats_set else None
        if statistics is None or not statistics.has_null_count:
            return None
        values = group.num_rows - statistics.null_count
        if values and kind in _INTEGERS and not _are_exact(statistics):
            return None
        count += values
    return count


def _are_exact(statistics: pq.Statistics) -> bool:
    """Whether a float64 holds every integer exactly."""
    return bool(statistics.has_min_max and statistics.min >= -_MOST_EXACT and statistics.max <= _MOST_EXACT)
