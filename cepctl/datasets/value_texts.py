"""Values of Arrow types that no attribute has, as text: different values stay different.

value                      text
a date, a time             ISO 8601, with as many digits as it needs
a duration                 as Python writes it: 1 day, 0:00:05
a list, a struct, a map    JSON
bytes                      UTF-8, and an escape for each byte that is not
beyond the calendar        a number and its unit
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

import pyarrow as pa

_TO_MICROSECONDS = len("2024-05-01T10:00:00.000000")


def value_texts(column: pa.ChunkedArray) -> list[str | None]:
    """The values as text, None for null."""
    kind = column.type
    if getattr(kind, "unit", None) == "ns":
        return _nanosecond_texts(column)
    if pa.types.is_nested(kind):
        column = column.cast(_with_texts(kind))
    try:
        return [_text(value) for value in column.to_pylist()]
    except (OverflowError, ValueError):
        return [_text_of(scalar) for scalar in column]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | dict | tuple):
        return json.dumps(value, default=_text, ensure_ascii=False)
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat else str(value)


def _text_of(scalar: pa.Scalar) -> str | None:
    """One value of a column in which some lie beyond what Python's calendar has."""
    try:
        return _text(scalar.as_py())
    except (OverflowError, ValueError):
        days = pa.types.is_date32(scalar.type)
        number = scalar.cast(pa.int32() if days else pa.int64()).as_py()
        return f"{number} {'days' if days else getattr(scalar.type, 'unit', 'ms')}"


def _nanosecond_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Times and durations of which Python has the microseconds alone, unless pandas is installed."""
    numbers: Iterable[int | None] = column.cast(pa.int64()).to_pylist()
    split = [(None, 0) if number is None else divmod(number, 1000) for number in numbers]
    micros = pa.array([micro for micro, _ in split], pa.int64()).cast(_in_microseconds(column.type))
    pairs = zip(micros.to_pylist(), (rest for _, rest in split), strict=True)
    return [_finer_text(value, rest) if rest else _text(value) for value, rest in pairs]


def _finer_text(value: object, nanoseconds: int) -> str:
    """A time or duration with nanoseconds beside its microseconds."""
    if isinstance(value, timedelta):
        text = str(value) if value.microseconds else f"{value}.000000"
        return f"{text}{nanoseconds:03}"
    text = value.isoformat(timespec="microseconds")  # type: ignore[attr-defined]
    return f"{text[:_TO_MICROSECONDS]}{nanoseconds:03}{text[_TO_MICROSECONDS:]}"


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


def _with_texts(kind: pa.DataType) -> pa.DataType:
    """A nested type with text for the times in it, which Python may not have."""
    if pa.types.is_map(kind):
        return pa.map_(_with_texts(kind.key_type), _with_texts(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_texts(field.type)) for field in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_with_texts(kind.value_type), kind.list_size)
    if hasattr(kind, "value_field"):  # lists of every other layout
        return pa.large_list(_with_texts(kind.value_type))
    return pa.string() if pa.types.is_temporal(kind) else kind
