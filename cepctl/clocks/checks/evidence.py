"""What hosts recorded of the clocks of given events, read again from the tables that a dataset names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.clocks.checks.stamps import Stamps
from cepctl.clocks.checks.tables import OnClocks, named_tables
from cepctl.numeric.arrays import Indexes


@dataclass(frozen=True)
class OfClock:
    """An event by its id, its clock by name, and what the clock showed, in nanoseconds."""

    event: str
    clock: str
    reading: int


@dataclass(frozen=True)
class RecordedError:
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
    """What was recorded of events, in order; `untold` are the ids of those of which no table tells.

    `lost` says in a sentence each which tables are not as they were.
    """

    recorded: tuple[RecordedError, ...]
    lost: tuple[str, ...]
    untold: frozenset[str] = frozenset()


def evidence(events: Sequence[OfClock], files: Mapping[str, str]) -> Evidence:
    """What tables say of the clocks of events; `files` has the digest of each, by the name of its file."""
    on_clocks = OnClocks.of(pa.array([each.clock for each in events], pa.string()))
    left = on_clocks.recorded
    if not left.any():
        return Evidence((), ())
    readings = np.array([each.reading for each in events], dtype=np.int64)
    found: dict[int, RecordedError] = {}
    tables = named_tables(files)
    for table in tables:
        if table.records is not None:
            stamps, known = on_clocks.stamps(table.records, readings, left)
            found |= _recorded_errors(events, stamps, np.flatnonzero(known), on_clocks.host)
            left = left & ~known
    untold = frozenset(events[row].event for row in np.flatnonzero(left).tolist())
    lost = tuple(table.lost for table in tables if table.records is None)
    return Evidence(tuple(found[row] for row in sorted(found)), lost, untold)


def _recorded_errors(
    events: Sequence[OfClock], stamps: Stamps, rows: Indexes, host: pa.Array
) -> dict[int, RecordedError]:
    """What one table says, by the place of the event."""
    assert stamps.records.evidence is not None
    places = stamps.records.evidence.take(pa.array(stamps.piece[rows]))
    columns = (
        rows.tolist(),
        host.take(pa.array(rows)).to_pylist(),
        *(values[rows].tolist() for values in (stamps.ahead, stamps.least, stamps.most)),
        *(places.column(name).to_pylist() for name in ("source", "line")),
    )
    return {
        row: RecordedError(events[row].event, name, events[row].reading, ahead, least, most, source, line)
        for row, name, ahead, least, most, source, line in zip(*columns, strict=True)
    }
