"""Types of expressions: what a column holds, what may be compared with what.

Types are known from the event schema; without one every attribute may be anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import pyarrow as pa

from cepctl.event_table import TIME_TYPE


class ValueType(Enum):
    """Type of a value, as a message names it."""

    INTEGER = "an integer"
    FLOAT = "a number"
    STRING = "a string"
    BOOLEAN = "true or false"
    TIME = "a time"
    DURATION = "a duration"
    OTHER = "of a type that has no operations"
    ANY = "unknown"

    @property
    def is_number(self) -> bool:
        return self in (ValueType.INTEGER, ValueType.FLOAT, ValueType.ANY)

    @property
    def is_text(self) -> bool:
        return self in (ValueType.STRING, ValueType.ANY)

    @property
    def is_truth(self) -> bool:
        return self in (ValueType.BOOLEAN, ValueType.ANY)


_ARROW: dict[ValueType, pa.DataType] = {
    ValueType.INTEGER: pa.int64(),
    ValueType.FLOAT: pa.float64(),
    ValueType.STRING: pa.string(),
    ValueType.BOOLEAN: pa.bool_(),
    ValueType.TIME: TIME_TYPE,
}


def from_arrow(column: pa.DataType) -> ValueType:
    """Type of the values of a column."""
    if pa.types.is_dictionary(column):
        return from_arrow(column.value_type)
    if pa.types.is_null(column):
        return ValueType.ANY
    if pa.types.is_boolean(column):
        return ValueType.BOOLEAN
    if pa.types.is_integer(column):
        return ValueType.INTEGER
    if pa.types.is_floating(column) or pa.types.is_decimal(column):
        return ValueType.FLOAT
    if pa.types.is_string(column) or pa.types.is_large_string(column):
        return ValueType.STRING
    return ValueType.OTHER


def to_arrow(value: ValueType) -> pa.DataType:
    """Arrow type of a computed column; null where nothing is known."""
    return _ARROW.get(value, pa.null())


def comparable(left: ValueType, right: ValueType) -> bool:
    """Whether two values may stand on the sides of a comparison."""
    if ValueType.ANY in (left, right):
        return True
    return left is right or (left.is_number and right.is_number)


def common(types: Sequence[ValueType]) -> ValueType | None:
    """Type that all the values share, as for coalesce; None if there is none."""
    known = [each for each in types if each is not ValueType.ANY]
    if not known:
        return ValueType.ANY
    if all(each is known[0] for each in known):
        return known[0]
    return ValueType.FLOAT if all(each.is_number for each in known) else None
