"""Records of JSON with one field for each value in them: a field in a field by both names, with a dot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cepctl.io.contract.natural_columns import Value

_DEEPEST = 20


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
        if type(inside) is dict and depth < _DEEPEST:
            _flatten(f"{name}.", inside, found, depth + 1)
            continue
        while name in found:
            name += "_2"
        found[name] = json.dumps(inside, ensure_ascii=False) if isinstance(inside, dict | list) else inside
