"""How the program leaves its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from pstats import Stats

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


@pytest.mark.parametrize("start", [["-m", "cepctl"], [str(Path(sys.executable).with_name("cepctl"))]])
def test_a_profiler_is_left_to_say_what_it_found(start: list[str], tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    events.write_text("event_type,lower,upper\nA,0,2\nB,1,5\n")
    asked = ["match", "PATTERN SEQ(A a, B b)", str(events)]
    program = [sys.executable, "-m", "cProfile", "-o", str(tmp_path / "profile"), *start, *asked]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = {name for _, _, name in Stats(str(tmp_path / "profile")).stats}  # type: ignore[attr-defined]
    assert {"find_matches", "match_batches"} & seen
