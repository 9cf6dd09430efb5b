"""OCEL 1.0: JSON, XML, and the one table of CSV; the tables of a database are in `first_database`.

    JSON      {"ocel:events": {ID: {"ocel:activity", "ocel:timestamp", "ocel:omap": [ID], "ocel:vmap": {}}},
               "ocel:objects": {ID: {"ocel:type", "ocel:ovmap": {}}}}
    XML       <event> and <object> with elements of these keys, in lists `omap`, `vmap` and `ovmap`
    CSV       ocel:eid, ocel:activity, ocel:timestamp, and a list of objects in each ocel:type:TYPE

Relations have no qualifiers there, objects never change, and every other column is an attribute.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ocel.first_recovery import EVENTS, OBJECTS, OcelMember, members_in, signs_in
from cepctl.io.ocel.records import (
    NOT_AN_EVENT,
    NOT_AN_OBJECT,
    LogEvent,
    LogObject,
    Record,
    Worth,
    shown,
    text_of,
)
from cepctl.io.source.json_documents import JsonDocument, read_documents
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_mending import LOST, DocumentShape, Lost, Mending
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Elements, XmlDocument, local_name

TELLING_JSON = (b'"ocel:events"', b'"ocel:global-event"', b'"ocel:global-log"')
TELLING_XML = (b'key="omap"', b"key='omap'", b'"ocel:activity"')
EVENT_ID, ACTIVITY, TIME, OBJECT_ID, TYPE = (
    "ocel:eid",
    "ocel:activity",
    "ocel:timestamp",
    "ocel:oid",
    "ocel:type",
)
_OF_EVENTS = frozenset((EVENT_ID, ACTIVITY, TIME))
_OF_TYPE = "ocel:type:"
_SHAPE = DocumentShape(
    {"log": 0, "global": 1, "events": 1, "objects": 1}, frozenset(("event", "object")), recovers=True
)
_LIST = re.compile(r"\[[^\[\]]*\]")
_LONGEST_FIELD = 16 << 20
_NUMBERS = {"int": int, "float": float}


def json_first_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a file in JSON; behind damage, and where two have one id, they are told one by one."""
    strict = ReadReport()
    documents = [
        each for each in read_documents(Chunks(stream), (), source, strict) if isinstance(each, JsonDocument)
    ]
    missing = [
        Reject(source, each.line, f"the document has no {key}")
        for each in documents
        for key in (OBJECTS, EVENTS)
        if each.whole and not isinstance(each.members.get(key), dict)
    ]
    members: Iterable[OcelMember]
    if strict.rejects or missing or _announced(documents) < _signs(stream):
        members = members_in(stream, source, report, [*strict.rejects, *missing])
    else:
        report.warnings += strict.warnings
        members = (
            OcelMember(key, record_id, value, each.line)
            for each in documents
            for key in (OBJECTS, EVENTS)
            for record_id, value in each.members[key].items()
        )
    for member in members:
        record = _of_json(member.key, member.id, member.value)
        if record is None:
            report.records += 1
            cause = NOT_AN_EVENT if member.key == EVENTS else NOT_AN_OBJECT
            report.rejects.append(Reject(source, member.line, cause, shown({member.id: member.value})))
        else:
            yield record


def _announced(documents: Sequence[JsonDocument]) -> int:
    """How often the word for the time of an event stands in documents: once in each, and beside them."""
    own = [value for each in documents for value in each.members[EVENTS].values()]
    others = [value for each in documents for name, value in each.members.items() if name != EVENTS]
    return sum(isinstance(value, dict) and TIME in value for value in own) + signs_in(shown(others).encode())


def _signs(stream: IO[bytes]) -> int:
    stream.seek(0)
    return signs_in(stream.read())


def _of_json(key: str, record_id: str, value: Any) -> Record | None:
    kind = text_of(value.get(ACTIVITY if key == EVENTS else TYPE)) if isinstance(value, dict) else None
    if kind is None or not record_id:
        return None
    if key == OBJECTS:
        return LogObject(record_id, kind, _worths(value.get("ocel:ovmap")))
    time, objects = value.get(TIME), value.get("ocel:omap")
    known = {ACTIVITY, TIME, "ocel:omap", "ocel:typedOmap", "ocel:vmap"}
    return LogEvent(
        record_id,
        kind,
        time if isinstance(time, str) else None,
        _members(value.get("ocel:vmap")),
        [(str(each), None) for each in objects] if isinstance(objects, list) else [],
        raw=shown(value),
        others={name: flat_value(each) for name, each in value.items() if name not in known},
    )


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _worths(value: Any) -> tuple[Worth, ...]:
    return tuple(Worth(name, None, each) for name, each in _members(value).items())


# --- XML ----------------------------------------------------------------------------------


