"""From the shell to the last row: a small match of the sample logs, everything starting anew each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from commands import has_java
from logs import SAMPLES
from measuring import once, timed
from results import CheckFailed, Goal, Row, Setup, check_equal, left_out

MOST_SECONDS = {"local": 1.5, "spark": 10.0}
MATCHES = 7
IMPORTS = """
from cepctl.process.start_up import leave_pandas_out
leave_pandas_out()
import numpy, pyarrow.parquet, polars, numba
"""


def start_up(setup: Setup) -> Iterator[Row]:
    """The match of the README on both runners, by the clock, and beside it what its libraries alone take."""
    events = setup.folder / "sample"
    model = ("--uncertainty", SAMPLES / "uncertainty.toml", "--name", "cpu_user=CPU")
    run_cepctl("ingest", SAMPLES / "logs", "-o", events, *model, "--runner", "local")
    for runner, most in MOST_SECONDS.items():
        case = f"7 matches in 325 events, {runner}"
        if runner == "spark" and not has_java():
            yield left_out(case, "Java")
            continue
        match = partial(run_cepctl, "match", f"@{SAMPLES / 'query.cep'}", events, "--runner", runner)
        # Of a quick bench, starts of Spark would be a quarter.
        timing, rows = once(match) if setup.quick and runner == "spark" else timed(setup, match)
        check_equal("lines of the match", rows, MATCHES + 1)
        yield Row(
            case, timing, ratio=timing.seconds / most, against=f"{most:g} s", goal=Goal("at most", 1),
            checked="count",
        )  # fmt: skip
        if runner == "local":
            imports, _ = timed(setup, partial(run_python, "-c", IMPORTS))
            yield Row(
                case, timing, ratio=timing.seconds / imports.seconds,
                against="importing NumPy, PyArrow, Polars and Numba", note=f"{imports.seconds:.2f} s",
            )  # fmt: skip


def run_cepctl(*arguments: Path | str) -> int:
    """Run one command line in a process of its own; the lines that it prints."""
    return run_python("-m", "cepctl", *arguments, "--quiet").count("\n")


def run_python(*words: Path | str) -> str:
    """What a process of Python prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise CheckFailed(f"{words[:3]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
