"""OCEL 2.0 in XML, read as a stream: `log` with `event-types`, `object-types`, `events` and `objects`.

<event id= type= time=>  <attributes> <attribute name=>VALUE</attribute> </attributes>
                         <objects> <relationship object-id= qualifier=/> </objects>
<object id= type=>       <attributes> <attribute name= time=>VALUE</attribute> </attributes>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from lxml import etree

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ocel.records import (
    NOT_AN_EVENT,
    NOT_AN_OBJECT,
    ODD_ATTRIBUTE,
    OF_ATTRIBUTE,
    Declared,
    LogEvent,
    LogObject,
    Record,
    Worth,
)
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_mending import LOST, DocumentShape, Lost, Mending
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Elements, XmlDocument, local_name

EVENT, OBJECT = "event", "object"
_TYPES = {"event-type": EVENT, "object-type": OBJECT}
_READ = (EVENT, OBJECT, *_TYPES)
_KNOWN = frozenset(("id", "type", "time"))
_GROUPS = frozenset(("event-types", "object-types", "events", "objects"))
_SHAPE = DocumentShape(
    {"log": 0, **dict.fromkeys(_GROUPS, 1)}, frozenset(_READ), inner=frozenset(("objects",)), recovers=True
)
_OTHER = "elements of the log that OCEL does not have, left out: {:,}"
_NO_OBJECT = "relationships without an object-id, left out: {:,}"


def xml_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a file in XML; damage is one reject.

    Raises
    ------
    LogFormatError
        If the file is not XML, has another root than `log`, or declares XML entities.
    """
    document = XmlDocument(Chunks(stream), Prolog("log", source))

    def reject_lost(lost: Lost) -> None:
        report.records += lost.records
        line = lost.line + document.blank_lines
        report.rejects.append(Reject(source, line, LOST, lost.raw, lost.records))

    tags = [f"{{*}}{name}" for name in _READ]
    elements = Elements(document.prolog, tags, ("end",), mending=Mending(_SHAPE, reject_lost))
    last_rejected = 0
    for number, element in enumerate(_ended(elements, document), start=1):
        kind = local_name(element.tag)
        line = element.sourceline + document.blank_lines
        if kind in _TYPES:
            yield from _declared(_TYPES[kind], element)
        else:
            record = (_event if kind == EVENT else _object)(element, line, source, report)
            if record is None:
                last_rejected = number
            else:
                yield record
        _drop(element)
    _report_rest(elements, document, source, report, last_rejected)


def _ended(elements: Elements, document: XmlDocument) -> Iterator[Any]:
    for data in document:
        for _, element in elements.feed(data):
            yield element
    if document.prolog.seen:
        for _, element in elements.close():
            yield element


def _declared(kind: str, element: Any) -> Iterator[Declared]:
    for each in element.iterfind("{*}attributes/{*}attribute"):
        if element.get("name") and each.get("name") and each.get("type"):
            yield Declared(kind, element.get("name"), each.get("name"), each.get("type"))


def _event(element: Any, line: int, source: str, report: ReadReport) -> LogEvent | None:
    if not element.get("id") or not element.get("type"):
        _reject(NOT_AN_EVENT, element, line, source, report)
        return None
    relations = []
    for each in element.iterfind("{*}objects/{*}*"):
        object_id = each.get("object-id")
        if object_id:
            relations.append((object_id, each.get("qualifier")))
        else:
            report.notes[_NO_OBJECT] += 1
    return LogEvent(
        element.get("id"),
        element.get("type"),
        element.get("time"),
        {each.get("name"): _text(each) for each in _attributes(element, report)},
        relations,
        line,
        _shown(element),
        {name: value for name, value in element.attrib.items() if name not in _KNOWN},
    )


def _object(element: Any, line: int, source: str, report: ReadReport) -> LogObject | None:
    if not element.get("id") or not element.get("type"):
        _reject(NOT_AN_OBJECT, element, line, source, report)
        return None
    values = [Worth(each.get("name"), each.get("time"), _text(each)) for each in _attributes(element, report)]
    return LogObject(element.get("id"), element.get("type"), tuple(values), line)


def _attributes(element: Any, report: ReadReport) -> list[Any]:
    found = element.findall("{*}attributes/{*}attribute")
    odd = sum(not each.get("name") or bool(set(each.attrib) - OF_ATTRIBUTE) for each in found)
    if odd:
        report.notes[ODD_ATTRIBUTE] += odd
    return [each for each in found if each.get("name")]


def _text(element: Any) -> str:
    return "".join(element.itertext("{*}attribute"))


def _reject(cause: str, element: Any, line: int, source: str, report: ReadReport) -> None:
    report.records += 1
    report.rejects.append(Reject(source, line, cause, _shown(element)))


def _shown(element: Any) -> str:
    return str(etree.tostring(element, encoding="unicode", with_tail=False))


def _drop(element: Any) -> None:
    """Forget an element that has ended; it may still stand inside the parent, but never before another."""
    previous = element.getprevious()
    element.clear()
    if previous is not None and isinstance(previous.tag, str) and local_name(previous.tag) in _READ:
        element.getparent().remove(previous)


def _report_rest(
    elements: Elements, document: XmlDocument, source: str, report: ReadReport, last_rejected: int
) -> None:
    """What is wrong with the document, and what stands in it that is none of OCEL."""
    if elements.unreadable is not None:
        raise LogFormatError(f"{source}:{elements.unreadable.line}: {elements.unreadable.message}")
    if elements.root is None or local_name(elements.root.tag) != "log":
        raise LogFormatError(f"{source}: not OCEL: the root element <log> was expected")
    for group in elements.root.iter("*"):
        parent = group.getparent()
        if (parent is elements.root and local_name(group.tag) not in _GROUPS) or (
            parent is not None and parent.getparent() is elements.root and local_name(group.tag) not in _READ
        ):
            report.notes[_OTHER] += 1
    elements.tell_damage(report, source, document.blank_lines, last_rejected)
