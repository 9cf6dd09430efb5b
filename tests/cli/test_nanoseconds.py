"""Datasets with ticks of a nanosecond in every command: ordered, measured and printed to the last digit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main

DAY = "2026-06-14T00:00:00"
FIRST, SECOND = f"{DAY}.000000100Z", f"{DAY}.000000900Z"
TICK = 1_781_395_200_000_000_100
QUERY = "PATTERN SEQ(A a, B b) WITHIN 801 ns RETURN a.time"
HEADER = "a.time,confidence,start,end,match\n"
ROW = f"{FIRST},1.0,{FIRST},{SECOND},a1 b1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "log.csv").write_text(f"event_type,event_id,time\nA,a1,{FIRST}\nB,b1,{SECOND}\n")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Standard output of one call, in this process."""
    assert main([*arguments]) == code
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> str:
    assert main([*arguments]) == code
    return capsys.readouterr().err


@pytest.mark.parametrize("engine", ["event", "point", "worlds"])
@pytest.mark.parametrize(
    ("window", "rows"),
    [
        ("801 ns", ROW),
        ("0.801 us", ROW),
        ("801 ticks", ROW),
        ("INTERVAL '801' NANOSECOND", ROW),
        ("800 ns", ""),
    ],
)
def test_windows_of_nanoseconds_decide(
    capsys: pytest.CaptureFixture[str], engine: str, window: str, rows: str
) -> None:
    query = f"PATTERN SEQ(A a, B b) WITHIN {window} RETURN a.time"
    assert told(capsys, "match", query, "log.csv", "--engine", engine) == HEADER + rows


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("b.time - a.time <= 800 ns", True),
        ("b.time - a.time < 800 ns", False),
        (f"a.time >= '{FIRST}'", True),
        (f"a.time > '{FIRST}'", False),
    ],
)
def test_conditions_on_times_hold_to_the_nanosecond(
    capsys: pytest.CaptureFixture[str], condition: str, found: bool
) -> None:
    rows = told(capsys, "match", f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.time", "log.csv")
    assert rows == HEADER + (ROW if found else "")


def test_a_window_that_is_no_whole_tick_names_the_unit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("coarse.csv").write_text(f"event_type,time\nA,{DAY}.5Z\n")
    query = "PATTERN SEQ(A a, B b) WITHIN 5 ns"
    said = refused(capsys, "match", query, "coarse.csv", code=2)
    assert (
        "5 ns is not a whole number of ticks: one tick is 1 ms; read the logs with --time-unit '1 ns'" in said
    )
    assert told(capsys, "match", query, "coarse.csv", "--time-unit", "ns").count("\n") == 1


def test_rows_carry_all_digits_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(told(capsys, "match", QUERY, "log.csv", "--format", "json"))
    assert (row["a.time"], row["start"], row["end"]) == (FIRST, FIRST, SECOND)
    told(capsys, "match", QUERY, "log.csv", "-o", "rows.parquet")
    rows = pq.read_table("rows.parquet")
    for name, tick in (("a.time", TICK), ("start", TICK), ("end", TICK + 800)):
        assert rows.schema.field(name).type == pa.timestamp("ns", "UTC")
        assert rows.column(name).cast(pa.int64()).to_pylist() == [tick]
    ticks = told(capsys, "match", QUERY, "log.csv", "--time", "ticks")
    assert ticks == f"{HEADER}{FIRST},1.0,{TICK},{TICK + 800},a1 b1\n"


@pytest.mark.parametrize(
    ("option", "digits", "found"),
    [
        ("--since", "100", True),
        ("--since", "101", False),
        ("--until", "100", True),
        ("--until", "099", False),
    ],
)
def test_since_and_until_count_nanoseconds(
    capsys: pytest.CaptureFixture[str], option: str, digits: str, found: bool
) -> None:
    rows = told(capsys, "match", QUERY, "log.csv", option, f"{DAY}.000000{digits}Z")
    assert rows == HEADER + (ROW if found else "")


@pytest.mark.slow
@pytest.mark.spark
def test_both_runners_write_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "ingest", "log.csv", "-o", "spark", "--runner", "spark")
    told(capsys, "ingest", "log.csv", "-o", "local")
    parts = [Path(name, "part-00000.parquet").read_bytes() for name in ("spark", "local")]
    assert parts[0] == parts[1]
    assert told(capsys, "match", QUERY, "spark", "--runner", "spark") == HEADER + ROW


