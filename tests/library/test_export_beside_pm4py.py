"""pm4py, which is installed aside, reads what is exported: the same cases, activities and times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import cepctl
from cepctl.matching.inputs import read_events

pytestmark = pytest.mark.slow
SAMPLE = Path(__file__).parents[2] / "sample_data" / "logs" / "tickets.xes"
PROGRAM = """
import json, sys
import pm4py
frame = pm4py.read_xes(sys.argv[1], return_legacy_log_object=False)
rows = frame[["case:concept:name", "concept:name", "time:timestamp", "event_id"]].astype(str).values.tolist()
log = pm4py.read_xes(sys.argv[1], return_legacy_log_object=True)
marks = {event["event_id"]: str(event.get("uncertainty:continuous_strong")) for case in log for event in case}
print(json.dumps({"rows": rows, "marks": marks}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pm4py")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "pm4py"], cwd=folder, check=True
    )
    return folder / "bin" / "python"


def test_pm4py_reads_the_log(python: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    model.write_text('[[rule]]\ninterval = { before = "1 h", after = "0 s" }\n', encoding="utf-8")
    log = tmp_path / "out.xes"
    cepctl.export_xes(SAMPLE, log, uncertainty=str(model))
    shown = subprocess.run([python, "-c", PROGRAM, log], capture_output=True, text=True, check=True).stdout
    theirs = json.loads(shown.splitlines()[-1])
    ours = read_events([str(SAMPLE)], ["case_id"]).to_pylist()
    assert len(ours) > 20
    assert sorted((case, name, time, own) for case, name, time, own in theirs["rows"]) == sorted(
        (row["case_id"], row["event_type"], str(row["time"]), row["event_id"]) for row in ours
    )
    # It keeps one value for each key of a list: of an interval its last instant, which here is the time.
    assert {row["event_id"] for row in ours} == theirs["marks"].keys()
    for row in ours:
        assert repr(row["time"].replace(tzinfo=None))[:-1] in theirs["marks"][row["event_id"]]
