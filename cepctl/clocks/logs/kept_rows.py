"""The rows of a host from all its logs: of one kind, equal ones once, missing bounds borrowed.

Files follow each other by their first reading, whatever their names.  A row without a bound has that of the
newest earlier row of another kind; where there is none, the one that the user gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.logs.gathering import GatheredRows, KeptPart
from cepctl.clocks.logs.values import NONE, HostRows
from cepctl.errors import LogFormatError
from cepctl.io.clocks.contract import MESSAGES, SYNCHRONISED, UNSYNCHRONISED
from cepctl.io.clocks.kinds import RANKS
from cepctl.numeric.arrays import Numbers

_VALUES = ["time", "ahead", "sd", "since", "around", "state"]
_ROWS_AT_ONCE = 1 << 17


@dataclass
class RowsOfHost:
    """The rows of a host; if they are many, they are read again each time that they are asked for.

    Attributes
    ----------
    kind, others
        The kind of the rows, and the other kinds that there are.
    equal, borrowed, given
        How many rows were left out as equal to others, have a bound of another kind, and have that of the
        user; known once all were read.
    """

    found: GatheredRows
    host: str
    bound: int | None
    kind: str = field(init=False)
    others: tuple[str, ...] = field(init=False)
    equal: int = 0
    borrowed: int = 0
    given: int = 0
    _bounds: pl.DataFrame | None = None
    _few: list[HostRows] | None = None

    def __post_init__(self) -> None:
        kinds = self.found.parts[self.host]
        self.kind, *others = (each for each in RANKS if each in kinds)
        self.others = tuple(others)
        steps = _in_order(kinds[MESSAGES]) if MESSAGES in kinds else None
        self._parts = _ordered(kinds[self.kind])
        self._steps = (
            None
            if steps is None
            else pl.concat([_read(each) for each in steps]).unique(["time", "ahead"], maintain_order=True)
        )

    def parts(self) -> Iterator[HostRows]:
        """All rows, some at a time.

        Raises
        ------
        LogFormatError
            If rows have no bound, and nothing gives one.
        """
        if self._few is None:
            self.equal = self.borrowed = self.given = 0
            read = (_host_rows(self._with_bounds(frame), self._steps) for frame in self._frames())
            if sum(part.rows for part in self._parts) > _ROWS_AT_ONCE:
                yield from read
                return
            self._few = list(read)
        yield from self._few

    def _frames(self) -> Iterator[pl.DataFrame]:
        """The rows, those that are equal once."""
        if len(self._parts) == 1 and self._parts[0].rises:
            yield self._once(_read(self._parts[0]))
            return
        if _follow_each_other(self._parts):
            held = pl.DataFrame()
            for part in self._parts:
                frame = pl.concat([held, _read(part)]) if len(held) else _read(part)
                # Equal rows have equal readings: what has the last one waits for those of the next part.
                last = frame["time"][-1]
                held, frame = frame.filter(time=last), frame.filter(pl.col("time") != last)
                if len(frame):
                    yield self._once(frame)
            yield self._once(held)
            return
        every = pl.concat([_read(part) for part in self._parts])
        kept = every.unique(_VALUES, keep="first", maintain_order=True)
        self.equal += len(every) - len(kept)
        del every
        yield from kept.iter_slices(_ROWS_AT_ONCE)

    def _once(self, frame: pl.DataFrame) -> pl.DataFrame:
        times = frame["time"].to_numpy()
        same = times[1:] == times[:-1]
        if not same.any():
            return frame
        kept = frame.unique(_VALUES, keep="first", maintain_order=True)
        self.equal += len(frame) - len(kept)
        return kept

    def _with_bounds(self, frame: pl.DataFrame) -> pl.DataFrame:
        missing = _without_bound(frame)
        if missing.any() and self.others:
            frame = self._with_borrowed(frame)
            still = _without_bound(frame)
            self.borrowed += int((missing & ~still).sum())
            missing = still
        if not missing.any():
            return frame
        if self.bound is None:
            first = frame.filter(missing).row(0, named=True)
            place = f"{self.found.files[first['file']]}, line {first['line']}"
            raise LogFormatError(
                f"{self.host}: rows of {self.kind} have no bound, the first in {place}; say how far such "
                "an estimate can be off, such as --bound '10 ms'"
            )
        self.given += int(missing.sum())
        return frame.with_columns(around=pl.when(missing).then(pl.lit(self.bound)).otherwise("around"))

    def _with_borrowed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows, those without a bound with that of the newest earlier row of another kind."""
        if self._bounds is None:
            kinds = self.found.parts[self.host]
            lenders = [_bounds(_read(part)) for kind in self.others for part in _ordered(kinds[kind])]
            self._bounds = pl.concat(lenders).sort("time", maintain_order=True)
        if not len(self._bounds):
            return frame
        times = self._bounds["time"].to_numpy()
        places = np.searchsorted(times, frame["time"].to_numpy(), side="right") - 1
        takes = _without_bound(frame) & pl.Series(places >= 0)
        lent = self._bounds["lent"].gather(np.maximum(places, 0))
        return frame.with_columns(around=pl.when(takes).then(lent).otherwise("around"))


def _in_order(files: dict[int, list[KeptPart]]) -> list[KeptPart]:
    return [part for parts in files.values() for part in parts]


def _ordered(files: dict[int, list[KeptPart]]) -> list[KeptPart]:
    """The parts of some files, each in its own order, the files by their first reading."""
    return _in_order(dict(sorted(files.items(), key=lambda file: (file[1][0].first, file[0]))))


def _follow_each_other(parts: list[KeptPart]) -> bool:
    """Whether no reading goes back in all of them."""
    return all(part.rises for part in parts) and all(
        before.last <= part.first for before, part in pairwise(parts)
    )


def _read(part: KeptPart) -> pl.DataFrame:
    # Polars would plan a query for it, which takes longer than the rows of a host.
    with pa.OSFile(str(part.path)) as stream:
        rows = pl.from_arrow(pa.ipc.open_file(stream).read_all())
    assert isinstance(rows, pl.DataFrame)
    return rows


def _bounds(frame: pl.DataFrame) -> pl.DataFrame:
    """The bounds of rows, around their estimates."""
    lent = pl.coalesce("around", pl.col("since") + pl.col("ahead").abs())
    return frame.filter(pl.col("state") == SYNCHRONISED).select("time", lent=lent).drop_nulls()


def _without_bound(frame: pl.DataFrame) -> pl.Series:
    """Which rows need a bound and have none."""
    if not frame["since"].null_count() or not frame["around"].null_count():
        return pl.Series(np.zeros(len(frame), np.bool_))
    return frame.select(
        pl.col("since").is_null() & pl.col("around").is_null() & (pl.col("state") != UNSYNCHRONISED)
    ).to_series()


def _host_rows(frame: pl.DataFrame, steps: pl.DataFrame | None) -> HostRows:
    def numbers(name: str) -> Numbers:
        # Polars would plan a query for each column, which takes longer than the rows of a host.
        return np.asarray(pc.fill_null(frame[name].to_arrow(), NONE).to_numpy(zero_copy_only=False))

    none = np.empty(0, np.int64)
    return HostRows(
        time=numbers("time"),
        ahead=numbers("ahead"),
        sd=numbers("sd"),
        since=numbers("since"),
        around=numbers("around"),
        state=frame["state"].to_numpy(),
        file=numbers("file"),
        line=numbers("line"),
        step_times=none if steps is None else steps["time"].to_numpy(),
        step_amounts=none if steps is None else steps["ahead"].to_numpy(),
    )
