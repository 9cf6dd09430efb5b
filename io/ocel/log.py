"""OCEL 2.0 in its three forms, and 1.0: read twice, since events name objects whose types stand elsewhere."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.ocel.database import MAGIC, TELLING, database_records
from cepctl.io.ocel.events import ObjectCentricEvents
from cepctl.io.ocel.first_database import TELLING as TELLING_TABLES
from cepctl.io.ocel.first_database import tables_first_records
from cepctl.io.ocel.first_version import (
    TELLING_JSON,
    TELLING_XML,
    json_first_records,
    table_first_records,
    xml_first_records,
)
from cepctl.io.ocel.json_log import ARRAYS, UTF16, json_records
from cepctl.io.ocel.objects import objects_of
from cepctl.io.ocel.records import Declared, LogEvent, Records
from cepctl.io.ocel.xml_log import xml_records
from cepctl.io.source.copies import copy_of
from cepctl.io.source.json_documents import first_members
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_stream import without_comments

_TAG = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_GROUPS = frozenset((b"object-types", b"event-types", b"objects", b"events"))
_TYPES = frozenset(("objectTypes", "eventTypes"))
_BEFORE_XML = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff<")


class ObjectCentricLog:
    """Reader of OCEL, whatever it is written in."""

    def recognises(self, head: bytes) -> bool:
        return _records_of(head) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log, then what changed of its objects.

        Raises
        ------
        LogFormatError
            If the file is none of the forms, or XML that declares entities.
        UsageError
            If the zone of the user does not exist.
        """
        chunks = Chunks(stream)
        with copy_of(chunks) as copy:
            head = copy.read(1 << 16)
            records = _records_of(head) or _nearest(head)
            copy.seek(0)
            objects = objects_of(records(copy, source, ReadReport()))
            copy.seek(0)
            events = ObjectCentricEvents(source, options, report, objects)
            for record in records(copy, source, report):
                if isinstance(record, LogEvent):
                    events.add(record)
                elif not isinstance(record, Declared):
                    events.add_changes(record)
                if events.rows.full:
                    yield events.rows.take()
        if len(events.rows):
            yield events.rows.take()
        chunks.tell_damage(source, report)


def _records_of(head: bytes) -> Records | None:
    """How a file that begins so is read; None for one that is not of OCEL."""
    if head.startswith(MAGIC):
        if TELLING in head:
            return database_records
        return tables_first_records if TELLING_TABLES in head else None
    text = without_comments(head).lstrip()
    if text.startswith(_BEFORE_XML):
        tags = [found[1] for found, _ in zip(_TAG.finditer(text), range(2), strict=False)]
        if tags[:1] == [b"log"] and any(sign in head for sign in TELLING_XML):
            return xml_first_records
        return xml_records if tags[:1] == [b"log"] and tags[1:] and tags[1] in _GROUPS else None
    if head.startswith(UTF16):
        head = head[: len(head) // 2 * 2].decode("utf-16", "replace").encode()
    plain = head.removeprefix(codecs.BOM_UTF8).lstrip()
    header = plain.partition(b"\n")[0].split(b",")
    if TELLING_TABLES in [name.strip(b'"\r') for name in header] and b"ocel:timestamp" in plain:
        return table_first_records
    if not plain.startswith(b"{"):
        return None
    if any(sign in head for sign in TELLING_JSON):
        return json_first_records
    if not any(name.encode() in head for name in ARRAYS):
        return None
    members = first_members(head, ARRAYS)
    if members & _TYPES or (members & set(ARRAYS) and b'"objectId"' in head):
        return json_records
    return None


def _nearest(head: bytes) -> Records:
    """How a file is read whose beginning is damaged."""
    if TELLING in head:
        return database_records
    if TELLING_TABLES in head and b"CREATE TABLE" in head:
        return tables_first_records
    if any(sign in head for sign in TELLING_JSON):
        return json_first_records
    if b"<event" in head and any(sign in head for sign in TELLING_XML):
        return xml_first_records
    if b"ocel:" in head.partition(b"\n")[0]:
        return table_first_records
    return xml_records if b"<event" in head or b"<object" in head else json_records


FORMAT = LogFormat(
    name="ocel",
    description="object-centric event logs, OCEL 2.0 and 1.0 as JSON, XML or SQLite, 1.0 also as CSV",
    events="one type per activity, ObjectChange; ocel_id, the attributes, and one key per type of object",
    uncertainty="none; 1 s where no time has a fraction, one day where every time is a local midnight",
    example=(
        '{"objectTypes":[{"name":"order","attributes":[]}],"eventTypes":[{"name":"pay","attributes":[]}],\n'
        '"objects":[{"id":"o1","type":"order"}],\n'
        '"events":[{"id":"e1","type":"pay","time":"2026-06-14T08:15:04Z",\n'
        '"relationships":[{"objectId":"o1","qualifier":"paid"}]}]}\n'
    ),
    page="logs-ocel.md",
    kinds=("OCEL 1.0",),
    reader=ObjectCentricLog(),
    options={
        "time_zone": ZONELESS,
        "zone_words": WORDED,
        "exact_times": WRITTEN,
        "per_object": "object-centric events",
    },
    whole_days=True,
)
