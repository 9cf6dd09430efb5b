"""One event of every sample that several polls show: a sample stays until the next one arrives.

Its time then is shifted by at most 2 s, because all that it follows from is rounded down; its value is
the same.
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
        Events of Ganglia files with the columns `node`, `metric`, `time`, `value` and `value_text`; samples
        that agree in all of these but the time must not be spread over several calls.  A row in which one
        of the first three is null is kept.

    Returns
    -------
    table, dropped
        The rows that stay, in their order, and how many went.  Of samples of one node, metric
        and value whose times are at most 2 s from one that stays, only the earliest stays (of
        equal times the one that stands first).
    """
    numbered = pa.table(
        {
            **{name: _places(table, name) for name in ("node", "metric")},
            "time": table.column("time").combine_chunks().cast(pa.int64()),
            **{name: _places(table, name).fill_null(-1) for name in ("value", "value_text")},
            "row": pa.array(np.arange(table.num_rows)),
        }
    ).drop_null()
    by = ("node", "metric", "value", "value_text", "time", "row")
    order = numbered.sort_by([(name, "ascending") for name in by])
    keep = np.ones(table.num_rows, dtype=bool)
    kept: tuple[tuple[int, ...], int] | None = None
    for *same, time, row in zip(*(order.column(name).to_pylist() for name in by), strict=True):
        repeated = kept is not None and tuple(same) == kept[0] and time - kept[1] <= _REPEAT_MICROS
        if repeated:
            keep[row] = False
        else:
            kept = tuple(same), time
    return table.filter(pa.array(keep)), int(table.num_rows - keep.sum())


def _places(table: pa.Table, name: str) -> pa.Array:
    """The places of the values of a column among those that differ; null for null."""
    return table.column(name).combine_chunks().dictionary_encode().indices
