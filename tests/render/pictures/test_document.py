"""What a report page is given: every match and event exactly, and counts over all matches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cepctl
from cepctl.cli import main
from cepctl.render.pictures.overview import MOST_TIME_BINS, time_counts
from cepctl.render.pictures.page import data_block, page_html
from cepctl.schema import TimeUnit

QUERY = "PATTERN SEQ(A a, B b, C c) WHERE [node] WITHIN 4 ticks RETURN c.note, a.time AS raw"
EVENTS = """event_id,event_type,time,lower,upper,pmf,node,note,level
a1,A,1970-01-01T00:00:00.002Z,1,5,,n1,,
c2,C,,3,5,,n1,x,
b3,B,1970-01-01T00:00:00.005Z,3,5,3:3:0.5|4:5:0.5,n1,,7
c4,C,,4,8,,n1,</script>,
d5,D,,4,8,,n2,,
"""

Document = dict[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "events.csv").write_text(EVENTS, encoding="utf-8")
    return tmp_path


def reported(query: str, *arguments: str, events: str | None = None) -> Document:
    """The document in the page that a call writes."""
    if events is not None:
        Path("events.csv").write_text(events, encoding="utf-8")
    assert main(["report", query, "events.csv", "-o", "page.html", "--quiet", *arguments]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    (block,) = (part for part in page.split("<script ") if part.startswith('id="data"'))
    document: Document = json.loads(block.partition(">")[2].partition("</script>")[0])
    return document


def test_matches_stand_in_the_order_of_the_run_with_all_that_is_drawn() -> None:
    found = reported(QUERY)
    assert [found[name] for name in ("total", "eventCount", "window", "unit", "origin", "bestOnly")] == [
        2,
        5,
        4,
        1_000_000,
        "1",
        False,
    ]
    assert found["variables"] == [["a", "b", "c"]]
    ids = [event[0] for event in found["events"]]
    assert ids == ["a1", "b3", "c2", "c4"]
    first, second = found["matches"]
    # Alternative, events, start, end, confidence, its error, valid bounds, key, columns; ticks from 1.
    assert first == [0, [0, 1, 2], 0, 4, pytest.approx(2 / 15), None, [0, 2, 2, 3, 3, 4], "n1", first[8]]
    assert second[1:4] == [[0, 1, 3], 0, 6]
    assert found["columns"] == ["c.note", "raw"]
    assert [first[8], second[8]] == [
        ["x", "1970-01-01T00:00:00.002000Z"],
        ["</script>", "1970-01-01T00:00:00.002000Z"],
    ]


def test_events_come_with_raw_time_buckets_and_only_what_they_have() -> None:
    found = reported(QUERY)
    a, b, c, _ = found["events"]
    assert a[3:7] == [0, 4, 1_000_000, None]  # raw time in nanoseconds after tick 1
    assert b[3:7] == [2, 4, 4_000_000, [[2, 2, 0.5], [3, 4, 0.5]]]
    assert c[5] is None
    assert [found["names"][b[7][at]] for at in range(0, len(b[7]), 2)] == ["level", "node"]
    assert b[7][1::2] == [7, "n1"]
    assert (found["types"], found["sources"]) == (["A", "B", "C"], ["events.csv"])


def test_the_list_is_cut_but_the_counts_are_not() -> None:
    found = reported(QUERY, "--listed", "1")
    assert (len(found["matches"]), found["total"], sum(found["confidenceCounts"])) == (1, 2, 2)
    assert sum(found["timeCounts"]["counts"]) == 2
    assert found["keyCounts"] == {
        "name": "node",
        "keys": ["n1"],
        "counts": [2],
        "other_keys": 0,
        "other_matches": 0,
    }
    assert reported(QUERY, "--listed", "0")["matches"] == []
    assert reported(QUERY, "--top-k", "1")["bestOnly"] is True


def test_bounds_of_time_and_confidence_hold_as_in_match() -> None:
    assert reported(QUERY, "--min-confidence", "0.13")["total"] == 1
    assert reported(QUERY, "--since", "1970-01-01T00:00:01Z")["total"] == 0


def test_a_query_without_matches_or_keys_has_no_counts_of_them() -> None:
    found = reported("PATTERN SEQ(C c, A a) WHERE c.note = 'none'")
    assert (found["total"], found["matches"], found["timeCounts"], found["keyCounts"]) == (0, [], None, None)


def test_most_frequent_keys_are_named_and_the_others_counted() -> None:
    rows = [f"a{i},A,1,1,k{i % 30:02}\nb{i},B,2,2,k{i % 30:02}\n" for i in range(40)]
    counts = reported(
        "PATTERN SEQ(A a, B b) WHERE [k]", events="event_id,event_type,lower,upper,k\n" + "".join(rows)
    )["keyCounts"]
    assert counts["keys"] == [f"k{i:02}" for i in range(20)]
    assert counts["counts"] == [4] * 10 + [1] * 10  # two of each type under k00 to k09
    assert (counts["other_keys"], counts["other_matches"]) == (10, 10)


def test_groups_and_alternatives_keep_their_places() -> None:
    events = "event_id,event_type,lower,upper\na,A,1,1\nb1,B,2,2\nb2,B,3,3\nc,C,4,4\n"
    found = reported("PATTERN OR(SEQ(A x, B+ y[], C z), SEQ(A a, C c))", events=events)
    assert found["variables"] == [["x", "y", "z"], ["a", "c"]]
    shapes = {(match[0], json.dumps(match[1])) for match in found["matches"]}
    assert shapes == {(0, "[0, [1, 2], 3]"), (0, "[0, 1, 3]"), (0, "[0, 2, 3]"), (1, "[0, 3]")}


def test_ticks_that_javascript_would_round_are_text() -> None:
    far = 2**60 + 1
    events = f"event_id,event_type,lower,upper\na,A,{-far},{-far}\nb,B,{far},{far}\n"
    found = reported("PATTERN SEQ(A a, B b)", events=events)
    assert found["origin"] == str(-far)
    assert found["matches"][0][2:4] == [0, str(2 * far)]
    assert found["events"][1][3] == str(2 * far)


def test_matches_that_raw_times_miss_are_told() -> None:
    events = "event_type,event_id,time,lower,upper\nA,a1,5,1,9\nB,b1,6,2,9\nB,b2,4,1,9\nB,b3,,3,12\n"
    found = reported("PATTERN SEQ(A a, B b)", events=events)
    ids = [found["events"][match[1][1]][0] for match in found["matches"]]
    assert dict(zip(ids, found["foundAtRawTimes"], strict=True)) == {"b1": True, "b2": False, "b3": None}
    assert found["rawTimes"] == {"judged": 2, "missed": 1, "untimed": 1}
    point = reported("PATTERN SEQ(A a, B b)", "--engine", "point")
    assert (point["rawTimes"], point["foundAtRawTimes"]) == (found["rawTimes"], None)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_both_runners_write_the_same_page() -> None:
    pages = []
    for runner in ("local", "spark"):
        assert main(["report", QUERY, "events.csv", "-o", "page.html", "--runner", runner]) == 0
        pages.append(Path("page.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_title_is_the_first_sentence_of_the_comment_and_nothing_is_explained_without_need() -> None:
    Path("query.cep").write_text(f"-- Who was it?  Node by\n-- node.\n{QUERY}\n")
    found = reported("@query.cep")
    assert (found["title"], found["whyNot"]) == ("Who was it?", None)


def test_an_empty_page_says_why_nothing_matched() -> None:
    found = reported(QUERY.replace("[node]", "[node] AND b.level > 9"))
    assert (found["total"], found["title"]) == (0, None)
    assert "No event fits b: b.level > 9 leaves out 1 of 1 event" in found["whyNot"]


def test_what_was_found_and_where_it_is_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", QUERY, "events.csv", "-o", "page.html", "--listed", "1"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("2 matches in 5 events, ")
    assert captured.err.endswith("\npage in page.html, which lists the 1 most probable\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", QUERY, "events.csv"], "option -o FILE"),
        (["report", QUERY, "-o", "page.html"], "EVENTS is missing"),
        (["report", QUERY, "events.csv", "-o", "missing/page.html"], "there is no directory missing"),
        (["report", "PATTERN SEQ(", "events.csv", "-o", "page.html"], "line 1"),
    ],
)
def test_a_wrong_call_writes_nothing(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
    assert not Path("page.html").exists()


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "\u2028", "@data@"])
def test_nothing_in_the_data_can_be_markup(text: str) -> None:
    block = data_block({"id": text})
    assert json.loads(block) == {"id": text}
    assert not set(block) & set("<>&\u2028\u2029")
    assert page_html({"id": text}).count("</script>") == 2


def test_the_page_allows_no_other_program_and_no_network() -> None:
    page = page_html({})
    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("starts", "unit", "width"),
    [
        ([0], 1_000, 1),
        ([0, 59], 1_000, 1),
        ([0, 60_000], 1_000, 2_000),
        ([-7_200_000, 7_200_000], 1_000, 300_000),
        ([0, 100], 15_000_000, 2),
        ([-(2**63), 2**63 - 1], 1_000, 5 * 10**9 * 86_400_000),
        ([0, 6_000], 7_000, 102),  # no length of time that people count in is a multiple of 7 ms
    ],
)
def test_bins_of_time_are_of_a_width_that_people_count_in(starts: list[int], unit: int, width: int) -> None:
    counts = time_counts(np.array(starts), TimeUnit(unit))
    assert counts.width == width
    assert sum(counts.counts) == len(starts)
    assert len(counts.counts) <= MOST_TIME_BINS
    assert all((start - counts.first) // width < len(counts.counts) for start in starts)


def test_clocks_are_told_with_how_far_they_may_be_off_and_events_with_who_stamped_them() -> None:
    stamped = (
        "event_id,event_type,lower,upper,clock,clock_offset\na,A,-1,3,n,-2:2:1\nb,B,1,5,n,-2:2:1\nc,C,2,6,,\n"
    )
    found = reported("PATTERN SEQ(A a, B b, C c)", events=stamped)
    assert found["clocks"] == {"n": [-2, 2]}
    clock = found["names"].index("clock")
    assert [event[7] for event in found["events"]] == [[clock, "n"], [clock, "n"], []]


def test_without_clocks_nothing_is_said_of_them() -> None:
    assert "clocks" not in reported(QUERY)


def test_a_page_of_a_sketched_dataset_has_the_strip_of_where_matches_can_be() -> None:
    """Two events of A and B that are near, two that are far apart: one stretch of two."""
    rows = "event_id,event_type,lower,upper\na,A,10,12\nb,B,13,15\na2,A,500,502\nb2,B,900,909\n"
    Path("log.csv").write_text(rows, encoding="utf-8")
    cepctl.ingest("log.csv", "events", sketch_share=1.0)
    pages = {}
    for name, query in {"one": "SEQ(A a, B b)", "none": "SEQ(B a, A b)"}.items():
        assert main(["report", f"PATTERN {query} WITHIN 20 ticks", "events", "-o", name, "-q"]) == 0
        block = Path(name).read_text(encoding="utf-8").partition('<script id="data"')[2]
        pages[name] = json.loads(block.partition(">")[2].partition("</script>")[0])
    strip = {"first": 0, "last": 899, "count": 1, "share": pytest.approx(6 / 900), "stretches": [[0, 5]]}
    assert (pages["one"]["origin"], pages["one"]["total"], pages["one"]["strip"]) == ("10", 1, strip)
    nowhere = {"first": 0, "last": 899, "count": 0, "share": 0.0, "stretches": []}
    assert (pages["none"]["origin"], pages["none"]["strip"]) == ("10", nowhere)
    assert "a before b" in pages["none"]["whyNot"] or "B" in pages["none"]["whyNot"]
    assert reported(QUERY)["strip"] is None
