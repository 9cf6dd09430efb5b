"""Readers of logs, up to Arrow batches in one process, against a bare loop of each format's parser."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from logs import LINES, MEGABYTE, written
from measuring import in_process
from results import Goal, Row, Setup, Timing

AGAINST = {
    "xes": "a bare expat loop that counts events",
    "ganglia": "a bare expat loop that counts metrics",
    "jhist": "json.loads of every line",
    "log4j": "one regular expression per line",
    "csv": "polars.read_csv",
}
FULL_MEGABYTES = {"xes": 200}
SMALL_MEGABYTES = 0.2
LEAST_OF_LINES = dict(zip(LINES, (25, 60), strict=True))
"""Megabytes per second of processor time, templates mined first, or patterns given."""


@dataclass(frozen=True)
class _ReaderRun:
    timing: Timing
    events: int
    peak: float


def readers(setup: Setup) -> Iterator[Row]:
    """Megabytes and events per second and peak memory of each format; ratios are of processor time."""
    for log_format, against in AGAINST.items():
        megabytes = (3 if setup.quick else FULL_MEGABYTES.get(log_format, 60)) / setup.shrink
        small = written(setup.folder / "small", log_format, SMALL_MEGABYTES)
        path = written(setup.folder, log_format, megabytes)
        size = path.stat().st_size / MEGABYTE
        own, bare = _read(setup, log_format, small, path)
        path.unlink()
        yield Row(
            f"{log_format}, {size:.0f} MB", own.timing, own.events, "events",
            ratio=own.timing.cpu_seconds / bare.timing.cpu_seconds, against=f"{against}, processor time",
            goal=Goal("at most", 3) if log_format == "xes" else None,
            note=f"{size / own.timing.seconds:.0f} MB/s, peak {own.peak:,.0f} MB",
        )  # fmt: skip

    yield from _of_lines(setup)


def _of_lines(setup: Setup) -> Iterator[Row]:
    for log_format, least in LEAST_OF_LINES.items():
        small = written(setup.folder / "small", log_format, SMALL_MEGABYTES)
        path = written(setup.folder, log_format, (3 if setup.quick else 60) / setup.shrink)
        size = path.stat().st_size / MEGABYTE
        repeats = range(1 if setup.quick else 3)
        own = _median([in_process("reading_once.py", log_format, "cepctl", small, path) for _ in repeats])
        path.unlink()
        yield Row(
            f"{log_format}, {size:.0f} MB", own.timing, own.events, "events",
            ratio=size / own.timing.cpu_seconds, against="megabytes per second of processor time",
            goal=Goal("at least", least), note=f"peak {own.peak:,.0f} MB",
        )  # fmt: skip


def _read(setup: Setup, log_format: str, small: Path, path: Path) -> tuple[_ReaderRun, _ReaderRun]:
    """Ours and the bare loop's in turn, so that both meet the machine as it is, in fresh processes."""
    runs: dict[str, list[dict[str, Any]]] = {"cepctl": [], "bare": []}
    for _ in range(1 if setup.quick else 3):
        for who, done in runs.items():
            done.append(in_process("reading_once.py", log_format, who, small, path))
    return _median(runs["cepctl"]), _median(runs["bare"])


def _median(runs: list[dict[str, Any]]) -> _ReaderRun:
    seconds, used = (statistics.median(run[key] for run in runs) for key in ("seconds", "cpu_seconds"))
    peak = max(run["peak"] for run in runs)
    return _ReaderRun(Timing(seconds, used, len(runs)), runs[0]["events"], peak)
