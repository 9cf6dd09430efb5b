"""The objects of a log as keys of its events.

an event is about                   it has the attribute
one object of type item             item = its id
several                             item = the JSON list of their ids; item/QUALIFIER for each that has one
                                    alone
an object that the log does not list   object
and of one object of type item      item:NAME, where NAME never changes
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cepctl.io.contract.natural_columns import Value
from cepctl.io.ocel.records import Declared, LogObject, Record, Worth, typed_value

UNLISTED = "object"
_START = "1970-01-01"
_NOTHING: Mapping[str, Value] = {}

Related = dict[str | None, dict[str, list[str]]]
"""Of the objects of an event the qualifiers, which may be empty: by type (None where not known) and id."""


@dataclass(frozen=True)
class Change:
    """A value that an attribute of an object got at some time, and the one before it."""

    attribute: str
    time: str
    value: Value
    was: Value


@dataclass(frozen=True)
class KnownObject:
    """An object: its type, and the attributes that never change, called as those of its events are."""

    type: str
    constants: Mapping[str, Value]


@dataclass
class Objects:
    """The objects of a log by their ids, and the types of all values."""

    known: dict[str, KnownObject] = field(default_factory=dict)
    types: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def of_type(self) -> set[str]:
        """The types that there are objects of."""
        return {each.type for each in self.known.values()}

    def typed(self, kind: str, of: str, values: Mapping[str, Value]) -> dict[str, Value]:
        """Values of an event or an object of a type, as they were declared."""
        return {name: typed_value(value, self.types.get((kind, of, name))) for name, value in values.items()}

    def changes(self, record: LogObject) -> list[Change]:
        """What changed of an object, by attribute and in order of time."""
        found = []
        for name, worths in _by_attribute(record).items():
            declared = self.types.get(("object", record.type, name))
            before: Value = None
            for worth in worths:
                value = typed_value(worth.value, declared)
                if not _is_start(worth):
                    assert worth.time is not None
                    found.append(Change(name, worth.time, value, before))
                before = value
        return found

    def related(self, relations: Sequence[tuple[str, str | None]]) -> Related:
        """The objects of an event by their type."""
        found: Related = {}
        for object_id, qualifier in relations:
            known = self.known.get(object_id)
            ids = found.setdefault(None if known is None else known.type, {})
            ids.setdefault(object_id, []).append(qualifier or "")
        return found

    def keys(self, related: Related) -> dict[str, Value]:
        """The attributes of an event about these objects."""
        found: dict[str, Value] = {}
        for object_type, ids in related.items():
            name = UNLISTED if object_type is None else object_type
            if len(ids) == 1:
                (only,) = ids
                found[name] = only
                known = self.known.get(only)
                found.update({} if known is None else known.constants)
            else:
                found[name] = json.dumps(sorted(ids), ensure_ascii=False)
                found.update(_qualified(name, ids))
        return found


def objects_of(records: Iterable[Record]) -> Objects:
    """The objects among the records; of several with one id the first."""
    objects = Objects()
    waiting: dict[str, LogObject] = {}
    for record in records:
        if isinstance(record, Declared):
            objects.types.setdefault((record.kind, record.of, record.attribute), record.type)
        elif isinstance(record, LogObject):
            waiting.setdefault(record.id, record)
    # In place: as many values are gone as have come.
    for object_id in list(waiting):
        record = waiting.pop(object_id)
        objects.known[object_id] = KnownObject(record.type, _constants(record, objects))
    return objects


def _constants(record: LogObject, objects: Objects) -> Mapping[str, Value]:
    if not record.values:
        return _NOTHING
    single = {name: worths[0].value for name, worths in _by_attribute(record).items() if len(worths) == 1}
    typed = objects.typed("object", record.type, single)
    return {f"{record.type}:{name}": value for name, value in typed.items()}


def _by_attribute(record: LogObject) -> dict[str, list[Worth]]:
    found: dict[str, list[Worth]] = {}
    for worth in record.values:
        found.setdefault(worth.attribute, []).append(worth)
    for worths in found.values():
        worths.sort(key=lambda worth: worth.time or "")
    return found


def _is_start(worth: Worth) -> bool:
    """Whether a value was there from the start, which is written as a time of 1970."""
    return worth.time is None or worth.time.startswith(_START)


def _qualified(object_type: str, ids: Mapping[str, Sequence[str]]) -> dict[str, Value]:
    """The objects that are the only one of their type with some qualifier."""
    by_qualifier: dict[str, list[str]] = {}
    for object_id, qualifiers in ids.items():
        for qualifier in dict.fromkeys(qualifiers):
            by_qualifier.setdefault(qualifier, []).append(object_id)
    return {
        f"{object_type}/{qualifier}": each[0]
        for qualifier, each in by_qualifier.items()
        if qualifier and len(each) == 1
    }
