"""Attributes of XES (IEEE 1849) elements as values and columns.

XES                           value
string, id                    text
date                          text as it is written, so that its zone stays
int, float, boolean           integer, float, bool; text where the value is none of its type
list, container               JSON text: a list of {key: value}, an object
an attribute with children    its value, and its children as JSON text under `<key>:nested`
a key that occurs twice       JSON text: the list of its values
"""

from __future__ import annotations

import json
from typing import Any

from cepctl.io.batches import Value
from cepctl.io.xml_source import local_name

NESTED_SUFFIX = ":nested"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_TEXT = frozenset({"string", "date", "id"})
_STRUCTURED = frozenset({"list", "container"})
_NO_ATTRIBUTES = frozenset({"event", "trace"})


def attribute_values(element: Any, prefix: str = "") -> dict[str, Value]:
    """The attributes directly below a log, trace or event element, names prefixed with `prefix`."""
    values: dict[str, Value] = {}
    repeated: dict[str, list[Value]] = {}
    for child in element:
        kind = local_name(child.tag)
        key = child.get("key")
        if key is None or kind in _NO_ATTRIBUTES:
            continue
        name = prefix + key
        value: Value = child.get("value") if kind in _TEXT else _value(kind, child.get("value"), child)
        if name in values:
            repeated.setdefault(name, [values[name]]).append(value)
        values[name] = value
        if len(child) and kind not in _STRUCTURED:
            values[name + NESTED_SUFFIX] = _json_text(_object(child))
    for name, all_values in repeated.items():
        values[name] = _json_text(all_values)
    return values


def _value(kind: str, text: str | None, element: Any) -> Value:
    if kind in _STRUCTURED:
        return _json_text(_nested(element))
    if text is None or "_" in text:
        return text
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        return text
    return _BOOLEANS.get(text.strip().lower(), text) if kind == "boolean" else text


def _nested(element: Any) -> Any:
    """One attribute as a JSON value, with everything below it."""
    kind = local_name(element.tag)
    if kind == "list":
        wrapped = [child for child in element if local_name(child.tag) == "values"]
        items = wrapped[0] if wrapped else element
        return [{item.get("key"): _nested(item)} for item in items]
    if kind == "container":
        return _object(element)
    value = _value(kind, element.get("value"), element)
    return {"value": value, "nested": _object(element)} if len(element) else value


def _object(element: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for child in element:
        key, value = str(child.get("key")), _nested(child)
        if key not in members:
            members[key] = value
        elif isinstance(members[key], list):
            members[key].append(value)
        else:
            members[key] = [members[key], value]
    return members


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
