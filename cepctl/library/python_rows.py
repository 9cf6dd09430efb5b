"""Rows of a table as Python's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def python_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as dicts; times to the nanosecond, of which Python has none, are numpy.datetime64 in UTC."""
    import pyarrow as pa

    finer = [each.name for each in table.schema if each.type == pa.timestamp("ns", "UTC")]
    rows: list[dict[str, Any]] = table.drop_columns(finer).to_pylist()
    if not finer:
        return rows
    times = {name: _times(table.column(name)) for name in finer}
    return [
        {name: times[name][number] if name in times else row[name] for name in table.column_names}
        for number, row in enumerate(rows)
    ]


def _times(column: pa.ChunkedArray) -> list[Any]:
    import pyarrow as pa

    values = column.cast(pa.timestamp("ns")).to_numpy()
    return [
        value if known else None for value, known in zip(values, column.is_valid().to_pylist(), strict=True)
    ]
