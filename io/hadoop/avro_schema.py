"""Avro schemas from strangers: those by which few bytes are read in finite time and within the stack.

The decoder is written in C and follows a schema without looking how far, so these are refused:

    a record that contains itself         recursion to the end of the stack
    nesting deeper than DEEPEST           the same
    more than MOST_TYPES types once every name is replaced by what it stands for
                                          records of records of ... that double with each level
    an array of values of no bytes        a few bytes claim 2**63 of them
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

LONGEST_SCHEMA = 1 << 24
DEEPEST = 64
MOST_TYPES = 100_000

_FAULTS = (
    SchemaParseException,
    UnknownType,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)


class SchemaError(ValueError):
    """The text is not a schema of events, or none that is safe to read by."""


def parsed_schema(text: bytes) -> Any:
    """The schema of records with the fields `type` and `event`, as fastavro wants it; raises SchemaError."""
    if len(text) > LONGEST_SCHEMA:
        raise SchemaError(f"it is longer than {LONGEST_SCHEMA >> 20} MiB")
    try:
        schema = json.loads(text)
        _refuse_depth(schema)
        if not _is_event(schema):
            raise SchemaError("it is not a record with the fields type and event")
        parsed = fastavro.parse_schema(schema)
        _Types().check(parsed)
        return parsed
    except _FAULTS as problem:
        raise SchemaError(str(problem)) from problem


def _refuse_depth(schema: Any) -> None:
    """Level by level, so that the look itself needs no depth."""
    level = [schema]
    for _ in range(DEEPEST):
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    if level:
        raise SchemaError(f"it is nested deeper than {DEEPEST} levels")


def _is_event(schema: Any) -> bool:
    fields = schema.get("fields", ()) if isinstance(schema, dict) else ()
    names = {field.get("name") for field in fields if isinstance(field, dict)}
    return {"type", "event"} <= names


@dataclass
class _Types:
    """The named types of a parsed schema: how many types each stands for, and whether it takes no bytes.

    A name that is open stands for None: it must not occur inside of itself.
    """

    named: dict[str, tuple[int, bool] | None] = field(default_factory=dict)

    def check(self, schema: Any) -> tuple[int, bool]:
        """Of any type: how many types it is made of, and whether its values take no bytes."""
        if isinstance(schema, list):
            return self._limited([self.check(branch)[0] for branch in schema]), False
        if isinstance(schema, str):
            if schema not in self.named:
                return 1, schema == "null"
            known = self.named[schema]
            if known is None:
                raise SchemaError(f"the type {schema} contains itself")
            return known
        kind = schema["type"]
        if kind in ("record", "error"):
            return self._record(schema)
        if kind == "fixed":
            self.named[schema["name"]] = (1, schema["size"] == 0)
        elif kind == "enum":
            self.named[schema["name"]] = (1, False)
        elif kind in ("array", "map"):
            count, empty = self.check(schema["items" if kind == "array" else "values"])
            if kind == "array" and empty:
                raise SchemaError("a list of values that take no bytes may be endless")
            return self._limited([count]), False
        else:
            return (
                self.check(kind) if not isinstance(kind, str) or kind in self.named else (1, kind == "null")
            )
        known = self.named[schema["name"]]
        assert known is not None
        return known

    def _record(self, schema: Any) -> tuple[int, bool]:
        self.named[schema["name"]] = None
        found = [self.check(each["type"]) for each in schema["fields"]]
        known = self._limited([count for count, _ in found]), all(empty for _, empty in found)
        self.named[schema["name"]] = known
        return known

    def _limited(self, counts: list[int]) -> int:
        total = 1 + sum(counts)
        if total > MOST_TYPES:
            raise SchemaError(f"it stands for more than {MOST_TYPES:,} types")
        return total
