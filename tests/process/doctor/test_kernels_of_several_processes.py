"""Kernels that several processes compile at once compute what the interpreter does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WAYS = ("runs", "runs[::-1]", "runs[1::2] + runs[::2]")
COMPILED = """
from cepctl.process.doctor.warming import _runs
from cepctl.engines.event.match import match_events
from cepctl.engines.kernels.stages import only

runs = _runs()
with only("compiled"):
    for run in {way}:
        match_events(*run)
"""
COMPARED = """
from cepctl.process.doctor.warming import _runs, compiled_here
from cepctl.engines.event.match import match_events
from cepctl.engines.kernels.stages import only

def told(rows):
    return sorted(map(repr, rows.to_pylist()))

compared = 0
for number, run in enumerate(_runs()):
    with only("interpreted"):
        wanted = match_events(*run)
    with only("compiled"):
        found = match_events(*run)
    assert told(found) == told(wanted), f"query {number}"
    compared += wanted.num_rows
print(compiled_here(), compared)
"""


@pytest.mark.slow
def test_kernels_of_several_processes_compute_what_the_interpreter_does(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    at_once = [
        subprocess.Popen([sys.executable, "-c", COMPILED.format(way=way)], env=environment) for way in WAYS
    ]
    assert [each.wait() for each in at_once] == [0] * len(WAYS)
    done = subprocess.run(
        [sys.executable, "-c", COMPARED], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    compiled, compared = map(int, done.stdout.split())
    assert (compiled, compared > 1_000) == (0, True)
