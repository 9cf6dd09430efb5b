"""Bad input about clocks: one line that names file and line and what to do, and an exit code that tells."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main

ROW = "{} 192.0.2.7 2 -3.541 0.075 {} N 2 {} 0.000e+00 1.534e-02 3.472e-04 {}\n"
TIMES = [f"2026-03-02 09:{minute:02}:12" for minute in range(5)]
ROWS = [ROW.format(time, "1.000e-03", "9.000e-04", "2.130e-02") for time in TIMES]
BANNER = "=" * 40 + "\n   Date (UTC) Time     IP Address   St   Freq ppm\n" + "=" * 40 + "\n"
HOST = ("--host", "*/{host}/tracking.log*")
MINUTE = 60 * 10**9
FIRST = 1_772_442_012 * 10**9


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("node07").mkdir()


def table(log: str, *words: str, code: int = 0, name: str = "tracking.log") -> pl.DataFrame:
    """CLOCKS of a log, without what is held before and after its rows."""
    Path("node07", name).write_text(log)
    words = words or HOST
    assert main(["clocks", "node07", *words, "-o", "clocks.parquet", "--hold", "0 s"]) == code
    return pl.read_parquet("clocks.parquet") if code == 0 else pl.DataFrame()


def said(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err
    assert "Traceback" not in text
    return text


def test_a_host_that_nothing_tells_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    table("".join(ROWS), "--map", "other.log=n", code=2)
    table("".join(ROWS), "--host", "{host}/other.log", code=2)
    text = said(capsys)
    assert (
        "tracking.log: nothing tells whose clock it is; say where its path has the host, such as --host"
        in text
    )
    assert "or name it: --map tracking.log=HOST" in text


def test_a_row_without_a_host_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    table("host,time,ahead,bound\nn1,1,0,1\n,2,0,1\nn1,3,0,1\n", "--bound", "1 s", name="kept.csv")
    assert "a row without a host (line 3)" in said(capsys)


def test_rows_without_a_bound_ask_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    log = "61101 32412.031 -0.012400000 -3.541 0.000743100 0.013380 6\n" * 2
    table(log, "--host", "*/{host}/loopstats", code=3, name="loopstats")
    text = said(capsys)
    assert "node07: rows of loopstats have no bound, the first in loopstats, line 1; say how far" in text
    assert "--bound '10 ms'" in text


def test_an_estimate_beyond_its_bound_widens_it_and_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [ROWS[0], ROWS[1].replace("1.000e-03", "9.000e-02"), ROWS[2]]
    found = table("".join(rows))
    assert "1 estimate outside of its own bound" in said(capsys)
    assert ((found["low"] <= 0) & (found["high"] >= 0)).all()


@pytest.mark.parametrize(
    "bound", ["0.000e+00", "-2.130e-02", "nan", "4.294967296", "-nan", "inf", "1e400", "x"]
)
def test_a_bound_that_cannot_be_is_refused_with_its_line(
    bound: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*ROWS[:2], ROWS[2].replace("2.130e-02", bound), *ROWS[3:]]
    found = table(BANNER + "".join(rows))
    assert "a bound that is 0, negative, 2^32 ns or not a number (line 6)" in said(capsys)
    assert found["from"].to_list() == [FIRST, FIRST + MINUTE, FIRST + 3 * MINUTE]


@pytest.mark.parametrize("sd", ["0.000e+00", "-9.000e-04", "nan", "4.294967296"])
def test_a_deviation_that_cannot_be_is_left_out_and_said(sd: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*ROWS[:2], ROWS[2].replace("9.000e-04", sd), *ROWS[3:]]
    found = table("".join(rows))
    assert "2^32 ns or not a number: the row is kept without it (line 3)" in said(capsys)
    assert found["sd"].is_null().to_list() == [False, True, True, False]


def test_rows_out_of_order_are_readings_that_go_back(capsys: pytest.CaptureFixture[str]) -> None:
    table("".join([ROWS[0], ROWS[3], ROWS[1], ROWS[4]]))
    assert "1 step" in said(capsys)


def test_rows_that_occur_twice_count_once(capsys: pytest.CaptureFixture[str]) -> None:
    once = table("".join(ROWS))
    capsys.readouterr()
    twice = table("".join(each * 2 for each in ROWS))
    assert twice.drop("line").equals(once.drop("line"))
    assert "5 rows equal to others and counted once" in said(capsys)


def test_a_row_that_is_cut_in_half_costs_itself(capsys: pytest.CaptureFixture[str]) -> None:
    found = table("".join(ROWS) + ROWS[0][:40])
    assert len(found) == 4
    assert "line 6" in said(capsys)
    table("".join(ROWS[:2]) + ROWS[2][:40] + "\n" + "".join(ROWS[3:]))
    assert "not a line of this log: 6 columns (line 3)" in said(capsys)


def test_a_banner_in_the_middle_is_no_row_and_no_restart(capsys: pytest.CaptureFixture[str]) -> None:
    found = table("".join(ROWS[:2]) + BANNER + "".join(ROWS[2:]))
    assert found.drop("line").equals(table("".join(ROWS)).drop("line"))
    text = said(capsys)
    assert "0 steps" in text
    assert "not understood" not in text
    assert found["line"].to_list() == [2, 6, 7, 8]


def test_a_day_beyond_today_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    line = "{} {}.031 -0.012400000 -3.541 0.000743100 0.013380 6\n"
    log = "".join(
        line.format(day, 32_412 + 64 * at) for at, day in enumerate([61_101, 61_101, 161_101, 61_101])
    )
    found = table(log, "--host", "*/{host}/loopstats", "--bound", "1 s", name="loopstats")
    assert "a day in the future; mend the number of the day (MJD) (line 3)" in said(capsys)
    assert len(found) == 2


HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
WHOLE = "n,0,10000000,0,0,-2,2,{sd},1,1,{jump}\n"
EVENTS = "event_id,event_type,time,node\na,A,1970-01-01T00:00:00.001Z,n\nb,B,1970-01-01T00:00:00.002Z,other\n"


def ingested(rows: str, clock: str = 'by = "node", from = "clocks.csv"', code: int = 3) -> None:
    Path("clocks.csv").write_text(HEAD + rows)
    Path("model.toml").write_text(f"[[rule]]\nclock = {{ {clock} }}\n")
    Path("log.csv").write_text(EVENTS)
    assert main(["ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml"]) == code


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            "n,0,10,0,0,-2,2,,1,1,\nn,9,20,0,0,-2,2,,1,1,\n",
            "row 2 ('n') overlaps the row before it; a reading has",
        ),
        (
            "n,0,10,0,0,-2,2,,1,1,\nn,10,20,0,0,-2,2,,2,1,\n",
            "row 2 ('n') has the segment of the row before it and another epoch; a segment lies in one epoch",
        ),
        (
            "n,0,10,0,0,1,2,,1,1,\n",
            "row 1 ('n') has a `low` above 0; the estimate itself lies between low and",
        ),
        (WHOLE.format(sd="0", jump=""), "row 1 ('n') has an sd that is not a number above 0; leave it empty"),
        (
            WHOLE.format(sd="-1", jump=""),
            "row 1 ('n') has an sd that is not a number above 0; leave it empty",
        ),
        (
            WHOLE.format(sd="NaN", jump=""),
            "row 1 ('n') has an sd that is not a number above 0; leave it empty",
        ),
        (
            WHOLE.format(sd="inf", jump=""),
            "row 1 ('n') has an sd that is not a number above 0; leave it empty",
        ),
        (WHOLE.format(sd="", jump="-1"), "row 1 ('n') has a `jump` below 0; it is how far two residuals"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_with_its_row(
    rows: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ingested(rows, code=2)
    text = said(capsys)
    assert f"model.toml: rule 1: clock: clocks.csv: {told}" in text
    assert len([line for line in text.splitlines() if line.startswith("error")]) == 1


@pytest.mark.parametrize("key", ["offset", "period"])
def test_a_table_and_an_offset_exclude_each_other(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    ingested(WHOLE.format(sd="", jump=""), f'by = "node", from = "clocks.csv", {key} = "1 s"', code=2)
    assert f"model.toml: rule 1: clock: `from` and `{key}` exclude each other; keep one of them" in said(
        capsys
    )


def test_hosts_that_the_table_lacks_are_counted_with_those_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    ingested(WHOLE.format(sd="", jump=""), code=0)
    text = said(capsys)
    assert "rule 1 passes over, since clocks.csv does not have their 'node' (it has n): 1" in text
