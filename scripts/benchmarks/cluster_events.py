"""The logs of the sample's cluster, one cluster's day after another: the events of ZDI14's case study.

The history of its job and the samples of Ganglia, ingested with their uncertainty, are repeated: each time a
quarter of an hour later, which is more than the windows of the queries, and with jobs, tasks and attempts of
their own.  `period` is how many seconds an attempt took, `size` how many records it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.cli import main
from cepctl.errors import JobError
from cepctl.ingestion.writing import ROW_GROUP_EVENTS
from cepctl.schema import META_TYPE_COUNTS

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
LOGS = ("job_1772009204117_0042.jhist", "gmond-1.xml", "gmond-2.xml")
APART_MILLISECONDS = 15 * 60 * 1000
PART = 1_000_000
KEYS = ("job_id", "task_id", "attempt_id")
ATTRIBUTES = ("node", *KEYS, "value", "period", "size")


def cluster_dataset(folder: Path, count: int) -> tuple[Path, int]:
    """A dataset of at least `count` events as ingest writes it, and how many they are."""
    output = folder / f"cluster_{count}"
    once = _once(folder)
    times = -(-count // once.height)
    plain = folder / "cluster_once.parquet"
    pq.write_table(_repeated(once, range(1)), plain)
    _cepctl("ingest", str(plain), "-o", str(output), "--overwrite")
    (first,) = output.glob("part-*.parquet")
    schema = pq.read_schema(first)
    counts = {kind: held * times for kind, held in once["event_type"].value_counts().iter_rows()}
    schema = schema.with_metadata({**schema.metadata, META_TYPE_COUNTS: json.dumps(counts).encode()})
    for number, part in enumerate(_parts(times, max(PART // once.height, 1))):
        _write(output / f"part-{number:05d}.parquet", schema, _repeated(once, part))
    return output, times * once.height


def _parts(times: int, most: int) -> Iterator[range]:
    for begin in range(0, times, most):
        yield range(begin, min(begin + most, times))


def _once(folder: Path) -> pl.DataFrame:
    """The events of the sample in order of time, with what the queries read."""
    output = folder / "cluster_sample"
    logs = [str(SAMPLE / "logs" / name) for name in LOGS]
    _cepctl("ingest", *logs, "-o", str(output), "--overwrite", "--name", "cpu_user=CPU",
            "--uncertainty", str(SAMPLE / "uncertainty.toml"))  # fmt: skip
    events = pl.from_arrow(pq.read_table(output))
    assert isinstance(events, pl.DataFrame)
    began = events.filter(pl.col("event_type").is_in(["MapAttemptStart", "ReduceAttemptStart"]))
    began = began.select("attempt_id", pl.col("lower").alias("began"))
    records = pl.col("counters").str.extract(r'"SPILLED_RECORDS":(\d+)').cast(pl.Int64)
    events = events.join(began, on="attempt_id", how="left", maintain_order="left")
    period = (pl.col("lower") - pl.col("began")) / 1000
    return events.with_columns(period.alias("period"), records.alias("size")).select(
        "event_id", "event_type", "lower", "upper", *ATTRIBUTES
    )


def _repeated(once: pl.DataFrame, times: range) -> pa.Table:
    """The events at each of some times, with keys of their own."""
    number = np.repeat(np.arange(times.start, times.stop), once.height)
    events = pl.concat([once] * len(times)).with_columns(pl.Series("number", number))
    own = [(pl.col(name) + "_" + pl.col("number").cast(pl.String)).alias(name) for name in KEYS]
    later = pl.col("number") * APART_MILLISECONDS
    moved = [pl.col(name) + later for name in ("lower", "upper")]
    names = (pl.col("event_id") + "_" + pl.col("number").cast(pl.String)).alias("event_id")
    return events.with_columns(*own, *moved, names).drop("number").to_arrow()


def _write(path: Path, schema: pa.Schema, events: pa.Table) -> None:
    held = dict(zip(events.column_names, events.columns, strict=True))
    columns = [
        held[field.name].cast(field.type) if field.name in held else pa.nulls(len(events), field.type)
        for field in schema
    ]
    pq.write_table(
        pa.table(columns, schema=schema), path, compression="zstd", row_group_size=ROW_GROUP_EVENTS
    )


def _cepctl(*arguments: str) -> None:
    if code := main([*arguments, "--runner", "local", "--quiet"]):
        raise JobError(f"cepctl {arguments[0]} ended with {code}")
