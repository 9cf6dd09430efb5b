"""How much memory a run may take: one value, handed down to all that works in blocks.

    what                 share of what is left beside the program itself
    events               half; more are refused with their number
    blocks of work       a quarter, divided among the threads
    rows                 a quarter; beyond it sorted runs of them go to disk

Commands that read logs and write datasets divide it otherwise (cepctl/ingestion/room.py).

Imports the standard library only.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cepctl.errors import UsageError

PROGRAM_BYTES = 400_000_000
"""What Python, its libraries and compiled kernels take before the first event."""
LEAST_BYTES = 600_000_000
"""Below this hardly anything would be left beside the program."""
READING_PROGRAM_BYTES = 160_000_000
"""What they take where logs are read and datasets written: no kernels are compiled there."""
_ROW_COPIES = 4
"""Rows are held once as they come, and once more each as text, as sort keys and in their order."""
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}  # fmt: skip
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class MemoryBudget:
    """Bytes that all `tasks` at one time may take together, each an equal part of them.

    `named`: a user has named them, so that they are refused where they are too few, and never exceeded.
    `program` is what a task takes before the first event.
    """

    total: int
    tasks: int = 1
    named: bool = False
    program: int = PROGRAM_BYTES

    def shared_by(self, tasks: int) -> MemoryBudget:
        """The share of each of several processes at a time.

        Raises
        ------
        UsageError
            If hardly anything would be left to each.
        """
        if not self.named:
            return replace(self, total=max(self.total, tasks * self.least), tasks=tasks)
        if self.total // tasks < self.least:
            raise UsageError(
                f"{size_text(self.total)} of memory for {tasks} tasks at a time leave "
                f"{size_text(self.total // tasks)} each, and one needs {size_text(self.least)}; raise "
                f"--max-memory to {size_text(tasks * self.least)}, or have fewer tasks at a time (--master "
                "'local[1]', --runner local)"
            )
        return replace(self, tasks=tasks)

    @property
    def least(self) -> int:
        """Below this hardly anything would be left to one task beside the program."""
        return self.program * LEAST_BYTES // PROGRAM_BYTES

    @property
    def for_reading(self) -> MemoryBudget:
        """The budget where one process reads logs and writes datasets, before anything is compiled."""
        return replace(self, tasks=1, program=READING_PROGRAM_BYTES)

    @property
    def of_task(self) -> int:
        """What one task may take in all."""
        return self.total // self.tasks

    @property
    def own(self) -> int:
        """What one task has beside the program itself."""
        return max(self.of_task - self.program, 0)

    @property
    def events(self) -> int:
        """Bytes that the events of one task may take, with all that is computed for each."""
        return self.own // 2

    def block(self, threads: int) -> int:
        """Bytes that one thread of a task may take for what it works on at a time."""
        return self.own // (4 * threads)

    @property
    def rows(self) -> int:
        """Bytes of rows that one task holds before it writes them to disk."""
        return self.own // (4 * _ROW_COPIES)


def default_budget(program: int = PROGRAM_BYTES) -> MemoryBudget:
    """Half of what this machine or its container has."""
    return MemoryBudget(max(machine_memory() // 2, LEAST_BYTES), program=program)


def budget_of(text: str, program: int = PROGRAM_BYTES) -> MemoryBudget:
    """The budget that a user has named, such as `2GB`, for a command that takes `program` itself.

    Raises
    ------
    UsageError
        If the text is not a size, or less than the program itself takes.

    Examples
    --------
    >>> budget_of("1.5 GB").total
    1500000000
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]?i?B)", text.strip(), re.ASCII | re.IGNORECASE)
    if found is None:
        raise UsageError(
            f"'{text}' is not a size of memory; write a number and its unit, such as 2GB or 512MiB"
        )
    size = int(float(found[1]) * _UNITS[found[2].upper()])
    budget = MemoryBudget(size, named=True, program=program)
    if size < budget.least:
        raise UsageError(
            f"{text} of memory is too little: Python and its libraries alone take "
            f"{size_text(program)}; name at least {size_text(budget.least)}"
        )
    return budget


def reading_budget(text: str | None = None) -> MemoryBudget:
    """The budget of what reads logs and writes datasets: the one that a user has named, else half of all."""
    if text is None:
        return default_budget(READING_PROGRAM_BYTES)
    return budget_of(text, READING_PROGRAM_BYTES)


def size_text(size: int) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> size_text(2_345_000_000), size_text(700_000), size_text(12)
    ('2.3 GB', '700 kB', '12 B')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            scaled = size / unit
            return f"{scaled:.1f} {name}" if scaled < 10 and name in ("GB", "TB") else f"{scaled:,.0f} {name}"
    return f"{size} B"


@cache
def machine_memory() -> int:
    """Bytes of memory: those of the machine, or fewer where a control group is held to fewer."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *control_group_limits(_CONTROL_GROUPS, _OWN_GROUPS)])


def control_group_limits(root: Path, own: Path) -> list[int]:
    """The limits that control groups set on this process, in either version; empty where there are none.

    A group is held to what every group around it is held to.
    """
    limits = []
    for inner, name in _own_folders(root, own):
        around = [each for each in inner.parents if root in each.parents or each == root]
        limits += [_limit(folder / name) for folder in (inner, *around)]
    return [limit for limit in limits if limit is not None]


def _own_folders(root: Path, own: Path) -> list[tuple[Path, str]]:
    """Folders of this process' groups and the file of their limit; the roots where a container hides them."""
    found = [(root, "memory.max"), (root / "memory", "memory.limit_in_bytes")]
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        relative = path.strip("/")
        if not controllers:
            found.append((root / relative, "memory.max"))
        elif "memory" in controllers.split(","):
            found.append((root / "memory" / relative, "memory.limit_in_bytes"))
    return found


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return None
