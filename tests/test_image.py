"""What the Dockerfile and action.yml run, as scripts in a fresh folder: Docker is not on every machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).parent / "cepctl"
INPUTS = {"query": "PATTERN SEQ(A a, B b)", "events": "log.csv", "uncertainty": "", "min-confidence": "0.5"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(
        'event_id,event_type,lower,upper,text\na1,A,1,4,"one\n::error::two"\nb1,B,3,6,\n', encoding="utf-8"
    )


def step(**inputs: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ACTION_INPUTS": json.dumps({**INPUTS, **inputs}), "GITHUB_OUTPUT": "told"}
    return subprocess.run(
        [ROOT / "scripts" / "annotate", PROGRAM],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_matches_become_annotations_and_too_many_fail_the_step() -> None:
    done = step(allowed="0")
    assert done.returncode == 1
    line, summary = done.stdout.splitlines()
    assert line.startswith("::error title=cepctl::confidence 0.8125, start 1970-01-01T00:00:00.001Z")
    assert summary.startswith("1 match in 2 events")
    assert Path("told").read_text() == "matches=1\n"


@pytest.mark.slow
def test_as_many_as_are_allowed_are_warnings() -> None:
    done = step(allowed="1")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=cepctl::")


def test_what_is_less_probable_is_not_counted() -> None:
    done = step(allowed="0", **{"min-confidence": "0.9"})
    assert done.returncode == 0
    assert "::" not in done.stdout


@pytest.mark.slow
def test_what_a_log_holds_begins_no_command_of_the_job() -> None:
    done = step(allowed="1", query="PATTERN SEQ(A a, B b) RETURN a.text")
    assert [line for line in done.stdout.splitlines() if line.startswith("::")] == [
        "::warning title=cepctl::a.text one%0A::error::two, confidence 0.8125, "
        "start 1970-01-01T00:00:00.001Z, end 1970-01-01T00:00:00.006Z"
    ]


def test_a_wrong_query_fails_the_step_with_its_own_code() -> None:
    done = step(allowed="0", query="PATTERN SEQ(")
    assert done.returncode == 2
    assert "error:" in done.stderr


def test_the_action_says_all_that_its_step_takes() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(action["inputs"]) == {*INPUTS, "allowed"}
    assert action["runs"]["using"] == "composite"
    for each in action["runs"]["steps"]:
        (script,) = re.findall(r"\$GITHUB_ACTION_PATH/([\w/]+)", each["run"])
        assert os.access(ROOT / script, os.X_OK)


def test_the_image_has_two_targets_none_of_which_runs_as_root() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^FROM \S+ AS (\S+)$", text, re.MULTILINE)[-2:] == ["spark", "local"]
    assert re.findall(r"^USER (\S+)$", text, re.MULTILINE) == ["10001"]
    for target in re.findall(r"scripts/image (\w+)", text):
        assert target in ("local", "spark")


def test_the_linter_of_dockerfiles_has_nothing_to_say() -> None:
    linter = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_local_image_answers_without_pyspark_in_at_most_700_megabytes(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    folder = tmp_path / "opt"
    subprocess.run([ROOT / "scripts" / "image", "local", folder], env=environment, check=True)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    assert size < 700e6
    program = folder / "bin" / "cepctl"
    environment |= {"CEPCTL_RUNNER": "local"}
    doctor = subprocess.run([program, "doctor"], env=environment, capture_output=True, text=True, check=False)
    assert (doctor.returncode, "failed" in doctor.stdout) == (0, False)
    shown = subprocess.run([program, "demo"], env=environment, capture_output=True, text=True, check=True)
    assert "0.773790" in shown.stdout
    told = subprocess.run(
        [program, "match", "PATTERN A a", "log.csv", "--runner", "spark"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "PySpark is not installed here" in told.stderr
