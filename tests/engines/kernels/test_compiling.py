"""The process beside a match that compiles kernels, and what it does where it holds much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cepctl.engines.kernels.beside import signature_of

# What it becomes when it begins anew has all room.
WITHOUT_ROOM = """
from cepctl.engines.kernels import compiling
compiling.MOST_BYTES = 0
compiling.run()
"""
KERNEL = "columns.joins._running_maximum"
SECONDS = 300


def wait_for(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    while not holds():
        assert process.poll() is None, process.returncode
        assert time.monotonic() - began < SECONDS
        time.sleep(0.05)


@pytest.mark.slow
def test_what_is_asked_for_is_compiled_by_a_process_that_begins_anew(tmp_path: Path) -> None:
    """It is asked for one kernel and part of the next one's line; for the rest after it has begun anew."""
    keys = np.arange(3)
    asked = [
        json.dumps([f"cepctl.engines.{KERNEL}", signature_of((values, keys))]) + "\n"
        for values in (np.arange(3), np.arange(3.0))
    ]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    with subprocess.Popen(
        [sys.executable, "-c", WITHOUT_ROOM],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as compiler:
        assert compiler.stdin is not None
        assert compiler.stdout is not None
        compiler.stdin.write(asked[0] + asked[1][:9])
        compiler.stdin.flush()
        command = Path(f"/proc/{compiler.pid}/cmdline")
        if command.exists():
            wait_for(lambda: b"\0-P\0" in command.read_bytes(), compiler)
        wait_for(lambda: len(list(tmp_path.rglob(f"{KERNEL}-*"))) > 0, compiler)
        compiler.stdin.write(asked[1][9:])
        compiler.stdin.flush()
        wait_for(lambda: len(list(tmp_path.rglob(f"{KERNEL}-*"))) > 1, compiler)
        assert compiler.stdout.read(2) == ".."
        compiler.stdin.close()
        assert compiler.wait(timeout=SECONDS) == 0
