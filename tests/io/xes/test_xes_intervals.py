"""With `--intervals` activities of XES become interval events; what has no partner stays a point."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.xes import intervals as xes_intervals
from cepctl.io.xes.log import XesLog
from tests.real_cases import first_cases

Row = tuple[str, int, int | None]


def event(activity: str, second: int, transition: str | None = None, *attributes: str) -> str:
    time = f'<date key="time:timestamp" value="1970-01-01T00:00:{second:02}Z"/>'
    step = "" if transition is None else f'<string key="lifecycle:transition" value="{transition}"/>'
    return f'<event><string key="concept:name" value="{activity}"/>{time}{step}{"".join(attributes)}</event>'


def instance(name: str) -> str:
    return f'<string key="concept:instance" value="{name}"/>'


def log(*traces: str) -> str:
    name = '<string key="concept:name" value="c1"/>'
    return "<log>" + "".join(f"<trace>{name}{trace}</trace>" for trace in traces) + "</log>"


def read(text: str | bytes, intervals: bool = True) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    content = text if isinstance(text, bytes) else text.encode()
    batches = XesLog().read(io.BytesIO(content), "a.xes", ReadOptions(intervals=intervals), report)
    return [row for batch in batches for row in batch.to_pylist()], report


def seconds(rows: list[dict[str, Any]]) -> list[Row]:
    """Type, start and end, in seconds; no end for a point."""

    def second(time: dt.datetime | None) -> int | None:
        return None if time is None else time.second

    return [(row["event_type"], row["time"].second, second(row.get("end_time"))) for row in rows]


def test_a_start_and_its_completion_are_one_activity_at_the_place_of_the_completion() -> None:
    rows, report = read(log(event("A", 1, "start") + event("B", 2) + event("A", 5, "COMPLETE")))
    assert seconds(rows) == [("B", 2, None), ("A", 1, 5)]
    assert [row["number"] for row in rows] == [2, 3]
    assert (report.records, report.warnings) == (3, [])


def test_without_the_option_all_are_points() -> None:
    rows, _ = read(log(event("A", 1, "start") + event("A", 5, "complete")), intervals=False)
    assert seconds(rows) == [("A", 1, None), ("A", 5, None)]


def test_instances_tell_overlapping_activities_apart() -> None:
    steps = [("start", 1, "i1"), ("start", 2, "i2"), ("complete", 7, "i2"), ("complete", 9, "i1")]
    rows, _ = read(log("".join(event("A", at, step, instance(name)) for step, at, name in steps)))
    assert seconds(rows) == [("A", 2, 7), ("A", 1, 9)]


def test_without_instances_the_earliest_open_start_is_completed() -> None:
    steps = [("start", 1), ("start", 2), ("complete", 7), ("complete", 9)]
    rows, _ = read(log("".join(event("A", at, step) for step, at in steps)))
    assert seconds(rows) == [("A", 1, 7), ("A", 2, 9)]


def test_activities_are_joined_within_their_trace() -> None:
    rows, report = read(log(event("A", 1, "start"), event("A", 5, "complete")))
    assert seconds(rows) == [("A", 1, None), ("A", 5, None)]
    assert report.warnings == [
        "starts of activities that nothing completes, kept as points: 1",
        "completions of activities that nothing started, kept as points: 1",
    ]


def test_the_order_of_the_file_need_not_be_that_of_time() -> None:
    rows, _ = read(log(event("A", 5, "complete") + event("A", 1, "start")))
    assert seconds(rows) == [("A", 1, 5)]


def test_what_takes_no_time_is_one_activity() -> None:
    rows, _ = read(log(event("A", 5, "complete") + event("A", 5, "start")))
    assert seconds(rows) == [("A", 5, 5)]


def test_other_transitions_are_points() -> None:
    rows, report = read(
        log(event("A", 1, "schedule") + event("A", 2, "suspend") + event("A", 3, "ate_abort"))
    )
    assert seconds(rows) == [("A", 1, None), ("A", 2, None), ("A", 3, None)]
    assert report.warnings == []


def test_what_the_start_says_otherwise_is_kept() -> None:
    who = '<string key="org:resource" value="{}"/>'
    rows, _ = read(
        log(event("A", 1, "start", who.format("ann")) + event("A", 5, "complete", who.format("bob")))
    )
    assert (rows[0]["org:resource"], rows[0]["start:org:resource"]) == ("bob", "ann")
    assert rows[0]["start:time:timestamp"] == "1970-01-01T00:00:01Z"
    assert "start:lifecycle:transition" not in rows[0]


def start_timestamp(value: str) -> str:
    return f'<date key="start_timestamp" value="{value}"/>'


def test_a_start_timestamp_beside_the_timestamp_is_the_start() -> None:
    rows, report = read(log(event("A", 5, None, start_timestamp("1970-01-01T00:00:01Z"))))
    assert seconds(rows) == [("A", 1, 5)]
    assert report.warnings == []


@pytest.mark.parametrize(
    ("value", "note"),
    [
        ("?", "activities whose start_timestamp is not a time, kept as points: 1"),
        ("1970-01-01T00:00:09Z", "activities that end before they start, kept as points: 1"),
    ],
)
def test_an_impossible_start_timestamp_leaves_a_point(value: str, note: str) -> None:
    rows, report = read(log(event("A", 5, None, start_timestamp(value))))
    assert seconds(rows) == [("A", 5, None)]
    assert report.warnings == [note]


@pytest.mark.parametrize("piece", [1, 2, 3])
def test_a_trace_that_comes_in_pieces_is_joined_all_the_same(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.io.xes.traces._TRACE_EVENTS", piece)
    steps = [
        ("A", "start", 1),
        ("B", "start", 2),
        ("A", "complete", 3),
        ("B", "complete", 4),
        ("A", "start", 5),
    ]
    rows, report = read(log("".join(event(name, at, step) for name, step, at in steps)))
    assert sorted(seconds(rows), key=str) == sorted([("A", 1, 3), ("B", 2, 4), ("A", 5, None)], key=str)
    assert report.warnings == ["starts of activities that nothing completes, kept as points: 1"]


def test_starts_that_nothing_completes_are_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cepctl.io.xes.traces._TRACE_EVENTS", 2)
    monkeypatch.setattr(xes_intervals, "MOST_OPEN", 2)
    rows, report = read(log("".join(event("A", at, "start") for at in range(1, 8))))
    assert [time for _, time, _ in seconds(rows)] == [1, 2, 3, 4, 5, 6, 7]
    assert report.warnings == ["starts of activities that nothing completes, kept as points: 7"]


@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["start", "complete", "x"]), st.integers(0, 9)))
)
def test_every_record_is_a_point_or_one_end_of_an_activity(steps: list[tuple[str, str, int]]) -> None:
    rows, report = read(log("".join(event(name, at, step) for name, step, at in steps)))
    joined = [row for row in rows if row.get("end_time") is not None]
    assert len(rows) + len(joined) == report.records == len(steps)
    assert all(row["time"] <= row["end_time"] for row in joined)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "cases", "activities"),
    [
        ("interval_event_log.xes", None, 8_109),
        ("bpic2012.xes.gz", 1_500, None),
        pytest.param("bpic2012.xes.gz", None, None, marks=pytest.mark.slow),
    ],
)
def test_real_activities_are_those_of_an_independent_count(
    name: str, cases: int | None, activities: int | None, real_logs: Path, tmp_path: Path
) -> None:
    content = first_cases(real_logs / "xes" / name, cases, tmp_path).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    rows, report = read(text)
    joined = [row for row in rows if row.get("end_time") is not None]
    assert len(rows) + (len(joined) if activities is None else 0) == report.records
    assert len(joined) == (pairs_by_regular_expression(text.decode()) if activities is None else activities)


def pairs_by_regular_expression(text: str) -> int:
    """Completions that an open start of their trace and activity precedes, where file order is time order."""
    pairs = 0
    for trace in re.findall(r"<trace>.*?</trace>", text, re.DOTALL):
        started: Counter[str] = Counter()
        for found in re.findall(r"<event>.*?</event>", trace, re.DOTALL):
            values = dict(re.findall(r'key="([^"]*)" value="([^"]*)"', found))
            name, step = values["concept:name"], values["lifecycle:transition"].lower()
            started[name] += step == "start"
            if step == "complete" and started[name]:
                started[name] -= 1
                pairs += 1
    return pairs
