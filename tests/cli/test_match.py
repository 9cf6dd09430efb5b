"""`cepctl match` as a user calls it: the rows byte for byte, what is said, exit codes."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.plan.evaluation_order import ORDERS

QUERY = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks"
AB = "PATTERN SEQ(A a, B b)"
FIGURE = "event_id,event_type,lower,upper\na1,A,1,5\nc2,C,3,5\nb3,B,3,5\nc4,C,4,8\n"
HEADER = "confidence,start,end,match\n"
TICKS = f"{HEADER}0.12000000000000002,1,7,a1 b3 c4\n0.1111111111111111,1,5,a1 b3 c2\n"
ISO = (
    f"{HEADER}0.12000000000000002,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.007Z,a1 b3 c4\n"
    "0.1111111111111111,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.005Z,a1 b3 c2\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with ZDI10's Fig. 1 as a plain file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "fig1.csv").write_text(FIGURE)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Standard output of one call, in this process."""
    assert main(["match", *arguments]) == code
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What a call that fails says; it prints no rows."""
    assert main(["match", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def installed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = shutil.which("cepctl", path=str(Path(sys.executable).parent)) or "cepctl"
    return subprocess.run([command, "match", *arguments], capture_output=True, text=True, check=False)


# --- the worked example --------------------------------------------------------------------


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_the_worked_example_byte_for_byte(runner: str) -> None:
    """25/225 and 27/225, as semantics has them; nothing else on standard output."""
    done = installed(QUERY, "fig1.csv", "--runner", runner)
    assert (done.returncode, done.stdout) == (0, ISO)
    assert done.stderr.startswith("2 matches in 4 events, ")
    assert done.stderr.count("\n") == 1


def test_a_query_may_begin_with_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, f"-- who came first?\n{QUERY}", "fig1.csv", "--time", "ticks") == TICKS


def test_no_match_leaves_the_header(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "PATTERN SEQ(C c, B b, A a, A d)", "fig1.csv", "--fail-on-match") == HEADER
    assert told(capsys, "PATTERN SEQ(C c, B b, A a, A d)", "fig1.csv", "--quiet") == ""


# --- estimates -----------------------------------------------------------------------------


COUPLED = "PATTERN SEQ(A a, !B n, C c) WHERE c.time - a.time <= 3 ticks WITHIN 4 ticks"


def test_estimates_carry_their_error_and_are_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.rows.WORK_BOUND", 0)
    assert main(["match", COUPLED, "fig1.csv", "--approximate", "0.05", "--time", "ticks"]) == 0
    captured = capsys.readouterr()
    header, first, _ = captured.out.splitlines()
    assert header == "confidence,confidence_error,start,end,match"
    assert first.startswith("0.")
    assert first.endswith(",0.05,1,5,a1 c2")
    assert captured.err.splitlines()[0] == (
        "warning: 2 of 2 confidences are estimates from 2,902 sampled worlds each, off by more than 0.05 "
        "with a probability of at most 1e-06"
    )


def test_what_need_not_be_estimated_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "fig1.csv", "--approximate", "0.05"]) == 0
    captured = capsys.readouterr()
    assert [line.split(",")[1] for line in captured.out.splitlines()] == [
        "confidence_error",
        "0.0",
        "0.0",
    ]
    assert "note:" not in captured.err


def test_what_is_too_costly_is_refused_unless_an_error_is_allowed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.rows.WORK_BOUND", 0)
    assert "allow an error with --approximate" in refused(capsys, COUPLED, "fig1.csv")
    assert "0.0001<=x<=0.5" in refused(capsys, COUPLED, "fig1.csv", "--approximate", "0")
    summary = ("--approximate", "0.1", "--kleene", "summary")
    assert "cannot apply with --kleene summary" in refused(capsys, COUPLED, "fig1.csv", *summary)


# --- forms of the rows ---------------------------------------------------------------------


def test_times_may_be_ticks(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, QUERY, "fig1.csv", "--time", "ticks") == TICKS


def test_jsonl_has_the_signature_as_lists(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in told(capsys, QUERY, "fig1.csv", "--format", "jsonl").splitlines()]
    assert rows[0] == {
        "match": "a1 b3 c4",
        "signature": [["a1"], ["b3"], ["c4"]],
        "start": "1970-01-01T00:00:00.001Z",
        "end": "1970-01-01T00:00:00.007Z",
        "confidence": 0.12000000000000002,
    }
    assert len(rows) == 2


def test_parquet_has_true_timestamps() -> None:
    assert main(["match", QUERY, "fig1.csv", "-o", "rows.parquet"]) == 0
    rows = pq.read_table("rows.parquet")
    assert rows.schema.field("start").type == pa.timestamp("ms", tz="UTC")
    assert rows.column("signature").to_pylist()[1] == [["a1"], ["b3"], ["c2"]]
    assert main(["match", QUERY, "fig1.csv", "-o", "rows.parquet", "--time", "ticks"]) == 0
    assert pq.read_table("rows.parquet").column("end").to_pylist() == [7, 5]


def test_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    shown = told(capsys, QUERY, "fig1.csv", "--format", "table")
    assert shown.splitlines() == [
        "confidence  start                     end                       match",
        "  0.120000  1970-01-01T00:00:00.001Z  1970-01-01T00:00:00.007Z  a1 b3 c4",
        "  0.111111  1970-01-01T00:00:00.001Z  1970-01-01T00:00:00.005Z  a1 b3 c2",
    ]


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.csv", b"confidence,"), ("r.jsonl", b'{"confidence"'), ("r.parquet", b"PAR1")],
)
def test_the_name_of_the_output_tells_its_form(
    name: str, start: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, QUERY, "fig1.csv", "-o", name) == ""
    assert Path(name).read_bytes().startswith(start)


def test_the_output_replaces_a_file_only_when_it_is_whole(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {*folder.iterdir()}
    write("rows.csv", "kept")
    assert main(["match", "PATTERN SEQ(A a, B b) WHERE a.no = 1", "fig1.csv", "-o", "rows.csv"]) == 2
    assert main(["match", QUERY, "fig1.csv", "-o", "rows.csv", "--max-matches", "1"]) == 2
    assert Path("rows.csv").read_text() == "kept"
    assert main(["match", QUERY, "fig1.csv", "-o", "rows.csv"]) == 0
    assert Path("rows.csv").read_text() == ISO
    assert {*folder.iterdir()} == {*before, folder / "rows.csv"}


@pytest.mark.parametrize(
    ("output", "cause"), [(".", "it is a directory"), ("no/rows.csv", "no directory no")]
)
def test_an_output_that_cannot_be_is_refused_before_the_work(
    output: str, cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cause in refused(capsys, QUERY, "fig1.csv", "-o", output)


def test_columns_of_every_type(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "log.csv",
        "event_id,event_type,time,n,v,s,ok\n"
        'a 1,A,2024-01-01T00:00:00Z,7,1.5,"x, ""y""",true\n'
        "b+1%,B,2024-01-01T00:00:01.5Z,,,,\n",
    )
    query = f"{AB} RETURN a.time, a.n, a.v, a.s AS said, a.ok, b.n, b.v, b.s, b.ok, a.n + 1 AS more, b"
    assert told(capsys, query, "log.csv") == (
        "a.time,a.n,a.v,said,a.ok,b.n,b.v,b.s,b.ok,more,b,confidence,start,end,match\n"
        '2024-01-01T00:00:00.000000Z,7,1.5,"x, ""y""",true,,,,,8,b+1%,'
        "1.0,2024-01-01T00:00:00.000Z,2024-01-01T00:00:01.500Z,a%201 b%2B1%25\n"
    )
    row = json.loads(told(capsys, query, "log.csv", "--format", "jsonl"))
    assert (row["a.time"], row["a.n"], row["said"], row["b.n"]) == (
        "2024-01-01T00:00:00.000000Z",
        7,
        'x, "y"',
        None,
    )


