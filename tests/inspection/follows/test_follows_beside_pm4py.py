"""On exact stamps without ties the graph is that of pm4py, which is installed aside."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cepctl

pytestmark = pytest.mark.slow
SAMPLE = Path(__file__).parents[3] / "sample_data" / "logs" / "tickets.xes"
PROGRAM = """
import json, sys
import pm4py
pairs, _, _ = pm4py.discover_dfg(pm4py.read_xes(sys.argv[1]))
print(json.dumps([[a, b, count] for (a, b), count in pairs.items()]))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pm4py")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "pm4py"], check=True)
    return folder / "bin" / "python"


def logs() -> list[Path]:
    real = Path(os.environ.get("CEPCTL_REALDATA", "/nowhere")) / "xes" / "running-example.xes"
    return [SAMPLE, *([real] if real.exists() else [])]


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.name)
def test_the_graph_is_that_of_pm4py(log: Path, python: Path) -> None:
    shown = subprocess.run([python, "-c", PROGRAM, log], capture_output=True, text=True, check=True).stdout
    theirs = {(a, b): count for a, b, count in json.loads(shown.splitlines()[-1])}
    rows = list(csv.DictReader(cepctl.follows(log).rows.write_csv().splitlines()))
    ours = {
        (row["a"], row["b"]): (int(row["least"]), float(row["expected"]), int(row["greatest"]))
        for row in rows
    }
    assert ours == {pair: (count, float(count), count) for pair, count in theirs.items()}
