"""`cepctl demo`: what a stranger types first."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.cli.commands.demo import NEXT

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_demo_answers_the_question_and_every_command_it_names_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    best = next(line for line in shown.splitlines() if line.startswith("task_"))
    assert best.split() == ["task_1772009204117_0042_m_000011", "node04", "99.1", "46.6", "0.773790"]
    assert sum(line.startswith("task_") for line in shown.splitlines()) == 7
    named = [line.split("  #")[0].strip() for line in shown.splitlines() if line.startswith("  ")]
    assert named == ["cd cepctl-demo", *NEXT]
    assert len(NEXT) == 3
    monkeypatch.chdir(tmp_path / "cepctl-demo")
    for line in NEXT:
        assert main(shlex.split(line)[1:]) == 0
    assert "85 %" in capsys.readouterr().out
    assert (tmp_path / "cepctl-demo" / "report.html").stat().st_size > 10_000


def test_what_the_demo_writes_are_the_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "a/b"]) == 0
    for file in (ROOT / "sample_data" / "logs").iterdir():
        assert (tmp_path / "a" / "b" / "logs" / file.name).read_bytes() == file.read_bytes()
    assert Path.cwd() == tmp_path
    assert "in a/b." in capsys.readouterr().out


def test_an_empty_folder_is_taken_and_one_with_files_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    assert main(["demo", "mine"]) == 0
    capsys.readouterr()
    before = sorted((tmp_path / "mine").rglob("*"))
    assert main(["demo", "mine"]) == 2
    assert capsys.readouterr().err.startswith(
        "error: mine holds files; name a folder that is empty or not there"
    )
    (tmp_path / "file").touch()
    assert main(["demo", "file"]) == 2
    assert "file is a file" in capsys.readouterr().err
    assert sorted((tmp_path / "mine").rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert main(["demo", "x"]) == 4
    assert capsys.readouterr().err.startswith("error: cannot write x: ")