# --- which rows ----------------------------------------------------------------------------


def test_the_most_probable_rows_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "fig1.csv", "--top-k", "1", "--time", "ticks"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "".join(TICKS.splitlines(keepends=True)[:2])
    assert captured.err.startswith("1 match in 4 events, the most probable, ")


@pytest.mark.parametrize(
    ("query", "option", "rows"),
    [("", "0.12", 1), ("", "0.1", 2), ("0.12", "0.1", 1), ("0.1", "0.12", 1), ("0.12", "", 1), ("", "1", 0)],
)
def test_the_larger_of_both_bounds_on_confidence_holds(
    query: str, option: str, rows: int, capsys: pytest.CaptureFixture[str]
) -> None:
    clause = f" CONFIDENCE >= {query}" if query else ""
    options = ["--min-confidence", option] if option else []
    assert told(capsys, QUERY + clause, "fig1.csv", *options).count("\n") == rows + 1


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        (["--since", "1970-01-01T00:00:10Z"], [10, 20]),
        (["--since", "1970-01-01T00:00:10.0001Z"], [20]),
        (["--until", "1970-01-01T00:00:10Z"], [0, 10]),
        (["--until", "1970-01-01T00:00:09.9999Z"], [0]),
        (["--since", "1970-01-01T01:00:05+01:00", "--until", "1970-01-01T00:00:15"], [10]),
    ],
)
def test_matches_are_kept_by_their_start(
    options: list[str], starts: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    times = "".join(f"A,{10 * i}000,{10 * i}000\nB,{10 * i}001,{10 * i}001\n" for i in range(3))
    write("log.csv", f"event_type,lower,upper\n{times}")
    lines = told(capsys, f"{AB} WITHIN 1 s", "log.csv", "--time", "ticks", *options).splitlines()[1:]
    assert [int(line.split(",")[1]) // 1000 for line in lines] == starts


def test_matches_can_be_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, QUERY, "fig1.csv", "--fail-on-match", "--quiet", "--time", "ticks", code=1) == TICKS


@pytest.mark.parametrize(
    ("engine", "order"),
    [*(("event", order) for order in ORDERS), ("point", "auto"), ("worlds", "auto")],
)
def test_engine_and_order_change_no_row(engine: str, order: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = told(capsys, QUERY, "fig1.csv", "--engine", engine, "--order", order).splitlines()
    assert [row.split(",", 1)[1] for row in rows] == [row.split(",", 1)[1] for row in ISO.splitlines()]
    assert [float(row.split(",", 1)[0]) for row in rows[1:]] == pytest.approx([27 / 225, 25 / 225], abs=1e-9)


# --- what goes wrong -----------------------------------------------------------------------


def test_a_mistyped_word_is_shown_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, f"{AB} WITHN 3 s", "fig1.csv") == (
        "error: line 1, column 23: found 'WITHN', expected the next clause, such as WHERE or WITHIN, or the "
        "end; did you mean 'WITHIN'?\n"
        "  PATTERN SEQ(A a, B b) WITHN 3 s\n"
        "                        ^^^^^\n"
    )


def test_an_unknown_attribute_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    write("log.csv", "event_type,time,node\nA,1,n1\n")
    assert "did you mean 'node'?" in refused(capsys, f"{AB} WHERE a.nod = 'n1'", "log.csv")


def test_an_unknown_type_is_a_warning_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN SEQ(A a, BB b)", "fig1.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out == HEADER
    assert captured.err.startswith("warning: line 1, column 18: no event has the type 'BB'")


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("gone.csv", None, "error: no input at gone.csv"),
        ("noise.bin", "\x01\x02 no log", "noise.bin: of no known format"),
        ("bad.csv", "event_type,time\n" + 11 * "A,?\n", "bad.csv:2"),
    ],
)
def test_input_that_cannot_be_read_exits_with_3(
    name: str, content: str | None, cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        write(name, content)
    said = refused(capsys, AB, name, code=3)
    assert cause in said
    assert "Traceback" not in said


def test_too_many_matches_are_an_error_that_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, QUERY, "fig1.csv", "--max-matches", "1")
    assert said.startswith("error: the query has more than 1 match")
    assert "--max-matches" in said


