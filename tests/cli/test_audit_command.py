"""`cepctl audit` as it is called: one screen, exit codes for builds, JSON, and the model that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cepctl.cli import main

LOG = "event_type,time\nA,2026-06-14 08:15:04\nB,2026-06-14 08:15:04\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(LOG)


def test_findings_of_a_kind_end_with_an_exit_code_for_builds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "x.csv"]) == 0
    assert main(["audit", "x.csv", "--fail-on", "steps,arrival"]) == 0
    assert main(["audit", "x.csv", "--tz", "UTC", "--fail-on", "zone"]) == 0
    capsys.readouterr()
    assert main(["audit", "x.csv", "--fail-on", "zone"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("x.csv: order by file (2 events of 2 types)\n  !! zone ")
    assert "--fail-on zone: x.csv: 2 times have no zone, and are taken for UTC" in shown.err


def test_an_unknown_kind_is_an_error_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "x.csv", "--fail-on", "zones"]) == 2
    assert "did you mean 'zone'?" in capsys.readouterr().err


def test_the_answer_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "x.csv", "--json"]) == 0
    (source,) = json.loads(capsys.readouterr().out)["answer"]["sources"]
    assert (source["verdict"], source["findings"][0]["kind"]) == ("order by file", "zone")


def test_one_screen_of_many_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(9):
        (tmp_path / "logs" / f"{number}.csv").write_text(LOG)
    assert main(["audit", "logs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "... and 3 more sources; --full has all"
    assert main(["audit", "logs", "--full"]) == 0
    assert capsys.readouterr().out.count("order by file") == 9


def test_the_model_is_written_and_no_input_is_written_over(tmp_path: Path) -> None:
    assert main(["audit", "x.csv", "--write-model", "model.toml"]) == 0
    assert "#   --writer source: x.csv\n" in (tmp_path / "model.toml").read_text()
    assert main(["audit", "x.csv", "--write-model", "x.csv"]) == 2
    assert (tmp_path / "x.csv").read_text() == LOG
