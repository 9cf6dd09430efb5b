"""The rows of a host from all its logs: one kind gives them, equal ones count once, missing bounds are borrowed.

Files follow each other by their first reading, whatever their names.  A row without a bound has that of the
newest earlier row of another kind; where there is none, the one that the user gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from cepctl.clock_logs.gathering import Gathered
from cepctl.clock_logs.values import NONE, HostRows
from cepctl.errors import LogFormatError
from cepctl.io.clocks.contract import MESSAGES, SYNCHRONISED, UNSYNCHRONISED
from cepctl.io.clocks.kinds import RANKS

_VALUES = ["time", "ahead", "sd", "since", "around", "state"]


@dataclass(frozen=True)
class KeptRows:
    """The rows of a host, their kind, the other kinds that there are, and what happened to some of them."""

    rows: HostRows
    kind: str
    others: tuple[str, ...]
    equal: int
    borrowed: int
    given: int


def kept_rows(found: Gathered, host: str, bound: int | None) -> KeptRows:
    """The rows of a host; `bound`, in nanoseconds, is that of rows which have none.

    Raises
    ------
    LogFormatError
        If rows have no bound, and nothing gives one.
    """
    kinds = found.parts[host]
    kind = next(each for each in RANKS if each in kinds)
    others = tuple(each for each in RANKS if each in kinds and each != kind)
    frame = _in_order(kinds[kind])
    count = len(frame)
    frame = _without_equal(frame)
    equal = count - len(frame)
    missing = _without_bound(frame)
    borrowed = given = 0
    if missing.any() and others:
        frame = _with_borrowed(frame, pl.concat([_in_order(kinds[each]) for each in others]))
        borrowed = int(missing.sum() - _without_bound(frame).sum())
        missing = _without_bound(frame)
    if missing.any():
        given = int(missing.sum())
        if bound is None:
            first = frame.filter(missing).row(0, named=True)
            raise LogFormatError(
                f"{host}: {given:,} rows of {kind} have no bound, the first in {found.files[first['file']]}, line "
                f"{first['line']}; say how far such an estimate can be off, such as --bound '10 ms'"
            )
        frame = frame.with_columns(around=pl.when(missing).then(pl.lit(bound)).otherwise("around"))
    rows = _host_rows(frame, _in_order(kinds[MESSAGES]) if MESSAGES in kinds else None)
    return KeptRows(rows, kind, others, equal, borrowed, given)


def _in_order(files: dict[int, list[Path]]) -> pl.DataFrame:
    """The rows of some files, each in its own order, the files by their first reading."""
    frames = [
        pl.concat([pl.read_ipc(path) for path in paths]).with_columns(
            file=pl.lit(file, dtype=pl.Int32), line=pl.col("line").cast(pl.Int32)
        )
        for file, paths in files.items()
    ]
    return pl.concat(sorted(frames, key=lambda frame: (frame["time"][0], frame["file"][0])))


def _without_equal(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows, of which equal ones count once: where readings go back, files may hold copies of each other."""
    times = frame["time"].to_numpy()
    if (times[1:] < times[:-1]).any():
        return frame.unique(_VALUES, keep="first", maintain_order=True)
    same = times[1:] == times[:-1]
    if not same.any():
        return frame
    among = pl.Series(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    kept = frame.filter(among).unique(_VALUES, keep="first", maintain_order=True)
    return pl.concat([frame.filter(~among), kept]).sort("time", maintain_order=True)


def _without_bound(frame: pl.DataFrame) -> pl.Series:
    """Which rows need a bound and have none."""
    return frame.select(
        pl.col("since").is_null() & pl.col("around").is_null() & (pl.col("state") != UNSYNCHRONISED)
    ).to_series()


def _with_borrowed(frame: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The rows, those without a bound with that of the newest earlier row of others."""
    lender = pl.coalesce("around", pl.col("since") + pl.col("ahead").abs())
    bounds = (
        others.filter(pl.col("state") == SYNCHRONISED)
        .select("time", lent=lender)
        .drop_nulls()
        .sort("time", maintain_order=True)
    )
    places = np.searchsorted(bounds["time"].to_numpy(), frame["time"].to_numpy(), side="right") - 1
    if not len(bounds):
        return frame
    lent = bounds["lent"].gather(np.maximum(places, 0))
    takes = _without_bound(frame) & pl.Series(places >= 0)
    return frame.with_columns(around=pl.when(takes).then(lent).otherwise("around"))


def _host_rows(frame: pl.DataFrame, steps: pl.DataFrame | None) -> HostRows:
    def numbers(name: str) -> np.ndarray:  # type: ignore[type-arg]
        return frame[name].fill_null(NONE).to_numpy()

    told = steps.unique(["time", "ahead"], maintain_order=True) if steps is not None else None
    none = np.empty(0, np.int64)
    return HostRows(
        *(numbers(name) for name in ("time", "ahead", "sd", "since", "around")),
        frame["state"].to_numpy(),
        numbers("file"),
        numbers("line"),
        none if told is None else told["time"].to_numpy(),
        none if told is None else told["ahead"].to_numpy(),
    )
