"""The examples for cron, systemd and Airflow: they do what their page says."""

from __future__ import annotations

import csv
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CRONTAB = ROOT / "scripts" / "cron.example"
UNITS = ROOT / "scripts" / "systemd"
DAG = ROOT / "scripts" / "airflow_example.py"


def cron_command() -> str:
    """The one command of the crontab, as cron gives it to the shell."""
    entries = [line for line in CRONTAB.read_text().splitlines() if re.match(r"[\d*]", line)]
    (entry,) = entries
    return entry.split(None, 5)[5].replace(r"\%", "%")


def systemd_command() -> str:
    (command,) = re.findall(r"^ExecStart=(.*)$", (UNITS / "cepctl-slow-tasks.service").read_text(), re.M)
    return str(command)


class Recorded:
    """Stands for a class of Airflow: keeps what it was made with."""

    made: list[dict[str, Any]]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.made.append({"arguments": arguments, **named})

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[Recorded]]:
    """Airflow as far as the example uses it; `made` of each class is what was made of it."""
    classes: dict[str, type[Recorded]] = {}
    for path, name in (("airflow.sdk", "DAG"), ("airflow.providers.standard.operators.bash", "BashOperator")):
        classes[name] = type(name, (Recorded,), {"made": []})
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        setattr(sys.modules[path], name, classes[name])
    return classes


def airflow_operator(classes: dict[str, type[Recorded]]) -> dict[str, Any]:
    runpy.run_path(str(DAG))
    (operator,) = classes["BashOperator"].made
    return operator


def run_in(folder: Path, command: str) -> None:
    """Run a command of an example in the shell, its paths led into a folder."""
    for place in ("/var/lib", "/var/log", "/etc"):
        command = re.sub(rf"(^|[\s@]){place}/", rf"\1{folder}{place}/", command)
    program = f"{sys.executable} -m cepctl "
    command = re.sub(r"^(/usr/local/bin/)?cepctl ", lambda _: program, command)
    environment = {**os.environ, "CEPCTL_RUNNER": "local"}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if "--quiet" in command:
        assert done.stdout + done.stderr == ""


@pytest.mark.parametrize(
    "example", ["cron", *(pytest.param(each, marks=pytest.mark.slow) for each in ("systemd", "airflow"))]
)
def test_the_examples_say_each_match_once(
    example: str, tmp_path: Path, airflow: dict[str, type[Recorded]]
) -> None:
    commands = {"cron": cron_command, "systemd": systemd_command}
    command = commands[example]() if example in commands else airflow_operator(airflow)["bash_command"]
    for name in (
        "etc/cepctl",
        "var/log/hadoop",
        "var/lib/cepctl/slow-tasks",
        "var/lib/prometheus/node-exporter",
    ):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "etc/cepctl/slow-tasks.cep").write_text("PATTERN SEQ(A a, B b) WITHIN 10 s")
    log = tmp_path / "var/log/hadoop/events.csv"
    log.write_text("event_type,event_id,time\nA,a1,2026-03-03T09:00:00Z\nB,b1,2026-03-03T09:00:05Z\n")
    run_in(tmp_path, command)
    with log.open("a") as appended:
        appended.write("A,a2,2026-03-03T11:00:00Z\n")
    run_in(tmp_path, command)
    outputs = sorted((tmp_path / "var/lib/cepctl/slow-tasks/matches").iterdir())
    rows = [[row["match"] for row in csv.DictReader(file.open())] for file in outputs]
    assert rows == [[], ["a1 b1"]]
    metrics = tmp_path / "var/lib/prometheus/node-exporter/cepctl_slow_tasks.prom"
    assert metrics.exists() == (example != "airflow")


def test_all_examples_run_the_same_query(airflow: dict[str, type[Recorded]]) -> None:
    def bare(command: str) -> str:
        return re.sub(r" --quiet| --metrics \S+|^/usr/local/bin/", "", command)

    by_airflow = airflow_operator(airflow)["bash_command"]
    assert bare(cron_command()) == bare(systemd_command()) == bare(by_airflow)


def test_airflow_runs_one_at_a_time_and_knows_a_held_state(airflow: dict[str, type[Recorded]]) -> None:
    assert airflow_operator(airflow)["skip_on_exit_code"] == 5
    (dag,) = airflow["DAG"].made
    assert dag["max_active_runs"] == 1
    assert dag["catchup"] is False


@pytest.mark.skipif(shutil.which("crontab") is None, reason="no crontab")
def test_cron_takes_the_example() -> None:
    checked = subprocess.run(["crontab", "-n", CRONTAB], capture_output=True, text=True, check=False)
    if "invalid option" in checked.stderr:
        pytest.skip("this crontab has no dry run")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("/usr/local/bin/cepctl", sys.executable)
        (tmp_path / unit.name).write_text(text)
    units = sorted(tmp_path.iterdir())
    assert [unit.suffix for unit in units] == [".service", ".timer"]
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "cepctl-slow-tasks" not in checked.stderr
