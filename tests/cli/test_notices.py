"""What commands say on standard error for programs: every line is one JSON object."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main

AT = "2024-05-01T10:00:0{}.5Z"
EVENTS = "event_type,event_id,time,x\nA,a1,{},7\nB,b1,{},7\nB,b2,,7\nB,b3,{},8\n"
EVENTS = EVENTS.format(*map(AT.format, "124"))
QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "log.csv"
    file.write_text(EVENTS)
    return file


def notices(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """What a command says in JSON, each line checked for what all lines have."""
    assert main([*arguments]) == code
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    for notice in said:
        assert datetime.fromisoformat(notice["time"]).utcoffset() is not None
        assert notice["level"] in {"error", "warning", "info"}
        assert notice["message"]
    return said


def test_a_match_tells_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    warning, _, summary = notices(capsys, "match", QUERY, "log.csv", "--log-format", "json")
    assert (warning["kind"], warning["rejected"]) == ("warning", {"no time": 1})
    assert (summary["kind"], summary["command"]) == ("summary", "match")
    assert (summary["events"], summary["matches"], summary["rejects"]) == (3, 2, 1)
    assert summary["seconds"] >= 0
    assert summary["message"].startswith("2 matches in 3 events, ")


def test_the_environment_can_ask_for_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEPCTL_LOG_FORMAT", "json")
    assert [each["kind"] for each in notices(capsys, "inspect", "log.csv")] == ["warning"]


def test_the_configuration_can_ask_for_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.with_name("cepctl.toml").write_text('log-format = "json"\n')
    assert notices(capsys, "explain", QUERY, "missing.csv", code=3)[-1]["level"] == "error"


def test_an_ingest_tells_of_every_file(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.with_name("more.csv").write_text(f"event_type,time\nC,{AT.format(9)}\n")
    said = notices(capsys, "ingest", "log.csv", "more.csv", "-o", "events", "--log-format", "json")
    assert [(each["kind"], each.get("events")) for each in said] == [
        ("warning", None),
        ("file", 3),
        ("file", 1),
        ("summary", 4),
    ]
    assert said[1]["rejected"] == {"no time": 1}


def test_quiet_leaves_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    said = notices(capsys, "match", QUERY, "log.csv", "--log-format", "json", "--quiet")
    assert [each["kind"] for each in said] == ["warning"]


def test_errors_are_json_wherever_they_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--log-format", "json")
    (wrong_query,) = notices(capsys, "match", "PATTERN", "log.csv", *asked, code=2)
    assert (wrong_query["kind"], wrong_query["command"]) == ("error", "match")
    wrong_option, _ = notices(capsys, "match", QUERY, "log.csv", *asked, "--nosuch", code=2)
    assert "--nosuch" in wrong_option["message"]
    no_command, hint = notices(capsys, "matches", *asked, code=2)
    assert "matches" in no_command["message"]
    assert (hint["kind"], hint["message"]) == ("hint", "try 'cepctl --help'")


def test_the_reason_of_no_match_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(B b, A a)"
    said = notices(capsys, "match", query, "log.csv", "--why-not", "--log-format", "json")
    (reason,) = [each for each in said if each["kind"] == "why-not"]
    assert reason["why_not"]["readings"]


def test_json_asked_of_one_command_is_not_kept_for_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    notices(capsys, "match", QUERY, "log.csv", "--log-format", "json")
    assert main(["match", QUERY, "log.csv"]) == 0
    assert "\n2 matches in 3 events, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("PATTERN SEQ(A a, Bee b)", "no event has the type 'Bee'"),
        ("PATTERN SEQ(A a, B b) WHERE a.x > 5 AND a.x < 3", "the query can never match"),
        (
            "PATTERN SEQ(A a, B b) WHERE b.host = 'n0de'",
            "no B has b.host = 'n0de'; the nearest value is node",
        ),
    ],
)
def test_quiet_does_not_hide_that_a_query_cannot_match(
    log: Path, capsys: pytest.CaptureFixture[str], query: str, warning: str
) -> None:
    log.write_text(
        "event_type,time,x,host\nA,2024-05-01T10:00:01.5Z,7,node\nB,2024-05-01T10:00:02.5Z,7,node\n"
    )
    command = ("match", query, "log.csv")
    assert main([*command, "--quiet", "--fail-on-match"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: ")
    assert warning in said
    assert main([*command, "-qq"]) == 0
    assert not capsys.readouterr().err
    assert main([*command, "-qq", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["notices"]
    assert [warning in each["message"] for each in told if each["kind"] == "warning"] == [True]
    assert main([*command, "--strict", "-o", "rows.csv"]) == 2
    assert warning in capsys.readouterr().err
    assert not log.with_name("rows.csv").exists()


def test_a_time_zone_that_nobody_named_is_a_warning(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text("event_type,time\nA,2024-05-01 10:00:01.5\nB,2024-05-01 10:00:02.5\n")
    assert main(["match", QUERY, "log.csv", "-q"]) == 0
    assert "warning: log.csv: times without a zone, read as UTC: 2" in capsys.readouterr().err
    assert main(["match", QUERY, "log.csv", "--strict"]) == 2
    assert main(["match", QUERY, "log.csv", "--strict", "--tz", "UTC"]) == 0


@pytest.mark.parametrize("said", ["true", "1", "yes"])
def test_the_environment_can_make_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("CEPCTL_QUIET", said)
    assert [each["kind"] for each in notices(capsys, "inspect", "log.csv", "--log-format", "json")] == [
        "warning"
    ]
    monkeypatch.setenv("CEPCTL_QUIET", "2")
    assert not notices(capsys, "inspect", "log.csv", "--log-format", "json")
