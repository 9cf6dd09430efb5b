"""What is given, on the command line: worked numbers, contradictions, models that say it, and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cepctl.cli import main

EVENTS = """event_id,event_type,lower,upper,m
s,S,1,4,m
f,F,2,5,m
x,X,3,3,
"""
STARTS_FIRST = "SEQ(S s, F f) IF s.m = f.m"
MODEL = f'[[given]]\nholds = "{STARTS_FIRST}"\n'


@pytest.fixture
def events(tmp_path: Path) -> str:
    file = tmp_path / "events.csv"
    file.write_text(EVENTS)
    return str(file)


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "model.toml"
    file.write_text(MODEL)
    return str(file)


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capfd.readouterr()
    assert main([*arguments, "--time", "ticks", "--format", "csv"]) == 0
    return capfd.readouterr().out.splitlines()[1:]


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("SEQ(S s, F f)", "0.625,1,5,s f"),
        (f"SEQ(S s, F f) GIVEN {STARTS_FIRST}", "1.0,1,5,s f"),
        (f"SEQ(S s, X x, F f) GIVEN {STARTS_FIRST}", "0.4,1,5,s x f"),
        ("SEQ(S s, X x, F f) GIVEN SEQ(S s, F f) WITHIN 3 ticks IF s.m = f.m", f"{1 / 7!r},2,4,s x f"),
        (f"SEQ(F f, X x) GIVEN {STARTS_FIRST}", "0.1,2,3,f x"),
    ],
)
def test_confidences_are_of_the_worlds_that_remain(
    query: str, row: str, events: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for engine in ("event", "worlds"):
        rows = printed(capfd, "match", f"PATTERN {query}", events, "--engine", engine, "--runner", "local")
        assert rows == [row]


def test_events_that_leave_no_world_are_named(
    events: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(EVENTS.replace("S,1,4", "S,5,6").replace("F,2,5", "F,2,4"))
    query = f"PATTERN SEQ(S s, X x) GIVEN {STARTS_FIRST}"
    assert main(["match", query, str(wrong), "--runner", "local"]) == 2
    out, said = capfd.readouterr()
    assert not out
    assert f"no possible world satisfies GIVEN {STARTS_FIRST}" in said
    assert "s in 5..6, f in 2..4" in said


def test_a_dataset_keeps_what_its_model_says(
    events: str, model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dataset = str(tmp_path / "dataset")
    assert main(["ingest", events, "-o", dataset, "--uncertainty", model, "--runner", "local"]) == 0
    asked = ("match", "PATTERN SEQ(S s, X x)", dataset, "--runner", "local")
    assert printed(capfd, *asked) == ["0.7,1,3,s x"]
    assert printed(capfd, *asked, "--no-given") == ["0.5,1,3,s x"]
    assert main(["explain", "PATTERN SEQ(S s, X x)", dataset]) == 0
    said = capfd.readouterr().out
    assert f"Given       {STARTS_FIRST}" in said
    assert "Ties        1 tie in 1 component, the largest of 2 events" in said


def test_a_query_that_contradicts_what_is_given_returns_nothing(
    events: str, capfd: pytest.CaptureFixture[str]
) -> None:
    query = f"PATTERN SEQ(F f, S s) WHERE [m] GIVEN {STARTS_FIRST}"
    assert printed(capfd, "match", query, events, "--runner", "local") == []
    assert main(["match", query, events, "--runner", "local"]) == 0
    assert f"the query can never match: these exclude each other: f before s (SEQ); GIVEN {STARTS_FIRST}" in (
        capfd.readouterr().err
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('[[given]]\nholds = "SEQ(S s, F f)"', "given 1: line 1, column 14.*expected IF"),
        ("[[given]]\nhold = 'x'", "given 1: unknown key 'hold'; did you mean 'holds'"),
        ("[[given]]\n", "given 1: it says nothing; write"),
        ("given = 3", r"takes tables; write \[\[given\]\]"),
    ],
)
def test_a_model_that_says_it_wrong_is_refused(
    said: str, message: str, events: str, model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(model).write_text(said)
    assert main(["ingest", events, "-o", str(tmp_path / "dataset"), "--uncertainty", model]) == 2
    assert re.search(message, capfd.readouterr().err)


def test_show_tells_what_a_confidence_is_divided_by(events: str, capfd: pytest.CaptureFixture[str]) -> None:
    query = f"PATTERN SEQ(S s, X x, F f) GIVEN {STARTS_FIRST}"
    assert main(["show", query, events, "--rank", "1", "--time", "ticks"]) == 0
    said = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    assert said[0] == "confidence 0.4, from 1 to 5"
    assert "s s S 1 .. 4 1 .. 2" in said
    assert said[said.index("Given") + 1 :] == [
        STARTS_FIRST,
        "it holds for these events in 0.625",
        "it holds, and so does the match, in 0.25",
        "the confidence is their ratio 0.4",
        "without it the confidence would be 0.25",
    ]


def test_show_names_the_clause_that_leaves_no_world(events: str, capfd: pytest.CaptureFixture[str]) -> None:
    query = f"PATTERN SEQ(F f, S s) GIVEN {STARTS_FIRST}"
    assert main(["show", query, events, "--match", "f s"]) == 2
    assert f"GIVEN {STARTS_FIRST} leaves no world in which they happen like that" in capfd.readouterr().err


def test_a_trace_and_a_page_draw_what_the_remaining_worlds_leave_to_events(
    events: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    query = f"PATTERN SEQ(F f, X x) GIVEN {STARTS_FIRST}"
    assert main(["match", query, events, "--format", "trace", "--runner", "local"]) == 0
    drawn = json.loads(capfd.readouterr().out)["traceEvents"]
    (finish,) = [each["args"] for each in drawn if each["ph"] == "X" and each["args"].get("id") == "f"]
    assert (finish["confidence"], finish["lower"][-5:], finish["upper"][-5:]) == (0.1, ".002Z", ".005Z")
    assert (finish["valid_lower"][-5:], finish["valid_upper"][-5:]) == (".002Z", ".002Z")
    page = tmp_path / "page.html"
    assert main(["report", query, events, "-o", str(page), "--runner", "local"]) == 0
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)
    assert data is not None
    (match,) = json.loads(data[1])["matches"]
    # Start, end, confidence, no error, and what f and x can use, counted from tick 2.
    assert match[2:7] == [0, 1, 0.1, None, [0, 0, 1, 1]]


def test_why_not_names_the_clause_that_leaves_no_world(
    events: str, capfd: pytest.CaptureFixture[str]
) -> None:
    query = f"PATTERN SEQ(F f, S s) GIVEN {STARTS_FIRST}"
    assert main(["match", query, events, "--why-not", "--runner", "local"]) == 0
    assert f"GIVEN {STARTS_FIRST}: leaves no world to 1 of 1." in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("match", "--state", "STATE"), "GIVEN with --state"),
        (("match", "--engine", "point"), "GIVEN under skip_till_any_match in the point engine"),
    ],
)
def test_what_does_not_run_is_refused_by_name(
    arguments: tuple[str, ...],
    what: str,
    events: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *options = arguments
    query = f"PATTERN SEQ(S s, F f) WITHIN 9 ticks GIVEN {STARTS_FIRST}"
    assert main([command, query, events, *options]) == 2
    assert what in capfd.readouterr().err


def test_a_model_with_state_is_refused_too(
    events: str, model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    query = "PATTERN SEQ(S s, F f) WITHIN 9 ticks"
    asked = ["match", query, events, "--uncertainty", model, "--runner", "local"]
    assert main([*asked, "--state", str(tmp_path / "state")]) == 2
    assert "GIVEN with --state" in capfd.readouterr().err
