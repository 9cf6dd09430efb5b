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


def start_up(setup: Setup) -> Iterator[Row]:
    """The match of the README on both runners, by the clock."""
    events = setup.folder / "sample"
    model = ("--uncertainty", SAMPLES / "uncertainty.toml", "--name", "cpu_user=CPU")
    _cepctl("ingest", SAMPLES / "logs", "-o", events, *model, "--runner", "local")
    for runner, most in MOST_SECONDS.items():
        case = f"7 matches in 325 events, {runner}"
        if runner == "spark" and not has_java():
            yield left_out(case, "Java")
            continue
        match = partial(_cepctl, "match", f"@{SAMPLES / 'query.cep'}", events, "--runner", runner)
        # Of a quick bench, starts of Spark would be a quarter.
        timing, rows = once(match) if setup.quick and runner == "spark" else timed(setup, match)
        check_equal("lines of the match", rows, MATCHES + 1)
        yield Row(
            case, timing, ratio=timing.seconds / most, against=f"{most:g} s", goal=Goal("at most", 1),
            checked="count",
        )  # fmt: skip


def _cepctl(*arguments: Path | str) -> int:
    """Run one command line in a process of its own; the lines that it prints."""
    command = [sys.executable, "-m", "cepctl", *map(str, arguments), "--quiet"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise CheckFailed(f"cepctl {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.count("\n")
