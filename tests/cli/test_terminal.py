"""What a command does on a terminal, and when it is interrupted there."""

from __future__ import annotations

import os
import pty
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.cli.test_contract import PROGRAM

FIGURE = "event_id,event_type,lower,upper\na1,A,1,5\nc2,C,3,5\nb3,B,3,5\nc4,C,4,8\n"
QUERY = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks"
ENDLESS = "PATTERN SEQ(A a, A b, A c, A d)"
SECONDS = 240
COLOUR = re.compile("\x1b\\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])m")


@pytest.fixture(autouse=True)
def in_the_foreground() -> Iterator[None]:
    """What a shell starts in the background ignores interrupts, and so would all that the tests start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def on_a_terminal(
    arguments: list[str], folder: Path, *, program: Path | str = PROGRAM, **variables: str
) -> tuple[int, str]:
    """Exit code and everything that a command writes to its terminal."""
    ours, terminal = pty.openpty()
    process = subprocess.Popen(
        [program, *arguments],
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **variables},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    with process, os.fdopen(ours, "rb", buffering=0) as reading:
        # Read as it comes: a terminal that nobody reads holds up who writes to it.
        shown = b"".join(pieces(reading)).decode()
        return process.wait(SECONDS), shown


def pieces(reading: IO[bytes]) -> Iterator[bytes]:
    """What a terminal holds, until its last writer is gone (which Linux tells by an error)."""
    try:
        while piece := reading.read(65_536):
            yield piece
    except OSError:
        return


@contextmanager
def started(arguments: list[str], folder: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A command with its output in pipes, in a group of its own, as a shell starts it in the foreground."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        process_group=0,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_rows_are_a_table_on_a_terminal(tmp_path: Path) -> None:
    """On a terminal the default format is a table.  Progress only where standard error is a terminal."""
    (tmp_path / "log.csv").write_text(FIGURE)
    arguments = ["match", QUERY, "log.csv", "--runner", "local"]
    code, shown = on_a_terminal(arguments, tmp_path)
    assert code == 0
    assert "matching: 4 events that can matter" in shown
    piped = subprocess.run([PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "matching" not in piped.stdout + piped.stderr
    assert "2 matches in 4 events" in shown
    assert sum("1970-01-01T" in line for line in shown.splitlines()) == 2


@pytest.mark.slow
def test_while_a_process_beside_compiles_kernels_the_progress_line_says_so(tmp_path: Path) -> None:
    """Nothing is kept, and no two matches are alike, so that there is work for some seconds."""
    draw = random.Random(1)
    lines = [f"{'ABC'[i % 3]},{(lower := draw.randrange(5_000))},{lower + 40 + i % 20}" for i in range(1_200)]
    (tmp_path / "log.csv").write_text("\n".join(["event_type,lower,upper", *lines, ""]))
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 40 ticks"
    arguments = ["match", query, "log.csv", "--runner", "local", "-o", "rows.csv"]
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_DISABLE_JIT": "0"}
    code, shown = on_a_terminal(arguments, tmp_path, **kept)
    assert code == 0
    told = re.findall(r"matching: [^()]*\(compiling kernels beside it: (\d+) of (\d+), \d+ s\)", shown)
    assert len(told) > 1
    assert all(int(done) < int(asked) for done, asked in told)


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_colours_can_be_refused(tmp_path: Path, no_colour: str) -> None:
    """`NO_COLOR` is honoured."""
    (tmp_path / "log.csv").write_text(FIGURE)
    for arguments in (["show", QUERY, "log.csv", "--match", "a1 b3 c4"], ["match", QUERY, "log.csv", "-q"]):
        code, shown = on_a_terminal(arguments, tmp_path, NO_COLOR=no_colour, CEPCTL_RUNNER="local")
        assert code == 0
        assert (COLOUR.search(shown) is None) == bool(no_colour)


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "\nerror: interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_running_job_ends_at_once_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int, said: str
) -> None:
    """130 interrupted.  Output files appear whole or not at all.

    More than a pipe holds has been taken from it when the signal comes, so the job is at work.
    """
    with started(["ingest", "-", "-o", "events", "--runner", "local"], tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write("event_type,time\n" + "A,1\n" * 500_000)
        process.stdin.flush()
        os.killpg(process.pid, number)
        out, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, error) == (code, "", said)
    assert list(tmp_path.iterdir()) == []


SLOW_JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "17.0.1"' >&2; exit 0; fi
touch {folder}/started
while :; do sleep 0.1; done
exit 1
"""


