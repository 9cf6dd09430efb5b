"""Names of files that are not UTF-8: named in one clear line by every command, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b) WITHIN 1 s"
NAME = os.fsdecode(b"caf\xe9.csv")
COMMANDS = [
    *(["match", QUERY], ["match", QUERY, "--state", "state"], ["inspect"], ["explain", QUERY]),
    *(["ingest", "-o", "events"], ["show", QUERY, "--match", "a b"], ["report", QUERY, "-o", "page.html"]),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("in").mkdir()
    for name in (NAME, "in/good.csv", f"in/{NAME}"):
        Path(name).write_text("event_type,time\nA,1\nB,2\n")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:1] + command[2:3]))
def test_an_input_whose_name_is_not_utf8_is_refused_by_name(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, NAME]) == 3
    assert "caf\\xe9.csv: this name is not UTF-8; rename it" in capsys.readouterr().err


@pytest.mark.parametrize("command", [COMMANDS[0], COMMANDS[1], COMMANDS[2], COMMANDS[4]])
def test_one_in_a_directory_is_left_out_by_name(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "in"]) == 0
    assert "its name is not UTF-8; rename it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "output", [["ingest", "-o"], ["ingest", "-o", "d", "--rejects"], ["match", QUERY, "-o"]]
)
def test_an_output_whose_name_is_not_utf8_is_refused_by_name(
    output: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*output, NAME.replace("csv", "jsonl"), "in/good.csv"]) == 3
    assert "caf\\xe9.jsonl: this name is not UTF-8; rename it" in capsys.readouterr().err
