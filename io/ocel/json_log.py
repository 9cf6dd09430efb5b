"""OCEL 2.0 in JSON: an object with arrays of eventTypes, objectTypes, events and objects, in any order.

event   {id, type, time, attributes: [{name, value}], relationships: [{objectId, qualifier}]}
object  {id, type, attributes: [{name, time, value}], relationships}
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, cast

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ocel.records import (
    NOT_AN_EVENT,
    NOT_AN_OBJECT,
    ODD_ATTRIBUTE,
    ODD_OBJECT,
    OF_ATTRIBUTE,
    Declared,
    LogEvent,
    LogObject,
    Record,
    Worth,
    shown,
    text_of,
)
from cepctl.io.source.json_documents import Element, read_documents
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import Recoded

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ARRAYS = ("eventTypes", "objectTypes", "events", "objects")
_KNOWN = frozenset(("id", "type", "time", "attributes", "relationships"))
_MISSING = "the document has no array of {}"
_OTHER = "members of the document that OCEL does not have, left out: {:,}"
_IDS = re.compile(r'"id":')
_HIDDEN = "events or objects inside of a type, which holds none"
_NO_OBJECT = "relationships without an objectId, left out: {:,}"


def json_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a file in JSON."""
    recoded = stream.read(2) in UTF16
    stream.seek(0)
    chunks = Chunks(cast(IO[bytes], Recoded(stream, "utf-16")) if recoded else stream)
    for part in read_documents(chunks, ARRAYS, source, report, Records('"id"', _found)):
        if isinstance(part, Element):
            yield from _records(part, source, report)
            continue
        if part.members:
            report.notes[_OTHER] += len(part.members)
        # What stands under another name may be theirs.
        others = sum(len(value) for value in part.members.values() if isinstance(value, list))
        for name in ("events", "objects"):
            if name in part.missing:
                count = max(others, 1)
                report.records += count
                report.rejects.append(Reject(source, part.line, _MISSING.format(name), records=count))


def _found(value: Any, name: str, _: Mapping[str, Any]) -> FoundRecord | None:
    """A record of a damaged document: the word for its array may be lost."""
    if not isinstance(value, dict):
        return None
    if "id" in value and "type" in value:
        return FoundRecord("events" if "time" in value else "objects", value)
    if name.endswith("Types") and isinstance(value.get("attributes"), list) and "name" in value:
        return FoundRecord(name, value)
    return None


def _records(part: Element, source: str, report: ReadReport) -> Iterator[Record]:
    key, value = part.key, part.value
    if key in ("eventTypes", "objectTypes"):
        if hidden := len(_IDS.findall(shown(value))):
            report.records += hidden
            report.rejects.append(Reject(source, part.line, _HIDDEN, shown(value), hidden))
        yield from _declared(key.removesuffix("Types"), value)
        return
    # A stray bracket takes what follows into a list of its own.
    inside = isinstance(value, list) and any(isinstance(each, dict) for each in value)
    for each in value if inside else [value]:
        yield from _record(key, each, part.line, source, report)


def _record(key: str, value: Any, line: int | None, source: str, report: ReadReport) -> Iterator[Record]:
    record_id, record_type = text_of(_member(value, "id")), text_of(_member(value, "type"))
    if record_id is None or record_type is None:
        report.records += 1
        cause = NOT_AN_EVENT if key == "events" else NOT_AN_OBJECT
        report.rejects.append(Reject(source, line, cause, shown(value)))
    elif key == "events":
        yield _event(record_id, record_type, value, report, line)
    else:
        if value.keys() - _KNOWN:
            report.notes[ODD_OBJECT] += 1
        yield LogObject(record_id, record_type, tuple(_values(value, report)), line)


def _declared(kind: str, value: Any) -> Iterator[Declared]:
    of = text_of(_member(value, "name"))
    for each in _listed(value, "attributes"):
        name, declared = text_of(_member(each, "name")), text_of(_member(each, "type"))
        if of is not None and name is not None and declared is not None:
            yield Declared(kind, of, name, declared)


def _event(
    event_id: str, event_type: str, value: dict[str, Any], report: ReadReport, line: int | None
) -> LogEvent:
    relations = []
    for each in _listed(value, "relationships"):
        object_id, qualifier = text_of(_member(each, "objectId")), text_of(_member(each, "qualifier"))
        if object_id is None:
            report.notes[_NO_OBJECT] += 1
        else:
            relations.append((object_id, qualifier))
    attributes = {str(name): _member(each, "value") for name, each in _named(value, report)}
    time = value.get("time")
    return LogEvent(
        event_id,
        event_type,
        time if isinstance(time, str) else None,
        attributes,
        relations,
        line,
        raw=shown(value),
        others={name: flat_value(each) for name, each in value.items() if name not in _KNOWN},
    )


def _values(value: Any, report: ReadReport) -> Iterator[Worth]:
    for name, each in _named(value, report):
        time = _member(each, "time")
        yield Worth(name, None if time is None else str(time), _member(each, "value"))


def _named(value: Any, report: ReadReport) -> Iterator[tuple[str, Any]]:
    for each in _listed(value, "attributes"):
        name = text_of(_member(each, "name"))
        if name is None or each.keys() - OF_ATTRIBUTE:
            report.notes[ODD_ATTRIBUTE] += 1
        if name is not None:
            yield name, each


def _listed(value: Any, name: str) -> list[Any]:
    found = _member(value, name)
    return found if isinstance(found, list) else []


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
