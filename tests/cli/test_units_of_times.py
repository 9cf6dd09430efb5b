"""Units and forms of times as a user of the command line meets them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    return tmp_path


def test_a_query_on_a_plain_file_reads_seconds_as_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("event_type,time\nA,1714550400\nB,1714550460\n")
    assert main(["match", QUERY + " WITHIN 2 min", "a.csv"]) == 0
    shown = capsys.readouterr()
    assert "1.0,2024-05-01T08:00:00.000Z,2024-05-01T08:01:00.999Z,a.csv#1 a.csv#2" in shown.out
    assert shown.err.count("read as seconds since 1970: 2") == 1
    assert main(["match", QUERY, "a.csv", "--epoch-unit", "ms", "-q"]) == 0
    assert "1970-01-20T20:15:50.400Z" in capsys.readouterr().out


def test_semicolons_and_a_form_of_times_work_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "what;when\nA;03/Apr/2026:12:00:00 +0200\nB;03/Apr/2026:12:00:01 +0200\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    asked = ["--map", "event_type=what,time=when", "--time-format", "%d/%b/%Y:%H:%M:%S %z"]
    assert main(["match", QUERY, "-", *asked]) == 0
    assert "1.0,2026-04-03T10:00:00.000Z,2026-04-03T10:00:01.999Z,stdin#1 stdin#2" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["match", QUERY], ["explain", QUERY], ["inspect"]])
def test_another_form_of_dates_is_named_once_by_every_command(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.csv").write_text("event_type,time\n" + "A,03.04.2026 12:00\n" * 100)
    assert main([*command, "a.csv"]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("03.04.2026") == 1
    assert "--time-format '%d.%m.%Y %H:%M'" in shown.err


def test_a_form_and_a_unit_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("event_type,time\nA,20240501\n")
    assert main(["inspect", "a.csv", "--time-format", "%Y%m%d", "--epoch-unit", "s"]) == 2
    assert "--epoch-unit cannot apply with --time-format" in capsys.readouterr().err
    assert main(["inspect", "a.csv", "--time-format", "%Q"]) == 2
    assert main(["inspect", "a.csv", "--time-format", "%Y%m%d"]) == 0


@pytest.mark.parametrize(
    "command", [["match", QUERY], ["explain", QUERY], ["inspect"], ["ingest", "-o", "d"]]
)
def test_input_that_is_mostly_bad_is_refused_by_every_command(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.jsonl").write_text('{"event_type": "A", "time": "?"}\n' * 8)
    assert main([*command, "a.jsonl"]) == 3
    shown = capsys.readouterr()
    assert "8 of 8 records are bad, and there is no event" in shown.err
    assert "--map FIELD=COLUMN" in shown.err
    assert not Path("d").exists()


def test_how_times_were_read_stands_in_the_account_of_a_file(folder: Path) -> None:
    Path("a.csv").write_text("event_type,time\nA,1714550400\nB,2024-05-01T08:01:00Z\n")
    assert main(["ingest", "a.csv", "-o", "events", "-q", "--report", "report.json"]) == 0
    (account,) = json.loads(Path("report.json").read_text())["by_file"]
    assert account["time_forms"] == {"time numbers": "s", "time texts": "ISO 8601"}


def test_runs_over_a_log_that_grows_read_its_numbers_as_its_first(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["match", QUERY + " WITHIN 1 min", "a.csv", "--state", "state", "-q"]
    Path("a.csv").write_text("event_type,time\nA,1714550400\n")
    assert main(command) == 0
    with Path("a.csv").open("a") as log:
        log.write("B,5\n")
    assert main(command) == 0
    assert "a number of another size than the first" in capsys.readouterr().err
    with Path("a.csv").open("a") as log:
        log.write("B,1714550401\n")
    assert main([*command, "--final"]) == 0
    assert "1.0,2024-05-01T08:00:00.000Z,2024-05-01T08:00:01.999Z,a.csv#1 a.csv#3" in capsys.readouterr().out


def test_records_of_cloudtrail_pair_within_their_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    # As many of one second as such logs have: none of them says which was the first.
    seconds = [0, 0, 0, 1, 1, 2, 2, 2, 3, 7, 7, 7, 8, 8, 9, 9, 9, 20, 20, 21]
    records = [
        {
            "eventVersion": "1.08",
            "userIdentity": {"type": "IAMUser", "userName": ["ann", "bob"][number % 2]},
            "eventTime": f"2023-07-10T12:01:{second:02}Z",
            "eventName": ["AssumeRole", "PutObject"][number // 2 % 2],
            "eventID": f"id-{number:02}",
        }
        for number, second in enumerate(seconds)
    ]
    Path("trail.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    columns = ["--map", "event_type=eventName,event_id=eventID,time=eventTime"]
    assert main(["ingest", "trail.jsonl", "-o", "trail", *columns, "-q"]) == 0
    possible = {
        f"{a['eventID']} {b['eventID']}"
        for a, first in zip(records, seconds, strict=True)
        for b, second in zip(records, seconds, strict=True)
        if (a["eventName"], b["eventName"]) == ("AssumeRole", "PutObject") and 0 <= second - first <= 21
    }
    assert len(possible) == 63
    query = "PATTERN SEQ(AssumeRole a, PutObject b) WITHIN 21 s"
    assert main(["match", query, "trail", "-q"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert {row.rpartition(",")[2] for row in rows} == possible
    same = {row for row in rows if row.endswith(" id-02")}
    span = "0.4995,2023-07-10T12:01:00.000Z,2023-07-10T12:01:00.999Z"
    assert same == {f"{span},id-00 id-02", f"{span},id-01 id-02"}
    assert main(["ingest", "trail.jsonl", "-o", "exact", *columns, "--exact-times", "-q"]) == 0
    assert main(["match", query, "exact", "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()[1:]) < len(rows)
