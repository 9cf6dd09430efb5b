"""Zeek and W3C extended logs as files: headers in comments, what these say of rows, and how they change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions

Row = dict[str, Any]
ZEEK = (
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n"
    "#fields\tts\tuid\tid.orig_h\tduration\tlocal\thistory\n#types\ttime\tstring\taddr\tinterval\tbool\tstring\n"
)
IIS = "#Software: Microsoft Internet Information Services 10.0\n#Date: 2026-06-14 08:00:00\n"
FIELDS = "#Fields: date time c-ip cs-method cs-uri-stem sc-status\n"


def taken(folder: Path, text: str, **read: Any) -> tuple[list[Row], IngestSummary]:
    log, out = folder / "x.log", folder / "events"
    log.write_text(text)
    summary = ingest([str(log)], str(out), IngestOptions(read=ReadOptions(**read), overwrite=True))
    rows = [row for part in sorted(out.glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: int(row["event_id"].rpartition("#")[2])), summary


def stamp(row: Row) -> str:
    return str(row["time"])[:19]


def test_a_log_of_zeek_has_the_type_of_its_path_and_the_columns_of_its_header(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path,
        f"{ZEEK}1781417704.978001\tCa1\t10.0.0.7\t2.125850\tT\tShA\n1781417705.100002\tCa2\t10.0.0.8\t-\t-\t(empty)\n"
        "#close\t2026-06-14-09-00-00\n",
    )
    assert (summary.accounts[0].format, summary.rejected, summary.type_counts) == ("zeek", {}, {"conn": 2})
    assert str(rows[0]["time"]) == "2026-06-14 06:15:04.978001+00:00"
    told = [
        {name: row[name] for name in ("uid", "id.orig_h", "duration", "local", "history")} for row in rows
    ]
    assert told == [
        {"uid": "Ca1", "id.orig_h": "10.0.0.7", "duration": 2.12585, "local": True, "history": "ShA"},
        {"uid": "Ca2", "id.orig_h": "10.0.0.8", "duration": None, "local": None, "history": ""},
    ]


def test_a_connection_of_zeek_lasts_for_its_duration_where_intervals_are_asked_for(tmp_path: Path) -> None:
    rows, _ = taken(
        tmp_path,
        f"{ZEEK}1781417704.978001\tCa1\t10.0.0.7\t2.125850\tT\tS\n1781417705.100002\tCa2\t10.0.0.8\t-\t-\tS\n",
        intervals=True,
    )
    lengths = [None if row["end_lower"] is None else row["end_lower"] - row["lower"] for row in rows]
    assert lengths == [2_125_850, None]


def test_a_number_with_fewer_digits_than_the_others_is_as_wide_as_its_last_digit(tmp_path: Path) -> None:
    """Ticks are nanoseconds then."""
    rows, _ = taken(
        tmp_path,
        f"{ZEEK}1781417704.978001\tCa1\t10.0.0.7\t1\tT\tS\n1.781417707e+09\tCa2\t10.0.0.8\t-\t-\tS\n",
    )
    assert [row["upper"] - row["lower"] + 1 for row in rows] == [1, 10**9]


def test_a_header_that_changes_in_the_middle_of_a_log_holds_for_the_rows_below_it(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path,
        f"{IIS}{FIELDS}2026-06-14 08:15:04 10.0.0.7 GET /a 200\n"
        f"{IIS}#Fields: time date c-ip s-port\n08:16:00 2026-06-14 10.0.0.8 443\n",
    )
    assert (summary.accounts[0].format, summary.rejected) == ("w3c", {})
    assert [(stamp(row), row["c-ip"], row["cs-uri-stem"], row["s-port"]) for row in rows] == [
        ("2026-06-14 08:15:04", "10.0.0.7", "/a", None),
        ("2026-06-14 08:16:00", "10.0.0.8", None, 443),
    ]


@pytest.mark.parametrize("between", [" ", "\t", "   "])
def test_values_stand_between_blanks_or_tabs_whatever_stands_between_the_names(
    tmp_path: Path, between: str
) -> None:
    row = between.join(("2026-06-14", "08:15:04", '"a ""b"" c"', "GET", "-", "200"))
    rows, _ = taken(tmp_path, f"#Version: 1.0\n{FIELDS}{row}\n")
    assert (rows[0]["c-ip"], rows[0]["cs-uri-stem"], rows[0]["sc-status"]) == ('a "b" c', None, 200)


def test_values_stand_between_commas_where_the_names_do(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path,
        "#Software: Microsoft Exchange Server\n#Fields: date-time,event-id,subject\n"
        '2026-06-14T08:15:04.978Z,SEND,"a, b"\n2026-06-14T08:15:05.100Z,DELIVER,\n',
    )
    assert summary.type_counts == {"DELIVER": 1, "SEND": 1}
    assert [(row["event_type"], row["subject"]) for row in rows] == [("SEND", "a, b"), ("DELIVER", None)]


def test_times_are_of_utc_unless_the_log_says_that_they_are_local(tmp_path: Path) -> None:
    row = "2026-06-14 08:15:04 ALLOW TCP\n"
    header = "#Fields: date time action protocol\n"
    plain, _ = taken(tmp_path, f"#Version: 1.5\n{header}{row}", time_zone="Europe/Berlin")
    local, _ = taken(tmp_path, f"#Time Format: Local\n{header}{row}", time_zone="Europe/Berlin")
    offset, _ = taken(tmp_path, f"#GMT-Offset: -0800\n{header}{row}")
    assert [stamp(rows[0])[11:] for rows in (plain, local, offset)] == ["08:15:04", "06:15:04", "16:15:04"]
    assert plain[0]["event_type"] == "ALLOW"


def test_times_of_day_are_of_the_day_of_the_last_comment_and_go_on_over_midnight(tmp_path: Path) -> None:
    rows, _ = taken(
        tmp_path,
        "#Date: 2026-06-14 23:59:00\n#Fields: time c-ip\n23:59:58 a\n00:00:01 b\n"
        "#Date: 2026-06-20\n08:00:00 c\n",
    )
    assert [stamp(row) for row in rows] == [
        "2026-06-14 23:59:58",
        "2026-06-15 00:00:01",
        "2026-06-20 08:00:00",
    ]


def test_a_row_that_is_cut_is_rejected_and_what_a_longer_one_has_is_kept(tmp_path: Path) -> None:
    good = "2026-06-14 08:15:04 10.0.0.7 GET /a 200"
    rows, summary = taken(
        tmp_path, f"{IIS}{FIELDS}{good}\n{good} 17 -\n" + f"{good}\n" * 9 + "2026-06-14 08:1\n"
    )
    assert [(each.line, each.cause) for each in summary.rejects] == [
        (15, "the row does not have 6 fields like the header")
    ]
    assert [row["extra"] for row in rows[:2]] == [None, "17 -"]


def test_rows_below_a_header_without_a_time_are_rejected(tmp_path: Path) -> None:
    log = f"{ZEEK}1781417704.978001\tCa1\t10.0.0.7\t1\tT\tS\n#fields\tuid\n" + "Ca2\n" * 20
    with pytest.raises(LogFormatError, match="the row stands below a header that names no time"):
        taken(tmp_path, log)


def test_columns_are_mapped_as_those_of_other_tables(tmp_path: Path) -> None:
    log = f"{IIS}{FIELDS}2026-06-14 08:15:04 10.0.0.7 GET /a 200\n"
    rows, _ = taken(tmp_path, log, columns=(("event_type", "cs-method"), ("client", "c-ip")))
    assert (rows[0]["event_type"], rows[0]["client"]) == ("GET", "10.0.0.7")


def test_comments_of_other_files_are_no_header(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match="of no known format"):
        taken(tmp_path, "# a shell script\n# Fields: none\necho hello\n")
