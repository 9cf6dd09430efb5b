"""CLOCKS: a table with one row per piece of a host's readings, by host and reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from cepctl.clocks.logs.gathering import GatheredRows
from cepctl.clocks.logs.jumps import Totals
from cepctl.clocks.logs.kept_rows import RowsOfHost
from cepctl.clocks.logs.pieces import Cutter
from cepctl.clocks.logs.segments import Segmenter
from cepctl.clocks.logs.summary import HostSummary, host_summary
from cepctl.clocks.logs.survey import surveyed
from cepctl.clocks.logs.values import NONE, NOTES, PieceChoices, Pieces, pieces_from
from cepctl.numeric.arrays import Numbers

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


def clock_tables(
    found: GatheredRows, bound: int | None, choices: PieceChoices, summaries: list[HostSummary]
) -> Iterator[pa.Table]:
    """The rows of all hosts, some at a time; the figures of each host go into `summaries`.

    Raises
    ------
    LogFormatError
        If rows of a host have no bound, and `bound` is None.
    """
    # There are columns where there are no rows.
    yield pa.table({name: pa.array([], kind) for name, kind in COLUMNS.items()})
    for host in found.hosts:
        kept = RowsOfHost(found, host, bound)
        survey = surveyed(kept.parts())
        cutter = Cutter(survey, choices)
        with _CutPieces(found.folder) as held:
            for pieces in cutter.pieces(kept.parts()):
                held.add(pieces)
            summaries.append(host_summary(host, kept, survey, cutter, held.count, len(held.starts)))
            yield from held.tables(host, found.files, choices.drift)


@dataclass
class _CutPieces:
    """The pieces of a host in parts on disk: where its segments start is known once all are there."""

    folder: Path
    count: int = 0
    _segmenter: Segmenter = field(default_factory=Segmenter)
    _paths: list[Path] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for path in self._paths:
            path.unlink(missing_ok=True)

    def add(self, pieces: Pieces) -> None:
        """Take the next pieces in."""
        path = self.folder / f"pieces-{len(self._paths):08d}.npy"
        self._paths.append(path)
        np.save(path, np.stack(pieces.columns))
        self._segmenter.take(pieces)
        self.count += len(pieces)

    @cached_property
    def _found(self) -> tuple[Numbers, Numbers]:
        return self._segmenter.found()

    @property
    def starts(self) -> Numbers:
        """Where segments start, once all pieces are there."""
        return self._found[1]

    def _parts(self) -> Iterator[Pieces]:
        for path in self._paths:
            yield pieces_from(np.load(path))

    def tables(self, host: str, files: list[str], drift: int) -> Iterator[pa.Table]:
        """The rows of the host."""
        begins, starts = self._found
        totals = Totals(starts)
        for pieces in self._parts():
            totals.take(pieces)
        jumps = totals.jumps(begins, drift)
        first = 0
        for pieces in self._parts():
            numbers = np.arange(first, first + len(pieces))
            yield _table(host, pieces, _shared(numbers, begins, starts, jumps), files)
            first += len(pieces)


def table_of(host: str, pieces: Pieces, drift: int) -> pa.Table:
    """The rows of a host all of whose pieces are there, and which no log says; at least one piece."""
    segmenter = Segmenter()
    segmenter.take(pieces)
    begins, starts = segmenter.found()
    totals = Totals(starts)
    totals.take(pieces)
    shared = _shared(np.arange(len(pieces)), begins, starts, totals.jumps(begins, drift))
    return _table(host, pieces, shared, [])


def _shared(numbers: Numbers, begins: Numbers, starts: Numbers, jumps: Numbers) -> dict[str, Any]:
    """Epoch, segment and jump of the pieces with these numbers."""
    segment = np.searchsorted(starts, numbers, side="right")
    return {
        "epoch": np.searchsorted(begins, numbers, side="right"),
        "segment": segment,
        "jump": _known(np.where(starts[segment - 1] == numbers, jumps[segment - 1], NONE)),
    }


def _table(host: str, pieces: Pieces, shared: dict[str, Any], files: list[str]) -> pa.Table:
    columns = {
        "host": pa.array([host] * len(pieces), pa.string()),
        "from": pieces.start,
        "to": pieces.stop,
        "ahead": pieces.ahead,
        "ahead_to": pieces.ahead_to,
        "low": pieces.low,
        "high": pieces.high,
        "sd": _known(pieces.sd),
        "source": pa.array(files, pa.string()).take(_known(pieces.file)),
        "line": _known(pieces.line),
        "note": pa.array(NOTES, pa.string()).take(pa.array(pieces.note)),
        **shared,
    }
    return pa.table({name: pa.array(columns[name], kind) for name, kind in COLUMNS.items()})


def _known(values: Numbers) -> pa.Array:
    return pa.array(values, pa.int64(), mask=values == NONE)
