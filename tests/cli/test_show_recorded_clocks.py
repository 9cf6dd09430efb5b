"""`cepctl show` of events on recorded clocks: what was recorded of each, if the records are as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.calls import called

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump,source,line\n"
ROWS = (
    "node07,1772442012000000000,1772442076000000000,12600000,-760000,-34000000,22160000,,2,3,,tracking.log,5\n"
    "node07,1772442076000000000,1772442141000000000,-760000,2980000,-17180000,14960000,,2,4,,tracking.log,6\n"
    "node08,1772442000000000000,1772449200000000000,0,0,-400,400,,1,1,,,\n"
)
LOG = (
    "event_id,event_type,time,node\n"
    "a,A,2026-03-02T09:00:44.000Z,node07\n"
    "b,B,2026-03-02T09:01:50.500Z,node07\n"
    "c,C,2026-03-02T09:02:00.000Z,node08\n"
    "d,D,2026-03-02T09:03:00.000Z,\n"
)
RULE = '[[rule]]\nclock = { by = "node", from = "clocks.csv", residual = "epoch" }\n'
QUERY = "PATTERN SEQ(A a, B b, C c, D d)"
IDS = ("--match", "a b c d")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("clocks.csv").write_text(HEAD + ROWS)
    Path("log.csv").write_text(LOG)
    Path("model.toml").write_text('time_unit = "1 ms"\n' + RULE)
    called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml")


def recorded(out: str) -> list[str]:
    """The lines of the section, without their heading."""
    _, heading, section = out.partition("\nWhat was recorded of the clocks\n")
    assert heading
    return [line.strip() for line in section.splitlines()]


def test_each_event_on_a_recorded_clock_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = called(capsys, "show", QUERY, "events", *IDS)
    assert recorded(out) == [
        "node07 at 09:00:44: 5.9 ms ahead, -28.1 to 28.1 ms, tracking.log line 5",
        "node07 at 09:01:50.500: 1.2 ms ahead, -16 to 16.2 ms, tracking.log line 6",
        "node08 at 09:02:00: 0 ns ahead, -400 to 400 ns",
    ]


def test_the_answer_for_programs_has_it_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = called(capsys, "show", QUERY, "events", *IDS, "--json")
    Draft202012Validator(SCHEMA).validate(json.loads(out))
    answer = json.loads(out)["answer"]
    assert "recorded_lost" not in answer
    assert [each["event"] for each in answer["recorded"]] == ["a", "b", "c"]
    assert answer["recorded"][0] == {
        "event": "a",
        "host": "node07",
        "reading": "2026-03-02T09:00:44.000Z",
        "ahead_ms": 5.92,
        "at_least_ms": -28.08,
        "at_most_ms": 28.08,
        "source": "tracking.log",
        "line": 5,
    }


def test_readings_of_several_days_have_their_dates(capsys: pytest.CaptureFixture[str]) -> None:
    day = 86_400 * 10**9
    more = f"node08,{1772449200000000000},{1772449200000000000 + day},0,0,-400,400,,1,1,,,\n"
    Path("clocks.csv").write_text(HEAD + ROWS + more)
    Path("log.csv").write_text(
        LOG.replace("2026-03-02T09:02:00", "2026-03-03T09:02:00").replace("09:03", "12:03")
    )
    out, _ = called(
        capsys, "show", "PATTERN SEQ(A a, C c)", "log.csv", "--match", "a c", "--uncertainty", "model.toml"
    )
    assert recorded(out)[1] == "node08 at 2026-03-03 09:02:00: 0 ns ahead, -400 to 400 ns"


@pytest.mark.parametrize("text", [HEAD + ROWS.replace("12600000", "12600001"), "nothing\n"])
def test_records_that_changed_are_not_shown(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("clocks.csv").write_text(text)
    out, _ = called(capsys, "show", QUERY, "events", *IDS)
    assert recorded(out) == [
        "clocks.csv has changed since these events were read, so what it records now is not shown"
    ]


def test_records_that_are_gone_are_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("clocks.csv").unlink()
    out, _ = called(capsys, "show", QUERY, "events", *IDS)
    gone = "clocks.csv is not there any more, so what it recorded of these clocks is not shown"
    assert recorded(out) == [gone]
    out, _ = called(capsys, "show", QUERY, "events", *IDS, "--json")
    Draft202012Validator(SCHEMA).validate(json.loads(out))
    answer = json.loads(out)["answer"]
    assert (answer["recorded_lost"], "recorded" in answer) == ([gone], False)


def test_a_match_without_recorded_clocks_says_nothing_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.csv").write_text(LOG + "e,E,2026-03-02T09:04:00.000Z,\n")
    called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", "--overwrite")
    Path("clocks.csv").unlink()
    out, _ = called(capsys, "show", "PATTERN SEQ(D d, E e)", "events", "--match", "d e")
    assert "recorded" not in out
    out, _ = called(capsys, "show", "PATTERN SEQ(D d, E e)", "events", "--match", "d e", "--json")
    assert not {"recorded", "recorded_lost"} & json.loads(out)["answer"].keys()


def test_clocks_of_a_period_are_not_taken_for_recorded_ones(capsys: pytest.CaptureFixture[str]) -> None:
    period = (
        '[[rule]]\nwhere = "event_type = \'D\'"\nclock = { by = "node", offset = "1 ms", period = "1 day" }\n'
    )
    Path("model.toml").write_text('time_unit = "1 ms"\n' + period + RULE)
    Path("log.csv").write_text(LOG.replace("09:03:00.000Z,", "09:03:00.000Z,node08"))
    called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", "--overwrite")
    out, _ = called(capsys, "show", "PATTERN SEQ(C c, D d)", "events", "--match", "c d")
    assert recorded(out) == ["node08 at 09:02:00: 0 ns ahead, -400 to 400 ns"]


def test_of_two_tables_that_one_tells_which_has_the_epoch_of_the_clock(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begin = 1_772_442_000 * 10**9
    other = f"node07,{begin},{begin + 7_200 * 10**9},1000000,1000000,-2000000,2000000,,7,9,,other.log,3\n"
    Path("other.csv").write_text(HEAD + other)
    only_a = RULE.replace("[[rule]]\n", "[[rule]]\nwhere = \"event_type = 'A'\"\n").replace(
        "clocks.csv", "other.csv"
    )
    Path("model.toml").write_text('time_unit = "1 ms"\n' + only_a + RULE)
    called(capsys, "ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", "--overwrite")
    out, _ = called(capsys, "show", "PATTERN SEQ(A a, B b)", "events", "--match", "a b")
    assert recorded(out) == [
        "node07 at 09:00:44: 1 ms ahead, -1 to 3 ms, other.log line 3",
        "node07 at 09:01:50.500: 1.2 ms ahead, -16 to 16.2 ms, tracking.log line 6",
    ]
