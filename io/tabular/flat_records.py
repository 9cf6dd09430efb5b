"""Records of JSON with one field for each value in them: a field in a field by both names, with a dot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from cepctl.io.contract.natural_columns import Value

DEEPEST = 20
"""Objects that stand deeper in each other are text."""


def flat_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with one field for each value in it; lists are JSON text.

    Examples
    --------
    >>> flat_record({"a": {"b": 1, "c": {}}, "a.b": 2, "d": [1]})
    {'a.b': 1, 'a.b_2': 2, 'd': '[1]'}

    Raises
    ------
    RecursionError
        If a value is nested too deeply to be written.
    """
    found: dict[str, Value] = {}
    _flatten("", record, found, 0)
    return found


def record_of_fields(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """As `flat_record`; None for a record that is nested too deeply to be written."""
    try:
        return flat_record(record)
    except RecursionError:
        return None


def _flatten(before: str, value: Mapping[str, Any], found: dict[str, Value], depth: int) -> None:
    for key, inside in value.items():
        name = f"{before}{key}"
        if type(inside) is dict and depth < DEEPEST:
            _flatten(f"{name}.", inside, found, depth + 1)
            continue
        while name in found:
            name += "_2"
        found[name] = json.dumps(inside, ensure_ascii=False) if isinstance(inside, dict | list) else inside


def flat_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]] | None:
    """The fields of `flat_record` of many records, each with its values, None where a record has none.

    None where a name has a dot, so that two fields may have one name.

    Examples
    --------
    >>> flat_columns([{"a": {"b": 1, "c": {}}}, {"a": 2, "d": [1]}])
    {'a.b': [1, None], 'a': [None, 2], 'd': [None, '[1]']}
    """
    found: dict[str, Sequence[Any]] = {}
    return found if _flatten_all("", records, found, 0) else None


def _flatten_all(
    before: str, records: Sequence[Mapping[str, Any]], found: dict[str, Sequence[Any]], depth: int
) -> bool:
    nothing: dict[str, Any] = {}
    for key in dict.fromkeys(chain.from_iterable(records)):
        if "." in key:
            return False
        values = [record.get(key) for record in records]
        name, kinds = f"{before}{key}", set(map(type, values))
        if dict in kinds and depth < DEEPEST:
            inside = [value if type(value) is dict else nothing for value in values]
            if not _flatten_all(f"{name}.", inside, found, depth + 1):
                return False
            if not any(type(record.get(key, nothing)) is not dict for record in records):
                continue
            values = [None if type(value) is dict else value for value in values]
        if dict in kinds or list in kinds:
            values = [
                json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
                for value in values
            ]
        found[name] = values
    return True


def columns_of_fields(records: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Sequence[Any]], list[int]]:
    """The fields of records, as `flat_record` has them, and which records are nested too deeply for it."""
    try:
        columns = flat_columns(records)
    except RecursionError:
        columns = None
    if columns is not None:
        return columns, []
    flat = [record_of_fields(record) for record in records]
    names = dict.fromkeys(name for fields in flat if fields is not None for name in fields)
    known = [fields or {} for fields in flat]
    deep = [place for place, fields in enumerate(flat) if fields is None]
    return {name: [fields.get(name) for fields in known] for name in names}, deep
