"""CLOCKS: a table with one row per piece of a host's readings, hosts by their names, pieces by their readings."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from cepctl.arrays import Numbers
from cepctl.clock_logs.gathering import Gathered
from cepctl.clock_logs.kept_rows import kept_rows
from cepctl.clock_logs.pieces import cut_into_pieces
from cepctl.clock_logs.segments import Shared, shared_residuals
from cepctl.clock_logs.summary import HostSummary, host_summary
from cepctl.clock_logs.values import NONE, NOTES, Choices, Pieces

COLUMNS: dict[str, pa.DataType] = {
    "host": pa.string(),
    "from": pa.int64(),
    "to": pa.int64(),
    "ahead": pa.int64(),
    "ahead_to": pa.int64(),
    "low": pa.int64(),
    "high": pa.int64(),
    "sd": pa.int64(),
    "epoch": pa.int64(),
    "segment": pa.int64(),
    "jump": pa.int64(),
    "source": pa.string(),
    "line": pa.int64(),
    "note": pa.string(),
}
"""The columns; `from` to `high`, `sd` and `jump` in nanoseconds."""
_ROWS_AT_ONCE = 1 << 17


def clock_tables(
    found: Gathered, bound: int | None, choices: Choices, summaries: list[HostSummary]
) -> Iterator[pa.Table]:
    """The rows of all hosts, some at a time; the figures of each host go into `summaries`.

    Raises
    ------
    LogFormatError
        If rows of a host have no bound, and `bound` is None.
    """
    for host in found.hosts:
        kept = kept_rows(found, host, bound)
        cut = cut_into_pieces(kept.rows, choices)
        shared = shared_residuals(cut.pieces, choices.drift)
        segments = int(shared.segment[-1]) if len(cut.pieces) else 0
        summaries.append(host_summary(host, kept, cut, segments))
        del kept
        yield from _tables(host, cut.pieces, shared, found.files)


def _tables(host: str, pieces: Pieces, shared: Shared, files: list[str]) -> Iterator[pa.Table]:
    names, notes = pl.Series(files), pl.Series(NOTES)
    for first in range(0, max(len(pieces), 1), _ROWS_AT_ONCE):
        there = slice(first, first + _ROWS_AT_ONCE)
        own = pieces.taken(there)
        columns = {
            "host": pa.array([host] * len(own), pa.string()),
            "from": own.start,
            "to": own.stop,
            "ahead": own.ahead,
            "ahead_to": own.ahead_to,
            "low": own.low,
            "high": own.high,
            "sd": _known(own.sd),
            "epoch": shared.epoch[there],
            "segment": shared.segment[there],
            "jump": _known(shared.jump[there]),
            "source": names.gather(own.file).to_arrow().cast(pa.string()),
            "line": own.line,
            "note": notes.gather(own.note).to_arrow().cast(pa.string()),
        }
        yield pa.table({name: pa.array(columns[name], kind) for name, kind in COLUMNS.items()})


def _known(values: Numbers) -> pa.Array:
    return pa.array(values, pa.int64(), mask=values == NONE)
