"""The scripts that a stranger meets first: what they need, what they do without Java or Python."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TREE = ("cepctl", "engines", "io", "sample_data", "scripts", "pyproject.toml", "README.md", "LICENSE")
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder to stand for PATH: every program of this machine except Java."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name != "java" and not os.path.lexists(folder / program.name):
                (folder / program.name).symlink_to(program)
    return folder


@pytest.fixture
def shell(programs: Path) -> Shell:
    """Runs Bash with `programs` as PATH and without JAVA_HOME."""

    def run(script: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if k not in {"JAVA_HOME", "VIRTUAL_ENV"}}
        return subprocess.run(
            ["bash", "-c", f"source scripts/environment\n{script}"],
            cwd=folder,
            env={**inherited, "PATH": str(programs), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def write_java(place: Path, version: str) -> None:
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-01-01' >&2\n", encoding="utf-8")
    place.chmod(0o755)


def test_a_java_runtime_is_installed_where_there_is_none(shell: Shell) -> None:
    assert shell("join_extras dev").stdout == "[dev,jre]"
    assert shell("join_extras").stdout == "[jre]"


@pytest.mark.parametrize(
    ("version", "extras"), [("1.8.0_292", "[dev,jre]"), ("11.0.2", "[dev,jre]"), ("17", "[dev]")]
)
def test_java_on_the_path_must_be_of_version_17(
    shell: Shell, programs: Path, version: str, extras: str
) -> None:
    write_java(programs / "java", version)
    assert shell("join_extras dev").stdout == extras


@pytest.mark.parametrize(
    ("home", "path", "extras"), [("1.8.0", "21.0.1", ""), ("21.0.1", "11", ""), ("11", "11", "[jre]")]
)
def test_java_may_be_under_java_home_or_on_the_path(
    shell: Shell, programs: Path, tmp_path: Path, home: str, path: str, extras: str
) -> None:
    write_java(programs / "java", path)
    write_java(tmp_path / "home" / "bin" / "java", home)
    assert shell("join_extras", JAVA_HOME=str(tmp_path / "home")).stdout == extras


def test_no_suitable_python_is_said_with_the_remedy(shell: Shell, programs: Path) -> None:
    for program in programs.glob("python*"):
        program.unlink()
    done = shell("make_environment folder stamp true")
    assert done.returncode == 1
    assert "no Python 3.11 or newer" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_an_environment_is_filled_until_it_went_well_and_again_when_its_stamp_changes(
    shell: Shell, tmp_path: Path
) -> None:
    folder = f"'{tmp_path}/environment'"
    failed = shell(f"make_environment {folder} one false")
    assert failed.returncode == 1
    assert "could not install cepctl" in failed.stderr
    told = [shell(f"make_environment {folder} {stamp} echo filled").stdout for stamp in ("one", "one", "two")]
    assert told == ["filled\n", "", "filled\n"]


@pytest.mark.slow
@pytest.mark.spark
def test_the_demo_runs_without_java_and_again_with_the_same_answer(shell: Shell, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    subprocess.run(["cp", "-RP", *(ROOT / name for name in TREE), checkout], check=True)
    first, second = (shell("scripts/demo", checkout) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert "confidence" in first.stdout
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert "the environment" not in second.stderr
