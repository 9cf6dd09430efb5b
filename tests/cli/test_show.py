"""`cepctl show` and `cepctl match --why-not` as a user calls them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.calls import called

QUERY = "PATTERN SEQ(A a, !N n, B b) WITHIN 10 ticks"
EVENTS = "event_id,event_type,lower,upper,x\na2,A,1,3,2\nn1,N,3,3,\nb1,B,4,5,4\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with three events."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "events.csv").write_text(EVENTS)
    return tmp_path


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_match_is_drawn_with_its_rival_and_its_factors(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = called(capsys, "show", QUERY, "events.csv", "--match", "a2 b1", "--time", "ticks")
    told = lines(out)
    assert told[0] == "confidence 0.333333, from 3 to 5"
    assert told[3].split() == ["a", "a2", "A", "1", "..", "3", "1", "..", "3"]
    # a2 comes before n1 in the worlds that are lost, so of its interval only tick 3 is left.
    width = 120 - len("rival n1 ") - 1
    third = width // 5
    drawn = told[6:]
    a2, n1 = (next(line for line in drawn if line.startswith(name))[9:] for name in ("a a2 ", "rival n1"))
    assert a2 == "─" * (2 * third) + "█" * third
    assert n1 == " " * (2 * third) + "█" * third
    assert "  and no rival in its gap       0.333333  (33.3% of it)" in told
    assert told[-1].split() == ["n1", "N", "3", "0.666667", "no", "n"]


def test_times_without_a_date_where_all_share_it(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = called(capsys, "show", QUERY, "events.csv", "--match", "a2 b1")
    assert "00:00:00.001Z .. 00:00:00.003Z" in out
    assert lines(out)[0].endswith("from 1970-01-01T00:00:00.003Z to 1970-01-01T00:00:00.005Z")


def test_the_raw_time_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.toml").write_text(
        'time_unit = "1 ms"\n[[rule]]\ninterval = { before = "2 ms", after = "2 ms" }\n'
    )
    Path("raw.csv").write_text(
        "event_id,event_type,time\na1,A,2026-03-03T09:00:00.010Z\nb1,B,2026-03-03T09:00:00.011Z\n"
    )
    out, _ = called(capsys, "show", "PATTERN SEQ(A a, B b)", "raw.csv", "--uncertainty", "model.toml",
                    "--match", "a1 b1")  # fmt: skip
    assert "09:00:00.010Z" in lines(out)[3]
    drawn = [line for line in lines(out) if line.startswith(("a a1 ", "b b1 "))][-2:]
    assert [line.count("│") for line in drawn] == [1, 1]
    assert drawn[0].index("│") < drawn[1].index("│")


def test_events_that_are_no_match_are_drawn_and_refused_with_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = called(
        capsys, "show", "PATTERN SEQ(B b, A a)", "events.csv", "--match", "b1 a2", "--time", "ticks", code=2
    )
    assert lines(out)[1].split() == ["b", "b1", "B", "4", "..", "5", "none"]
    assert err.endswith(
        "error: 'b1 a2' is not a match of the query: b before a: even at best 2 ms too early or too late\n"
    )


def test_unknown_ids_and_wrong_forms_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = called(capsys, "show", QUERY, "events.csv", "--match", "a22 b1", code=2)
    assert (out, err) == (
        "",
        "error: --match: no event has the id 'a22'; the nearest is 'a2'\nhint: try 'cepctl show --help'\n",
    )
    _, err = called(capsys, "show", QUERY, "events.csv", "--match", "a2", code=2)
    assert "names 1 components, which is not the form of the pattern: a b" in err


def test_why_not_goes_to_standard_error_and_leaves_the_rows_alone(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE b.x > 5"
    out, err = called(capsys, "match", query, "events.csv", "--why-not")
    assert out == "confidence,start,end,match\n"
    assert lines(err)[:9] == [
        "component  of its type  fit  left out by",
        "A a                  1    1",
        "B b                  1    0  b.x > 5 (1)",
        "partial match  tried  go on  stopped by",
        "a                  1      1",
        "a b                0      0",
        "No event fits b: b.x > 5 leaves out 1 of 1 event.",
        "ruled out by this alone  bindings  nearest miss",
        "b.x > 5                         1  a2 b1: b.x = 4, off by 1",
    ]


def test_why_not_names_the_rival_of_an_absence(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = called(capsys, "match", "PATTERN SEQ(A a, !N n, B b) WHERE a.upper < 4 WITHIN 10 ticks "
                    "CONFIDENCE >= 0.5", "events.csv", "--why-not")  # fmt: skip
    assert "  1 of them below CONFIDENCE >= 0.5: the likeliest is a2 b1 with 0.333333." in lines(err)


def test_why_not_says_by_how_much_a_probability_misses_its_threshold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    query = "PATTERN AND(A a, B b) WHERE prob(b.time < a.time) >= 0.99"
    _, err = called(capsys, "match", query, "events.csv", "--why-not")
    (missed,) = [line for line in lines(err) if " a2 b1: " in line]
    assert re.search(r"prob\(b\.time < a\.time\) >= 0\.9\d* +1  a2 b1: off by 0\.\d+$", missed)


def test_why_not_of_json_lines_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE b.x > 5"
    out, err = called(capsys, "match", query, "events.csv", "--why-not", "--format", "jsonl")
    assert out == ""
    (reading,) = json.loads(lines(err)[0])["why_not"]["readings"]
    assert reading["steps"][1]["go_on"] == 0
    assert reading["forbidden_alone"] == [
        {
            "condition": "b.x > 5",
            "kind": "filter",
            "components": 2,
            "count": 1,
            "at_least": False,
            "nearest": {"match": "a2 b1", "excess": 1.0, "unit": None, "values": {"b.x": 4}},
        }
    ]


def test_a_hint_is_given_where_nothing_matched(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = called(capsys, "match", "PATTERN SEQ(B b, A a)", "events.csv")
    assert lines(err)[-1].startswith("hint: --why-not says")
    _, err = called(capsys, "match", "PATTERN SEQ(A a, B b)", "events.csv")
    assert "hint" not in err
    _, err = called(capsys, "match", "PATTERN SEQ(B b, A a)", "events.csv", "--quiet")
    assert "hint" not in err


def test_long_ids_become_numbers_of_their_files_where_there_is_no_room(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = Path(
        "a log with a name that is far too long to stand in a table of a hundred and twenty columns.csv"
    )
    log.write_text(EVENTS.replace("event_id,", "").replace("a2,", "").replace("n1,", "").replace("b1,", ""))
    out, _ = called(capsys, "show", QUERY, str(log), "--rank", "1")
    told = lines(out)
    assert told[3].split()[:3] == ["a", "1", "A"]
    assert told[5] == f"ids: {log}#..."
    assert max(map(len, told)) <= 120
