"""Tables of well-known programs: read without a mapping, by their headers or by their first row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import LogFormatError

TENTH = "10:00:00.100000"
CSVLOG = (
    '2026-06-14 08:15:04.978 CEST,"ann","shop",4711,"10.0.0.7:50110",6a2e.1267,1,"SELECT",'
    '2026-06-14 08:15:01 CEST,3/17,0,LOG,00000,"duration: 2.5 ms\n of two lines",,,,,,"select 1",,,'
    '"psql","client backend",,0\n'
)


def taken(folder: Path, text: str, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    (folder / "x.csv").write_text(text)
    made = cepctl.ingest(folder / "x.csv", folder / "events", overwrite=True, **options)
    return pq.read_table(folder / "events").sort_by("lower").to_pylist(), made.summary


@pytest.mark.parametrize(
    ("header", "row", "event_type", "time"),
    [
        ("No,TimeCreated,EventId,Channel", "1,2026-06-14 10:00:00.1000000,4625,Security", "4625", TENTH),
        ("Timestamp,RuleTitle,Computer,EventID", "2026-06-14 10:00:00.1 +00:00,Bad,ws1,4625", "Bad", TENTH),
        ("datetime,timestamp_desc,source,message", "2026-06-14T10:00:00.1+00:00,Made,FILE,a", "Made", TENTH),
        (
            "date,time,timezone,MACB,source,sourcetype,type,desc",
            *("06/07/2026,10:00:00,EST,M...,FILE,x,Made,d", "Made", "15:00:00"),
        ),
    ],
)  # fmt: skip
def test_a_known_table_needs_no_mapping(
    tmp_path: Path, header: str, row: str, event_type: str, time: str
) -> None:
    ((found,), summary) = taken(tmp_path, f"{header}\n{row}\n", tz="UTC")
    assert summary.accounts[0].format == "csv"
    assert (found["event_type"], str(found["time"])[11:].partition("+")[0]) == (event_type, time)


def test_a_log_of_postgresql_has_the_columns_that_it_does_not_name(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path, CSVLOG + CSVLOG.replace("LOG,00000", "ERROR,23505").replace(".978", ".999")
    )
    assert (summary.accounts[0].format, summary.type_counts) == ("csv", {"ERROR": 1, "LOG": 1})
    told = {name: rows[0][name] for name in ("user_name", "process_id", "message", "query", "backend_type")}
    assert told == {
        "user_name": "ann", "process_id": 4711, "message": "duration: 2.5 ms\n of two lines",
        "query": "select 1", "backend_type": "client backend",
    }  # fmt: skip
    assert str(rows[0]["time"]) == "2026-06-14 06:15:04.978000+00:00"


def test_a_bad_row_of_a_table_without_a_header_is_named_by_its_line(tmp_path: Path) -> None:
    _, summary = taken(tmp_path, 9 * CSVLOG + "2026-06-14 08:15:05.1 CEST,ann\n")
    assert [(each.line, each.cause) for each in summary.rejects] == [
        (19, "the row does not have 26 fields like the header")
    ]


def test_the_user_says_otherwise_of_a_known_table(tmp_path: Path) -> None:
    text = "TimeCreated,EventId,Channel\n2026-06-14 10:00:00.1,4625,Security\n"
    ((row,), _) = taken(tmp_path, text, tz="UTC", map={"event_type": "Channel", "time": "TimeCreated"})
    assert (row["event_type"], row["EventId"]) == ("Security", 4625)


def test_where_the_form_of_times_depends_on_the_machine_it_is_asked_for(tmp_path: Path) -> None:
    text = (
        "Level,Date and Time,Source,Event ID,Task Category\nInformation,6/24/2026 8:15:04 AM,SCM,7036,None\n"
    )
    with pytest.raises(LogFormatError, match=r"'%m/%d/%Y %I:%M:%S %p' \(with it 1 of its first 1"):
        taken(tmp_path, text)
    rows, _ = taken(tmp_path, text, time_format="%m/%d/%Y %I:%M:%S %p", tz="UTC")
    assert rows[0]["event_type"] == "7036"


VIEWED = (
    "Level,Date and Time,Source,Event ID,Task Category\n"
    'Information,6/9/2026 8:15:04 AM,Security,4624,Logon,"An account was\nlogged on."\n'
    'Information,6/14/2026 8:15:09 PM,Security,4625,Logon,"An account failed."\n'
)


def test_the_event_viewer_names_no_column_for_the_text(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, VIEWED, time_format="%m/%d/%Y %I:%M:%S %p", tz="UTC")
    assert [(row["event_type"], row["message"], str(row["time"])[:19]) for row in rows] == [
        ("4624", "An account was\nlogged on.", "2026-06-09 08:15:04"),
        ("4625", "An account failed.", "2026-06-14 20:15:09"),
    ]


def test_a_remedy_names_the_forms_that_all_times_have(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError) as told:
        taken(tmp_path, VIEWED)
    assert "name its form: time_format='%m/%d/%Y %I:%M:%S %p' (with it 2 of its first 2" in str(told.value)
