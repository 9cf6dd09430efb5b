"""Databases whose schema would have code run when they are read: none of it is, and the log is as without."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import open_bytes, recognised_format
from cepctl.io.ocel.database import allow_only, opened_database
from tests.forty_records import COUNT, FORTY_RECORDS
from tests.io.ocel.ocel_logs import sqlite_log
from tests.reader_account import account_of


def events(data: bytes, report: ReadReport) -> list[dict[str, Any]]:
    with open_bytes(data, "x.ocel") as log:
        reader = recognised_format(log.head, "x.ocel").reader
        batches = list(reader.read(log.stream, "x.ocel", ReadOptions(), report))
    return [row for batch in batches for row in batch.to_pylist()]


FAILS = "abs(-9223372036854775807 - 1)"
"""An expression that is an error wherever it is computed."""


def with_schema(*statements: str, of: str, becomes: str) -> bytes:
    """A database whose schema says something else than the statements that made it."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(sqlite_log(*statements))
    connection.execute("PRAGMA writable_schema = ON")
    done = connection.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE instr(sql, ?)", (of, becomes, of)
    )
    assert done.rowcount == 1
    connection.commit()
    return connection.serialize()


INDEX = "CREATE INDEX hostile ON event_object (abs(length(ocel_object_id)))"
HOSTILE = {
    "an index": with_schema(INDEX, of="abs(length(ocel_object_id))", becomes=FAILS),
    "a part of an index": with_schema(
        "CREATE INDEX hostile ON event_object (ocel_object_id) WHERE 7 < 8", of="7 < 8", becomes=FAILS
    ),
    "a check": with_schema(of="price REAL", becomes=f"price REAL CHECK ({FAILS})"),
    "a column": with_schema(of="price REAL", becomes=f"price REAL, more AS ({FAILS})"),
    "a column that may not be null": with_schema(
        of="price REAL", becomes=f"price REAL, more AS ({FAILS}) NOT NULL"
    ),
    "another table": sqlite_log(f"CREATE TABLE more (x CHECK (x > {FAILS}), y AS ({FAILS}))"),
    "a default": with_schema(of="price REAL", becomes=f"price REAL DEFAULT ({FAILS})"),
    "a view": sqlite_log(f"CREATE VIEW more AS SELECT {FAILS} AS x"),
    "a trigger": sqlite_log(f"CREATE TRIGGER more AFTER INSERT ON event_pay BEGIN SELECT {FAILS}; END"),
    "a virtual table": sqlite_log("CREATE VIRTUAL TABLE more USING fts5(x)"),
    "a virtual table of an unknown module": with_schema(
        "CREATE VIRTUAL TABLE more USING fts5(x)", of="fts5", becomes="unknown"
    ),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_a_database_would_compute_is_computed(hostile: str) -> None:
    clean, report = ReadReport(), ReadReport()
    expected = events(sqlite_log(), clean)
    assert events(HOSTILE[hostile], report) == expected
    assert (report.rejects, report.records, report.warnings) == ([], clean.records, [])


@pytest.mark.parametrize(
    "instead",
    [
        "CREATE VIEW event_pay AS SELECT 'e3' AS ocel_id, '2026-06-14T10:00:00Z' AS ocel_time",
        "CREATE VIRTUAL TABLE event_pay USING fts5(ocel_id, ocel_time)",
    ],
)
def test_only_tables_are_read(instead: str) -> None:
    report = ReadReport()
    read = events(sqlite_log("DROP TABLE event_pay", instead), report)
    assert "pay" not in {row["event_type"] for row in read}
    assert [reject.raw for reject in report.rejects] == ["event e3 of type pay"]


@pytest.mark.parametrize("table", ["event", "object", "event_object", "event_map_type"])
def test_a_table_that_is_none_is_not_there(table: str) -> None:
    with pytest.raises(LogFormatError, match=f"has no table {table}"):
        renamed = (f"ALTER TABLE {table} RENAME TO t", f"CREATE VIEW {table} AS SELECT * FROM t")
        events(sqlite_log(*renamed), ReadReport())


@pytest.mark.parametrize(
    ("table", "column"),
    [("event_pay", "ocel_time"), ("event_object", "ocel_qualifier"), ("event_map_type", "ocel_type_map")],
)
def test_a_column_that_would_be_computed_is_not_read(table: str, column: str) -> None:
    """What the format needs is missing then: the rest is lost, and said to be."""
    report = ReadReport()
    schema = with_schema(
        f"ALTER TABLE {table} RENAME COLUMN {column} TO old",
        f"ALTER TABLE {table} ADD COLUMN {column} AS (12345)",
        of="(12345)",
        becomes=f"({FAILS})",
    )
    events(schema, report)
    assert [each.cause for each in report.rejects] == ["the database is damaged, read as far as it goes"]
    assert "integer overflow" not in str(report.rejects[0].raw)


def test_a_database_can_neither_be_written_nor_load_code() -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(sqlite_log())
        with closing(opened_database(file.name, ReadReport())) as connection:
            allow_only(connection, {"event": ["ocel_id"]})
            assert connection.execute("SELECT ocel_id FROM event").fetchall()
            for statement in (
                "SELECT ocel_type FROM event",
                "SELECT * FROM sqlite_schema",
                "SELECT abs(1)",
                "SELECT load_extension('x')",
                "SELECT * FROM pragma_database_list",
                "PRAGMA writable_schema = ON",
                "ATTACH ':memory:' AS more",
                "CREATE TEMP TABLE t (x)",
                "DELETE FROM event",
                "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n LIMIT 1",
            ):
                with pytest.raises(sqlite3.Error):
                    connection.execute(statement)


@pytest.mark.parametrize("name", ["ocel, SQLite", "ocel 1.0, SQLite"])
def test_a_page_that_says_it_has_fewer_rows_is_told(name: str) -> None:
    format_name, data = FORTY_RECORDS[name]
    size, leaf, shortened = int.from_bytes(data[16:18]), 13, 0
    for page in range(size, len(data), size):
        rows = int.from_bytes(data[page + 3 : page + 5])
        if data[page] == leaf and rows > 1:
            hurt = data[: page + 3] + (rows // 2).to_bytes(2) + data[page + 5 :]
            account = account_of(hurt, format_name)
            assert account.refused is not None or account.rejected >= max(COUNT - account.events, 1)
            shortened += 1
    assert shortened > 2
