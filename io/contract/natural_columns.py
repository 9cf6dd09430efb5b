"""Values of an attribute as one column, in the narrowest type that holds them all.

values                           column
integers, within 64 bits         int64
numbers, some of them float      float64
any other mix, larger integers   string
nothing but nulls                null

Floats beside integers that read otherwise as a float (9007199254740993, 10000000000) are a mix, too: whether
the column is one of numbers or of text is known when all of the file has been read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cepctl.schema import TICK_MAX, TICK_MIN

Value = bool | int | float | str | None
KINDS = b"cepctl.kinds"
FIRST_WITH_EXPONENT = 10**10
"""From here on Arrow writes a float with an exponent."""
_KINDS = {bool: "bool", int: "int", float: "float", str: "string", type(None): ""}


def natural_array(values: Sequence[Value]) -> pa.Array:
    """The values as one column of the narrowest type that holds them all.

    Examples
    --------
    >>> [str(natural_array(v).type) for v in ([1, None], [1, 0.5], [True, None], [1, "x"], [2**63])]
    ['int64', 'double', 'bool', 'string', 'string']
    """
    return array_of(values, set(map(type, values)))


def pure_text(values: Sequence[Value]) -> pa.Array | None:
    """A column of text, which Arrow tells faster than a look at every type; None for any other."""
    try:
        array = pa.array(values, pa.string())
    except (pa.ArrowTypeError, UnicodeEncodeError):
        return None
    return None if array.null_count == len(array) else array


def array_of(values: Sequence[Value], types: set[type]) -> pa.Array:
    kinds = types - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {str}:
        return _text_array(values)
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and _are_ticks(values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and not any(
        type(value) is int and abs(value) >= FIRST_WITH_EXPONENT for value in values
    ):
        numbers = [_as_float(value) for value in values]
        if float in kinds and None not in {n for n, v in zip(numbers, values, strict=True) if v is not None}:
            return pa.array(numbers, pa.float64())
    return _text_array([None if value is None else as_text(value) for value in values])


def _are_ticks(values: Sequence[Any]) -> bool:
    """Whether integers and nulls are all within the range of ticks."""
    known = list(filter(None, values))
    return not known or (min(known) >= TICK_MIN and max(known) <= TICK_MAX)


def mixture(values: Sequence[Value], array: pa.Array) -> str | None:
    """The kinds of values that a text column holds, joined by commas; None where that is text alone.

    Examples
    --------
    >>> [mixture(v, natural_array(v)) for v in ([1, "x", None], ["x"], [1, 2.5], [10**10, 2.5], [2**63])]
    ['int,string', None, None, 'float,int', 'int,integers beyond 64 bits']
    """
    return mixture_of(values, array, set(map(type, values)))


def mixture_of(values: Sequence[Value], array: pa.Array, types: set[type]) -> str | None:
    kinds = {_KINDS[kind] for kind in types} - {""}
    if kinds <= {"string"} or not pa.types.is_string(array.type):
        return None
    if any(type(value) is int and not TICK_MIN <= value <= TICK_MAX for value in values):
        kinds.add("integers beyond 64 bits")
    return ",".join(sorted(kinds))


def with_mixtures(batch: pa.RecordBatch, mixed: Mapping[str, str | None]) -> pa.RecordBatch:
    """The batch with the kinds of values of mixed columns in their metadata, under KINDS."""
    if not any(mixed.values()):
        return batch
    fields = [
        field.with_metadata({KINDS: kinds.encode()}) if (kinds := mixed.get(field.name)) else field
        for field in batch.schema
    ]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def mixtures_in(schema: pa.Schema) -> dict[str, str | None]:
    """What `with_mixtures` wrote, by the names of columns."""
    return {
        field.name: field.metadata[KINDS].decode()
        for field in schema
        if field.metadata is not None and KINDS in field.metadata
    }


def _text_array(texts: Sequence[Value]) -> pa.Array:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # Half of a surrogate pair has no UTF-8; by bytes that are none, unicode_text.py knows the record.
        encoded = [None if text is None else str(text).encode("utf-8", "surrogatepass") for text in texts]
        return pa.array(encoded, pa.binary()).view(pa.string())


def as_text(value: bool | int | float | str) -> str:
    """A value as it reads in a column of text; numbers as Arrow's cast to string writes them.

    Examples
    --------
    >>> as_text(True), as_text(12), as_text(5.0), as_text("x")
    ('true', '12', '5', 'x')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(pa.scalar(value).cast(pa.string()).as_py())
    return str(value)


def _as_float(value: Value) -> float | None:
    """As a float64; None for null and for an integer that is too large even for that."""
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return None
