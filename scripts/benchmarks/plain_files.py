"""A whole match from the shell on plain files, beside a dataset of their events and a script of Polars."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow import csv
from results import Goal, Row, Setup, Timing, check_equal
from start_up import run_cepctl, run_python
from workloads import FEW, FIVE_PERCENT, Pattern, appendix_c

POLARS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from peers import polars_join
import workloads
polars_join(Path(sys.argv[2]), getattr(workloads, sys.argv[4])).write_parquet(sys.argv[3])
"""

# In a process of its own: what this one holds would count as memory of those that it starts later.
MAKE = """
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow.parquet as pq
from pyarrow import csv
from workloads import appendix_c
events = appendix_c(int(sys.argv[2]), 10).drop_columns(["pmf"])
if sys.argv[4] == "wide":
    import numpy as np
    numbers = np.random.default_rng(7).random(len(events))
    for place in range(30):
        events = events.append_column(f"reading{place}", [np.roll(numbers, place)])
else:
    csv.write_csv(events, sys.argv[3] + ".csv")
pq.write_table(events, sys.argv[3] + ".parquet")
"""


def plain_files(setup: Setup) -> Iterator[Row]:
    """Parquet and CSV with `lower` and `upper`, in the order of a dataset; to Parquet, by processor time.

    Then many events of which few fit, on the clock: what is read is nearly all that is done.
    """
    events = appendix_c(setup.events(1_000_000, 100_000), 10).drop_columns(["pmf"])
    parquet, text, dataset = (setup.folder / name for name in ("plain.parquet", "plain.csv", "plain_events"))
    pq.write_table(events, parquet)
    csv.write_csv(events, text)
    run_cepctl("ingest", parquet, "-o", dataset, "--runner", "local")
    stored, count = _matched(setup, dataset)
    for name, path in (("Parquet", parquet), ("CSV", text)):
        timing, found = _matched(setup, path)
        check_equal("matches", found, count)
        yield Row(
            f"{events.num_rows:,} events in plain {name}", timing, found,
            ratio=timing.cpu_seconds / stored.cpu_seconds, against="a dataset of them, processor time",
            goal=Goal("at most", 1.3), checked="count",
        )  # fmt: skip
        if path == parquet:
            yield _beside_polars(setup, path, timing, found)
    yield from _of_which_few_fit(setup)


def _of_which_few_fit(setup: Setup) -> Iterator[Row]:
    many, fewer = setup.events(10_000_000, 1_000_000), setup.events(2_000_000, 200_000)
    for kind, count in (("many", many), ("wide", fewer)):
        run_python("-c", MAKE, Path(__file__).parent, str(count), setup.folder / kind, kind)
    for name, file, count in (
        ("Parquet", "many.parquet", many),
        ("CSV", "many.csv", many),
        ("Parquet, with 30 columns of numbers that it does not name", "wide.parquet", fewer),
    ):
        path = setup.folder / file
        timing, found = _matched(setup, path, FEW)
        join = _joined(setup, path, "FEW", found)
        yield Row(
            f"{count:,} events in plain {name}, few fit", timing, found,
            ratio=timing.seconds / join.seconds,
            against="a script of Polars without confidences, on the clock",
            goal=Goal("at most", 2), checked="count", note=f"script {join.seconds:.2f} s",
        )  # fmt: skip


def _joined(setup: Setup, path: Path, pattern: str, count: int) -> Timing:
    """A script that joins by Polars and writes candidates, in a process of its own; `pattern` by its name."""
    rows = setup.folder / "rows_of_polars.parquet"
    timing = of_process(partial(run_python, "-c", POLARS, Path(__file__).parent, path, rows, pattern))
    check_equal("matches of the join", pq.read_metadata(rows).num_rows, count)
    return timing


def _beside_polars(setup: Setup, path: Path, timing: Timing, count: int) -> Row:
    """The same beside a script."""
    join = _joined(setup, path, "FIVE_PERCENT", count)
    return Row(
        "the same", timing, count, ratio=timing.cpu_seconds / join.cpu_seconds,
        against="a script of Polars without confidences, processor time", goal=Goal("at most", 3),
        checked="count", note=f"script {join.cpu_seconds:.2f} CPU s",
    )  # fmt: skip


def _matched(setup: Setup, path: Path, pattern: Pattern = FIVE_PERCENT) -> tuple[Timing, int]:
    """One match in a process of its own, with the processor time of all that it starts; rows to Parquet."""
    rows = setup.folder / f"rows_of_{path.name}.parquet"
    match = partial(run_cepctl, "match", pattern.text, path, "--runner", "local", "-o", rows)
    timing = of_process(match)
    return timing, pq.read_metadata(rows).num_rows


def of_process(run: Callable[[], object]) -> Timing:
    """The time of processes that `run` starts and waits for."""
    began, used = time.perf_counter(), _of_children()
    run()
    return Timing(time.perf_counter() - began, _of_children() - used, 1)


def _of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
