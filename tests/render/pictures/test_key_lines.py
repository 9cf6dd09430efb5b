"""What the page of GROUP BY is given: every key with its numbers, and the matches behind it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import cepctl
from cepctl.cli import main

EVENTS = """event_id,event_type,lower,upper,task
a1,A,1,4,t1
a2,A,2,5,
b1,B,2,4,
b2,B,4,6,
"""
QUERY = "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.task"
QUEUED = "".join(f"q{n},Q,{n},{n},t1\n" for n in range(12))
SETS = "event_id,event_type,lower,upper,task\n" + QUEUED + "u,Q,20,30,t1\nd,D,25,26,t1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.csv").write_text(EVENTS)
    return tmp_path


def document_in(page: str) -> dict[str, Any]:
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    found: dict[str, Any] = json.loads(data[1])
    return found


def reported(query: str, *arguments: str) -> dict[str, Any]:
    asked = ["report", query, "events.csv", "-o", "page.html", "--runner", "local", "--quiet", *arguments]
    assert main(asked) == 0
    return document_in(Path("page.html").read_text())


def ids_of(found: dict[str, Any], number: int) -> list[str]:
    return [found["events"][event][0] for event in found["matches"][number][1]]


def test_each_key_has_its_numbers_and_its_matches_the_best_first() -> None:
    found = reported(QUERY)
    keys = found["keys"]
    assert (keys["names"], keys["total"], keys["bestAlone"]) == (["a.task"], 2, False)
    assert keys["answer"] == "t1: 72.2 %, expected 0.83 matches, best row 0.417"
    first, second = keys["lines"]
    assert (first["key"], second["key"]) == (["t1"], [None])
    assert first["occurrence"] == pytest.approx(13 / 18)
    assert (first["expected"], first["matches"]) == (pytest.approx(5 / 6), 2)
    assert [ids_of(found, number) for number in first["rows"]] == [["a1", "b1"], ["a1", "b2"]]
    assert [ids_of(found, number) for number in second["rows"]] == [["a2", "b2"], ["a2", "b1"]]
    assert [found["matches"][number][4] for number in second["rows"]] == pytest.approx([1 / 2, 1 / 4])


def test_a_threshold_leaves_out_keys_and_no_match_of_the_others() -> None:
    (line,) = reported(QUERY, "--min-confidence", "0.7")["keys"]["lines"]
    assert (line["key"], len(line["rows"])) == (["t1"], 2)
    (line,) = reported(QUERY, "--top-k", "1")["keys"]["lines"]
    assert (line["key"], len(line["rows"])) == (["t1"], 2)


def test_of_listed_keys_the_best_match_is_always_there() -> None:
    found = reported(QUERY, "--listed", "1")
    (line,) = found["keys"]["lines"]
    # The one most probable match of all is of the other key.
    assert [ids_of(found, number) for number in line["rows"]] == [["a1", "b1"]]
    assert found["keys"]["total"] == 2


def test_the_whole_input_is_one_line() -> None:
    (line,) = reported("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY ()")["keys"]["lines"]
    assert (line["key"], line["occurrence"], len(line["rows"])) == ([], pytest.approx(8 / 9), 4)


def test_of_sets_that_are_too_many_to_list_the_best_is_drawn_within_what_it_can_use() -> None:
    Path("events.csv").write_text(SETS)
    query = "PATTERN SEQ(Q+ q[], D d) WHERE count(q[]) >= 12 AND q[i].task = d.task GROUP BY d.task"
    found = reported(query, "--max-matches", "100")
    (line,) = found["keys"]["lines"]
    assert (found["keys"]["bestAlone"], line["matches"], len(line["rows"])) == (True, 14, 1)
    # All twelve, without the one that may be too late; ticks are counted from that of q0.
    (match,) = found["matches"]
    assert len(match[1][0]) == 12
    assert match[2:4] == [0, 26]


def test_no_key_is_no_answer() -> None:
    assert reported("PATTERN SEQ(B b, A a) WITHIN 1 ticks GROUP BY a.task")["keys"] is None


def test_a_notebook_draws_keys_too_and_reads_nothing_as_markup(folder: Path) -> None:
    hostile = "<script>alert(1)</script>"
    (folder / "events.csv").write_text(EVENTS.replace("t1", hostile))
    matches = cepctl.match(QUERY, "events.csv")
    shown = matches._repr_html_()
    frame = re.search(r'srcdoc="([^"]*)"', shown)
    assert frame is not None
    page = unescape(frame[1])
    assert hostile not in shown
    assert hostile not in page
    assert document_in(page)["keys"]["lines"][0]["key"] == [hostile]
