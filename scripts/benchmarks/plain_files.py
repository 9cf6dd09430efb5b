"""A whole match from the shell on plain files, against the same on a dataset of their events."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow import csv
from results import Goal, Row, Setup, Timing, check_equal
from start_up import run_cepctl
from workloads import FIVE_PERCENT, appendix_c


def plain_files(setup: Setup) -> Iterator[Row]:
    """Parquet and CSV with `lower` and `upper`, in the order of a dataset; to Parquet, by processor time."""
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


def _matched(setup: Setup, path: Path) -> tuple[Timing, int]:
    """One match in a process of its own, with the processor time of all that it starts; rows to Parquet."""
    rows = setup.folder / f"rows_of_{path.name}.parquet"
    began, used = time.perf_counter(), _of_children()
    run_cepctl("match", FIVE_PERCENT.text, path, "--runner", "local", "-o", rows)
    timing = Timing(time.perf_counter() - began, _of_children() - used, 1)
    return timing, pq.read_metadata(rows).num_rows


def _of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