def test_an_interrupt_while_java_starts_ends_java_too(tmp_path: Path) -> None:
    """130 interrupted: a Java that were left alone while it starts would never end."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SLOW_JAVA.format(folder=tmp_path))
    java.chmod(0o755)
    (tmp_path / "log.csv").write_text(FIGURE)
    command = ["match", QUERY, "log.csv", "--runner", "spark"]
    with started(command, tmp_path, JAVA_HOME=str(tmp_path / "jdk")) as process:
        wait_until((tmp_path / "started").exists, process)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, error) == (130, "", "\nerror: interrupted\n")
    with pytest.raises(ProcessLookupError):
        end_of_group(process.pid)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_an_interrupted_spark_job_ends_with_its_java(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """130 interrupted, under Spark too: no trace, no half file, no Java left behind."""
    (tmp_path / "log.csv").write_text("event_type,lower,upper\n" + "A,0,1000000\n" * 2_000)
    (tmp_path / "spark").mkdir()
    arguments = ["match", ENDLESS, "log.csv", "-o", "rows.csv", "--master", "local[1]"]
    for setting in ("enabled=true", f"dir=file://{tmp_path}/spark", "compress=false"):
        arguments += ["--conf", f"spark.eventLog.{setting}"]
    with started([*arguments, "--max-matches", "1000000000000"], tmp_path) as process:
        wait_until(lambda: began_a_job(tmp_path / "spark"), process)
        os.killpg(process.pid, number)
        out, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (code, ""), error
    assert error.endswith("\nerror: interrupted\n") or number is signal.SIGTERM
    assert "Traceback" not in error
    assert {path.name for path in tmp_path.iterdir()} == {"log.csv", "spark"}
    with pytest.raises(ProcessLookupError):
        end_of_group(process.pid)


def began_a_job(log: Path) -> bool:
    """Whether Spark has written down that a job began."""
    return any("SparkListenerJobStart" in each.read_text() for each in log.rglob("*") if each.is_file())


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until a command has come to some point."""
    until = time.monotonic() + SECONDS
    while not reached():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.1)


def end_of_group(group: int) -> None:
    """Wait for every process of a group to end; raises ProcessLookupError when none is left."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        os.killpg(group, 0)
        time.sleep(0.1)


def events_of_a_kleene_search(file: Path) -> None:
    lines = [f"b{i},B,{i},{100 + i},{i}" for i in range(1, 60)]
    file.write_text(
        "\n".join(["event_id,event_type,lower,upper,x", "a,A,0,0,", *lines, "c,C,1000,1000,", ""])
    )


def wide_events_of_many_keys(file: Path) -> None:
    lines = [f"e{i},{'AB'[i % 2]},{i % 7},100000,{i // 200}" for i in range(100_000)]
    file.write_text("\n".join(["event_id,event_type,lower,upper,x", *lines, ""]))


def wide_events(file: Path) -> None:
    lines = [f"e{i},{'AB'[i % 2]},{i % 7},100000,0" for i in range(1_500)]
    file.write_text("\n".join(["event_id,event_type,lower,upper,x", *lines, ""]))


@pytest.mark.parametrize(
    ("query", "write_events"),
    [
        ("PATTERN SEQ(A a, B+ b[], C c) WHERE sum(b[].x) = 5", events_of_a_kleene_search),
        ("PATTERN SEQ(A a, B b) WHERE [x] STRATEGY skip_till_next_match", wide_events_of_many_keys),
        ("PATTERN SEQ(A a, B b, A c)", wide_events),
    ],
    ids=["a Kleene search", "next match among wide intervals", "rows that go to disk"],
)
def test_a_running_match_ends_and_leaves_nothing(
    query: str, write_events: Callable[[Path], None], tmp_path: Path
) -> None:
    """130 interrupted, whatever a match is at; the folder of rows on disk is gone, too."""
    write_events(tmp_path / "log.csv")
    (tmp_path / "scratch").mkdir()
    arguments = ["match", query, "log.csv", "-o", "rows.csv", "--runner", "local", "--max-memory", "600MB"]
    arguments += ["--max-matches", "1000000000000000000"]  # more than the 2^59 groups there are
    with started(arguments, tmp_path, TMPDIR=str(tmp_path / "scratch")) as process:
        wait_until(lambda: any((tmp_path / "scratch").iterdir()), process)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, error) == (130, "", "\nerror: interrupted\n")
    assert {path.name for path in tmp_path.iterdir()} == {"log.csv", "scratch"}
    assert list((tmp_path / "scratch").iterdir()) == []
