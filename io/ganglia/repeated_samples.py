"""One event of every sample that several polls show: a sample stays until the next one arrives.

Its time then is shifted by at most 2 s, because all that it follows from is rounded down.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

REPEAT_SECONDS = 2
REPEATED = "repeated sample"
_REPEAT_MICROS = REPEAT_SECONDS * 1_000_000


def drop_repeated_samples(table: pa.Table) -> tuple[pa.Table, int]:
    """Keep one event of every sample that several polls show.

    Parameters
    ----------
    table
        Events of Ganglia files with the columns `node`, `metric` and `time`; samples of one
        node and metric must not be spread over several calls.  A row in which one of the three
        is null is kept.

    Returns
    -------
    table, dropped
        The rows that stay, in their order, and how many went.  Of samples of one node and
        metric whose times are at most 2 s from one that stays, only the earliest stays (of
        equal times the one that stands first).
    """
    keys = [table.column(name).combine_chunks() for name in ("node", "metric", "time")]
    numbered = pa.table(
        {
            "node": keys[0].dictionary_encode().indices,
            "metric": keys[1].dictionary_encode().indices,
            "time": keys[2].cast(pa.int64()),
            "row": pa.array(np.arange(table.num_rows)),
        }
    ).drop_null()
    order = numbered.sort_by([(name, "ascending") for name in ("node", "metric", "time", "row")])
    keep = np.ones(table.num_rows, dtype=bool)
    kept: tuple[int, int, int] | None = None
    for node, metric, time, row in zip(*(order.column(i).to_pylist() for i in range(4)), strict=True):
        repeated = kept is not None and (node, metric) == kept[:2] and time - kept[2] <= _REPEAT_MICROS
        if repeated:
            keep[row] = False
        else:
            kept = (node, metric, time)
    return table.filter(pa.array(keep)), int(table.num_rows - keep.sum())
