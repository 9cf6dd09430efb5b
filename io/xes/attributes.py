"""Attributes of XES (IEEE 1849) elements as values and columns.

XES                           value
string, id                    text
date                          text as it is written, so that its zone stays
int, float, boolean           integer, float, bool; text where the value is none of its type
list, container               JSON text: a list of {key: value}, an object
an attribute with children    its value, and its children as JSON text under `<key>:nested`
a key that occurs twice       JSON text: the list of its values

Elements are those of lxml or of the standard library's ElementTree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from cepctl.io.contract.natural_columns import Value
from cepctl.io.source.xml_stream import local_name

EVENT, TRACE = "event", "trace"
TEXT_KINDS = frozenset({"string", "date", "id"})
NUMBER_KINDS = frozenset({"int", "float", "boolean"})
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_STRUCTURED = frozenset({"list", "container"})
_NO_ATTRIBUTES = frozenset({EVENT, TRACE})
_NESTED_SUFFIX = ":nested"


def attribute_values(element: Any, prefix: str = "") -> dict[str, Value]:
    """The attributes directly below a trace or event element, names prefixed with `prefix`."""
    return merged(list(attribute_pairs(element, prefix)))


def attribute_pairs(element: Any, prefix: str = "") -> Iterator[tuple[str, Value]]:
    """The attributes directly below an element, one by one; a name may come twice."""
    for child in _children(element):
        kind = local_name(child.tag)
        key = child.get("key")
        if key is None or kind in _NO_ATTRIBUTES:
            continue
        name = prefix + key
        if kind in _STRUCTURED:
            yield name, _json_text(_nested(child))
            continue
        yield name, typed_value(kind, child.get("value"))
        if _children(child):
            yield nested_pair(name, child)


def nested_pair(name: str, element: Any) -> tuple[str, Value]:
    """What stands below the attribute called `name`, which is this element."""
    return name + _NESTED_SUFFIX, _json_text(_object(element))


def merged(pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """The attributes by name; those of one name as the JSON text of their list.

    Examples
    --------
    >>> merged([("a", 1), ("b", "x"), ("a", 2)])
    {'a': '[1,2]', 'b': 'x'}
    """
    values = dict(pairs)
    if len(values) < len(pairs):
        every: dict[str, list[Value]] = {}
        for name, value in pairs:
            every.setdefault(name, []).append(value)
        values |= {name: _json_text(several) for name, several in every.items() if len(several) > 1}
    return values


def typed_value(kind: str, text: str | None) -> Value:
    """The value of an attribute that has no structure of its own."""
    if text is None or kind in TEXT_KINDS or "_" in text:
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
        wrapped = [child for child in _children(element) if local_name(child.tag) == "values"]
        items = wrapped[0] if wrapped else element
        return [{item.get("key"): _nested(item)} for item in _children(items)]
    if kind == "container":
        return _object(element)
    value = typed_value(kind, element.get("value"))
    return {"value": value, "nested": _object(element)} if _children(element) else value


def _object(element: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for child in _children(element):
        key, value = str(child.get("key")), _nested(child)
        if key not in members:
            members[key] = value
        elif isinstance(members[key], list):
            members[key].append(value)
        else:
            members[key] = [members[key], value]
    return members


def _children(element: Any) -> list[Any]:
    """The elements directly below this one; not the entities that lxml could not resolve."""
    return [child for child in element if isinstance(child.tag, str)]


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
