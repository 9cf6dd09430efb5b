"""What machines recorded of their clocks: one row per piece of readings, with an estimate and hard bounds.

    piece       the readings [from, to) of one host's clock
    estimate    how far the clock was ahead: `ahead` at the start of the piece, `ahead_to` at its end, linear
                between
    residual    how far it was ahead beside the estimate: in [low, high], with the standard deviation `sd`
    segment     pieces that share one residual; those of an epoch are tied to their neighbours by `jump`

The table is a Parquet file, or a CSV with the same columns.  All but `sd` are whole nanoseconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UncertaintyModelError
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

COLUMNS: Mapping[str, pa.DataType] = {
    "host": pa.string(),
    "from": pa.int64(),
    "to": pa.int64(),
    "ahead": pa.int64(),
    "ahead_to": pa.int64(),
    "low": pa.int64(),
    "high": pa.int64(),
    "sd": pa.float64(),
    "epoch": pa.int64(),
    "segment": pa.int64(),
    "jump": pa.int64(),
}
"""The columns that are read; `sd` and `jump` may be null."""
EVIDENCE: Mapping[str, pa.DataType] = {"source": pa.string(), "line": pa.int64()}
"""Where the log of a clock says it: columns that a table may have besides."""
_NULLABLE = ("sd", "jump")
_NUMBERS = [name for name, kind in COLUMNS.items() if kind == pa.int64() and name not in _NULLABLE]
NO_PIECE = -1
_SORTED_BY_DIGITS = 2**16 - 2
"""Numbers of so many hosts are sorted by their digits, in time that grows with how many there are."""
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class ClockRecords:
    """m pieces by host and time; columns of shape (m,), nanoseconds.

    `host` is a place in `hosts`.  `sd` is NaN, and `jump` -1, where there is none.  `file` names the table in
    messages, `digest` is that of its bytes.  `evidence` has the columns EVIDENCE, null where the file has
    none; None where nobody asked for it.
    """

    file: str
    digest: str
    hosts: tuple[str, ...]
    host: Indexes
    begin: Ticks
    end: Ticks
    ahead: Ticks
    ahead_to: Ticks
    low: Ticks
    high: Ticks
    sd: Reals
    epoch: Indexes
    segment: Indexes
    jump: Ticks
    evidence: pa.Table | None = None

    def pieces(self, hosts: pa.Array, readings: Ticks) -> tuple[Indexes, Flags]:
        """The piece of each reading, NO_PIECE where there is none, and which have a host of this table.

        `hosts`: texts, shape (n,); `readings`: nanoseconds.
        """
        known = pc.index_in(hosts, pa.array(self.hosts, pa.string()))
        host = pc.fill_null(known, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        begins, keys = self._keys
        own = host * (len(begins) + 1) + np.searchsorted(begins, readings, "right")
        # Host by host, so that the keys that are compared stay near each other.
        few = len(self.hosts) <= _SORTED_BY_DIGITS
        order = np.argsort((host + 1).astype(np.uint16) if few else host, kind="stable")
        found = np.empty(len(host), np.int64)
        found[order] = np.searchsorted(keys, own[order], "right") - 1
        at = np.maximum(found, 0)
        inside = (found >= 0) & (self.host[at] == host) & (readings < self.end[at])
        return np.where(inside, at, NO_PIECE), host >= 0

    def estimates(
        self, pieces: Indexes, readings: Ticks, tick: int = 1, *, sign: int = 1, halves: int = 0
    ) -> Ticks:
        """How far ahead clocks were at readings, times `sign` and plus so many half ticks, rounded down.

        `tick`: length of what is counted, in nanoseconds.  Of NO_PIECE the number means nothing.
        """
        drift, length = sign * (self.ahead_to - self.ahead)[pieces], (self.end - self.begin)[pieces]
        passed = np.where(pieces == NO_PIECE, 0, readings - self.begin[pieces])
        whole, rest = np.divmod(2 * sign * self.ahead[pieces] + halves * tick, 2 * tick)
        beyond = (rest + 2 * drift * (passed / length)) / (2 * tick)
        down = np.floor(beyond).astype(np.int64)
        # Where rounding could decide whole numbers do; without a drift the rest decides nothing.
        doubtful = np.abs(beyond - np.rint(beyond)) < _CLOSE * np.maximum(1.0, np.abs(beyond))
        for i in np.flatnonzero(doubtful & (drift != 0)).tolist():
            exact = int(rest[i]) * int(length[i]) + 2 * int(drift[i]) * int(passed[i])
            down[i] = exact // (2 * tick * int(length[i]))
        return np.asarray(whole + np.where(drift == 0, 0, down))

    @cached_property
    def _keys(self) -> tuple[Ticks, Indexes]:
        """All readings at which a piece begins, and host and place among these of each as one number."""
        begins = np.unique(self.begin)
        return begins, self.host * (len(begins) + 1) + np.searchsorted(begins, self.begin) + 1


def read_records(path: Path, *, evidence: bool = False) -> ClockRecords:
    """Read a table of pieces; with `evidence` also where the logs say it.

    Raises
    ------
    UncertaintyModelError
        If it cannot be read, lacks a column, or a row makes no sense: with file, row and remedy.
    """
    try:
        content = path.read_bytes()
        table = _table(path, content)
    except (OSError, pa.ArrowException) as problem:
        raise UncertaintyModelError(f"clock: cannot read {path}: {problem}") from problem
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise UncertaintyModelError(
            f"clock: {path} has no column '{missing[0]}'; make it of clock logs with: "
            f"cepctl clocks LOG -o {path.name}"
        )
    extra = EVIDENCE if evidence else {}
    for name, kind in extra.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), kind))
    table = _typed(table.select([*COLUMNS, *extra]), path)
    if not len(table):
        raise UncertaintyModelError(f"clock: {path} has no rows; make it of other logs")
    hosts, host = _numbered_hosts(table.column("host"))
    order = _by_host_and_time(host, _numbers(table, "from"))
    if order is not None:
        host, table = host[order], table.take(pa.array(order))
    begin, end, ahead, ahead_to, low, high, epoch, segment = (_numbers(table, name) for name in _NUMBERS)
    sd, jump = (
        pc.fill_null(table.column(name), none).to_numpy() for name, none in (("sd", np.nan), ("jump", -1))
    )
    records = ClockRecords(
        str(path), hashlib.sha256(content).hexdigest(), hosts, host, begin, end, ahead, ahead_to, low, high,
        sd, epoch, segment, jump, table.select(list(extra)) if evidence else None,
    )  # fmt: skip
    has_sd, has_jump = (pc.is_valid(table.column(name)).to_numpy() for name in ("sd", "jump"))
    row = np.arange(len(table)) if order is None else order
    _require_sense(records, row, has_sd, has_jump)
    return records


def _table(path: Path, content: bytes) -> pa.Table:
    if content[:4] == b"PAR1":
        import pyarrow.parquet as pq

        return pq.read_table(pa.BufferReader(content))
    from pyarrow import csv

    kinds = {**COLUMNS, **EVIDENCE}
    options = csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True)
    return csv.read_csv(pa.BufferReader(content), convert_options=options)


def _typed(table: pa.Table, path: Path) -> pa.Table:
    for name in table.column_names:
        column, kind = table.column(name), {**COLUMNS, **EVIDENCE}[name]
        if column.type != kind:
            try:
                column = column.cast(kind)
            except pa.ArrowException as problem:
                raise UncertaintyModelError(f"clock: {path}: column '{name}': {problem}") from problem
            table = table.set_column(table.column_names.index(name), name, column)
        if name in COLUMNS and name not in _NULLABLE and column.null_count:
            row = int(np.flatnonzero(pc.is_null(column).to_numpy())[0])
            raise UncertaintyModelError(f"clock: {path}: row {row + 1} has no '{name}'; fill it in")
    return table


def _numbered_hosts(names: pa.ChunkedArray) -> tuple[tuple[str, ...], Indexes]:
    """The hosts in code-point order, and the place among them of each row."""
    encoded = names.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    hosts = tuple(sorted(values))
    place = {name: number for number, name in enumerate(hosts)}
    numbers = np.array([place[name] for name in values], dtype=np.int64)
    return hosts, numbers[encoded.indices.to_numpy()]


def _by_host_and_time(host: Indexes, begin: Ticks) -> Indexes | None:
    """The order of rows by host, then time; None where they are in it, as they mostly are."""
    same = host[1:] == host[:-1]
    if ((host[1:] > host[:-1]) | (same & (begin[1:] >= begin[:-1]))).all():
        return None
    return np.lexsort((begin, host))


def _numbers(table: pa.Table, name: str) -> Ticks:
    return np.ascontiguousarray(table.column(name).to_numpy(), dtype=np.int64)


def _require_sense(own: ClockRecords, row: Indexes, has_sd: Flags, has_jump: Flags) -> None:
    """Raise UncertaintyModelError for the first row that makes no sense; `row` are numbers in the file."""
    follows = np.flatnonzero(own.host[1:] == own.host[:-1]) + 1
    before = follows - 1
    same = own.segment[follows] == own.segment[before]
    bound = np.zeros(len(row), np.bool_)
    bound[follows] = ~same & (own.epoch[follows] == own.epoch[before])
    checks = (
        (np.flatnonzero(own.end <= own.begin), "ends before it begins; `to` is excluded"),
        (np.flatnonzero(own.low > 0), "has a `low` above 0; the estimate itself lies between low and high"),
        (np.flatnonzero(own.high < 0), "has a `high` below 0; the estimate itself lies between low and high"),
        (
            np.flatnonzero(has_sd & ~((own.sd > 0) & np.isfinite(own.sd))),
            "has an sd that is not a number above 0; leave it empty for none",
        ),
        (
            np.flatnonzero(has_jump & (own.jump < 0)),
            "has a `jump` below 0; it is how far two residuals can be apart, empty for any distance",
        ),
        (
            follows[own.begin[follows] < own.end[before]],
            "overlaps the row before it; a reading has one piece",
        ),
        (
            follows[same & (own.epoch[follows] != own.epoch[before])],
            "has the segment of the row before it and another epoch; a segment lies in one epoch",
        ),
        (
            np.flatnonzero((own.jump >= 0) & ~bound),
            "has a `jump` and no other segment of its epoch before it; leave it empty",
        ),
        (follows[~same & _is_old(own.host, own.segment)[follows]], "goes back to an earlier segment"),
        (follows[_is_old(own.host, own.epoch)[follows]], "goes back to an earlier epoch"),
    )
    for wrong, complaint in checks:
        if len(wrong):
            host = own.hosts[own.host[wrong[0]]]
            raise UncertaintyModelError(f"clock: {own.file}: row {row[wrong[0]] + 1} ('{host}') {complaint}")


def _is_old(host: Indexes, number: Indexes) -> Flags:
    """Rows whose number differs from that of the row before, and occurs before that."""
    begins = np.append(True, (host[1:] != host[:-1]) | (number[1:] != number[:-1]))
    first = np.flatnonzero(begins)
    _, at = np.unique(np.stack([host[first], number[first]], axis=1), axis=0, return_index=True)
    old = np.zeros(len(host), np.bool_)
    old[np.delete(first, at)] = True
    return old
