"""`cepctl explain`: where the query comes from, what events add, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b) WHERE a.k = b.k WITHIN 5 s"


@pytest.fixture
def events(tmp_path: Path) -> str:
    file = tmp_path / "events.csv"
    file.write_text("event_id,event_type,lower,upper,k\n1,A,1,2,x\n2,B,2,3,x\n3,B,2,3,y\n", encoding="utf-8")
    return str(file)


def test_without_events_nothing_is_checked_against_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", QUERY]) == 0
    assert "Window      5 s: first and last event" in capsys.readouterr().out


def test_events_give_counts_and_types(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "json", QUERY, events]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [each["events_at_most"] for each in facts["alternatives"][0]["components"]] == [1, 2]


def test_events_tell_how_spark_would_split_them(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", QUERY, events]) == 0
    assert "Slices      1: all 3 events in one task (" in capsys.readouterr().out


def test_events_tell_what_a_run_would_take_of_memory(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = QUERY + " STRATEGY skip_till_next_match"
    assert main(["explain", query, events, "--max-memory", "2GB", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"] == {
        "max_bytes": 2_000_000_000,
        "events": 3,
        "event_bytes": 3 * 3 * (80 + 16),
        "rivals_of_a_match": 2,
        "rival_bytes": 2 * (256 + 480),
        "row_bytes_in_memory": 100_000_000,
    }
    assert main(["explain", query, events, "--max-memory", "2GB"]) == 0
    told = capsys.readouterr().out
    assert "Memory      3 events take about 864 B; a match with at most 2 rivals" in told
    assert "about 1 kB of " in told
    assert told.endswith("; rows beyond 100 MB go to disk\n")


def test_a_trial_forecasts_the_matches(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", QUERY, events]) == 0
    told = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Forecast"))
    assert told.startswith("Forecast    about 1 match, ")
    assert told.endswith(" with --runner local; judged by 1 of about 1 event that can begin one")


def test_an_unknown_attribute_is_an_error_of_the_query(
    events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", QUERY.replace("a.k", "a.kk"), events]) == 2
    assert "no event has an attribute 'kk' (read as a.kk); did you mean 'k'?" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["@{}", "-f {}", "--file {}"])
def test_the_query_may_come_from_a_file(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "query.cep"
    file.write_text("\ufeff" + QUERY + "\n", encoding="utf-8")
    assert main(["explain", *way.format(file).split()]) == 0
    assert "SEQ(A a, B b)" in capsys.readouterr().out


def test_with_a_file_all_arguments_are_events(
    events: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "query.cep"
    file.write_text(QUERY, encoding="utf-8")
    assert main(["explain", "-f", str(file), events]) == 0
    assert "at most 2 events" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "a query is missing"),
        (["query.cep"], "to read the file write @query.cep"),
        (["@missing.cep"], "cannot read the query file missing.cep: No such file"),
        (["PATTERN SEQ(A a"], "line 1, column 16: found the end of the query, expected ',' or ')'"),
        (["PATTERN AND(A a, !B b)"], "not supported yet: negation inside AND"),
        (["PATTERN ISEQ(A a, !B b)"], "nothing ties !b to the other components of ISEQ"),
    ],
)
def test_mistakes_are_one_message_and_exit_code_two(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert complaint in told.err


def test_a_binary_file_is_no_query(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "query.cep"
    file.write_bytes(b"\xff\xfe\x00")
    assert main(["explain", f"@{file}"]) == 2
    assert "is not UTF-8 text" in capsys.readouterr().err


def test_support_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--support"]) == 0
    assert "| SEQ of single events | event" in capsys.readouterr().out
