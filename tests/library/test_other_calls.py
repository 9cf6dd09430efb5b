"""`cepctl.ingest`, `assign`, `inspect` and `explain` in a program, and what `import cepctl` costs."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.engines.runners import forecast as forecasts
from cepctl.errors import EventSchemaError, UsageError

QUERY = "PATTERN SEQ(A a, B b)"
LOG = "event_type,time,task\nA,1970-01-01T00:00:01Z,t1\nB,1970-01-01T00:00:02Z,t1\n"
MODEL = '[[rule]]\ninterval = { before = "2 s", after = "0 s" }\n'
HEAVY = ("numpy", "pyarrow", "polars", "numba", "pyspark", "pandas", "click", "rich", "logging")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    file.write_text(LOG)
    return file


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "model.toml"
    file.write_text(MODEL)
    return file


def test_a_dataset_is_written_and_can_be_asked(log: Path, tmp_path: Path) -> None:
    dataset = cepctl.ingest(log, tmp_path / "events")
    assert str(dataset) == f"2 events of 2 types from 1 file in {tmp_path}/events (time unit 1 ms)"
    assert dataset.summary.type_counts == {"A": 1, "B": 1}
    assert [row["match"] for row in cepctl.match(QUERY, dataset)] == ["log.csv#1 log.csv#2"]


def test_a_dataset_is_that_of_the_command_line(log: Path, model: Path, tmp_path: Path) -> None:
    cepctl.ingest(log, tmp_path / "own", uncertainty=model, name={"A": "Start"})
    words = ["ingest", str(log), "--uncertainty", str(model), "--name", "A=Start", "--runner", "local"]
    assert main([*words, "-o", str(tmp_path / "theirs")]) == 0
    own, theirs = (tmp_path / name / "part-00000.parquet" for name in ("own", "theirs"))
    assert own.read_bytes() == theirs.read_bytes()


def test_a_table_becomes_a_dataset(tmp_path: Path) -> None:
    table = pa.table({"kind": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    cepctl.ingest(table, tmp_path / "events", map={"event_type": "kind"})
    ids = pq.read_table(tmp_path / "events" / "part-00000.parquet").column("event_id")
    assert ids.to_pylist() == ["table#1", "table#2"]


def test_a_dataset_that_is_there_stays(log: Path, tmp_path: Path) -> None:
    cepctl.ingest(log, tmp_path / "events")
    with pytest.raises(UsageError, match="exists"):
        cepctl.ingest(log, tmp_path / "events")
    with pytest.raises(UsageError, match="rejects would overwrite the input"):
        cepctl.ingest(log, tmp_path / "others", rejects=log)


def test_intervals_are_assigned_anew(log: Path, model: Path, tmp_path: Path) -> None:
    dataset = cepctl.ingest(log, tmp_path / "events")
    (certain,) = cepctl.match(QUERY, dataset)
    (doubtful,) = cepctl.match(QUERY, cepctl.assign(dataset, tmp_path / "wider", uncertainty=model))
    assert certain["confidence"] == 1.0
    assert 0.5 < doubtful["confidence"] < 1.0
    with pytest.raises(EventSchemaError, match="is not an event dataset"):
        cepctl.assign(log, tmp_path / "never", uncertainty=model)


def test_events_are_inspected_as_on_the_command_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = cepctl.inspect(log)
    assert (found.facts.events, found.facts.time_unit) == (2, "1 ms")
    assert found.model.startswith("# What the times of 2 events say")
    assert main(["inspect", str(log)]) == 0
    assert capsys.readouterr().out.rstrip().replace(str(log), "EVENTS") == str(found)
    assert main(["inspect", str(log), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == found.to_json()


def test_a_query_is_explained_as_on_the_command_line(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasts, "forecast", partial(forecasts.forecast, clock=lambda: 0.0))
    for events in ([], [str(log)]):
        explanation = cepctl.explain(QUERY, events or None)
        assert main(["explain", QUERY, *events]) == 0
        assert capsys.readouterr().out.rstrip() == str(explanation)
        assert main(["explain", QUERY, *events, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(explanation.to_json()))


def test_importing_it_imports_nothing_heavy() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, cepctl; dir(cepctl); print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in told.stdout.split()}
    assert "cepctl" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_every_name_that_is_offered_is_there() -> None:
    assert [name for name in cepctl.__all__ if not hasattr(cepctl, name)] == []
    assert set(cepctl.__all__) <= set(dir(cepctl))
    with pytest.raises(AttributeError, match="has no attribute 'mtach'"):
        cepctl.mtach  # type: ignore[attr-defined]  # noqa: B018
