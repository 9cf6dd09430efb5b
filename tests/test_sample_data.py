"""The story in sample_data: its bytes, its formats, and the task that its query is to find.

The confidences are estimated here by drawing possible worlds, with nothing of the engines.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

import cepctl
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.ganglia.gmond_xml import GangliaXml
from cepctl.io.ganglia.sample_columns import drop_repeated_samples
from cepctl.io.hadoop.jhist import HadoopJobHistory
from cepctl.io.log4j.log import Log4jLog
from cepctl.io.xes.log import XesLog
from cepctl.language.parser import parse
from cepctl.numeric.arrays import Flags
from cepctl.uncertainty.model import load_model

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_data"
LOGS = sorted((SAMPLES / "logs").iterdir())
DAEMON_LOGS = sorted((SAMPLES / "daemon_logs").iterdir())
ALL_LOGS = sorted([*LOGS, *DAEMON_LOGS])
READERS: dict[str, Reader] = {
    ".jhist": HadoopJobHistory(),
    ".xml": GangliaXml(),
    ".xes": XesLog(),
    ".log": Log4jLog(),
}
OPTIONS = ReadOptions(time_zone="Europe/Berlin")
WORLDS = 20_000
CULPRIT = "task_1772009204117_0042_m_000011"


def events_of(path: Path, report: ReadReport) -> pa.Table:
    with path.open("rb") as stream:
        return pa.Table.from_batches(READERS[path.suffix].read(stream, path.name, OPTIONS, report))


def test_the_script_writes_the_same_bytes_again(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "make_sample_data.py"))
    cast(Callable[[Path], None], script["main"])(tmp_path)
    written = sorted(tmp_path.glob("*/*"))
    assert [path.relative_to(tmp_path) for path in written] == [
        path.relative_to(SAMPLES) for path in ALL_LOGS
    ]
    for path, kept in zip(written, ALL_LOGS, strict=True):
        assert path.read_bytes() == kept.read_bytes(), path.name


def test_the_logs_stay_small() -> None:
    assert sum(path.stat().st_size for path in ALL_LOGS) < 500_000


@pytest.mark.parametrize("path", ALL_LOGS, ids=lambda path: path.name)
def test_every_log_is_recognised_by_its_reader_alone_and_read_without_a_complaint(path: Path) -> None:
    head = path.read_bytes()[: 1 << 16]
    assert [suffix for suffix, reader in READERS.items() if reader.recognises(head)] == [path.suffix]
    report = ReadReport()
    events = events_of(path, report)
    assert (report.rejects, report.warnings) == ([], [])
    assert events.num_rows > 0
    assert events.column("time").null_count == 0


def test_the_polls_show_samples_again_within_a_file_and_across_files() -> None:
    report = ReadReport()
    polls = pa.concat_tables([events_of(path, report) for path in LOGS if path.suffix == ".xml"])
    assert report.skipped["repeated sample"] > 100
    kept, dropped = drop_repeated_samples(polls)
    assert dropped > 0
    cpu = sorted((row["node"], row["time"]) for row in kept.to_pylist() if row["event_type"] == "cpu_user")
    apart = [(b[1] - a[1]).total_seconds() for a, b in pairwise(cpu) if a[0] == b[0]]
    assert set(apart) <= {14.0, 15.0, 16.0}


def test_the_model_and_the_query_are_well_formed() -> None:
    assert len(load_model(str(SAMPLES / "uncertainty.toml")).rules) == 3
    parse((SAMPLES / "query.cep").read_text())


@dataclass(frozen=True)
class Match:
    task: str
    confidence: float
    worlds: Flags


def matches_in_drawn_worlds() -> list[Match]:
    """Query 1 of ZDI10 within 50 s, under the intervals of sample_data/uncertainty.toml."""
    tables = [events_of(path, ReadReport()) for path in LOGS if path.suffix != ".xes"]
    samples, _ = drop_repeated_samples(
        pa.concat_tables([table for table in tables if "metric" in table.schema.names])
    )
    job = next(table for table in tables if "task_id" in table.schema.names).to_pylist()
    chance = np.random.default_rng(20100915)

    def drawn(rows: list[dict[str, Any]], before: float, after: float) -> list[tuple[dict[str, Any], Any]]:
        times = ((row, row["time"].timestamp()) for row in rows)
        return [(row, chance.uniform(time - before, time + after, WORLDS)) for row, time in times]

    starts = drawn([row for row in job if row["event_type"] == "TaskStart"], 0.5, 0.5)
    finishes = {
        row["task_id"]: time
        for row, time in drawn([row for row in job if row["event_type"] == "TaskFinish"], 0.5, 0.5)
    }
    cpu = drawn([row for row in samples.to_pylist() if row["event_type"] == "cpu_user"], 16, 2)
    found = []
    for (start, a), (hot, b), (calm, d) in product(starts, cpu, cpu):
        if start["node"] != hot["node"] or hot["node"] != calm["node"]:
            continue
        if hot["value"] <= 95 or calm["value"] > 70:
            continue
        c = finishes[start["task_id"]]
        worlds = (a < b) & (b < c) & (c < d) & (d - a < 50)
        if worlds.any():
            found.append(Match(start["task_id"], float(worlds.mean()), worlds))
    return sorted(found, key=lambda match: -match.confidence)


def test_the_query_finds_the_culprit_and_its_rows_only_bound_how_probable_it_is() -> None:
    found = matches_in_drawn_worlds()
    culprit = [match for match in found if match.task == CULPRIT]
    others = [match for match in found if match.task != CULPRIT]
    assert found[0].task == CULPRIT
    assert found[0].confidence == pytest.approx(0.774, abs=0.015)
    assert len(culprit) == 4
    assert {match.task[-8:] for match in others} == {"m_000010", "m_000012"}
    assert max(match.confidence for match in others) == pytest.approx(0.405, abs=0.015)
    at_all = np.logical_or.reduce([match.worlds for match in culprit]).mean()
    assert at_all == pytest.approx(0.850, abs=0.015)


def test_group_by_says_which_task_it_was(tmp_path: Path) -> None:
    """The answer of README.md, exactly: what a prototype that shares no code with the engines gave, too."""
    events = cepctl.ingest(
        SAMPLES / "logs",
        tmp_path / "events",
        uncertainty=SAMPLES / "uncertainty.toml",
        name={"cpu_user": "CPU"},
    )
    with cepctl.match(SAMPLES / "who.cep", events, runner="local") as groups:
        rows = groups.arrow().to_pylist()
        assert str(groups.summary).split("; ")[1].startswith(f"{CULPRIT}: 85 %, expected 2.2 matches")
    assert [row["a.task_id"][-6:] for row in rows] == ["000011", "000010", "000012"]
    assert [row["occurrence"] for row in rows] == pytest.approx(
        [0.849842833, 0.405127429, 0.325926337], abs=1e-9
    )
    assert [row["expected"] for row in rows] == pytest.approx(
        [2.154799056, 0.405127429, 0.742591605], abs=1e-9
    )
    assert [row["matches"] for row in rows] == [4, 1, 4]
