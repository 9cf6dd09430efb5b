"""Matches as a trace, held to the documented fields of the trace-event format."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks RETURN c.note"
EVENTS = """event_id,event_type,time,lower,upper,pmf,note
a1,A,1970-01-01T00:00:00.002Z,1,5,,
c2,C,,3,5,,
b3,B,1970-01-01T00:00:00.005Z,3,5,3:3:0.5|4:5:0.5,
c4,C,,4,8,,"</b> ""q"" é"
"""
REQUIRED = {
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
    "i": {"name", "cat", "ph", "ts", "pid", "tid", "s"},
    "M": {"name", "ph", "pid", "tid", "args"},
}
METADATA = {"process_name": "name", "thread_name": "name"} | {
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}

TraceEvents = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "events.csv").write_text(EVENTS, encoding="utf-8")
    return tmp_path


def traced(capsys: pytest.CaptureFixture[str], *arguments: str) -> TraceEvents:
    assert main(["match", *arguments, "--format", "trace"]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    events: TraceEvents = trace["traceEvents"]
    return events


def of_match(events: TraceEvents, number: int, phase: str) -> TraceEvents:
    return [each for each in events if each["pid"] == number and each["ph"] == phase]


def test_every_event_has_the_fields_that_the_format_requires(capsys: pytest.CaptureFixture[str]) -> None:
    events = traced(capsys, QUERY, "events.csv")
    assert {each["ph"] for each in events} == set(REQUIRED)
    for each in events:
        assert set(each) == REQUIRED[each["ph"]]
        assert isinstance(each["pid"], int)
        assert isinstance(each["tid"], int)
        if each["ph"] == "M":
            assert set(each["args"]) == {METADATA[each["name"]]}
        else:
            assert isinstance(each["ts"], int)
        if each["ph"] == "X":
            assert each["dur"] >= 1
        if each["ph"] == "i":
            assert each["s"] == "t"


def test_slices_of_a_lane_nest(capsys: pytest.CaptureFixture[str]) -> None:
    """Viewers draw complete events of one thread as a stack, and drop what overlaps by halves."""
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for each in traced(capsys, QUERY, "events.csv"):
        if each["ph"] == "X":
            end = each["ts"] + each["dur"]
            lanes.setdefault((each["pid"], each["tid"]), []).append((each["ts"], end))
    for slices in lanes.values():
        outer = slices[0]
        assert all(outer[0] <= start <= end <= outer[1] for start, end in slices)
    assert Counter(len(slices) for slices in lanes.values()) == {1: 3, 2: 5}


def test_a_track_per_match_and_a_lane_per_event(capsys: pytest.CaptureFixture[str]) -> None:
    events = traced(capsys, QUERY, "events.csv")
    names = [each["args"]["name"] for each in of_match(events, 1, "M") if each["name"].endswith("_name")]
    assert names == ["0.133333  a1 b3 c2", "match", "a: a1", "b: b3", "c: c2"]
    assert {each["pid"] for each in events} == {1, 2}


def test_an_event_is_drawn_with_its_interval_its_raw_time_and_what_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    events = traced(capsys, QUERY, "events.csv")
    drawn, valid = (each for each in of_match(events, 2, "X") if each["tid"] == 2)
    assert (drawn["ts"], drawn["dur"], valid["ts"], valid["dur"]) == (1_000, 5_000, 1_000, 4_000)
    assert drawn["args"] == {
        "id": "a1",
        "type": "A",
        "confidence": of_match(events, 2, "X")[0]["args"]["confidence"],
        "raw_time": "1970-01-01T00:00:00.002000Z",
        "lower": "1970-01-01T00:00:00.001Z",
        "upper": "1970-01-01T00:00:00.005Z",
        "valid_lower": "1970-01-01T00:00:00.001Z",
        "valid_upper": "1970-01-01T00:00:00.004Z",
        "source": "events.csv",
        "attributes": {},
    }
    assert [each["ts"] for each in of_match(events, 2, "i")] == [2_000, 5_000]
    (b,) = (each for each in of_match(events, 2, "X") if each["args"].get("id") == "b3")
    assert [bucket["probability"] for bucket in b["args"]["histogram"]] == [0.5, 0.5]


def test_return_columns_come_with_the_match(capsys: pytest.CaptureFixture[str]) -> None:
    match = of_match(traced(capsys, QUERY, "events.csv"), 2, "X")[0]
    assert (match["args"]["match"], match["args"]["c.note"]) == ("a1 b3 c4", '</b> "q" é')
    assert (match["ts"], match["dur"]) == (1_000, 7_000)


TASKS = """event_id,event_type,lower,upper,task
a1,A,1,4,t1
a2,A,2,5,
b1,B,2,4,
b2,B,4,6,
"""


def test_a_key_is_a_track_with_the_events_of_its_best_match(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tasks.csv").write_text(TASKS)
    query = "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.task"
    events = traced(capsys, query, "tasks.csv")
    names = [
        [each["args"]["name"] for each in of_match(events, number, "M") if each["name"].endswith("_name")]
        for number in (1, 2, 3)
    ]
    assert names == [
        ["0.722222  t1", "key", "a: a1", "b: b1"],
        ["0.638889  null", "key", "a: a2", "b: b2"],
        [],
    ]
    key, event, *_ = of_match(events, 1, "X")
    assert (key["name"], key["ts"], key["dur"]) == ("key", 1_000, 6_000)
    assert key["args"] == {
        "a.task": "t1",
        "occurrence": pytest.approx(13 / 18),
        "expected": pytest.approx(5 / 6),
        "matches": 2,
        "best": "a1 b1",
        "confidence": pytest.approx(5 / 12),
    }
    assert (event["args"]["id"], event["args"]["confidence"]) == ("a1", pytest.approx(5 / 12))


def test_the_whole_input_is_one_track(capsys: pytest.CaptureFixture[str]) -> None:
    (name,) = (
        each["args"]["name"]
        for each in traced(capsys, "PATTERN SEQ(A a, C c) GROUP BY ()", "events.csv", "--top-k", "1")
        if each["name"] == "process_name"
    )
    assert name == "0.893333  all events"


def test_a_key_whose_probability_costs_too_much_is_drawn_without_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("tasks.csv").write_text(TASKS)
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.occurrence.WORK_BOUND", 3)
    events = traced(capsys, "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.task", "tasks.csv")
    names = [each["args"]["name"] for each in events if each["name"] == "process_name"]
    assert names == ["unknown  t1", "unknown  null"]
    assert [each["args"]["occurrence"] for each in events if each["name"] == "key"] == [None, None]


def test_a_key_whose_best_match_is_not_known_has_no_events(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    members = "".join(f"b{i:02},B,{i},{20 + 2 * i},p\n" for i in range(12))
    Path("sets.csv").write_text(
        f"event_id,event_type,lower,upper,k\n{members}c,C,0,60,p\nd,B,0,0,q\nf,C,9,9,q\n"
    )
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.member_counts.WORK_BOUND", 1000)
    query = "PATTERN SEQ(B+ b[], C c) WHERE [k] AND count(b[]) >= 1 GROUP BY c.k"
    events = traced(capsys, query, "sets.csv")
    tracks = {each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"}
    lanes = {
        number: [
            each["args"]["name"] for each in of_match(events, number, "M") if each["name"] == "thread_name"
        ]
        for number in tracks
    }
    assert lanes == {
        number: ["key"] if "p" in name else ["key", "b: d", "c: f"] for number, name in tracks.items()
    }
    assert len(lanes) == 2


def test_no_match_is_an_empty_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert traced(capsys, "PATTERN SEQ(C c, B b, A a, A d)", "events.csv") == []


def test_the_trace_goes_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "events.csv", "--format", "trace", "-o", "out.json"]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(Path("out.json").read_text())["traceEvents"]


def test_a_summary_of_groups_has_no_events_to_draw(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["PATTERN SEQ(A a, B+ b[])", "events.csv", "--format", "trace", "--kleene", "summary"]
    assert main(["match", *arguments]) == 2
    assert (
        "--format cannot apply with --kleene summary: a summary names no events to draw"
        in capsys.readouterr().err
    )


def test_times_that_no_trace_can_hold_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("far.csv").write_text(f"event_id,event_type,lower,upper\na1,A,1,{2**60}\nb1,B,2,{2**60}\n")
    assert main(["match", "PATTERN SEQ(A a, B b)", "far.csv", "--format", "trace"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, "1678 to 2262" in captured.err) == ("", True)
