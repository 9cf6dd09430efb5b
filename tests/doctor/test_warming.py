"""Compiling the kernels before they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# The compiled functions that Python calls, but for the small ones of estimates and of thresholds on groups.
ENTRIES = {
    "chain_confidence": "_chain_batch",
    "chain_range": "_first_ticks",
    "constraints": "_tighten",
    "enumeration": "_extended",
    "gap_confidence": "_solve",
    "gap_polynomials": "_solve",
    "gap_range": "_first_ticks",
    "group_counts": "_company",
    "interval_join": "_pairs",
    "tick_rules": "summation_rule",
}

PROGRAM = """
from cepctl.doctor.warming import compiled_functions, warm_up
print(warm_up().compiled)
for name, each in compiled_functions().items():
    if each.signatures:
        print(name)
"""


@pytest.mark.slow
def test_a_second_process_finds_everything_compiled(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert int(told[0][0]) > 0
    assert told[1][0] == "0"
    reached = set(told[0][1:])
    assert {f"cepctl.engines.{module}.{name}" for module, name in ENTRIES.items()} <= reached
