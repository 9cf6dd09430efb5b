"""`inspect` as a user calls it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.matching.inputs import read_events
from cepctl.schema import META_TYPE_COUNTS
from cepctl.uncertainty.model import load_model


@pytest.fixture(autouse=True)
def csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    return tmp_path / "log.csv"


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """All that `inspect` prints, blanks made one."""
    assert main(["inspect", "--full", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_types_attributes_span_and_ties_are_shown(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text(
        "event_type,lower,upper,time,node\nCPU,1000,2000,5,n1\nCPU,3000,3000,5,\nJob,4000,4000,,\n"
    )
    shown = inspected(capsys, "log.csv")
    assert "3 events of 2 types, time unit 1 ms" in shown
    assert "from 1970-01-01T00:00:01.000Z to 1970-01-01T00:00:04.000Z" in shown
    assert "intervals longer than one tick: 1" in shown
    assert "logged times that tie with another event's: 2 of 2" in shown
    assert "events without a logged time: 1" in shown
    assert "node string 1" in shown
    assert "CPU 2 1970-01-01T00:00:01.000Z 1970-01-01T00:00:03.000Z 0 2 0" in shown
    assert "Job 1 1970-01-01T00:00:04.000Z 1970-01-01T00:00:04.000Z 1 0 0" in shown


def test_granularity_is_shown_with_its_evidence(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = "".join(f"Day,2024-05-{day:02}T00:00:00+02:00\n" for day in range(1, 31))
    seconds = "".join(f"Tick,2024-05-01T00:00:{second:02}Z\n" for second in range(60))
    csv.write_text(f"event_type,time\n{days}{seconds}{seconds}Rare,2024-05-01T00:00:00Z\n")
    shown = inspected(capsys, "log.csv")
    assert "log.csv Day 1 day 100.0% of 30 times, in the written zone" in shown
    assert "log.csv Tick 1 s 100.0% of 120 times (60 distinct), in UTC" in shown
    assert "log.csv Rare 1 s 100.0% of 1 time, in the written zone, as of all types of the source" in shown
    csv.write_text(f"event_type,time\n{seconds}Odd,2024-05-01T00:00:00.000001Z\n")
    assert "log.csv Odd unknown only 1 distinct time" in inspected(capsys, "log.csv")


def test_the_suggested_model_widens_rare_types_of_a_file_of_whole_seconds_too(
    csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = "".join(f"Tick,2024-05-01T00:00:{second:02}Z\n" for second in range(60))
    csv.write_text(f"event_type,time\n{seconds}Rare,2024-05-01T00:00:07Z\n")
    inspected(capsys, "log.csv", "--write-model", "model.toml")
    assert main(["ingest", "log.csv", "-o", "wide", "--uncertainty", "model.toml", "-q"]) == 0
    table = read_events(["wide"])
    widths = {upper - lower for lower, upper in zip(*map(table.column, ("lower", "upper")), strict=True)}
    assert {width.as_py() for width in widths} == {999}


def test_an_event_log_that_is_ordered_by_trace_gives_no_alarm(
    csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv.write_text("event_type,time,case_id\nA,2000,c1\nB,3000,c1\nA,500,c2\nB,400,c2\n")
    shown = inspected(capsys, "log.csv")
    assert "after a later one: 1 of 4 (written trace by trace: judged within each trace)" in shown
    assert "log.csv 1 of 4, within its trace 0.100 s" in shown


def test_files_out_of_order_are_named(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("event_type,time\nA,2000\nA,500\nA,3000\n")
    shown = inspected(capsys, "log.csv")
    assert "events that their file has after a later one: 1 of 3" in shown
    assert "log.csv 1 of 3 1.500 s" in shown
    csv.write_text("event_type,event_id,time\nA,a,2000\nA,b,500\n")
    assert "order in the files: not known, the events have ids of their own" in inspected(capsys, "log.csv")


def test_clocks_that_are_provably_wrong_are_listed(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text(
        "event_type,time,node,task_id,attempt_id\n"
        "TaskStart,10000,,t1,\nMapAttemptStart,9000,n1,t1,a1\nMapAttemptFinish,15000,n1,t1,a1\n"
        "TaskFinish,20000,,t1,\n"
        "TaskStart,10000,,t2,\nMapAttemptStart,11000,n2,t2,a2\nMapAttemptFinish,15000,n2,t2,a2\n"
        "TaskFinish,20000,,t2,\n"
    )
    shown = inspected(capsys, "log.csv")
    assert "clocks bounded by attempts and their tasks: 2 nodes, 1 of them provably wrong (50.0%)" in shown
    assert "n1 behind -5.000 s -1.000 s 1" in shown
    assert "n2" not in shown.partition("Provably wrong clocks")[2]


def test_json_holds_everything(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"CPU,{15_000 * number},n1,{number}\n" for number in range(40))
    csv.write_text(f"event_type,time,node,value\n{rows}")
    assert main(["inspect", "log.csv", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["events"], content["time_unit"], content["ties"]) == (
        40,
        "1 ms",
        {"timed": 40, "tied": 0},
    )
    assert content["grains"][0]["step"] == "15 s"
    assert content["series"][0]["step_microseconds"] == 15_000_000
    assert content["attributes"][0] == {"name": "node", "type": "string", "values": 40}


def test_the_suggested_model_can_be_assigned_and_leaves_nothing_to_suggest(
    csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days = "".join(f"Day,2024-05-{day:02}T00:00:00.0+02:00,,\n" for day in range(1, 31))
    loads = "".join(f"load,2024-05-01T00:{at // 4:02}:{at % 4 * 15:02}Z,n1,{at}\n" for at in range(40))
    csv.write_text(f"event_type,time,node,value\n{days}{loads}")
    assert main(["ingest", "log.csv", "-o", "events"]) == 0
    assert main(["inspect", "events", "--write-model", "model.toml"]) == 0
    assert len(load_model("model.toml").rules) == 2
    assert main(["assign", "events", "-o", "wide", "--uncertainty", "model.toml"]) == 0
    widths = {(row["event_type"], row["upper"] - row["lower"]) for row in read_events(["wide"]).to_pylist()}
    assert widths == {("Day", 86_400_000 - 1), ("load", 15_000)}
    capsys.readouterr()
    assert main(["inspect", "wide", "--write-model", "again.toml"]) == 0
    assert load_model("again.toml").rules == ()


def test_a_model_that_cannot_be_written_is_an_error(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("event_type,time\nA,1\n")
    assert main(["inspect", "log.csv", "--write-model", "nowhere/model.toml"]) == 4
    assert "cannot write nowhere/model.toml" in capsys.readouterr().err


def test_an_empty_dataset_is_no_error(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("event_type,time\n")
    assert "0 events of 0 types" in inspected(capsys, "log.csv", "--write-model", "model.toml")
    assert load_model("model.toml").rules == ()


def test_a_dataset_of_no_events_may_have_attributes(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("event_type,time,node\nA,1,n1\n")
    assert main(["ingest", "log.csv", "-o", "events", "-q"]) == 0
    (part,) = Path("events").glob("*.parquet")
    nothing = pq.read_table(part).slice(0, 0)
    pq.write_table(nothing.replace_schema_metadata({**nothing.schema.metadata, META_TYPE_COUNTS: "{}"}), part)
    assert "0 events of 0 types" in (shown := inspected(capsys, "events"))
    assert "node string 0" in shown


def test_on_a_terminal_a_row_of_the_screen_is_a_line(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long values fold in files, and with --full."""
    names = ("a", "b", "c", "d")
    csv.write_text("event_type,time,long\n" + "".join(f"A,5,{name * 30}\n" for name in names))
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["inspect", "log.csv"]) == 0
    (line,) = (line for line in screen.getvalue().splitlines() if line.startswith("long"))
    assert line.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert main(["inspect", "--full", "log.csv"]) == 0
    assert "a" * 30 in screen.getvalue().replace("\n", "").replace(" ", "")


class Screen(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True
