"""GROUP BY on the command line: the answer first, and what does not run with it yet, refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

EVENTS = """event_id,event_type,lower,upper,task
a1,A,1,4,t1
a2,A,2,5,t2
b1,B,2,4,
b2,B,4,6,
"""
QUERY = "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.task"
ROWS = """a.task,occurrence,expected,matches,best,confidence,start,end
t1,0.7222222222222222,0.8333333333333334,2,a1 b1,0.4166666666666667,1,6
t2,0.6388888888888888,0.75,2,a2 b2,0.5,2,6
"""


@pytest.fixture
def events(tmp_path: Path) -> str:
    file = tmp_path / "events.csv"
    file.write_text(EVENTS)
    return str(file)


def test_the_key_and_its_probability_come_first(
    events: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = ["match", QUERY, events, "--engine", "worlds", "--time", "ticks", "--format", "csv"]
    assert main(arguments) == 0
    out, said = capfdbinary.readouterr()
    assert out.decode() == ROWS
    assert "2 keys in 4 events" in said.decode()
    assert "t1: 72.2 %, expected 0.83 matches, best row 0.417" in said.decode()


def test_a_table_has_a_bar_for_each_key(events: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["match", QUERY, events, "--engine", "worlds", "--format", "table"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    (line,) = (each for each in lines if "t1" in each)
    assert "72.2 %" in line
    assert line.count("█") == 7 or line.count("#") == 7


@pytest.mark.parametrize("form", ["csv", "table", "jsonl"])
def test_an_occurrence_that_costs_too_much_is_empty_and_said_so(
    form: str, events: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.occurrence.WORK_BOUND", 3)
    arguments = ["match", QUERY, events, "--runner", "local", "--time", "ticks", "--format", form]
    assert main([*arguments, "--columns", "a.task,occurrence,expected"]) == 0
    out, said = (each.decode() for each in capfdbinary.readouterr())
    rows = {
        "csv": "a.task,occurrence,expected\nt1,,0.8333333333333333\nt2,,0.75\n",
        "table": "a.task occurrence expected\nt1 0.833\nt2 0.75\n",
        "jsonl": '{"a.task":"t1","occurrence":null,"expected":0.8333333333333333}\n'
        '{"a.task":"t2","occurrence":null,"expected":0.75}\n',
    }
    shown = "".join(" ".join(line.split()) + "\n" for line in out.splitlines())
    assert shown == rows[form]
    assert "warning: 2 of 2 occurrences would cost too much to compute exactly and are left empty" in said
    assert "(a.task = t1: 2 rows with 1 events in common (separators) need more than 3 products)" in said
    assert "t1: too costly, expected 0.83 matches" in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("match", "--state", "STATE"), "GROUP BY with --state"),
        (("match", "--engine", "point"), "GROUP BY under skip_till_any_match in the point engine"),
    ],
)
def test_what_does_not_run_is_refused_by_name(
    arguments: tuple[str, ...], what: str, events: str, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    command, *options = arguments
    assert main([command, QUERY, events, *options]) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"error: not supported yet: {what}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("form", ["csv", "table", "jsonl"])
def test_members_that_cost_too_much_to_count_leave_the_rest_of_the_row(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "events.csv"
    members = "".join(f"b{i:02},B,{i},{20 + 2 * i},p\n" for i in range(12))
    file.write_text(f"event_id,event_type,lower,upper,k\n{members}c,C,0,60,p\n")
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.member_counts.WORK_BOUND", 1000)
    query = "PATTERN SEQ(B+ b[], C c) WHERE count(b[]) >= 3 GROUP BY c.k"
    arguments = ["match", query, str(file), "--runner", "local", "--time", "ticks", "--format", form]
    assert main(arguments) == 0
    out, said = (each.decode() for each in capfdbinary.readouterr())
    assert (
        " ".join(out.split("\n")[-2].split())
        == {
            "csv": "p,,,4017,,,0,60",
            "table": "p 4017 0 60",
            "jsonl": '{"c.k":"p","occurrence":null,"expected":null,"matches":4017,"best":null,'
            '"signature":null,"confidence":null,"start":0,"end":60}',
        }[form]
    )
    assert "p: too costly" in said
    assert "of 1 key too many events are uncertain members of a group to be counted" in said