def xml_first_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a file in XML; damage costs what it stands in.

    Raises
    ------
    LogFormatError
        If the file is not XML, has another root than `log`, or declares XML entities.
    """
    document = XmlDocument(Chunks(stream), Prolog("log", source))

    def reject_lost(lost: Lost) -> None:
        report.records += lost.records
        report.rejects.append(Reject(source, lost.line + document.blank_lines, LOST, lost.raw, lost.records))

    elements = Elements(
        document.prolog, ("{*}event", "{*}object"), ("end",), mending=Mending(_SHAPE, reject_lost)
    )
    last_rejected = 0
    for number, element in enumerate(_ended(elements, document), start=1):
        record = _of_element(element, element.sourceline + document.blank_lines)
        if record is None:
            report.records += 1
            last_rejected = number
            cause = NOT_AN_EVENT if local_name(element.tag) == "event" else NOT_AN_OBJECT
            report.rejects.append(Reject(source, element.sourceline + document.blank_lines, cause, ""))
        else:
            yield record
        element.clear()
    if elements.unreadable is not None:
        raise LogFormatError(f"{source}:{elements.unreadable.line}: {elements.unreadable.message}")
    elements.tell_damage(report, source, document.blank_lines, last_rejected)


def _ended(elements: Elements, document: XmlDocument) -> Iterator[Any]:
    for data in document:
        for _, element in elements.feed(data):
            yield element
    if document.prolog.seen:
        for _, element in elements.close():
            yield element


def _of_element(element: Any, line: int) -> Record | None:
    own = _keyed(element)
    if local_name(element.tag) == "object":
        if not own.get("id") or not own.get("type"):
            return None
        return LogObject(str(own["id"]), str(own["type"]), _worths(_listed(element, "ovmap")), line)
    if not own.get("id") or not own.get("activity"):
        return None
    lists = [each for each in element if each.get("key") == "omap"]
    objects = [(each.get("value"), None) for found in lists for each in found if each.get("value")]
    others = {name: each for name, each in own.items() if name not in ("id", "activity", "timestamp")}
    time = own.get("timestamp")
    return LogEvent(
        *(str(own["id"]), str(own["activity"]), None if time is None else str(time)),
        *(_listed(element, "vmap"), objects, line),
        others=others,
    )


def _keyed(element: Any) -> dict[str, Any]:
    """The values of the elements in one by their keys, numbers as numbers."""
    found: dict[str, Any] = {}
    for each in element:
        key, value = each.get("key"), each.get("value")
        if key is None or value is None:
            continue
        try:
            found[key.removeprefix("ocel:")] = _NUMBERS.get(local_name(each.tag), str)(value)
        except ValueError:
            found[key.removeprefix("ocel:")] = value
    return found


def _listed(element: Any, name: str) -> dict[str, Any]:
    return {key: value for each in element if each.get("key") == name for key, value in _keyed(each).items()}


# --- the table of CSV ---------------------------------------------------------------------


def event_of(row: Mapping[str, Any], relations: list[tuple[str, str | None]]) -> LogEvent:
    others = {
        name: value
        for name, value in row.items()
        if name not in (EVENT_ID, ACTIVITY, TIME)
        and not name.startswith(_OF_TYPE)
        and value not in (None, "")
    }
    time = row.get(TIME)
    return LogEvent(
        *(str(row[EVENT_ID]), str(row[ACTIVITY]), time if isinstance(time, str) else None, others, relations),
        raw=json.dumps(row, ensure_ascii=False, default=str),
    )


def table_first_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of the one table of a CSV file; damage costs the rows that it stands in.

    Raises
    ------
    LogFormatError
        If its rows have another number of columns than its header, or this does not end with its line.
    """
    # It closes what it wraps, and the stream is read twice.
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
    known: set[str] = set()
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        names = next(csv.reader(text), [])
        if any("\n" in name for name in names):
            raise LogFormatError(
                f"{source}:1: a quote is opened in the header and not closed on its line; write the names of "
                "all columns on the first line"
            )
        rows = _table_rows(text, len(names))
        first = list(islice(rows, 2))
        counts = {len(row.cells) for row in first}
        if len(first) == 2 and len(counts) == 1 and counts != {len(names)}:
            raise LogFormatError(
                f"{source}:1: the header has {len(names)} columns and the rows have {counts.pop()}; write "
                "the names of all columns on the first line, and nothing else"
            )
        for row in chain(first, rows):
            cells = dict(zip(names, row.cells, strict=False)) if len(row.cells) == len(names) else {}
            if not cells.get(EVENT_ID) or not cells.get(ACTIVITY):
                # Where the end of a line is damaged, it holds two.
                lost = max((_breadth(row.text) + 1) // max(len(names), 1), 1)
                report.records += lost
                report.rejects.append(Reject(source, row.line, NOT_AN_EVENT, row.text, lost))
                continue
            relations: list[tuple[str, str | None]] = []
            for column, value in cells.items():
                if not column.startswith(_OF_TYPE):
                    continue
                for each in _ids(value):
                    relations.append((each, None))
                    if each not in known:
                        known.add(each)
                        yield LogObject(each, column.removeprefix(_OF_TYPE))
            yield event_of(cells, relations)
    finally:
        csv.field_size_limit(limit)
        text.detach()


@dataclass(frozen=True)
class _TableRow:
    """The cells of a row, the line on which it begins, and its text; a line that is no row has no cells."""

    cells: list[str]
    line: int
    text: str


def _table_rows(text: Iterable[str], columns: int) -> Iterator[_TableRow]:
    """The rows behind a header of so many columns; where a quote swallows some, line by line."""
    lines: list[str] = []

    def taken() -> Iterator[str]:
        for line in text:
            lines.append(line)
            yield line

    reader, first = csv.reader(taken(), strict=True), 2
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            cells = []
        swallows = len(lines) > 1 and any(len(_cells(line)) == columns for line in lines[1:])
        if cells and not swallows:
            yield _TableRow(cells, first, "".join(lines))
        else:
            own = [(first + place, line) for place, line in enumerate(lines) if line.strip()]
            yield from (_TableRow(_cells(line), number, line) for number, line in own)
        first += len(lines)
        lines.clear()


def _cells(line: str) -> list[str]:
    """The cells of a line that is a row; none for any other."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


def _breadth(text: str) -> int:
    """About how many cells a damaged text has; the ids of a list are one."""
    return _LIST.sub("", text).count(",") + 1


def _ids(text: str) -> list[str]:
    """The ids in a list as JSON or as Python writes it, or one id alone."""
    text = text.strip()
    if not text.startswith("["):
        return [text] if text else []
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list):
            return [str(each) for each in found]
    return [each.strip(" '\"") for each in text.strip("[]").split(",") if each.strip()]
