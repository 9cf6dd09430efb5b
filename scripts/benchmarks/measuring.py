"""Time and memory: the median of some runs after one warm-up, and peaks in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from results import CheckFailed, Setup, Timing

Result = TypeVar("Result")

ENOUGH_SECONDS = 45.0
"""Runs of one case stop early, after the first timed one, when they have taken this long together."""


def timed(setup: Setup, work: Callable[[], Result]) -> tuple[Timing, Result]:
    """Run once for warmth, then `setup.repeats` times; the median, and what the last run returned."""
    began = time.perf_counter()
    result = work()
    wall: list[float] = []
    cpu: list[float] = []
    while len(wall) < setup.repeats:
        del result
        clock, used = time.perf_counter(), time.process_time()
        result = work()
        wall.append(time.perf_counter() - clock)
        cpu.append(time.process_time() - used)
        if time.perf_counter() - began > ENOUGH_SECONDS:
            break
    return Timing(statistics.median(wall), statistics.median(cpu), len(wall)), result


def once(work: Callable[[], Result]) -> tuple[Timing, Result]:
    """Run one time only: for what takes too long to be repeated."""
    clock, used = time.perf_counter(), time.process_time()
    result = work()
    return Timing(time.perf_counter() - clock, time.process_time() - used, 1), result


def in_process(script: str, *arguments: object, python: str = sys.executable) -> dict[str, Any]:
    """Run a script of this folder in a fresh process; the JSON object that it prints last."""
    folder = Path(__file__).parent
    searched = os.pathsep.join([str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(
        [python, str(folder / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": searched.rstrip(os.pathsep),
        },  # Spark's session forbids the script's own folder
    )
    if done.returncode != 0:
        raise CheckFailed(f"{script} ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def peak_megabytes() -> float:
    """Largest resident set of this process so far, not of what started it (getrusage mixes them)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(each for each in status.read_text(encoding="utf-8").splitlines() if "VmHWM" in each)
        return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def family_peaks_megabytes() -> list[tuple[str, float]]:
    """Name and peak of this process, then of all that it has started and that still run (Linux)."""
    parents, peaks, names = {}, {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, KeyError):
            lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
            number = int(status.parent.name)
            parents[number] = int(lines["PPid"])
            peaks[number] = int(lines["VmHWM"].split()[0]) / 1024
            names[number] = lines["Name"].strip()
    own = os.getpid()
    family = sorted((number for number in peaks if _descends(number, own, parents)), key=lambda at: at != own)
    return [(names[number], peaks[number]) for number in family]


def _descends(number: int, ancestor: int, parents: dict[int, int]) -> bool:
    while number != ancestor and number in parents:
        number = parents[number]
    return number == ancestor
