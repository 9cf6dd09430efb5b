"""What hosts recorded of the clocks of given events, read again from the tables that a dataset names.

A table counts only as it was when the dataset was made: its bytes have the digest that the dataset keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from cepctl.clock_checks.stamps import Stamps
from cepctl.errors import UncertaintyModelError
from cepctl.uncertainty.clock_records import ClockRecords, read_records
from cepctl.uncertainty.recorded_offsets import RECORDED_NAME

_NAME = re.compile(RECORDED_NAME)


@dataclass(frozen=True)
class OfClock:
    """An event by its id, its clock by name, and what the clock showed, in nanoseconds."""

    event: str
    clock: str
    reading: int


@dataclass(frozen=True)
class Recorded:
    """How far ahead the clock of an event was, in nanoseconds: the estimate, and the hard bounds.

    `source` and `line` say where a log of the clock has it, None where the table does not tell.
    """

    event: str
    host: str
    reading: int
    ahead: int
    least: int
    most: int
    source: str | None
    line: int | None


@dataclass(frozen=True)
class Evidence:
    """What was recorded of events, in order; and in a sentence each, which tables are not as they were."""

    recorded: tuple[Recorded, ...]
    lost: tuple[str, ...]


def evidence(events: Iterable[OfClock], files: Mapping[str, str]) -> Evidence:
    """What tables say of the clocks of events; `files` has the digest of each, by the name of its file."""
    named = [(each, found) for each in events if (found := _NAME.fullmatch(each.clock)) is not None]
    if not named:
        return Evidence((), ())
    tables, lost = [], []
    for file, digest in files.items():
        table = _table(file, digest)
        if isinstance(table, str):
            lost.append(table)
        else:
            tables.append(table)
    told = (next(_of_event(each, name, tables), None) for each, name in named)
    return Evidence(tuple(each for each in told if each is not None), tuple(lost))


def _table(file: str, digest: str) -> ClockRecords | str:
    """A table as it was, or what has become of it."""
    if not Path(file).is_file():
        return f"{file} is not there any more, so what it recorded of these clocks is not shown"
    changed = f"{file} has changed since these events were read, so what it records now is not shown"
    try:
        records = read_records(Path(file), evidence=True)
    except UncertaintyModelError:
        return changed
    return records if records.digest == digest else changed


def _of_event(event: OfClock, name: re.Match[str], tables: Iterable[ClockRecords]) -> Iterator[Recorded]:
    """What each table says of an event on a clock of it."""
    for records in tables:
        stamp = Stamps.of(records, pa.array([name[1]]), np.array([event.reading]), np.array([True]))
        piece = int(stamp.piece[0])
        numbers = records.epoch if name[2] == "@" else records.segment
        if stamp.known[0] and int(numbers[piece]) == int(name[3]):
            assert records.evidence is not None
            source, line = (records.evidence.column(each)[piece].as_py() for each in ("source", "line"))
            ahead, least, most = (int(values[0]) for values in (stamp.ahead, stamp.least, stamp.most))
            yield Recorded(event.event, name[1], event.reading, ahead, least, most, source, line)
