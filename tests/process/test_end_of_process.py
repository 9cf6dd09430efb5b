"""How the program leaves its process."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAVES = """
import atexit, cepctl.cli, sys
from cepctl.__main__ import start

class Kept:
    def __del__(self):
        print("taken apart")

kept = Kept()
atexit.register(print, "registered")
cepctl.cli.main = lambda: print("written") or {code}
start()
"""


@pytest.mark.parametrize("code", [0, 1, 4])
def test_what_is_registered_still_runs_and_nothing_is_taken_apart(code: int) -> None:
    program = [sys.executable, "-c", LEAVES.format(code=code)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "written\nregistered\n", "")
