"""How far clocks were ahead at given stamps, as they recorded it: an estimate, and hard bounds.

    reading     what the clock showed, nanoseconds
    ahead       the estimate at the reading, linear within its piece
    least, most how far ahead the clock was for certain: estimate + low, estimate + high
    earliest,   between which instants the stamp was written: reading - most, reading - least
    latest

An estimate that is not a whole nanosecond is rounded outwards, so that bounds stay certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.uncertainty.clock_records import NO_PIECE, ClockRecords


@dataclass(frozen=True, eq=False)
class Stamps:
    """n stamps, arrays of shape (n,); `reading` in nanoseconds, `piece` NO_PIECE where there is none."""

    records: ClockRecords
    reading: Ticks
    piece: Indexes
    has_reading: Flags
    has_host: Flags

    @classmethod
    def of(cls, records: ClockRecords, hosts: pa.Array, readings: Ticks, has_reading: Flags) -> Stamps:
        """The stamps of some hosts; readings count where `has_reading`."""
        piece, has_host = records.pieces(hosts, readings)
        return cls(records, readings, np.where(has_reading, piece, NO_PIECE), has_reading, has_host)

    @property
    def known(self) -> Flags:
        """Of which the records say something."""
        return np.asarray(self.piece != NO_PIECE)

    @property
    def least(self) -> Ticks:
        """By how many nanoseconds each clock was ahead at least; of those not known no matter what."""
        return self._around[0] + self.records.low[self.piece]

    @property
    def most(self) -> Ticks:
        """By how many nanoseconds each clock was ahead at most."""
        return self._around[1] + self.records.high[self.piece]

    @property
    def ahead(self) -> Ticks:
        """The estimate, rounded down to a nanosecond."""
        return self._around[0]

    @property
    def earliest(self) -> Ticks:
        """The first instant at which each can have been written."""
        return self.reading - self.most

    @property
    def latest(self) -> Ticks:
        """The last one."""
        return self.reading - self.least

    @cached_property
    def _around(self) -> tuple[Ticks, Ticks]:
        """The whole nanoseconds around each estimate."""
        own, piece, reading = self.records, self.piece, self.reading
        return own.estimates(piece, reading), -own.estimates(piece, reading, sign=-1)
