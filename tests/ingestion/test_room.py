"""`--max-memory` of an ingest: the same dataset in however little memory, or a refusal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.ingestion import key_partitions, ordering, reading, room, writing
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.reading import parser_died
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.written_units import KnownTimes
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.locations import InputFile, Location
from cepctl.process.memory import READING_PROGRAM_BYTES, MemoryBudget
from cepctl.runners import apart
from cepctl.runners.apart import OUT_OF_MEMORY
from cepctl.uncertainty.model import UncertaintyModel, parse_model

ROOT = Path(__file__).parents[2]
LITTLE = MemoryBudget(240_000_000, program=READING_PROGRAM_BYTES)
AMPLE = MemoryBudget(10**12, program=READING_PROGRAM_BYTES)


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, row groups and shares so small that a little log has many of each."""
    monkeypatch.setattr(MemoryBudget, "own", property(lambda memory: 0 if memory.total < 10**9 else 10**12))
    monkeypatch.setattr(room, "_LEAST_BYTES", 4_000)
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 80)
    monkeypatch.setattr(ordering, "PART_EVENTS", 90)
    monkeypatch.setattr(writing, "ROW_GROUP_EVENTS", 16)


def write_log(file: Path, count: int, begin: int) -> None:
    """Events with ids of their own, out of order; every fiftieth id is that of an earlier event."""
    rows = [f"e{begin + i - i % 50 // 49},A,{i * 7919 % 10_007},text {i % 13}" for i in range(count)]
    file.write_text("\n".join(["event_id,event_type,time,note", *rows, ""]))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_dataset_is_the_same_in_however_little_memory(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(2):
        write_log(logs / f"{number}.csv", 150, begin=100 * number)
    for name, memory in (("little", LITTLE), ("ample", AMPLE)):
        options = IngestOptions(max_errors=500, rejects=str(tmp_path / f"{name}.jsonl"), memory=memory)
        ingest([str(logs)], str(tmp_path / name), options)
        model = parse_model("rule = [{ granularity = '1 s' }]")
        assign_dataset(
            str(tmp_path / name), str(tmp_path / f"{name} anew"), IngestOptions(model=model, memory=memory)
        )
    assert len(content(tmp_path / "ample")) > 3
    assert content(tmp_path / "little") == content(tmp_path / "ample")
    assert content(tmp_path / "little anew") == content(tmp_path / "ample anew")
    rejects = (tmp_path / "little.jsonl").read_text()
    assert rejects == (tmp_path / "ample.jsonl").read_text()
    # Three in each file, one of them among the fifty that the second has again.
    assert rejects.count("duplicate event_id") == 3 + 2 + 50


def test_keys_that_do_not_fit_are_looked_through_in_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    whole = key_partitions._partition_of

    def partition_of(table, equal, count):  # type: ignore[no-untyped-def]
        counts.append(count)
        return whole(table, equal, count)

    monkeypatch.setattr(key_partitions, "_partition_of", partition_of)
    # What a process of its own counts is lost with it.
    monkeypatch.setattr(apart, "can_fork", lambda: False)
    write_log(tmp_path / "log.csv", 300, begin=0)
    ingest([str(tmp_path / "log.csv")], str(tmp_path / "out"), IngestOptions(max_errors=500, memory=LITTLE))
    assert set(counts) and min(counts) > 3


def test_samples_that_polls_repeat_are_found_in_however_little_memory(tmp_path: Path) -> None:
    for poll in range(2):
        metrics = "".join(
            f'<METRIC NAME="m{number}" VAL="{number}" TYPE="float" TN="{poll * 15 + number % 3}" TMAX="60"/>'
            for number in range(90)
        )
        (tmp_path / f"{poll}.xml").write_text(
            f'<GANGLIA_XML VERSION="3" SOURCE="gmond"><CLUSTER NAME="c" LOCALTIME="{1_000_000 + poll * 15}">'
            f'<HOST NAME="n" REPORTED="{1_000_000 + poll * 15}" TN="0" TMAX="20">{metrics}</HOST></CLUSTER>'
            "</GANGLIA_XML>\n"
        )
    logs = [str(tmp_path / f"{poll}.xml") for poll in range(2)]
    little, ample = (
        ingest(logs, str(tmp_path / name), IngestOptions(memory=memory))
        for name, memory in (("little", LITTLE), ("ample", AMPLE))
    )
    assert little.skipped == ample.skipped == {"repeated sample": 90}
    assert content(tmp_path / "little") == content(tmp_path / "ample")


def test_a_task_that_takes_more_memory_than_there_is_for_it_is_ended_and_costs_itself_alone() -> None:
    code = (
        "from cepctl.runners.apart import run_apart\n"
        "def outcome(number):\n"
        "    taken = [bytes([1]) * (1 << 20) for _ in range(number)]\n"
        "    while number > 1_000: pass\n"
        "    return len(taken)\n"
        "print(run_apart(outcome, [1, 1_500, 2], lambda number, cause: cause, 1 << 30))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert (ran.stdout, ran.stderr) == (f"[1, '{OUT_OF_MEMORY}', 2]\n", "")


def test_a_file_that_took_too_much_is_named_with_the_bound(tmp_path: Path) -> None:
    file = InputFile(Location.of(str(tmp_path / "a.json")), "a.json", found=True)
    task = ReadTask(
        file,
        0,
        Location.of(str(tmp_path)),
        ReadOptions(),
        UncertaintyModel(),
        KnownTimes(),
        may_be_unreadable=True,
        memory=MemoryBudget(600_000_000, tasks=2),
    )
    assert parser_died(task, OUT_OF_MEMORY).unreadable == (
        "a.json: reading it takes more than the 300 MB of memory that there are for it, so nothing of it was "
        "taken in; raise --max-memory, or leave the file out"
    )


@pytest.mark.parametrize("command", [["ingest", "log.csv"], ["assign", "events", "--uncertainty", "m.toml"]])
def test_less_than_the_program_itself_takes_is_refused(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "-o", str(tmp_path / "out"), "--max-memory", "200MB"]) == 2
    assert "alone take 160 MB; name at least 240 MB" in capsys.readouterr().err
