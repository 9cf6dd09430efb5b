"""Rows as they are written: matches from the shell, by turns with a script that joins and writes ids."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from measuring import ENOUGH_SECONDS
from results import CheckFailed, Goal, Row, Setup, Timing, check_equal
from workloads import FIVE_PERCENT, appendix_c

HALF_WIDTHS = (10, 50)
MOST_TIMES = {"in order": 2.0, "--unordered": 1.3}
MOST_MEGABYTES = 1_200
POLARS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from peers import polars_join
from workloads import FIVE_PERCENT
ids = polars_join(Path(sys.argv[2]), FIVE_PERCENT).select("id0", "id1", "id2")
(ids.write_parquet if sys.argv[3].endswith(".parquet") else ids.write_csv)(sys.argv[3])
"""


@dataclass(frozen=True)
class Ran:
    """One process: its seconds on the clock and of processor time, and the most memory that it held."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def written_rows(setup: Setup) -> Iterator[Row]:
    """Plain Parquet with `lower` and `upper`; rows to Parquet and CSV.  Goals are for a million events."""
    size = setup.events(1_000_000, 100_000)
    for half_width in HALF_WIDTHS:
        path = setup.folder / f"rows_of_{half_width}.parquet"
        pq.write_table(appendix_c(size, half_width).drop_columns(["pmf"]), path)
        for form in ("parquet", "csv"):
            yield from _compared(setup, path, form, f"{size:,} events, d = {half_width}, {form}", size)


def _compared(setup: Setup, path: Path, form: str, case: str, size: int) -> Iterator[Row]:
    """In order and as they are found, each beside the script; medians of some runs by turns."""
    output, ids = setup.folder / f"rows.{form}", setup.folder / f"ids.{form}"
    script = ("-c", POLARS, str(Path(__file__).parent), str(path), str(ids))
    match = ("-m", "cepctl", "match", FIVE_PERCENT.text, str(path), "--quiet", "--runner", "local")
    ways = {"in order": (), "--unordered": ("--unordered",)}
    ran: dict[str, list[Ran]] = {name: [] for name in ("script", *ways)}
    began, turns = time.perf_counter(), 1 if setup.quick else 4
    for turn in range(turns):
        found = {"script": _of_process(script)}
        found |= {name: _of_process((*match, *more, "-o", str(output))) for name, more in ways.items()}
        if turn or turns == 1:  # The first turn warms the page cache, and compiles what is not compiled.
            for name, one in found.items():
                ran[name].append(one)
        check_equal("matches of the join", _rows(ids), _rows(output))
        if turn and time.perf_counter() - began > ENOUGH_SECONDS:
            break
    peer = statistics.median(each.cpu_seconds for each in ran["script"])
    held = max(each.megabytes for each in ran["script"])
    count, full = _rows(output), size >= 1_000_000
    for name in ways:
        own = ran[name]
        cpu = statistics.median(each.cpu_seconds for each in own)
        timing = Timing(statistics.median(each.seconds for each in own), cpu, len(own))
        peak = max(each.megabytes for each in own)
        yield Row(
            f"{case}, {name}", timing, count, ratio=cpu / peer,
            against="a script of Polars that writes ids alone, processor time",
            goal=Goal("at most", MOST_TIMES[name]) if full else None, checked="count",
            note=f"script {peer:.2f} CPU s; peak {peak:,.0f} MB, script {held:,.0f} MB",
        )  # fmt: skip
        yield Row(
            f"{case}, {name}, memory", ratio=peak / MOST_MEGABYTES, against="peak memory over 1.2 GB",
            goal=Goal("at most", 1) if full else None, note=f"peak {peak:,.0f} MB",
        )  # fmt: skip


def _rows(path: Path) -> int:
    """How many rows a file has."""
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    # Piece by piece: a process that is started takes over the peak of the one that starts it.
    with path.open("rb") as held:
        return sum(piece.count(b"\n") for piece in iter(partial(held.read, 1 << 20), b"")) - 1


def _of_process(words: Sequence[str]) -> Ran:
    """Run Python in a process of its own, and ask the system what it took with all that it waited for."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, *words], env=environment) as process:
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise CheckFailed(f"{words[:3]} ended with {process.returncode}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Ran(time.perf_counter() - began, spent.ru_utime + spent.ru_stime, spent.ru_maxrss / unit)
