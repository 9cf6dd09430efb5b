"""Logs of clocks read, and events on recorded clocks beside the same events on constant ones.

logs      tracking.log of ten or more hosts, from files to CLOCKS, each run in a process of its own
events    pairs of two hosts, up to 10 ms apart: ingested under a rule and matched, in turn under each model
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import in_process
from results import Goal, Row, Setup, Timing, check_equal
from workloads import SEED

ROWS = 1_000
APART = 64
MOST_MEGABYTES = 500
_BEGIN = 1_772_442_012
_MODELS = {
    "constant": 'clock = { by = "node", offset = "20 ms" }',
    "recorded": 'clock = { by = "node", from = "clocks.parquet", residual = "epoch", inside = "uniform" }',
    "recorded, with sd": 'clock = { by = "node", from = "clocks.parquet", residual = "epoch" }',
}


@dataclass(frozen=True)
class _Run:
    timing: Timing
    told: dict[str, Any]


def clock_logs(setup: Setup) -> Iterator[Row]:
    """A million and ten million rows of ten hosts, then a million events on 1,000 hosts."""
    million = (100_000 if setup.quick else 1_000_000) // setup.shrink
    yield _read(setup, 10, million // 10, rate=1e5)
    if not setup.quick:
        yield _read(setup, 10, million, most=MOST_MEGABYTES)
    hosts = max((100 if setup.quick else 1_000) // setup.shrink, 2)
    yield _read(setup, hosts, ROWS)
    yield from _events(setup, hosts)


def _written(folder: Path, hosts: int, rows: int) -> Path:
    """A log for each host; its noise is drawn once, and each begins somewhere else in it."""
    random = np.random.default_rng(SEED)
    times = pl.Series(_BEGIN + APART * np.arange(rows)).cast(pl.Int64) * 1_000
    # With as many digits as chrony writes.
    noise = [f"{each:.3e}" for each in random.normal(0, 1e-3, 2 * rows).tolist()]
    written = pl.DataFrame({"time": times.cast(pl.Datetime("ms")).dt.to_string("%Y-%m-%d %H:%M:%S")})
    for number in range(hosts):
        place = folder / f"n{number:04}"
        place.mkdir(parents=True)
        own = noise[number : number + rows]
        lines = written.select(
            pl.format(
                "{} 192.0.2.7 2 -3.541 0.075 {} N 2 1.000e-03 0.000e+00 1.534e-02 3.472e-04 1.950e-02",
                "time",
                pl.Series(own),
            )
        )
        lines.write_csv(place / "tracking.log", include_header=False, quote_style="never")
    return folder


def _read(
    setup: Setup, hosts: int, rows: int, *, rate: float | None = None, most: float | None = None
) -> Row:
    """Some logs, to be read at a rate, or with so many megabytes at most."""
    with tempfile.TemporaryDirectory(dir=setup.folder) as folder:
        logs = _written(Path(folder), hosts, rows)
        repeats = range(1 if setup.quick or most is not None else 3)
        words = ("clock_logs_once.py", "clocks", logs, setup.folder / "clocks.parquet")
        run = _median([in_process(*words) for _ in repeats])
    check_equal("pieces", run.told["rows"], hosts * (rows - 1))
    peak = run.told["peak"]
    return Row(
        f"tracking.log, {hosts:,} hosts with {rows:,} rows", run.timing, hosts * rows, "rows",
        ratio=None if most is None else peak / most,
        against="" if most is None else f"peak memory over {most:g} MB",
        goal=None if most is None else Goal("at most", 1),
        rate_goal=None if rate is None else Goal("at least", rate),
        checked="pieces", note=f"peak {peak:,.0f} MB",
    )  # fmt: skip


def _events(setup: Setup, hosts: int) -> Iterator[Row]:
    count = setup.events(1_000_000, 100_000)
    path = setup.folder / "events.parquet"
    _pairs(count // 2, hosts).write_parquet(path)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in _MODELS}
    for name, clock in _MODELS.items():
        (setup.folder / f"{name}.toml").write_text(
            f'time_unit = "1 us"\n[[rule]]\n{clock}\n', encoding="utf-8"
        )
    # A bench made smaller measures nothing: it shows that all of it works.
    for _ in range(1 if setup.shrink > 1 else 3 if setup.quick else 5):
        # In turn, so that all meet the machine as it is; the first run of all still compiles kernels.
        for name, done in runs.items():
            done.append(in_process("clock_logs_once.py", "events", path, setup.folder / f"{name}.toml"))
    constant = _median(runs["constant"])
    yield Row("rule and match, constant clocks", constant.timing, count, "events", note=_parts(constant))
    for name in ("recorded", "recorded, with sd"):
        run = _median(runs[name])
        yield Row(
            f"rule and match, {name}", run.timing, count, "events",
            ratio=run.timing.cpu_seconds / constant.timing.cpu_seconds,
            against="constant clocks, processor time",
            goal=Goal("at most", 1.2) if name == "recorded" else None, note=_parts(run),
        )  # fmt: skip


def _parts(run: _Run) -> str:
    ingest, match = run.told["ingest_cpu_seconds"], run.told["match_cpu_seconds"]
    return f"CPU s: ingest {ingest:.2f}, match {match:.2f}; {run.told['rows']:,} matches"


def _pairs(pairs: int, hosts: int) -> pl.DataFrame:
    """Pairs of two hosts each, within the time of the logs."""
    random = np.random.default_rng(SEED)
    first = random.integers(APART * 1_000_000, (ROWS - 1) * APART * 1_000_000, pairs) + _BEGIN * 1_000_000
    time = np.concatenate([first, first + random.integers(-10_000, 10_000, pairs)])
    one = random.integers(0, hosts, pairs)
    node = np.concatenate([one, (one + random.integers(1, hosts, pairs)) % hosts])
    return pl.DataFrame(
        {
            "event_id": [f"{kind}{number}" for kind in "ab" for number in range(pairs)],
            "event_type": ["A"] * pairs + ["B"] * pairs,
            "time": pl.Series(time).cast(pl.Datetime("us", "UTC")),
            "node": pl.Series([f"n{number:04}" for number in range(hosts)]).gather(node),
            "pair": np.tile(np.arange(pairs), 2),
        }
    ).sort("time")


def _median(runs: list[dict[str, Any]]) -> _Run:
    seconds, used = (statistics.median(run[key] for run in runs) for key in ("seconds", "cpu_seconds"))
    told = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    told["rows"] = runs[0]["rows"]
    return _Run(Timing(seconds, used, len(runs)), told)
