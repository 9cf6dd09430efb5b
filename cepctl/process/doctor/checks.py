"""The checks of this machine, each a function that looks at one thing and says what it found."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cepctl.errors import CepctlError, JobError
from cepctl.process.memory import machine_memory
from cepctl.runners.spark.runner import SparkRunner
from cepctl.runners.spark.session import spark_session

Verdict = Literal["ok", "warning", "failed"]

GIGABYTE = 10**9
LEAST_DISK = 2 * GIGABYTE
LEAST_MEMORY = 2 * GIGABYTE
_NAMED = 3


@dataclass(frozen=True)
class CheckFinding:
    """What one check found; a remedy where something is to be done."""

    what: str
    verdict: Verdict
    told: str
    remedy: str | None = None


def findings(
    master: str, conf: Sequence[tuple[str, str]], *, java_too: bool, needed: bool
) -> Iterator[CheckFinding]:
    """All checks, one after the other; Java and Spark only for runners that use them.

    `needed`: it is wrong if there is no Java.
    """
    yield python()
    yield disk()
    yield memory()
    yield kernel_cache()
    if java_too:
        found = java(needed=needed)
        yield found
        if found.verdict == "ok":
            yield spark(master, conf, needed=needed)


def python() -> CheckFinding:
    """The interpreter that runs cepctl."""
    return CheckFinding("Python", "ok", f"{sys.version.partition(' ')[0]}, {sys.executable}")


def disk() -> CheckFinding:
    """Room for temporary files: raw logs that match reads, what Spark shuffles."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    state = f"{free / GIGABYTE:,.1f} GB free in {folder}"
    if free >= LEAST_DISK:
        return CheckFinding("disk", "ok", state)
    remedy = "free some, or name a roomier folder in TMPDIR (for Spark also --conf spark.local.dir=FOLDER)"
    return CheckFinding("disk", "warning", state, remedy)


def memory() -> CheckFinding:
    """What this process may use in all, by the machine or its container."""
    size = machine_memory()
    state = f"{size / GIGABYTE:,.1f} GB, {os.cpu_count()} cores"
    if size >= LEAST_MEMORY:
        return CheckFinding("memory", "ok", state)
    remedy = "--runner local needs less than Spark, whose Java takes 1 GB unless told otherwise"
    return CheckFinding("memory", "warning", state, remedy)


def kernel_cache() -> CheckFinding:
    """Whether compiled kernels are kept, for which machines, and whether all of them are whole."""
    from cepctl.engines.kernels.files import kernels_in
    from cepctl.engines.kernels.folders import VARIABLE, folder_to_write, folders_to_read, passed_over
    from cepctl.engines.kernels.keys import ANY, OWN

    found = {folder: kernels_in(folder) for folder in folders_to_read()}
    folder = folder_to_write()
    kept = [_kept(kernels.uses, place) for place, kernels in found.items()]
    faults = [f"{path.name} {fault}" for each in found.values() for path, fault in each.faults.items()]
    state = "; ".join([*kept, *_named(faults), *passed_over()])
    if folder is None:
        remedy = f"name a folder that can be written in {VARIABLE}"
        none = "compiled in every run: no folder to keep them in"
        return CheckFinding("kernels", "warning", "; ".join(filter(None, [state, none])), remedy)
    if faults:
        return CheckFinding("kernels", "warning", state, "cepctl doctor --warm removes and recompiles them")
    if any(each.uses[OWN] + each.uses[ANY] for each in found.values()):
        return CheckFinding("kernels", "ok", state)
    remedy = "cepctl doctor --warm compiles them now; otherwise a process compiles them during long matches"
    return CheckFinding("kernels", "warning", state, remedy)


def _kept(uses: Mapping[str, int], folder: Path) -> str:
    """How many kernels are in a folder, and for which machines."""
    parts = [f"{count:,} {use}" for use, count in sorted(uses.items())]
    shares = f" ({', '.join(parts)})" if parts else ""
    return f"{sum(uses.values()):,} kept in {folder}{shares}"


def _named(faults: list[str]) -> list[str]:
    """The first few of them, and how many more there are."""
    more = len(faults) - _NAMED
    return [*faults[:_NAMED], *([f"{more:,} more are not used either"] if more > 0 else [])]


def java(*, needed: bool) -> CheckFinding:
    """The Java that Spark would run on."""
    from cepctl.runners.spark.java import find_java

    try:
        found = find_java()
    except CepctlError as problem:
        fault, _, remedy = str(problem).partition(": ")
        return CheckFinding("Java", "failed" if needed else "warning", fault, remedy)
    return CheckFinding("Java", "ok", f"{found.full_version}, {found.home}")


def spark(master: str, conf: Sequence[tuple[str, str]], *, needed: bool) -> CheckFinding:
    """Start Spark and run one task: does it work, and do the workers run a Python like this one?"""
    try:
        worker = worker_of(master, conf)
    except CepctlError as problem:
        remedy = "cepctl match -v shows what Spark says; --runner local does without it"
        return CheckFinding("Spark", "failed" if needed else "warning", str(problem), remedy)
    state = f"{worker.spark} on {master}; workers run Python {worker.python}, {worker.executable}"
    if worker.missing:
        remedy = f"install cepctl for {worker.executable}, or name another in PYSPARK_PYTHON"
        return CheckFinding("Spark", "failed", f"{state}, without {', '.join(worker.missing)}", remedy)
    return CheckFinding("Spark", "ok", state)


NEEDED = ("cepctl", "pyarrow", "numpy", "polars", "numba")


@dataclass(frozen=True)
class Worker:
    """The version of Spark, and of one worker: its Python, and the packages it needs and has not."""

    spark: str
    python: str
    executable: str
    missing: tuple[str, ...]


def worker_of(master: str, conf: Sequence[tuple[str, str]], *, verbose: bool = False) -> Worker:
    """Ask a worker; raises JobError where Spark does not start or the task fails."""
    with spark_session(master, conf, verbose=verbose) as session:
        answers = SparkRunner(session).run(answer, [NEEDED])
        if not answers:
            raise JobError("no worker answered")
        return Worker(session.version, *answers[0])


def answer(needed: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """What this interpreter is, and what it lacks; runs in a worker."""
    import sys
    from importlib.util import find_spec

    missing = tuple(name for name in needed if find_spec(name) is None)
    return sys.version.partition(" ")[0], sys.executable, missing
