"""OCEL 2.0 as an SQLite database, opened to be read alone; nothing that is stored in it is run.

A database has expressions of its own: in views, indexes, checks, generated columns and triggers, and tables
of modules.  So only stored columns of plain tables may be read, which SQLite holds every statement to, and
checks for damage leave out what would compute an expression.

event_map_type, object_map_type    types, and the ends of the names of their tables
event_X, object_X                  one row per event, and per value of an object: id, time, attributes
event_object                       which event is about which object, with a qualifier
event, object                      the type of every id; those that no table of a type has are rejects
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ocel.records import NOT_AN_OBJECT, Declared, LogEvent, LogObject, Record, Worth, text_of

MAGIC = b"SQLite format 3\0"
TELLING = b"event_map_type"
_LONGEST_VALUE = 128 << 20
_TYPES = {"BOOL": "boolean", "INT": "integer", "REAL": "float", "FLOA": "float", "DOUB": "float"}
_OWN = frozenset(("ocel_id", "ocel_time", "ocel_changed_field"))
_NEEDED = ("event_map_type", "object_map_type", "event", "object", "event_object")
_CHECKS = {"table_info", "table_xinfo", "index_list", "index_xinfo", "integrity_check", "quick_check"}
_LARGE_EVENT = 200
_CHECKS_TABLES = (3, 33)
_EXPRESSION = -2
_NO_TABLE = "its type has no table, or that has no row for it"
# What SQLite says of names that are not UTF-8 cannot be made a message of Python.
_DAMAGE = (sqlite3.Error, OverflowError, UnicodeError)
_NO_CHANGES = "tables of objects without ocel_time or ocel_changed_field, so without changes: {:,}"
_NO_FIELD = "changes of objects that name none of their fields, left out: {:,}"
_AGAIN = "objects with several rows that name no changed field: {:,}"
_NOT_UTF8 = "texts with bytes that are not UTF-8, which are written as \\xNN: {:,}"
_UNFINISHED = "the database is damaged, read as far as it goes"


def database_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of a database; damage is one reject.

    Raises
    ------
    LogFormatError
        If it is no database at all, or has not the tables of OCEL.
    """
    # SQLite opens files by their names alone.
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        with closing(opened_database(copy.name, report)) as connection:
            try:
                tables = _tables(connection)
                allow_only(connection, tables)
            except _DAMAGE as problem:
                raise LogFormatError(f"{source}: damaged OCEL database: {problem}") from None
            _require_tables(tables, source)
            events, before = 0, len(report.rejects)
            try:
                named = (_named_tables(kind, connection, tables).values() for kind in ("event", "object"))
                damage = first_damage(connection, chain(_NEEDED, *named))
                yield from _declared(connection, tables)
                yield from _objects(connection, tables, source, report)
                for event in _events(connection, tables, source, report):
                    yield event
                    events += 1
                tell_damage(damage, source, report, reported=len(report.rejects) > before)
            except _DAMAGE as problem:
                lost = max(_counted(connection, tables, copy.tell()) - events, 1)
                report.records += lost
                report.rejects.append(Reject(source, None, _UNFINISHED, str(problem), lost))


