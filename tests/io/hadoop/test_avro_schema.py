"""A schema by which few bytes could take all time or the whole stack is refused before anything is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cepctl.io.hadoop.avro_schema import DEEPEST, SchemaError, parsed_schema


def event(kind: Any, *more: dict[str, Any]) -> bytes:
    fields = [{"name": "type", "type": "string"}, {"name": "event", "type": kind}]
    return json.dumps({"type": "record", "name": "Event", "fields": [*fields, *more]}).encode()


def record(name: str, *kinds: Any) -> dict[str, Any]:
    fields = [{"name": f"f{number}", "type": kind} for number, kind in enumerate(kinds)]
    return {"type": "record", "name": name, "fields": fields}


def doubling(levels: int) -> dict[str, Any]:
    """A record that holds twice a record that holds twice ... a string."""
    inner = record("L0", "string")
    for level in range(1, levels):
        inner = record(f"L{level}", inner, f"L{level - 1}")
    return inner


@pytest.mark.parametrize(
    "kind",
    [
        "Event",
        ["null", "Event"],
        {"type": "array", "items": "Event"},
        {"type": "map", "values": ["null", "Event"]},
        record("Inner", ["null", "Inner"]),
        record("A", record("B", "A")),
    ],
)
def test_a_type_that_contains_itself_is_refused(kind: Any) -> None:
    with pytest.raises(SchemaError, match="contains itself"):
        parsed_schema(event(kind))


def test_names_that_stand_for_ever_more_types_are_refused() -> None:
    parsed_schema(event(doubling(8)))
    with pytest.raises(SchemaError, match="more than 100,000 types"):
        parsed_schema(event(doubling(18)))


def test_deep_nesting_is_refused() -> None:
    kind: Any = "string"
    for _ in range(DEEPEST):
        kind = {"type": "array", "items": kind}
    with pytest.raises(SchemaError, match="nested deeper than 64 levels"):
        parsed_schema(event(kind))
    with pytest.raises(SchemaError):
        parsed_schema(b"[" * 1_000_000)


@pytest.mark.parametrize("items", ["null", {"type": "fixed", "name": "F", "size": 0}, record("R", "null")])
def test_a_list_of_what_takes_no_bytes_is_refused(items: Any) -> None:
    with pytest.raises(SchemaError, match="no bytes may be endless"):
        parsed_schema(event({"type": "array", "items": items}))


@pytest.mark.parametrize("text", [b"", b"{", b"7", b'"Event"', b"{}", b'{"type":"record","name":"E"}'])
def test_what_is_no_schema_of_events_is_refused(text: bytes) -> None:
    with pytest.raises(SchemaError):
        parsed_schema(text)


def test_a_name_may_be_used_again_beside_itself() -> None:
    counters = record("Counters", "string", "long")
    assert parsed_schema(event(record("Done", counters, "Counters", ["null", "Counters"])))["name"] == "Event"
