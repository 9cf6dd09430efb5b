"""OCEL 1.0 as a database: EVENTS, OBJECTS, and RELATIONS between them.

Columns: ocel:eid, ocel:activity, ocel:timestamp, ocel:oid, ocel:type; every other one is an attribute.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import IO, Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ocel.database import allow_only, first_damage, opened_database, tell_damage
from cepctl.io.ocel.first_version import ACTIVITY, EVENT_ID, OBJECT_ID, TIME, TYPE, event_of
from cepctl.io.ocel.records import NOT_AN_EVENT, LogObject, Record, Worth, text_of

TELLING = b"ocel:eid"
_COLUMNS = {
    "EVENTS": frozenset((EVENT_ID, ACTIVITY, TIME)),
    "OBJECTS": frozenset((OBJECT_ID, TYPE)),
    "RELATIONS": frozenset((EVENT_ID, OBJECT_ID)),
}
_NO_EVENT = "no event in EVENTS that RELATIONS names"


def tables_first_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a database, which is opened to be read alone.

    Raises
    ------
    LogFormatError
        If it has not the tables of OCEL 1.0, or is damaged.
    """
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        with closing(opened_database(copy.name, report)) as connection:
            try:
                yield from _of_database(connection, source, report)
            except (sqlite3.Error, OverflowError, UnicodeError) as problem:
                raise LogFormatError(f"{source}: damaged OCEL database: {problem}") from None


def _of_database(connection: sqlite3.Connection, source: str, report: ReadReport) -> Iterator[Record]:
    tables = {
        name: [str(row[1]) for row in connection.execute(f'PRAGMA table_info("{name}")')] for name in _COLUMNS
    }
    lacking = [f"{table}.{name}" for table, names in _COLUMNS.items() for name in names - {*tables[table]}]
    if lacking:
        raise LogFormatError(
            f"{source}: not a whole OCEL database: it has no column {', '.join(sorted(lacking))}; "
            "export it again"
        )
    allow_only(connection, tables)
    before, damage = len(report.rejects), first_damage(connection, tables)
    for row in _rows(connection, "OBJECTS", tables):
        values = tuple(
            Worth(name, None, value) for name, value in row.items() if name not in (OBJECT_ID, TYPE) and value
        )
        yield LogObject(str(row[OBJECT_ID]), str(row[TYPE]), values)
    relations: dict[str, list[tuple[str, str | None]]] = {}
    for row in _rows(connection, "RELATIONS", tables):
        relations.setdefault(str(row[EVENT_ID]), []).append((str(row[OBJECT_ID]), None))
    known: set[str] = set()
    for row in _rows(connection, "EVENTS", tables):
        known.add(str(row[EVENT_ID]))
        if text_of(row[EVENT_ID]) is None or text_of(row[ACTIVITY]) is None:
            report.records += 1
            report.rejects.append(Reject(source, None, NOT_AN_EVENT, str(row)))
        else:
            yield event_of(row, relations.get(str(row[EVENT_ID]), []))
    for event, related in relations.items():
        if event not in known:
            report.records += 1
            report.rejects.append(Reject(source, None, _NO_EVENT, f"RELATIONS: {event} with {related[0][0]}"))
    tell_damage(damage, source, report, reported=len(report.rejects) > before)


def _rows(
    connection: sqlite3.Connection, table: str, tables: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in tables[table])
    for row in connection.execute(f'SELECT {columns} FROM "{table}"'):
        yield dict(zip(tables[table], row, strict=True))
