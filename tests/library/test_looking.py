"""Looking at answers from a program: `show`, `why_not` and `report`, as the commands do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import NoMatchError, UsageError

EVENTS = pa.table(
    {
        "event_type": ["A", "B", "B"],
        "event_id": ["a1", "b1", "b2"],
        "lower": [1, 3, 9],
        "upper": [4, 6, 9],
        "x": [1, 2, 3],
    }
)
QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    cepctl.ingest(EVENTS, "events")
    return "events"


def test_show_is_that_of_the_command(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", QUERY, stored, "--match", "a1 b1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["answer"]
    assert cepctl.show(QUERY, stored, match="a1 b1").to_json() == told
    assert cepctl.show(QUERY, stored).ids == "a1 b2"
    assert cepctl.show(QUERY, stored, rank=2).ids == "a1 b1"
    assert "0.8125" in str(cepctl.show(QUERY, stored, rank=2))


def test_what_is_no_match_says_why(stored: str) -> None:
    with pytest.raises(NoMatchError, match="'b1 a1' is not a match of the query"):
        cepctl.show("PATTERN SEQ(B b, A a) WHERE a.x > 7", stored, match="b1 a1")
    with pytest.raises(NoMatchError, match="there is no row 9"):
        cepctl.show(QUERY, stored, rank=9)
    with pytest.raises(UsageError, match="name one of them"):
        cepctl.show(QUERY, stored, rank=1, match="a1 b1")


def test_why_not_tells_what_stopped_partial_matches(stored: str) -> None:
    found = cepctl.why_not(f"{QUERY} WHERE b.x > 7", stored)
    assert "b.x > 7" in str(found)
    assert found.to_json()["why_not"]["readings"]
    never = cepctl.why_not(f"{QUERY} WHERE b.x > 7 AND b.x < 3", stored)
    assert "can never match" in str(never)


def test_a_report_is_a_page(stored: str, tmp_path: Path) -> None:
    page = cepctl.report(QUERY, stored, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert page.lstrip().lower().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("habit", "hint"),
    [
        ("to_pandas", r"\.pandas\(\) is a frame of pandas"),
        ("columns", r"\.arrow\(\)\.schema has names and types"),
        ("to_dicts", r"list\(matches\) are its rows as dicts"),
        ("write_parquet", "frames are written"),
        ("shape", r"len\(matches\)"),
        ("show", r"cepctl\.show"),
    ],
)
def test_habits_of_other_libraries_get_a_hint(habit: str, hint: str) -> None:
    matches = cepctl.match(QUERY, EVENTS)
    with pytest.raises(AttributeError, match=f"Matches has no '{habit}'; .*{hint}"):
        getattr(matches, habit)
    assert not hasattr(matches, "nothing_like_it")


@pytest.mark.parametrize(
    ("key", "hint"),
    [(0, r"head\(\) are the first rows"), ("start", r"\.polars\(\)\['start'\] is that column")],
)
def test_who_asks_for_a_row_or_a_column_gets_a_hint(key: int | str, hint: str) -> None:
    matches: Any = cepctl.match(QUERY, EVENTS)
    with pytest.raises(TypeError, match=f"Matches have no items; .*{hint}"):
        matches[key]


def test_show_and_report_take_the_laws_of_the_command(stored: str, tmp_path: Path) -> None:
    law = tmp_path / "law.toml"
    law.write_text('[[law]]\nby = "event_type"\n[law.next."A"]\n"B" = 3.0\n')
    assert cepctl.show(QUERY, stored, laws=law).ids == cepctl.show(QUERY, stored, no_laws=True).ids
    assert "</html>" in cepctl.report(QUERY, stored, laws=law, min_confidence=0.1, runner="local")
    with pytest.raises(TypeError, match="no option 'lawz'"):
        cepctl.report(QUERY, stored, lawz=law)
