"""`--json`: one form for every command that has it, held to the schema that the pages publish."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

import cepctl
from cepctl.cli import all_commands, main
from cepctl.cli.options.settings import options_of

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
QUERY = "PATTERN SEQ(Open a, Shut b) WHERE [door] WITHIN 1 minute RETURN a.door"
CALLS = {
    "match": f"match|{QUERY}|door.csv",
    "match none": "match|PATTERN SEQ(Shut a, Shut b, Shut c)|door.csv",
    "match groups": f"match|{QUERY} GROUP BY a.door|door.csv",
    "match all": f"match|{QUERY}|door.csv|--limit|1|--columns|confidence|--time|ticks|--quiet",
    "show": f"show|{QUERY}|door.csv|--rank|1",
    "show rivals": "show|PATTERN SEQ(Open a, !Shut n, Shut b)|door.csv|--match|open1 shut2",
    "show none": "show|PATTERN SEQ(Shut a, Open b)|door.csv|--match|shut1 open2",
    "explain": f"explain|{QUERY}|door.csv",
    "explain alone": f"explain|{QUERY}",
    "inspect": "inspect|door.csv",
    "audit": "audit|door.csv",
    "probe": f"probe|{QUERY}|events",
    "follows": "follows|door.csv|--by|door",
    "calibrate": f"calibrate|{QUERY}|true.csv|--jitter|2 s",
    "calibrate pairs": "calibrate|--pairs|true.csv|--jitter|2 s|--by|door",
    "calibrate keys": f"calibrate|{QUERY} GROUP BY a.door|true.csv|--jitter|2 s",
    "formats": "formats",
    "state show": "state|show|state",
    "config": "config|match",
    "doctor": "doctor|--runner|local",
}


def validated(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    Draft202012Validator(SCHEMA).validate(found)
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "door.csv").write_text(
        "event_id,event_type,lower,upper,door\n"
        "open1,Open,1000,4000,d1\nshut1,Shut,3000,6000,d1\nshut2,Shut,3500,9000,d1\nopen2,Open,2000,2000,d2\n"
    )
    (tmp_path / "true.csv").write_text(
        "event_id,event_type,lower,upper,door\nopen1,Open,1000,1000,d1\nshut1,Shut,3000,3000,d1\n"
    )


def commands_with_json() -> set[str]:
    leaves: list[tuple[str, click.Command]] = []
    for each in all_commands():
        name = each.name or ""
        below = each.commands.values() if isinstance(each, click.Group) else None
        leaves += [(name, each)] if below is None else [(f"{name} {one.name}", one) for one in below]
    return {name for name, each in leaves if "json" in options_of(each)}


def test_every_command_with_the_option_is_called_here() -> None:
    named = {"state show" if call.startswith("state") else call.partition("|")[0] for call in CALLS.values()}
    assert named == commands_with_json()
    assert named == set(SCHEMA["properties"]["command"]["enum"])


@pytest.mark.parametrize("call", CALLS)
def test_what_a_command_prints_is_of_the_schema(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    if call == "probe":
        assert main(["ingest", "door.csv", "-o", "events", "--sketch"]) == 0
    if call == "state show":
        assert main(["match", QUERY, "door.csv", "--state", "state", "-o", "rows/"]) == 0
    capsys.readouterr()
    code = main([*CALLS[call].split("|"), "--json"])
    found = validated(capsys.readouterr().out)
    assert code == (2 if call == "show none" else 0)
    assert found["command"] == ("state show" if call == "state show" else call.partition(" ")[0])


def test_rows_are_those_of_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "door.csv", "--json"]) == 0
    answer = validated(capsys.readouterr().out)["answer"]
    assert main(["match", QUERY, "door.csv", "--format", "json"]) == 0
    assert answer["rows"] == json.loads(capsys.readouterr().out)
    assert [row["match"] for row in answer["rows"]] == ["open1 shut2", "open1 shut1"]
    assert (answer["summary"]["found"], answer["query"]) == (2, QUERY)


def test_a_schema_that_does_not_hold_would_be_noticed() -> None:
    head = {"schema": "cepctl-answer/1", "version": "0", "command": "doctor", "notices": []}
    good = {**head, "answer": {"findings": []}}
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "more": 1})
    assert not validator.is_valid({**head, "answer": {"formats": []}})
    assert not validator.is_valid({**head, "answer": {"findings": [{"what": "disk"}]}})


@pytest.mark.parametrize("option", ["--format json", "-o rows.csv", "--csv-safe"])
def test_the_answer_takes_no_other_form(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "door.csv", "--json", *option.split()]) == 2
    assert "cannot apply with --json" in capsys.readouterr().err


def test_an_answer_of_many_types_is_written_in_pieces_of_some_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a million types the text at once takes gigabytes, and a write for each word minutes."""
    rows = "".join(f"{tick},type{tick}\n" for tick in range(20_000))
    (tmp_path / "many.csv").write_text(f"time,event_type\n{rows}")
    written: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Written(written))
        assert main(["inspect", str(tmp_path / "many.csv"), "--json", "--epoch-unit", "s"]) == 0
    text = "".join(written)
    assert (
        json.loads(text)["answer"]["types"]
        == cepctl.inspect(tmp_path / "many.csv", epoch_unit="s").to_json()["types"]
    )
    assert 3 < len(written) < 200
    assert max(map(len, written)) < len(text) // 2


class Written(io.StringIO):
    """A stream that keeps what is written, piece by piece."""

    def __init__(self, pieces: list[str]) -> None:
        super().__init__()
        self.pieces = pieces

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return len(text)
