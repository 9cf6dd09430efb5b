"""A task that kills its process costs itself alone, and what killed it is said."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A reader that kills its process, as a parser written in C may: the one of CSV, for a file with the word.
KILLED = """
import os, signal, sys
from cepctl.io.tabular import delimited
from cepctl.__main__ import run

whole = delimited.DelimitedReader.read

def read(self, stream, source, options, report):
    for batch in whole(self, stream, source, options, report):
        if "fatal" in batch.column("event_type").to_pylist():
            os.kill(os.getpid(), getattr(signal, {signal!r}))
        yield batch

delimited.DelimitedReader.read = read
sys.argv[1:] = {arguments!r}
sys.exit(run())
"""
PARTS = """
import os, signal
from cepctl.runners import apart
from cepctl.runners.apart import run_apart

apart._ALONE_SECONDS = 0

def outcome(number):
    if number % 3 == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == {failing}:
        raise ValueError("seven")
    return number, os.getpid() == parent

parent = os.getpid()
try:
    print(run_apart(outcome, range(6), lambda number, cause: (number, cause), at_once={at_once}))
except ValueError as problem:
    print("raised", problem, "outcome" in problem.__notes__[0])
print(os.waitpid(-1, os.WNOHANG) if {failing} < 0 else "")
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, without other threads, as the command line is."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )


def ingest(folder: Path, *paths: str, signal_name: str = "SIGSEGV") -> subprocess.CompletedProcess[str]:
    arguments = ["ingest", *paths, "-o", str(folder / "events"), "--runner", "local"]
    return python(KILLED.format(signal=signal_name, arguments=arguments))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.csv").write_text("event_type,time\nA,1\nA,2\n")
    (logs / "b.csv").write_text("event_type,time\nB,1\nfatal,2\n")
    (logs / "c.csv").write_text("event_type,time\nC,1\n")
    return logs


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_file_that_kills_its_parser_is_named_and_the_others_are_kept(name: str, logs: Path) -> None:
    finished = ingest(logs.parent, str(logs), signal_name=name)
    assert finished.returncode == 0, finished.stderr
    assert f"b.csv: the process that read it died ({name}" in finished.stderr
    assert "3 events of 2 types from 2 files" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_a_file_that_was_named_and_kills_its_parser_is_an_error_that_names_it(logs: Path) -> None:
    finished = ingest(logs.parent, str(logs / "a.csv"), str(logs / "b.csv"))
    assert finished.returncode == 3
    assert "b.csv: the process that read it died (SIGSEGV)" in finished.stderr
    assert not (logs.parent / "events").exists()
    assert [path.name for path in logs.parent.iterdir()] == ["logs"]


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_tasks_run_in_children_until_one_kills_its_own(at_once: int) -> None:
    finished = python(PARTS.format(failing=-1, at_once=at_once))
    told = "[(0, False), (1, 'SIGSEGV'), (2, False), (3, False), (4, 'SIGSEGV'), (5, False)]\n"
    assert finished.stdout.startswith(told), finished.stderr
    assert "ChildProcessError" in finished.stderr  # none of them is left


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
@pytest.mark.parametrize("at_once", [1, 3])
def test_what_a_task_raises_is_raised_with_where_it_came_from(at_once: int) -> None:
    assert python(PARTS.format(failing=3, at_once=at_once)).stdout == "raised seven True\n\n"


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_of_tasks_that_fail_the_first_is_told_whichever_fails_sooner() -> None:
    code = (
        "import time; from cepctl.runners import apart; from cepctl.runners.apart import run_apart\n"
        "apart._ALONE_SECONDS = 0\n"
        "def fail(number): time.sleep([0.3, 0, 0.3, 0][number]); raise ValueError(number)\n"
        "try: run_apart(fail, range(4), None, at_once=3)\n"
        "except ValueError as problem: print(problem)"
    )
    assert python(code).stdout == "0\n"


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_children_run_side_by_side_and_each_takes_the_next_task() -> None:
    code = (
        "import os, time; from cepctl.runners import apart; from cepctl.runners.apart import run_apart\n"
        "apart._ALONE_SECONDS = 0\n"
        "def wait(number): time.sleep(2 if number == 0 else 0.01); return os.getpid()\n"
        "found = run_apart(wait, range(6), None, at_once=2)\n"
        "print(len(set(found)), found.count(found[0]), os.getpid() in found)"
    )
    assert python(code).stdout == "2 1 False\n"


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_a_task_that_takes_more_than_its_share_is_tried_again_alone() -> None:
    code = (
        "import time; from cepctl.runners import apart; from cepctl.runners.apart import run_apart\n"
        "apart._ALONE_SECONDS = 0\n"
        "def hold(size): held = b'x' * size; time.sleep(0.3); return len(held)\n"
        "print(run_apart(hold, [1, 360_000_000, 2, 720_000_000], lambda _, cause: cause, 600_000_000, 2))"
    )
    assert python(code).stdout == "[1, 360000000, 2, 'out of memory']\n"


@pytest.mark.parametrize("used_before", [False, True])
def test_a_program_that_has_used_polars_is_not_forked(used_before: bool) -> None:
    """Polars would wait in the child for threads that are in the parent alone."""
    code = (
        "import os; import polars as pl; from cepctl.runners.apart import run_apart\n"
        "def count(_): return pl.DataFrame({'a': [1, 2], 'b': 'xy'}).hash_rows().len(), os.getpid()\n"
        f"{'count(1)' if used_before else ''}\n"
        "[(rows, process)] = run_apart(count, [1], lambda _, cause: cause)\n"
        "print(rows, process == os.getpid())"
    )
    here = used_before or sys.platform != "linux"
    assert python(code).stdout == f"2 {here}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import time, os; from pathlib import Path; from cepctl.runners.apart import run_apart\n"
        f"def wait(_): Path({str(tmp_path / 'child')!r}).write_text(str(os.getpid())); time.sleep(600)\n"
        "run_apart(wait, [1], None)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as parent:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            assert parent.poll() is None
        child = int((tmp_path / "child").read_text())
        parent.kill()
    for _ in range(600):
        if not is_running(child):
            return
        time.sleep(0.05)
    raise AssertionError("the child outlived its parent")


def is_running(process: int) -> bool:
    """Whether a process exists and has not ended, be it waited for or not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_a_child_never_looks_for_garbage_in_what_its_parent_holds() -> None:
    code = (
        "import gc; from cepctl.runners.apart import run_apart\n"
        "found = run_apart(lambda number: gc.get_freeze_count(), [0], None)\n"
        "print(found[0] > 1_000, gc.get_freeze_count())"
    )
    assert python(code).stdout == "True 0\n"
