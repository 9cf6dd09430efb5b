"""Under a limit of memory (`ulimit -v`) whatever ends a run, one line says why."""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")

EVENTS = "event_id,event_type,lower,upper\na,A,0,4\nb,B,2,6\n"
QUERY = ["match", "PATTERN SEQ(A a, B b)", "events.csv"]
ENDS = """
import os, sys
from cepctl.process.limited_memory import beware
import cepctl.__main__, cepctl.cli
cepctl.cli.main = lambda: {end}
cepctl.__main__.start()
"""


def limited(megabytes: int, *arguments: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a program of Python does where it may have so many addresses."""
    amount = megabytes << 20
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=at,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (amount, amount)),
    )


OF_PYTHON = """line 198, in _run_module_as_main
SystemError: error return without exception set
"""
"""What Python 3.11 says, once in forty calls, where it has no memory to begin with a module at all."""


@pytest.mark.parametrize(
    ("command", "megabytes"),
    [
        *((["--help"], few) for few in (28, 30, 32, 34, 36, 100)),
        *((["formats"], few) for few in (100, 250, 330, 400, 500)),
        *((QUERY, few) for few in (250, 450, 700, 850, 1000)),
    ],
)
def test_a_run_answers_or_says_that_memory_is_limited(
    command: list[str], megabytes: int, tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text(EVENTS)
    done = limited(megabytes, "-m", "cepctl", *command, at=tmp_path)
    if done.stderr.endswith(OF_PYTHON):
        return
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "memory" in done.stderr.partition("error: ")[2]


def test_the_least_that_is_asked_of_a_command_is_what_it_imports() -> None:
    assert limited(60, "-m", "cepctl", "--help").returncode == 0
    refused = limited(200, "-m", "cepctl", "formats")
    assert (refused.returncode, "no room for the library pyarrow" in refused.stderr) == (4, True)


@pytest.mark.parametrize("end", ["os.abort()", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_what_ends_a_limited_process_unannounced_is_told_beside_it(end: str) -> None:
    assert "ulimit -v allows 1,024 MB" in limited(1024, "-c", ENDS.format(end=end)).stderr


@pytest.mark.parametrize("end", ["0", "4", "sys.exit(3)", "cepctl.__main__._leave(2)"])
def test_a_limited_process_that_ends_by_itself_says_no_more(end: str) -> None:
    assert limited(1024, "-c", ENDS.format(end=end)).stderr == ""


def test_a_defect_that_is_none_of_memory_keeps_its_traceback() -> None:
    defect = ENDS.format(end="1 // 0")
    assert "ZeroDivisionError" in limited(100_000, "-c", defect).stderr
    assert "Traceback" in limited(100_000, "-c", defect).stderr
    assert "Traceback" not in limited(1024, "-c", defect).stderr
