"""Paths of another scheme than files of this machine: the same dataset, the same matches, on both runners.

fsspec's own view of the local disk stands for filesystems that need a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cepctl.engines.event.match import match_schema
from cepctl.engines.rows.sorted import SortedRows, WantedRows
from cepctl.engines.runners.stored import collect, run
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.language.parser import parse
from cepctl.matching.inputs import open_events
from cepctl.plan.analyze import analyze
from cepctl.process.memory import default_budget
from cepctl.runners.local import LocalRunner
from cepctl.runners.runner import Runner
from cepctl.runners.spark.runner import SparkRunner

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

OTHER_SCHEME = "fsspec+local://"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.csv").write_text("event_type,lower,upper,k\nA,1,3,x\nB,2,6,x\n")
    (folder / "b.csv").write_text("event_type,lower,upper,k\nB,4,9,y\n")
    return folder


@pytest.mark.spark
def test_another_scheme_gives_the_same_dataset_and_the_same_matches(
    logs: Path, tmp_path: Path, spark: Session
) -> None:
    ingest([str(logs)], str(tmp_path / "plain"), IngestOptions())
    # One runner reads the files as wholes, the other in parts.
    runners: dict[str, Runner] = {"here": LocalRunner(), "there": SparkRunner(spark, block_bytes=10)}
    for name, runner in runners.items():
        ingest([f"{OTHER_SCHEME}{logs}/*.csv"], f"{OTHER_SCHEME}{tmp_path}/{name}", IngestOptions(), runner)
        for part in (tmp_path / "plain").iterdir():
            assert (tmp_path / name / part.name).read_bytes() == part.read_bytes()
    with open_events([f"{OTHER_SCHEME}{tmp_path}/there"]) as events:
        plan = analyze(parse("PATTERN SEQ(A a, B b) WITHIN 9 ticks"), events.schema)
        found = run(plan, events.sources(plan.attributes), runners["there"])
        assert found.column("match").to_pylist() == ["a.csv#1 b.csv#1", "a.csv#1 a.csv#2"]
        rows = SortedRows(match_schema(plan), WantedRows(), default_budget(), tmp_path)
        collect(plan, events.sources(plan.attributes), runners["here"], rows)
        assert rows.table().equals(found)