def test_show_draws_raw_times_with_all_digits(capsys: pytest.CaptureFixture[str]) -> None:
    shown = told(capsys, "show", QUERY, "log.csv", "--rank", "1")
    assert "00:00:00.000000100Z" in shown
    assert "00:00:00.000000900Z" in shown
    assert "800 ns" in shown or "801 ns" in shown


def test_a_page_and_a_trace_hold_nanoseconds(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "match", QUERY, "log.csv", "--format", "trace", "-o", "trace.json")
    text = Path("trace.json").read_text()
    assert '"ts":1781395200000000.100' in text
    assert '"dur":0.801' in text
    drawn = json.loads(text)["traceEvents"]
    assert [each["args"]["raw_time"] for each in drawn if "raw_time" in each.get("args", {})] == [
        FIRST,
        SECOND,
    ]
    told(capsys, "report", QUERY, "log.csv", "-o", "page.html")
    assert '"unit":1,' in Path("page.html").read_text()


def test_inspect_and_explain_speak_of_nanoseconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "inspect", "log.csv").startswith(
        f"2 events of 2 types, time unit 1 ns\nfrom {FIRST} to {SECOND}\n"
    )
    explained = told(capsys, "explain", QUERY, "log.csv")
    assert "801 ns: first and last event" in explained


def test_logged_times_that_would_have_missed_are_told_to_the_nanosecond(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("model.toml").write_text("[[rule]]\ninterval = { before = '1 ns', after = '1 us' }\n")
    Path("turned.csv").write_text(f"event_type,time\nB,{FIRST}\nA,{SECOND}\n")
    assert main(["match", "PATTERN SEQ(A a, B b)", "turned.csv", "--uncertainty", "model.toml"]) == 0
    said = capsys.readouterr()
    assert said.out.count("\n") == 2
    assert "would have missed 1" in " ".join(said.err.split()) or "1 of 1" in said.err


def test_an_incremental_run_keeps_ticks_of_a_nanosecond(capsys: pytest.CaptureFixture[str]) -> None:
    log = Path("growing.csv")
    log.write_text(f"event_type,event_id,time\nA,a1,{FIRST}\n")
    words = (
        "match",
        QUERY,
        "growing.csv",
        "--state",
        "state",
        "--slack",
        "5 ns",
        "-o",
        "out",
        "--format",
        "csv",
    )
    told(capsys, *words)
    with log.open("a") as stream:
        stream.write(f"B,b1,{SECOND}\nA,a2,{DAY}.000002Z\nA,a3,2026-06-14T00:00:01Z\n")
    told(capsys, *words)
    assert max(Path("out").iterdir()).read_text() == HEADER + ROW


def test_datasets_of_other_ticks_in_one_query_are_counted_in_nanoseconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("coarse.csv").write_text(f"event_type,event_id,time\nB,b2,{DAY}.001Z\nA,a2,2027-06-14T00:00:00.5Z\n")
    told(capsys, "ingest", "log.csv", "-o", "fine")
    told(capsys, "ingest", "coarse.csv", "-o", "coarse")
    rows = told(capsys, "match", "PATTERN SEQ(A a, B b) WITHIN 5 ms RETURN b.time", "fine", "coarse")
    assert f"{DAY}.001000000Z,1.0,{FIRST},{DAY}.001999999Z,a1 b2\n" in rows


def test_a_dataset_that_nanoseconds_do_not_reach_is_refused_beside_one_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("far.csv").write_text("event_type,event_id,time\nB,b2,9999-12-31T00:00:00.5Z\n")
    told(capsys, "ingest", "log.csv", "-o", "fine")
    told(capsys, "ingest", "far.csv", "-o", "far")
    said = refused(capsys, "match", "PATTERN SEQ(A a, B b) RETURN b.time", "fine", "far", code=3)
    assert "beyond what ticks of 1 ns, those of another one, reach" in said
    assert "ingest the latter again with --time-unit us" in said


def test_sketches_tell_where_matches_to_the_nanosecond_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "ingest", "log.csv", "-o", "fine", "--sketch")
    assert FIRST[:19] in told(capsys, "probe", QUERY, "fine")


def test_the_library_gives_all_digits() -> None:
    matches = cepctl.match(QUERY, "log.csv")
    (row,) = matches
    assert [str(row[name]) for name in ("a.time", "start", "end")] == [
        time.removesuffix("Z") for time in (FIRST, FIRST, SECOND)
    ]
    assert row["start"] - np.datetime64(DAY) == np.timedelta64(100, "ns")
    assert len(cepctl.match(QUERY, "log.csv", since=SECOND)) == 0
    assert str(matches.found.plan.time_unit) == "1 ns"
    assert "000000100" in matches._repr_html_()
    assert FIRST in repr(matches)
