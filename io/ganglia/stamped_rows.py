"""Rows stamped at equal distances, as exports print them, gathered into series of bounded size.

An export seldom says how long the span of a row is: it is the distance of the rows.  Where a file has
one row alone, the step of gmetad is assumed, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cepctl.arrays import Seconds
from cepctl.io.contract.batches import BATCH_EVENTS
from cepctl.io.contract.reader import ReadReport
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.ganglia.series import UNKNOWN, Columns, Series, SeriesEvents

GMETAD_STEP_SECONDS = 15


@dataclass
class StampedRows:
    """The rows that wait for their batch.

    `resolution` is the seconds that a row stands for, None until it is known from the file or from
    the distance of two rows.
    """

    columns: Columns
    events: SeriesEvents
    report: ReadReport
    resolution: int | None = None
    _stamps: list[int] = field(default_factory=list)
    _values: list[Sequence[float]] = field(default_factory=list)
    _spreads: list[int] = field(default_factory=list)
    _zones: list[int] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self._stamps) >= BATCH_EVENTS

    def add(self, stamp: int, values: Sequence[float], *, spread: int = 0, zone: int = 0) -> None:
        """Append a row of the file's columns.

        `stamp` is in epoch seconds, between 1970 and 9999; `spread` how many seconds later it may
        be, `zone` the offset from UTC of the zone in which it was written.
        """
        self._stamps.append(stamp)
        self._values.append(values)
        self._spreads.append(spread)
        self._zones.append(zone)

    def take(self) -> Iterator[pa.RecordBatch]:
        """All waiting rows as events, one metric after the other; afterwards none waits."""
        if not self._stamps:
            return
        stamps = np.array(self._stamps, dtype=np.int64)
        values = np.array(self._values, dtype=np.float64)
        spreads, zones = np.array(self._spreads, dtype=np.int64), np.array(self._zones, dtype=np.int64)
        self._stamps, self._values, self._spreads, self._zones = [], [], [], []
        self.resolution = self.resolution or distance(stamps)
        if self.resolution is None:
            self.resolution = GMETAD_STEP_SECONDS
            self.report.warnings.append(
                f"how long a row stands for cannot be told from one row; {GMETAD_STEP_SECONDS} s were assumed"
            )
        for column, origin, number in self.columns.metrics:
            known = ~np.isnan(values[:, column])
            self.report.records += len(known)
            if not known.all():
                self.report.skipped[UNKNOWN] += int((~known).sum())
            if known.any():
                own = stamps[known]
                series = Series(
                    origin,
                    stamps=own,
                    begins=own - self.resolution,
                    ends=own + spreads[known],
                    values=values[known, column],
                    resolution=np.full(len(own), self.resolution, dtype=np.int64),
                    hosts=values[known, number] if number is not None else None,
                    zones=zones[known],
                )
                yield from self.events.batches(series)


def distance(stamps: Seconds) -> int | None:
    """The smallest distance of two stamps that follow one another; None when no two differ.

    Examples
    --------
    >>> distance(np.array([0, 15, 30, 90])), distance(np.array([7]))
    (15, None)
    """
    apart = np.diff(stamps)
    apart = apart[apart > 0]
    return int(apart.min()) if len(apart) else None


def stamp_of(value: object) -> int | None:
    """A time as epoch seconds; None where it is not a whole number, or no date of 1970 to 9999."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LAST_SECOND:
        return value
    return None


def value_of(value: object) -> float | None:
    """A value as a number, NaN where it is unknown; None where it is neither.

    Examples
    --------
    >>> value_of("4.6e-01"), value_of("4,6e-01"), value_of(None), value_of("-nan"), value_of("?")
    (0.46, 0.46, nan, nan, None)
    """
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        # Some locales write numbers with a comma.
        return float(value.replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
