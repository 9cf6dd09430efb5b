"""Tables of recorded clocks that a dataset names: read again, and only where they are as they were.

A table counts as it was if its bytes have the digest that the dataset keeps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import pyarrow as pa

from cepctl.clocks.checks.stamps import Stamps
from cepctl.errors import UncertaintyModelError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.uncertainty.clock_records import NO_PIECE, ClockRecords, read_records
from cepctl.uncertainty.recorded_offsets import RECORDED_NAME

_NAME = re.compile(RECORDED_NAME)
_MOST_DIGITS = 18
"""Longer numbers are not those of a segment or an epoch that 64 bits hold."""


class Fate(Enum):
    """What became of a table since the events were read."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table by the name of its file; `records`, with their evidence, only where it is unchanged."""

    file: str
    fate: Fate
    records: ClockRecords | None = None

    @property
    def lost(self) -> str:
        """In a sentence, why nothing of a table is shown that is not as it was."""
        if self.fate is Fate.MISSING:
            return f"{self.file} is not there any more, so what it recorded of these clocks is not shown"
        return f"{self.file} has changed since these events were read, so what it records now is not shown"


def named_tables(files: Mapping[str, str]) -> list[NamedTable]:
    """The tables of some files; `files` has the digest of each, by its name."""
    return [_table(file, digest) for file, digest in files.items()]


def _table(file: str, digest: str) -> NamedTable:
    if not Path(file).is_file():
        return NamedTable(file, Fate.MISSING)
    try:
        records = read_records(Path(file), evidence=True)
    except UncertaintyModelError:
        return NamedTable(file, Fate.CHANGED)
    if records.digest != digest:
        return NamedTable(file, Fate.CHANGED)
    return NamedTable(file, Fate.UNCHANGED, records)


@dataclass(frozen=True, eq=False)
class OnClocks:
    """Of n events the host whose recorded clock stamped each, and the number of its segment or epoch.

    `host` is null where there is none; arrays of shape (n,).
    """

    host: pa.Array
    number: Indexes
    of_epoch: Flags

    @classmethod
    def of(cls, clocks: pa.Array) -> OnClocks:
        """From the names of clocks, null for none."""
        encoded = clocks.dictionary_encode()
        named = [_taken_apart(name) for name in [*encoded.dictionary.to_pylist(), None]]
        hosts, numbers, of_epoch = zip(*named, strict=True)
        place = encoded.indices.fill_null(len(named) - 1)
        rows = place.to_numpy(zero_copy_only=False)
        host = pa.array(hosts, pa.string()).take(place)
        return cls(host, np.array(numbers, np.int64)[rows], np.array(of_epoch, np.bool_)[rows])

    @property
    def recorded(self) -> Flags:
        """Which events a recorded clock stamped."""
        return np.asarray(self.host.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)

    def stamps(self, records: ClockRecords, readings: Ticks, has_reading: Flags) -> tuple[Stamps, Flags]:
        """What a table says of readings, in nanoseconds, and of which events it recorded the clock."""
        found = Stamps.of(records, self.host, readings, has_reading)
        number = np.where(self.of_epoch, records.epoch[found.piece], records.segment[found.piece])
        return found, np.asarray((found.piece != NO_PIECE) & (number == self.number))


def _taken_apart(name: str | None) -> tuple[str | None, int, bool]:
    found = None if name is None else _NAME.fullmatch(name)
    if found is None or len(found[3]) > _MOST_DIGITS:
        return None, 0, False
    return found[1], int(found[3]), found[2] == "@"