def _counted(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]], size: int) -> int:
    """How many events there are, by the tables that count them; where none does, by the size of the file."""
    counts: list[int] = []
    for table in [name for name in tables if name in ("event", "event_object") or name.startswith("event_")]:
        try:
            found = connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()
            counts.append(int(found[0]))
        except _DAMAGE:
            return max([*counts, size // _LARGE_EVENT])
    return max(counts, default=0)


def opened_database(path: str, report: ReadReport) -> sqlite3.Connection:
    """A connection that reads alone and runs no code of others."""

    def text(raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            # One sign for all bad bytes would make one object of two.
            report.notes[_NOT_UTF8] += 1
            return raw.decode("utf-8", "backslashreplace")

    connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro&immutable=1", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.text_factory = text
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    return connection


def allow_only(connection: sqlite3.Connection, tables: Mapping[str, Sequence[str]]) -> None:
    """From now on, refuse every statement that neither reads columns of these tables nor checks one."""
    columns = {table: {*names, "", "ROWID"} for table, names in tables.items()}

    def allowed(action: int, first: str | None, second: str | None, *_: object) -> int:
        reads = action == sqlite3.SQLITE_READ and second in columns.get(first or "", ())
        checks = action == sqlite3.SQLITE_PRAGMA and first in _CHECKS
        fine = action == sqlite3.SQLITE_SELECT or reads or checks
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)


def _tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The stored columns of the tables.

    Views are none, nor are tables of modules: what they do is up to who wrote them.  SQLite itself begins
    what it keeps of a table with these words.
    """
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql GLOB 'CREATE TABLE *'"
    names = connection.execute(query).fetchall()
    return {
        str(name): [str(row[1]) for row in connection.execute(f"PRAGMA table_info({_quoted(str(name))})")]
        for (name,) in names
    }


def _declared(connection: sqlite3.Connection, tables: dict[str, list[str]]) -> Iterator[Declared]:
    """What the columns of the tables of the types are declared to hold."""
    for kind in ("event", "object"):
        for of, table in _named_tables(kind, connection, tables).items():
            for row in connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall():
                declared = next((name for part, name in _TYPES.items() if part in str(row[2]).upper()), None)
                if declared is not None:
                    yield Declared(kind, of, str(row[1]), declared)


def _require_tables(tables: dict[str, list[str]], source: str) -> None:
    missing = [name for name in _NEEDED if name not in tables]
    if missing:
        raise LogFormatError(
            f"{source}: not a whole OCEL database: it has no table {', '.join(missing)}; export it again"
        )


def first_damage(connection: sqlite3.Connection, tables: Iterable[str]) -> str | None:
    """What SQLite says of the first damage that it finds in some tables."""
    for table in dict.fromkeys(tables):
        check = _check_of(connection, table)
        if check is None:
            continue
        (first,) = connection.execute(f"PRAGMA {check}({_quoted(table)})").fetchone()
        if first != "ok":
            return " ".join(str(first).split())[:200]
    return None


def tell_damage(damage: str | None, source: str, report: ReadReport, *, reported: bool) -> None:
    """Tell damage that stopped nobody: a reject, or a warning where what it cost is `reported` already.

    A page with fewer rows than it had reads like any other.
    """
    if damage is None:
        return
    if reported:
        report.warnings.append(f"{_UNFINISHED}: {damage}")
    else:
        report.records += 1
        report.rejects.append(Reject(source, None, _UNFINISHED, damage))


def _check_of(connection: sqlite3.Connection, table: str) -> str | None:
    """The check of a table that computes no expression; None where each of them would.

    A quick one does not look at indexes, but at columns that may not be null.
    """
    hidden = [row[6] for row in connection.execute(f"PRAGMA table_xinfo({_quoted(table)})")]
    if any(hidden) or sqlite3.sqlite_version_info < _CHECKS_TABLES:
        return None
    for _, index, _, _, partial in connection.execute(f"PRAGMA index_list({_quoted(table)})").fetchall():
        columns = connection.execute(f"PRAGMA index_xinfo({_quoted(str(index))})").fetchall()
        if partial or any(column[1] == _EXPRESSION for column in columns):
            return "quick_check"
    return "integrity_check"


def _objects(
    connection: sqlite3.Connection, tables: dict[str, list[str]], source: str, report: ReadReport
) -> Iterator[LogObject]:
    for object_type, table in _tables_of("object", connection, tables, source, report):
        names = [name for name in tables[table] if name not in _OWN]
        if names and not _OWN.issubset(tables[table]):
            report.notes[_NO_CHANGES] += 1
        columns = [
            "ocel_id",
            _or_null("ocel_time", tables[table]),
            _or_null("ocel_changed_field", tables[table]),
        ]
        query = f"SELECT {', '.join([*columns, *map(_quoted, names)])} FROM {_quoted(table)} ORDER BY ocel_id"
        for object_id, group in groupby(connection.execute(query), itemgetter(0)):
            rows = list(group)
            known = text_of(object_id)
            if known is None:
                report.records += 1
                report.rejects.append(Reject(source, None, NOT_AN_OBJECT, f"{table}: {object_id}"))
                continue
            report.notes.update(_doubts(rows, names))
            values = [worth for row in rows for worth in _worths(row, names)]
            yield LogObject(known, object_type, tuple(values))


def _doubts(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> Iterator[str]:
    """What the rows of one object have that is no change of it, a note for each."""
    if sum(row[2] is None for row in rows) > 1:
        yield _AGAIN
    yield from (_NO_FIELD for row in rows if row[2] is not None and row[2] not in names)


def _worths(row: Sequence[Any], names: Sequence[str]) -> Iterator[Worth]:
    """What a row says: that one field has changed, or what all of them are worth from the start."""
    _, time, changed, *values = row
    for name, value in zip(names, values, strict=True):
        if (changed is None and value is not None) or changed == name:
            yield Worth(name, None if changed is None else str(time), value)


def _events(
    connection: sqlite3.Connection, tables: dict[str, list[str]], source: str, report: ReadReport
) -> Iterator[LogEvent]:
    for event_type, table in _tables_of("event", connection, tables, source, report):
        names = [name for name in tables[table] if name not in _OWN]
        columns = [
            "e.rowid",
            "e.ocel_id",
            f"e.{_quoted('ocel_time')}",
            *(f"e.{_quoted(name)}" for name in names),
        ]
        query = (
            f"SELECT r.ocel_object_id, r.ocel_qualifier, {', '.join(columns)} FROM {_quoted(table)} AS e "
            "LEFT JOIN event_object AS r ON r.ocel_event_id = e.ocel_id ORDER BY e.rowid"
        )
        # Damage makes two events of one row; what they are called then still tells them apart.
        for _, rows in groupby(connection.execute(query), itemgetter(2, 3)):
            related = list(rows)
            _, _, _, event_id, time, *values = related[0]
            attributes = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            yield LogEvent(
                text_of(event_id) or "",
                event_type,
                time if isinstance(time, str) else None,
                attributes,
                [(known, text_of(row[1])) for row in related if (known := text_of(row[0])) is not None],
                raw=f"{table}: {event_id} at {time}",
            )


def _tables_of(
    kind: str, connection: sqlite3.Connection, tables: dict[str, list[str]], source: str, report: ReadReport
) -> Iterator[tuple[str, str]]:
    """The types and their tables; then what the list of all has beyond them becomes rejects."""
    found = _named_tables(kind, connection, tables)
    yield from found.items()
    known = "".join(f" UNION ALL SELECT ocel_id FROM {_quoted(table)}" for table in set(found.values()))
    query = f"SELECT ocel_id, ocel_type FROM {kind} WHERE ocel_id NOT IN (SELECT NULL WHERE 0{known})"
    for lost_id, of in connection.execute(query):
        report.records += 1
        report.rejects.append(Reject(source, None, _NO_TABLE, f"{kind} {lost_id} of type {of}"))


def _named_tables(kind: str, connection: sqlite3.Connection, tables: dict[str, list[str]]) -> dict[str, str]:
    """The tables of the types of events, or of objects."""
    by_small = {name.lower(): name for name in tables}
    found: dict[str, str] = {}
    for of, end in connection.execute(f"SELECT ocel_type, ocel_type_map FROM {kind}_map_type"):
        table = by_small.get(f"{kind}_{end}".lower())
        if text_of(of) is not None and table is not None and "ocel_id" in tables[table]:
            found[str(of)] = table
    return found


def _or_null(name: str, columns: Sequence[str]) -> str:
    return name if name in columns else "NULL"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