def test_the_point_engine_names_what_it_does_not_run_and_who_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = refused(capsys, "PATTERN SEQ(A a, B+ b[])", "fig1.csv", "--engine", "point")
    assert said == (
        "error: not supported yet: Kleene groups under skip_till_any_match in the point engine; "
        "--engine event runs it\n"
    )


def test_the_point_engine_refuses_wide_intervals_by_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    write("wide.csv", "event_type,lower,upper\nA,0,39999999\nB,5,40000004\n")
    said = refused(capsys, AB, "wide.csv", "--engine", "point")
    assert "80,000,000 points" in said
    assert "--engine event" in said


def test_missing_events_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, QUERY).startswith("error: EVENTS is missing")


def test_a_time_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, QUERY, "fig1.csv", "--since", "lately")
    assert said.startswith(
        "error: --since: 'lately' is not an ISO 8601 time, such as 2026-03-03T09:00:00Z, a dur"
    )


def test_a_time_can_be_told_from_now(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 40_000_000_000
    monkeypatch.setattr("cepctl.cli.options.matching.nanoseconds_now", lambda: now)
    write("log.csv", "event_type,lower,upper\nA,10000,10000\nB,10001,10001\nA,20000,20000\nB,20001,20001\n")
    recent = told(
        capsys, f"{AB} WITHIN 1 s", "log.csv", "--time", "ticks", "--since", "-25 s", "--until", "now"
    )
    assert [line.split(",")[1] for line in recent.splitlines()[1:]] == ["20000"]


def test_a_closed_pipe_is_no_error() -> None:
    rows = "".join(f"A,{i},{i}\n" for i in range(400))
    write("many.csv", f"event_type,lower,upper\n{rows}")
    line = f"{sys.executable} -m cepctl match 'PATTERN SEQ(A a, A b)' many.csv | head -n 2"
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 2)
    assert "\n79,800 matches in 400 events, " in done.stderr


