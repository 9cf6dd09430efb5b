"""Shared clocks on the command line: where they are named, and what does not run with them yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.engines.event.match import match_events
from cepctl.engines.rows.order import ordered
from cepctl.errors import EventSchemaError, UnsupportedQueryError
from cepctl.language.parser import parse
from cepctl.matching.inputs import open_events
from cepctl.plan.analyze import analyze
from cepctl.render.pictures.matched_events import matched_events

STAMPED = """event_id,event_type,lower,upper,clock,clock_offset
a,A,-1,3,n,-2:2:1
b,B,1,5,n,-2:2:1
c,C,2,6,,
"""


def called(folder: Path, *arguments: str) -> int:
    (folder / "stamped.csv").write_text(STAMPED)
    command, *options = arguments
    query = "PATTERN SEQ(A a, B b)" if "summary" not in options else "PATTERN SEQ(A a, B+ b[], C c)"
    return main([command, query, str(folder / "stamped.csv"), *options])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("match", "--kleene", "summary", "--runner", "local"), "--kleene summary"),
    ],
)
def test_what_does_not_run_with_clocks_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], what: str
) -> None:
    assert called(tmp_path, *arguments) == UnsupportedQueryError.exit_code
    said = capsys.readouterr()
    assert f"error: not supported yet: {what}" in said.err
    assert said.out == ""


def test_events_of_one_clock_keep_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called(tmp_path, "match", "--runner", "local", "--time", "ticks", "-q")
    assert capsys.readouterr().out == "confidence,start,end,match\n1.0,-1,5,a b\n"


def test_inspect_explain_and_the_report_name_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED)
    stamped, events, report = (str(tmp_path / name) for name in ("stamped.csv", "events", "report.json"))
    assert main(["ingest", stamped, "-o", events, "--report", report, "--runner", "local"]) == 0
    assert json.loads(Path(report).read_text())["clocks"] == {"n": [[-2, 2, 1.0]]}
    assert main(["inspect", events]) == 0
    assert "events share 1 clock: n, -2 to 2 ticks off" in capsys.readouterr().out
    assert main(["explain", "PATTERN SEQ(A a, B b)", events]) == 0
    assert "Clocks      1 shared by events, such as n: summed over their offsets" in capsys.readouterr().out


def test_show_names_what_a_match_asks_of_the_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED + "d,D,3,5,m,-1:1:1\n")
    query = "PATTERN SEQ(A a, B b, D d) WITHIN 4 ticks"
    assert main(["show", query, str(tmp_path / "stamped.csv"), "--match", "a b d", "--time", "ticks"]) == 0
    said = capsys.readouterr().out
    assert "confidence 0.2, from 0 to 5" in said
    rows = [line.split("  ") for line in said[said.index("is ahead of") :].splitlines()[1:]]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["m", "the true time", "-1 ms .. 1 ms", "-1 ms .. 1 ms", "1"],
        ["n", "the true time", "-2 ms .. 2 ms", "-1 ms .. 1 ms", "0.6"],
        ["n", "m", "-3 ms .. 3 ms", "0 ms", "0.2"],
    ]
    assert [
        line.split("  ")[1] for line in said.splitlines() if line.startswith("  ") and "explains" in line
    ] == [
        "m's clock: 1 ms ahead to 1 ms behind explains it",
        "n's clock: 1 ms ahead to 1 ms behind explains it",
        "n's clock: as far off as m's explains it",
    ]


def test_show_finds_no_match_against_the_order_of_one_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED)
    assert main(["show", "PATTERN SEQ(B b, A a)", str(tmp_path / "stamped.csv"), "--match", "b a"]) != 0
    assert "b before a: even at best 3 ms too early or too late" in capsys.readouterr().err


def test_why_not_counts_what_only_clocks_forbid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED)
    query = ["match", "PATTERN SEQ(B b, A a)", str(tmp_path / "stamped.csv")]
    assert main([*query, "--runner", "local", "--why-not", "--time", "ticks"]) == 0
    said = capsys.readouterr().err
    assert "one offset for each clock" in said
    assert "b a: out of order by 3 ms" in said


def test_why_not_counts_what_only_ties_of_clocks_forbid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """C would be before A if the second segment could be 4 ms ahead of the first: they are tied within 1."""
    (tmp_path / "clocks.csv").write_text(
        "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
        "n,0,100000000,0,0,-2000000,2000000,,1,1,\n"
        "n,100000000,200000000,0,0,-2000000,2000000,,1,2,1000000\n"
    )
    (tmp_path / "model.toml").write_text(
        'time_unit = "1 ms"\n[[rule]]\nclock = { by = "node", from = "clocks.csv" }\n'
    )
    (tmp_path / "raw.csv").write_text(
        "event_id,event_type,time,node\na,A,1970-01-01T00:00:00.099Z,n\nc,C,1970-01-01T00:00:00.102Z,n\n"
    )
    query = ["match", "PATTERN SEQ(C c, A a)", str(tmp_path / "raw.csv")]
    told = ["--uncertainty", str(tmp_path / "model.toml"), "--runner", "local", "--why-not"]
    assert main([*query, *told]) == 0
    said = capsys.readouterr().err
    assert (
        "one offset for each clock, near that of the clock it is tied to stops the last 1 of 1 pair" in said
    )
    assert "c a: out of order by 3 ms" in said


def test_a_drawing_has_the_masses_of_readings_and_offsets_together(tmp_path: Path) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED.replace("a,A,-1,3", "a,A,-1,4"))
    query = "PATTERN SEQ(A a, B b)"
    with open_events([str(tmp_path / "stamped.csv")]) as inputs:
        plan = analyze(parse(query), inputs.schema)
        rows = ordered(match_events(plan, inputs.read(plan.attributes)))
        found = matched_events(plan, inputs, rows)
    drawn = found.events.column("pmf").to_pylist()
    assert [(each["lo"], each["p"]) for each in drawn[0]] == [
        (-1, pytest.approx(0.1)), *((tick, pytest.approx(0.2)) for tick in range(4)), (4, pytest.approx(0.1))
    ]  # fmt: skip
    assert found.attributes == ["clock"]


def one_run(log: Path, *options: str) -> int:
    state = ["--state", str(log.with_name("state")), "--runner", "local", "--time", "ticks", "-q"]
    return main(["match", "PATTERN SEQ(A a, B b, D d) WITHIN 4 ticks", str(log), *state, *options])


def test_runs_over_a_log_that_grows_remember_the_clocks_of_its_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "stamped.csv"
    log.write_text(STAMPED)
    assert one_run(log) == 0
    log.write_text(STAMPED + "d,D,3,5,m,-1:1:1\n")
    assert one_run(log) == 0
    assert capsys.readouterr().out == ""
    assert one_run(log, "--final") == 0
    assert capsys.readouterr().out == "confidence,start,end,match\n0.2,0,5,a b d\n"


def test_a_clock_has_the_same_offset_in_all_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "stamped.csv"
    log.write_text(STAMPED)
    assert one_run(log) == 0
    log.write_text(STAMPED + "d,D,3,7,n,-1:1:1\n")
    assert one_run(log) == EventSchemaError.exit_code
    said = capsys.readouterr().err
    assert "clock 'n' has two offsets, -2:2:1.0 and -1:1:1.0" in said
    assert "the state is as it was" in said
