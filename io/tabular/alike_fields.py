"""Fields of lines of JSON that are alike, also of objects in objects, as columns: no object is made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.unicode_text import NotUnicodeError
from cepctl.io.source.json_objects import all_fields, json_object
from cepctl.io.source.line_blocks import Lines
from cepctl.io.tabular.flat_records import DEEPEST, flat_record

Fields: TypeAlias = dict[str, "pa.DataType | Fields"]
"""The types of fields, and the fields of objects; of fields that were null wherever they were, null."""

_LOOKED_AT = 1_000
_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_NULL, _ESCAPED = b"null", b"\\u"


class _OfSeveralTypesError(Exception):
    """Raised where a field has values that are no column of one type."""


@dataclass
class AlikeFields:
    """What is known of the fields of one file; at most so many values of a block are held at once.

    `nested`: there may be objects in objects.
    """

    most: int
    nested: bool = False
    _known: Fields = field(default_factory=dict)
    _are_alike: bool = True

    def learn(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Know the fields of these records as well."""
        try:
            self._known = _learned(self._known, records, DEEPEST if self.nested else None)
        except _OfSeveralTypesError:
            self._are_alike = False

    def of(self, lines: Lines) -> dict[str, pa.Array] | None:
        """The fields that `flat_record` gives of each line, where they are of the types known.

        Those of the first block are found from some of its lines.  None where a line has others, or where all
        have too many values.  The fields of an object that a line has not are null; where null may stand for
        an object, nobody knows what the line has there: None as well.
        """
        if not self._known:
            self.learn(_some(lines))
        if not self._are_alike or len(lines) * _leaves(self._known) > self.most:
            return None
        found = all_fields(lines, {name: _type_of(known) for name, known in self._known.items()})
        if found is None:
            return None
        flat: dict[str, pa.Array] = {}
        lacking = {lacks for name, values in found.items() for lacks in _flatten(name, name, values, flat)}
        if lacking and _may_be_null(lacking, lines.block()):
            return None
        whole = [name for name, values in flat.items() if _may_be_integers(values)]
        return None if whole and not _are_floats(whole, _some(lines)) else flat


def _some(lines: Lines) -> list[dict[str, Any]]:
    """The objects that some lines are, from all of the block."""
    found = []
    for row in np.unique(np.linspace(0, len(lines) - 1, _LOOKED_AT).astype(np.int64)).tolist():
        try:
            record = json_object(lines.whole(row))
        except NotUnicodeError:
            continue
        if record is not None:
            found.append(record)
    return found


def _learned(known: Fields, records: Iterable[Mapping[str, Any]], depth: int | None) -> Fields:
    """The fields that are known, and those of records, in which objects stand at most so deep.

    None: in which no object stands, so that a dot in a name is one sign of it.
    """
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    if depth is not None and any("." in name for name in values):
        raise _OfSeveralTypesError
    found = dict(known)
    for name, each in values.items():
        kinds, before = set(map(type, each)) - {type(None)}, known.get(name, pa.null())
        if dict in kinds or isinstance(before, dict):
            if not depth or not kinds <= {dict} or not (isinstance(before, dict) or pa.types.is_null(before)):
                raise _OfSeveralTypesError
            inside = (value for value in each if value is not None)
            found[name] = _learned(before if isinstance(before, dict) else {}, inside, depth - 1)
        else:
            found[name] = _type_of_both(before, kinds)
    return found


def _type_of_both(before: pa.DataType, kinds: set[type]) -> pa.DataType:
    if not kinds <= _PLAIN.keys():
        raise _OfSeveralTypesError
    types = {_PLAIN[kind] for kind in kinds} | ({before} - {pa.null()})
    if types == {pa.int64(), pa.float64()}:
        return pa.float64()
    if len(types) > 1:
        raise _OfSeveralTypesError
    return next(iter(types), pa.null())


def _type_of(known: pa.DataType | Fields) -> pa.DataType:
    if isinstance(known, dict):
        return pa.struct([(name, _type_of(inside)) for name, inside in known.items()])
    return known


def _leaves(known: pa.DataType | Fields) -> int:
    return sum(map(_leaves, known.values())) if isinstance(known, dict) else 1


def _flatten(own: str, name: str, values: pa.Array, found: dict[str, pa.Array]) -> set[str]:
    """Put the leaves of a field to those that are `found`; returns the objects that some line has not.

    `own` is its name among its neighbours.
    """
    if not pa.types.is_struct(values.type):
        found[name] = values
        return set()
    lacking = {own} if values.null_count else set()
    for place, inside in enumerate(values.type):
        lacking |= _flatten(inside.name, f"{name}.{inside.name}", pc.struct_field(values, [place]), found)
    return lacking


def _may_be_null(names: Iterable[str], block: bytes) -> bool:
    """Whether one of these fields may be null somewhere, however its name is written."""
    if _NULL not in block:
        return False
    if _ESCAPED in block or any("/" in name for name in names):
        return True
    written = b"|".join(re.escape(json.dumps(name, ensure_ascii=False)).encode() for name in names)
    return re.search(rb"(?:%s)\s*:\s*null" % written, block) is not None


def _may_be_integers(values: pa.Array) -> bool:
    """Whether floats may all be written as integers are, which then are integers."""
    if not pa.types.is_floating(values.type) or values.null_count == len(values):
        return False
    return bool(pc.all(pc.equal(values, pc.floor(values))).as_py())


def _are_floats(names: Iterable[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each of these fields is written as floats are in some record."""
    flat = [flat_record(record) for record in records]
    return all(any(type(record.get(name)) is float for record in flat) for name in names)
