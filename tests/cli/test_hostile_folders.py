"""What a folder of evidence may hold by way of names and texts ends in one line each, in no traceback."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest

from cepctl.assistants.places import OpenFolders
from cepctl.cli.commands import demo
from cepctl.errors import JobError, UsageError
from tests.calls import called

DEEP = {
    "arrays": "a = " + "[" * 50_000,
    "tables": "[[rule]]\nx = " + "{a=" * 5_000,
    "dotted keys": ".".join(["a"] * 5_000) + " = 1",
    "headers": "[" + ".".join(["a"] * 5_000) + "]",
}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("event_type,time\nA,2026-06-14T06:15:04Z\n")
    return "log.csv"


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("option", ["--uncertainty", "--patterns", "--templates"])
def test_toml_that_is_nested_without_end_is_refused(
    log: str, option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("deep.toml").write_text(text)
    _, told = called(capsys, "ingest", log, "-o", "events", option, "deep.toml", code=2)
    assert "nested too deeply" in told


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("named", [True, False])
def test_options_that_are_nested_without_end_are_refused(
    log: str, text: str, named: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cepctl.toml").write_text(text)
    chosen = ["--config", "cepctl.toml"] if named else []
    _, told = called(capsys, *chosen, "inspect", log, code=2)
    assert "nested too deeply" in told


def test_a_line_end_in_a_name_begins_no_line_of_ours(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a\nerror: forged.csv").write_text("event_type,time\nB,oops\n")
    Path("b\rerror: forged").mkdir()
    Path("b\rerror: forged/b.csv").write_text("hello\n")
    out, told = called(capsys, "ingest", ".", "-o", "../events", "--runner", "local")
    assert not any(line.startswith("error: forged") for line in (out + told).splitlines())
    assert "a\\nerror: forged.csv: its name has a line end in it; rename it" in told
    _, told = called(capsys, "inspect", "a\nerror: forged.csv", code=3)
    assert told.count("\n") == 1


@pytest.mark.parametrize("path", ["a\0b", "a" * 5_000, "/".join("a" * 300 for _ in range(20)), "\udcff" * 9])
def test_the_tools_refuse_what_is_no_path(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError) as told:
        OpenFolders.of([str(tmp_path)]).inside(path)
    assert len(str(told.value)) < 10_000


def test_a_demo_on_a_full_disk_says_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shutil.copyfile

    def copy(source: Any, target: Any, **options: Any) -> Any:
        if "gmond" in str(source):
            raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(target))
        return whole(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", copy)
    monkeypatch.setattr(shutil, "copy2", copy)
    with pytest.raises(JobError, match=r"cannot write .*: No space left on device$"):
        demo.write_samples(tmp_path / "demo")
    assert not list(tmp_path.iterdir())
