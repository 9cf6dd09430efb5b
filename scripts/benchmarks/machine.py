"""On what the bench ran: processor, cores, memory, versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("cepctl", "numpy", "numba", "polars", "pyarrow", "pyspark", "duckdb")


def description() -> dict[str, str]:
    """What a reader must know to compare the figures."""
    return {
        "processor": _processor(),
        "cores": str(cores()),
        "memory": f"{_memory_gigabytes():.0f} GB",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float:
    """Processes that wanted a core over the last minute; far above the cores, times are worth little."""
    return os.getloadavg()[0]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gigabytes() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
