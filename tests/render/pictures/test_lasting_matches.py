"""Pages and traces of matches of events that last: bars with fuzzy ends, and the relation in words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main

QUERY = "PATTERN A a OVERLAPS B b"
# a starts at 0 to 4 and ends at 3 to 8, b starts at 2 to 5 and ends at 6 to 9.
EVENTS = (
    "event_id,event_type,time,end_time,lower,upper,end_lower,end_upper,x\n"
    "a,A,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.007Z,0,4,3,8,1\nb,B,,,2,5,6,9,2\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("events.csv").write_text(EVENTS)


def page() -> dict[str, Any]:
    assert main(["report", QUERY, "events.csv", "-o", "page.html", "--quiet"]) == 0
    held = re.search(r'<script id="data"[^>]*>(.*?)</script>', Path("page.html").read_text(), re.DOTALL)
    assert held is not None
    document: dict[str, Any] = json.loads(held[1])
    return document


def test_a_page_holds_where_an_event_is_under_way(capsys: pytest.CaptureFixture[str]) -> None:
    document = page()
    a, b = document["events"]
    # From its earliest start to its latest end; P(under way) at the ticks 0 to 8, of 29 worlds.
    assert a[3:5] == [0, 8]
    assert [round(share * 29, 9) for _, _, share in a[6]] == [6, 12, 18, 24, 25, 20, 15, 10, 5]
    assert a[8] == [4, 3, 7_000_000]
    assert b[3:5] == [2, 9]
    assert b[8] == [5, 6, None]
    words = "a OVERLAPS b: a starts first and b ends last, and for a time both are under way"
    assert document["relations"] == [words]


def test_what_the_pattern_leaves_reaches_from_start_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    (match,) = page()["matches"]
    # a has to start before b does and end before it: both can use all of their ticks.
    assert match[6] == [0, 8, 2, 9]


def test_a_trace_draws_the_whole_bar_and_what_is_certain_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "events.csv", "--format", "trace"]) == 0
    events = json.loads(capsys.readouterr().out)["traceEvents"]
    bars = {each["name"]: each for each in events if each["ph"] == "X" and each["cat"] == "interval"}
    assert (bars["A"]["ts"], bars["A"]["dur"]) == (0, 9_000)
    assert bars["A"]["args"]["end_lower"].endswith("00.003Z")
    assert [each["ts"] for each in events if each["name"] == "raw end"] == [7_000]
    # b has certainly begun at 5 and is certainly not over at 6; of a nothing is certain.
    certain = [each for each in events if each["name"] == "certainly under way"]
    assert [(each["ts"], each["dur"]) for each in certain] == [(5_000, 2_000)]
