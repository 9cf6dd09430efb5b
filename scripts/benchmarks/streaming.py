"""Streams all matches of a Parquet file without keeping them; prints number, sum and peak memory."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
from engine import NO_CAP
from machine import cores
from measuring import peak_megabytes
from workloads import COLUMNS, FIVE_PERCENT

from cepctl.engines.event.match import match_batches


def main(path: str) -> None:
    """Match the events of `path` and print one JSON object."""
    events = pq.read_table(path, columns=list(COLUMNS))
    before, rows, total = peak_megabytes(), 0, 0.0
    for batch in match_batches(FIVE_PERCENT.plan, events, replace(NO_CAP, threads=cores())):
        rows += batch.num_rows
        total += float(np.sum(batch.column("confidence").to_numpy()))
    print(json.dumps({"rows": rows, "total": total, "before": before, "peak": peak_megabytes()}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
