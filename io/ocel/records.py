"""What an OCEL file holds, whatever it is written in: types of values, objects, events.

    Declared    which type the values of an attribute have, by the type of event or object
    LogObject   an object: its type, and what its attributes were worth, from when on
    LogEvent    an event, and the objects that it is about, each with a qualifier

A value that is text is turned into what was declared for it; one that is not of that type stays text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadReport
from cepctl.io.source.json_objects import flat_value

NOT_AN_EVENT = "not an event: one has an id and a type"
NOT_AN_OBJECT = "not an object: one has an id and a type"
OTHERS = "events with members that events of OCEL do not have, kept as attributes: {:,}"
ODD_OBJECT = "objects with members that OCEL does not have, read without those: {:,}"
ODD_ATTRIBUTE = "attributes without a name, or with members that OCEL does not have: {:,}"
OF_ATTRIBUTE = frozenset(("name", "time", "value"))
"""The members of an attribute; in XML the value is its text."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Declared:
    """The type of the values of an attribute; `kind` is `event` or `object`."""

    kind: str
    of: str
    attribute: str
    type: str


@dataclass(frozen=True)
class Worth:
    """What an attribute of an object was worth from a time on, as it is written; None: from the start."""

    attribute: str
    time: str | None
    value: Any


@dataclass(frozen=True)
class LogObject:
    id: str
    type: str
    values: Sequence[Worth] = ()
    line: int | None = None


@dataclass(frozen=True)
class LogEvent:
    """An event; `relations` are pairs of the id of an object and a qualifier."""

    id: str
    type: str
    time: str | None
    attributes: Mapping[str, Any]
    relations: Sequence[tuple[str, str | None]] = ()
    line: int | None = None
    raw: str = ""
    others: Mapping[str, Value] = field(default_factory=dict)


Record = Declared | LogObject | LogEvent
Records = Callable[[IO[bytes], str, ReadReport], Iterator[Record]]
"""The records of a file which stands at its start; what is none of them goes into the report."""


def typed_value(value: Any, declared: str | None) -> Value:
    """A value as what it was declared to be.

    Examples
    --------
    >>> typed_value("12", "integer"), typed_value("1e3", "float"), typed_value("yes", "boolean")
    (12, 1000.0, 'yes')
    """
    if declared == "boolean" and value in (0, 1):
        return bool(value)
    if not isinstance(value, str) or "_" in value:
        return flat_value(value)
    try:
        if declared == "integer":
            return int(value)
        if declared == "float":
            return float(value)
    except ValueError:
        return value
    return _BOOLEANS.get(value.strip().lower(), value) if declared == "boolean" else value


def text_of(value: Any) -> str | None:
    """An id or a name: text that is not empty, or a whole number; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def shown(value: Any) -> str:
    """A value as JSON; empty where it is nested too deeply to be written."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""
