"""Fields of lines of JSON that are alike, also of objects in objects, as columns: no object is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.source.json_objects import all_fields, json_objects
from cepctl.io.source.line_blocks import Lines

_LOOKED_AT, _DEEPEST = 200, 20
_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_NULL = b"null"


def nested_fields(lines: Lines, most: int) -> dict[str, pa.Array] | None:
    """The fields that `flat_record` gives of each line, where they are of one type each, as the first show.

    None where some are not, or where all have more than `most` values.  A field is all null where an object
    of a line is; where a null may stand for an object, nobody knows what the line has there: None as well.
    """
    records = [record for record in json_objects(lines.first(_LOOKED_AT)) if record is not None]
    types = _types(records, 0)
    if types is None or len(lines) * sum(map(_leaves, types.values())) > most:
        return None
    found = all_fields(lines, types)
    if found is None:
        return None
    flat: dict[str, pa.Array] = {}
    lacks = [_flatten(f"{name}", values, flat) for name, values in found.items()]
    return None if any(lacks) and _NULL in lines.block() else flat


def plain_types(columns: Mapping[str, Sequence[Any]]) -> dict[str, pa.DataType] | None:
    """The types of fields, all values of each of which are of one; None where some are of several."""
    kinds = {name: set(map(type, values)) - {type(None)} for name, values in columns.items()}
    if any(len(each) > 1 or not each <= _PLAIN.keys() for each in kinds.values()):
        return None
    return {name: _PLAIN[kind] for name, each in kinds.items() for kind in each}


def _types(records: Sequence[Mapping[str, Any]], depth: int) -> dict[str, pa.DataType] | None:
    """As `plain_types`, of the fields of records, some of which may be records in turn."""
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    nested = {name: each for name, each in values.items() if any(type(value) is dict for value in each)}
    types = plain_types({name: each for name, each in values.items() if name not in nested})
    if types is None or depth >= _DEEPEST or any("." in name for name in values):
        return None
    for name, each in nested.items():
        inside = _types(each, depth + 1) if all(type(value) is dict for value in each) else None
        if not inside:
            return None
        types[name] = pa.struct(inside.items())
    return types


def _leaves(type_: pa.DataType) -> int:
    return sum(_leaves(field.type) for field in type_) if pa.types.is_struct(type_) else 1


def _flatten(name: str, values: pa.Array, found: dict[str, pa.Array]) -> bool:
    """Put the leaves of a field to those that are `found`; returns whether an object is null in some line."""
    if not pa.types.is_struct(values.type):
        found[name] = values
        return False
    lacks = [
        _flatten(f"{name}.{field.name}", pc.struct_field(values, [place]), found)
        for place, field in enumerate(values.type)
    ]
    return values.null_count > 0 or any(lacks)
