"""Logs of lines as files: every line is an event, part of one, skipped or a reject; each guess is told."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.message_template import templates_in
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.templates.files import load_templates, templates_file
from cepctl.schema import META_TEMPLATES

LOGCAT = (
    "12-31 23:59:58.100  1702  2395 D Window: turned to 1\n"
    "12-31 23:59:59.200  1702  2395 D Window: turned to 3\n"
    "01-01 00:00:01.300  1702  8671 I Power: lock=233, uid=10037\n"
)
SERVER = (
    "2026-06-14 08:15:04,978 - INFO  [main:Server@12] - Client /10.0.0.7:4101 is in\n"
    "2026-06-14 08:15:05,001 - WARN  [worker:Link@7] - Link 3 is slow: 250 ms\n"
    "java.io.IOException: no answer\n"
    "\tat Link.read(Link.java:7)\n"
    "2026-06-14 08:15:05,120 - INFO  [main:Server@12] - Client /10.0.0.9:4102 is in\n"
)


def taken(
    folder: Path, text: str | bytes, name: str = "x.log", **read: object
) -> tuple[list[dict[str, object]], IngestSummary]:
    log, out = folder / name, folder / "events"
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    return again(log, out, **read)


def again(log: Path, out: Path, **read: object) -> tuple[list[dict[str, object]], IngestSummary]:
    options = IngestOptions(read=ReadOptions(**read), overwrite=True)  # type: ignore[arg-type]
    summary = ingest([str(log)], str(out), options)
    rows = [row for part in sorted(out.glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: (row["time"], row["event_id"])), summary


def test_headings_types_and_variables_are_found(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, SERVER)
    assert [
        (row["event_type"], row["level"], row["thread"], row["component"], row["ip"]) for row in rows
    ] == [
        ("Client is in", "INFO", "main", "Server", "/10.0.0.7:4101"),
        ("Link is slow", "WARN", "worker", "Link", None),
        ("Client is in", "INFO", "main", "Server", "/10.0.0.9:4102"),
    ]
    assert (
        rows[1]["message"]
        == "Link 3 is slow: 250 ms\njava.io.IOException: no answer\n\tat Link.read(Link.java:7)"
    )
    assert rows[1]["duration"] == "250 ms"
    assert [row["event_id"] for row in rows] == ["x.log#1", "x.log#2", "x.log#3"]
    assert [row["upper"] - row["lower"] for row in rows] == [0, 0, 0]  # type: ignore[operator]
    assert any("continue the record before them: 2" in note for note in summary.notices)


def test_years_are_counted_back_over_new_year_from_when_the_file_was_changed(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(LOGCAT)
    changed = datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC).timestamp()
    os.utime(log, (changed, changed))
    rows, summary = again(log, tmp_path / "events")
    assert [str(row["time"])[:19] for row in rows] == [
        "2025-12-31 23:59:58",
        "2025-12-31 23:59:59",
        "2026-01-01 00:00:01",
    ]
    (note,) = [note for note in summary.notices if "without a year" in note]
    assert "when it was last changed, 2026-01-01: 3" in note


def test_a_date_in_the_name_tells_the_year_and_epoch_overrules(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, LOGCAT, "app-2019-01-01.log")
    assert [row["time"].year for row in rows] == [2018, 2018, 2019]  # type: ignore[attr-defined]
    assert any("the date in its name, 2019-01-01" in note for note in summary.notices)
    epoch = int(datetime(2012, 12, 31, tzinfo=UTC).timestamp()) * 10**6
    rows, summary = taken(tmp_path, LOGCAT, "app-2019-01-01.log", epoch=epoch)
    assert [row["time"].year for row in rows] == [2012, 2012, 2013]  # type: ignore[attr-defined]
    assert not any("without a year" in note for note in summary.notices)


def test_every_line_is_an_event_part_of_one_or_a_reject(tmp_path: Path) -> None:
    text = "starting\n" + SERVER + "2026-02-31 08:15:06,000 - INFO  [main:Server@12] - Client is out\n"
    _, summary = taken(tmp_path, text)
    assert (summary.records, summary.events, dict(summary.rejected)) == (
        5,
        3,
        {"before the first record of the log": 1, "no time": 1},
    )


def test_lines_that_the_heading_does_not_fit_are_events_too(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, SERVER * 5 + "2026-06-14 08:15:06,000 shutting down\n")
    assert (rows[-1]["event_type"], rows[-1]["level"]) == ("shutting down", None)


def test_patterns_come_first_and_what_none_fits_is_skipped_or_typed_by_its_template(tmp_path: Path) -> None:
    patterns = (LogPattern("Slow", r"slow: (?P<wait>\d+)", ("Link",), "WARN", ("wait",)),)
    rows, summary = taken(tmp_path, SERVER, patterns=patterns)
    assert ([row["event_type"] for row in rows], rows[0]["wait"]) == (["Slow"], 250)
    assert sum(summary.skipped.values()) == 2
    rows, _ = taken(tmp_path, SERVER, patterns=patterns, keep_unmatched=True)
    assert [row["event_type"] for row in rows] == ["Client is in", "Slow", "Client is in"]


def test_the_dataset_keeps_its_templates_and_a_file_of_them_renames_types(tmp_path: Path) -> None:
    taken(tmp_path, SERVER)
    (part,) = (tmp_path / "events").glob("*.parquet")
    found = templates_in(pq.read_schema(part).metadata[META_TEMPLATES])
    file = tmp_path / "t.toml"
    file.write_text(templates_file(found, {}).replace('"Link is slow"', '"Slow"'))
    rows, _ = taken(tmp_path, SERVER, templates=load_templates(str(file)))
    assert [row["event_type"] for row in rows] == ["Client is in", "Slow", "Client is in"]


def test_templates_of_another_log_fit_nothing_and_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('[[template]]\nevent_type = "A"\ntemplate = "door <*> opened"\n')
    rows, summary = taken(tmp_path, SERVER, templates=load_templates(str(file)))
    assert {row["event_type"] for row in rows} == {"Client is in", "Link is slow"}
    assert "of the messages looked at 0 fit the 1 templates given, 3 fit 2 new ones" in summary.notices


def test_messages_between_the_pieces_that_are_looked_at_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.ingestion.templates.WHOLE_BYTES", 16 * 400)
    usual = "".join(f"2026-06-14 08:15:04 INFO went on {number}\n" for number in range(1000))
    rare = "2026-06-14 08:15:04 INFO something odd came\n"
    middle = 16_500
    rows, summary = taken(tmp_path, usual[:middle].rpartition("\n")[0] + "\n" + rare + usual)
    assert [row["event_type"] for row in rows].count("Other") == 1
    assert any("fit none of the templates" in note and "looked at: 1;" in note for note in summary.notices)


def test_a_line_that_the_end_of_a_piece_cuts_is_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.ingestion.templates.WHOLE_BYTES", 16 * 400)
    usual = "".join(f"2026-06-14 08:15:04 INFO went on and {'on ' * (place % 7)}\n" for place in range(1000))
    _, summary = taken(tmp_path, usual)
    whole = {line.partition("INFO ")[2].strip() for line in usual.splitlines()}
    assert {template.text for template in summary.templates} == whole


def test_utf_16_damage_and_very_long_lines_are_read(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, SERVER.encode("utf-16"))
    assert len(rows) == 3
    rows, summary = taken(
        tmp_path,
        SERVER.encode() + b"2026-06-14 08:15:06,000 - INFO  [a:B@1] - \xff" + b"x" * (10 << 20) + b"\n",
    )
    assert len(rows) == 4
    assert len(str(rows[-1]["message"])) <= 1 << 20
    assert any("more than 1,048,576 bytes" in note for note in summary.notices)


def test_a_second_layout_of_times_in_a_file_is_told(tmp_path: Path) -> None:
    other = "".join(f"14/Jun/2026:08:15:0{second} +0000 other\n" for second in range(3))
    _, summary = taken(tmp_path, SERVER * 4 + other)
    assert any("begin with times of another layout (DD/Mon/YYYY" in note for note in summary.notices)


def test_times_that_go_back_by_years_are_told(tmp_path: Path) -> None:
    _, summary = taken(tmp_path, "2026-06-14 08:15:04 a\n2019-06-14 08:15:04 a\n")
    assert any("more than half a year before" in note for note in summary.notices)


def test_a_page_with_a_table_of_times_is_no_log(tmp_path: Path) -> None:
    rows = "".join(
        f"| a{n} | {n} bytes | 2026-06-14T08:15:0{n}Z..2026-06-15 | from n{n} |\n" for n in range(9)
    )
    page = f"# Files\n\nWhat each of them is.\n\n| file | size | span | from |\n|---|---|---|---|\n{rows}"
    with pytest.raises(LogFormatError, match="of no known format"):
        taken(tmp_path, page)


def test_binary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match="of no known format"):
        taken(tmp_path, bytes(range(256)) * 64)


@pytest.mark.parametrize(
    ("line", "attributes"),
    [
        (
            "I0614 08:15:04.978123    1 server.go:77] ready on port 80",
            {"level": "I", "component": "server.go", "line": 77},
        ),
        (
            "W20260614 08:15:04.978123  1234 server.cc:77] low on disk",
            {"level": "W", "thread": "1234", "component": "server.cc", "event_type": "low on disk"},
        ),
        (
            "[2026-06-14 08:15:04,978] INFO started (kafka.server.KafkaServer)",
            {"event_type": "started", "level": "INFO", "component": "kafka.server.KafkaServer"},
        ),
        ("[Sun Jun 14 08:15:04 2026] [error] child 7 died", {"level": "error"}),
        (
            "2026/06/14 08:15:04 [error] 7#8: *9 refused",
            {"level": "error", "pid": 7, "thread": "8", "connection": 9},
        ),
        (
            "type=SYSCALL msg=audit(1781424904.978:77): arch=c000003e syscall=2",
            {"record_type": "SYSCALL", "serial": 77},
        ),
        (
            "[2026-06-14T08:15:04.978+0200][info][gc] GC(7) Pause Young 24M->4M(256M) 2.1ms",
            {"component": "gc"},
        ),
        (
            "[2026-06-14T08:15:04.978+0200][gc,start     ] GC(7) Pause Young",
            {"component": "gc,start", "event_type": "GC Pause Young"},
        ),
        ("2026-06-14 08:15:04 status installed libc6:amd64 2.36-9", {}),
        (
            "2026-06-14 08:15:04.978  INFO 77 --- [main] c.e.App : up",
            {"level": "INFO", "pid": 77, "component": "c.e.App"},
        ),
        ("2026-06-14 08:15:04,978 - app.db - ERROR - lost", {"component": "app.db", "level": "ERROR"}),
        ("2026-06-14 08:15:04.978 UTC [77] LOG:  checkpoint complete", {"pid": 77, "level": "LOG"}),
    ],
)
def test_headings_of_well_known_logs(tmp_path: Path, line: str, attributes: dict[str, object]) -> None:
    rows, summary = taken(tmp_path, f"{line}\n{line}\n")
    assert (summary.accounts[0].format, summary.events) == ("lines", 2)
    assert {name: rows[0][name] for name in attributes} == attributes


def test_the_account_of_a_file_says_what_was_found(tmp_path: Path) -> None:
    taken(tmp_path, SERVER)
    report = tmp_path / "report.json"
    ingest([str(tmp_path / "x.log")], str(tmp_path / "again"), IngestOptions(report=str(report)))
    assert json.loads(report.read_text())["by_file"][0]["format"] == "lines"


def test_messages_of_logfmt_that_differ_by_names_and_numbers_share_a_type(tmp_path: Path) -> None:
    text = "".join(
        f'time=2026-06-14T08:15:0{second}Z level=info msg="order {second}{second} paid by {name}"\n'
        for second, name in enumerate(("ann", "bob", "cy", "dee", "eve", "flo", "gus"))
    )
    rows, _ = taken(tmp_path, text + 'time=2026-06-14T08:15:09Z level=warn msg="cache is full"\n')
    assert [row["event_type"] for row in rows] == ["order paid by"] * 7 + ["cache is full"]
    assert rows[0]["msg"] == "order 00 paid by ann"
    rows, _ = taken(tmp_path, text.replace("msg=", "event="))
    assert len({row["event_type"] for row in rows}) == 7


def test_a_full_date_of_the_first_day_in_a_line_tells_the_year(tmp_path: Path) -> None:
    opened = "12-31 23:59:57.000  1702  2395 I Log: opened at 2014-12-31 23:59:57\n"
    rows, summary = taken(tmp_path, opened + LOGCAT)
    assert [row["time"].year for row in rows] == [2014, 2014, 2014, 2015]  # type: ignore[attr-defined]
    assert any("counted on from the date in one of its lines, 2014-12-31: 4" in n for n in summary.notices)
    another_day = opened.replace("2014-12-31", "2014-06-01")
    _, summary = taken(tmp_path, another_day + LOGCAT)
    assert any("counted back from when it was last changed" in note for note in summary.notices)


def test_how_surely_a_layout_was_found_is_kept_and_inspect_tells_it(tmp_path: Path) -> None:
    taken(tmp_path, SERVER)
    text = str(cepctl.inspect(str(tmp_path / "events")))
    assert "layout of x.log: YYYY-MM-DD hh:mm:ss (in 3 of the first 5 lines); log4j, with thread," in text


def test_indented_lines_go_on_with_their_record_however_many_there_are(tmp_path: Path) -> None:
    details = "".join(f"   [Part {each} (ms):  {each}.5]\n" for each in range(25))
    log = "OpenJDK 64-Bit Server VM (25.111-b14)\nMemory: 4k page\n" + "".join(
        f"2026-06-14T08:15:0{each}.100+0200: 1{each}.345: [GC pause (young), 0.012 secs]\n{details}"
        for each in range(5)
    )
    rows, summary = taken(tmp_path, log)
    assert [row["event_type"] for row in rows] == ["GC pause (young)"] * 5
    assert summary.rejected == {"before the first record of the log": 1}
    assert any("continue the record before them: 125" in notice for notice in summary.notices)
