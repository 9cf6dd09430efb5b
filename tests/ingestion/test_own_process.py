"""Where memory is little, steps that hold much give it back with the process that they run in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.ingestion import jobs
from cepctl.ingestion.options import IngestOptions
from cepctl.process.memory import READING_PROGRAM_BYTES, MemoryBudget

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
ROOT = Path(__file__).parents[2]
STEPS = """
import os, time

from cepctl.errors import CepctlError
from cepctl.ingestion.room import in_own_process
from cepctl.process.memory import READING_PROGRAM_BYTES, MemoryBudget

def budget(size):
    return MemoryBudget(size, program=READING_PROGRAM_BYTES)

def is_apart(_):
    return os.getpid() != parent

def takes(size):
    taken = bytes([1]) * size
    while size > 10**8:
        time.sleep(0.01)
    return len(taken)

parent = os.getpid()
print([in_own_process(is_apart, None, "it", budget(size), local=local)
       for size, local in ((300_000_000, True), (300_000_000, False), (10**11, True))])
try:
    in_own_process(takes, 400_000_000, "the step", budget(300_000_000), local=True)
except CepctlError as problem:
    print(problem)
callers = bytes([1]) * 500_000_000
print(in_own_process(lambda _: time.sleep(0.2), None, "it", budget(300_000_000), local=True))
"""


def test_a_step_is_ended_where_it_takes_more_than_there_is_beside_what_the_caller_holds() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STEPS], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert ran.stdout.splitlines() == [
        "[True, False, False]",
        "the step takes more than the 300 MB of memory available to it; raise --max-memory",
        "None",
    ], ran.stderr


def test_an_ingest_puts_events_in_order_and_writes_parts_in_such_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.csv").write_text("event_id,event_type,time\na,A,1\nb,B,2\n")
    steps = []

    def noted(function, task, step, memory, *, local):  # type: ignore[no-untyped-def]
        steps.append((step, memory.of_task, local))
        return function(task)

    monkeypatch.setattr(jobs, "in_own_process", noted)
    memory = MemoryBudget(300_000_000, program=READING_PROGRAM_BYTES)
    jobs.ingest([str(tmp_path / "log.csv")], str(tmp_path / "events"), IngestOptions(memory=memory))
    assert steps == [
        ("putting the events in order", 300_000_000, True),
        ("writing a part of the dataset", 300_000_000, True),
    ]