# --- what it reads -------------------------------------------------------------------------


def as_jsonl() -> str:
    a = {"event_id": "a1", "event_type": "A", "lower": 0, "upper": 29, "pmf": "0:9:0.5|20:29:0.5"}
    b = {"event_id": "b1", "event_type": "B", "lower": 15, "upper": 15, "pmf": None}
    return write("log.jsonl", f"{json.dumps(a)}\n{json.dumps(b)}\n")


def as_csv() -> str:
    text = "event_id,event_type,lower,upper,pmf\na1,A,0,29,0:9:0.5|20:29:0.5\nb1,B,15,15,\n"
    return write("log.csv", text)


def as_parquet() -> str:
    pmf = [[{"lo": 0, "hi": 9, "p": 0.5}, {"lo": 20, "hi": 29, "p": 0.5}], None]
    columns = {
        "event_id": ["a1", "b1"],
        "event_type": ["A", "B"],
        "lower": [0, 15],
        "upper": [29, 15],
        "pmf": pmf,
    }
    pq.write_table(pa.table(columns), "log.parquet")
    return "log.parquet"


@pytest.mark.parametrize("made", [as_csv, as_jsonl, as_parquet])
def test_plain_files_with_histograms(made: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the mass of a1 lies before b1."""
    assert callable(made)
    assert told(capsys, AB, made(), "--time", "ticks") == f"{HEADER}0.5,0,15,a1 b1\n"


def test_raw_logs_take_an_uncertainty_model(capsys: pytest.CaptureFixture[str]) -> None:
    write("log.csv", "event_id,event_type,time\na,A,2024-05-01T10:00:01.0Z\nb,B,2024-05-01T10:00:00Z\n")
    model = write("m.toml", "rule = [{ event_type = 'A', interval = { before = '1.999 s', after = '0 s' } }]")
    assert told(capsys, AB, "log.csv") == HEADER
    assert told(capsys, AB, "log.csv", "--uncertainty", model) == (
        f"{HEADER}0.4995,2024-05-01T09:59:59.001Z,2024-05-01T10:00:00.000Z,a b\n"
    )


@pytest.mark.parametrize(
    "runner", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])]
)
def test_datasets_of_different_units_meet_at_the_finest(
    runner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second becomes the thousand milliseconds that it covers, so b1 falls in the middle of a1."""
    write("s.csv", "event_id,event_type,time\na1,A,2024-05-01T10:00:00Z\n")
    write("ms.csv", "event_id,event_type,time\nb1,B,2024-05-01T10:00:00.500Z\n")
    write("s.toml", "time_unit = '1 s'")
    assert main(["ingest", "s.csv", "-o", "seconds", "--uncertainty", "s.toml", "--quiet"]) == 0
    assert main(["ingest", "ms.csv", "-o", "milliseconds", "--quiet"]) == 0
    done = installed(AB, "seconds", "milliseconds", "--runner", runner)
    assert done.stdout == f"{HEADER}0.5,2024-05-01T10:00:00.000Z,2024-05-01T10:00:00.500Z,a1 b1\n"


def test_the_time_that_a_log_gave_is_returned_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    model = write("m.toml", "rule = [{ interval = { before = '1 s', after = '1 s' } }]")
    write("log.csv", "event_type,time\nA,2024-05-01T10:00:00.25Z\n")
    query = "PATTERN SEQ(A a) RETURN a.time AS logged"
    rows = told(capsys, query, "log.csv", "--uncertainty", model, "--format", "jsonl")
    logged = json.loads(rows)["logged"]
    assert dt.datetime.fromisoformat(logged) == dt.datetime(2024, 5, 1, 10, 0, 0, 250_000, dt.UTC)
