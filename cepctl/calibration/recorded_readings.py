"""Readings of clocks whose errors were recorded: which one the rule takes back to the true tick.

The rule goes from a reading to the truth: the piece of records that has the reading tells estimate and
residual.  So a draw has to go the other way: one residual is drawn for each segment (or epoch) from the mass
of the rule, and an event is given the reading r for which

    truth = r - estimate(r) + own error + offset of the segment of r        in ticks, the estimate rounded

That the reading decides the piece, and not the truth, matters where the residual puts a truth into the next
piece.  Given all residuals, no other truth has this reading, so with truths that are even over time the rule
is right about it.

    readings that fit     what is done
    one                   it is read
    several               one of them is drawn: the estimate rises by a tick, or two segments overlap in truth
    none                  the event is left out: the estimate falls by a tick and skips this truth, or no
                          reading of the records can stand for it

Where readings fit in one piece alone, being left out or drawn depends on `r - estimate(r)` alone and tells
nothing of a residual.  Within the width of the residuals of a border of segments it tells a little, which is
not corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.schema import TimeUnit
from cepctl.uncertainty.clock_records import ClockRecords
from cepctl.uncertainty.recorded_offsets import RecordedOffset

_AROUND = range(-2, 3)
"""An estimate that moves less than half as fast as time is rounded by so many readings at most."""
_STEEPEST = 0.5

Offsets = Callable[[Indexes], Ticks]
"""The offset of the residual that each piece has, in ticks."""


@dataclass(frozen=True, eq=False)
class Readings:
    """Readings that fit: k of them, in ticks, by event and time; `event` is the place of the event."""

    event: Indexes
    reading: Ticks

    def one_each(self, shares: Reals) -> tuple[Indexes, Ticks]:
        """The events that have readings, and one of these for each, as far along as its share in [0, 1)."""
        event, first, count = np.unique(self.event, return_index=True, return_counts=True)
        chosen = np.floor(shares[event] * count).astype(np.int64)
        return event, self.reading[first + np.minimum(chosen, count - 1)]


def too_steep(records: ClockRecords) -> str | None:
    """The first host with an estimate that moves half as fast as time or faster, None if there is none."""
    moved = np.abs((records.ahead_to - records.ahead).astype(np.float64))
    steep = np.flatnonzero(moved >= _STEEPEST * (records.end - records.begin))
    return records.hosts[records.host[steep[0]]] if len(steep) else None


def fitting_readings(
    recorded: RecordedOffset, hosts: pa.Array, own: Ticks, offsets: Offsets, unit: TimeUnit
) -> Readings:
    """All readings that the rule takes back to the truth, given all residuals.

    `hosts`: those of n events, null for none.  `own`: their true ticks less their own errors, shape (n,).
    """
    records = recorded.records
    event, piece = _near(records, hosts, own, unit)
    wanted = own[event] - offsets(piece)
    guess = _guess(records, piece, wanted, unit)
    found = []
    for step in _AROUND:
        reading = guess + step
        at = reading * unit.nanoseconds
        fits = (records.begin[piece] <= at) & (at < records.end[piece])
        fits &= reading + recorded.moves(piece, at, unit) == wanted
        found.append((event[fits], reading[fits]))
    events, readings = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((readings, events))
    return Readings(events[order], readings[order])


def _guess(records: ClockRecords, piece: Indexes, wanted: Ticks, unit: TimeUnit) -> Ticks:
    """Where the line of an estimate has what is wanted, were it not rounded; in ticks."""
    begin, length = records.begin[piece], records.end[piece] - records.begin[piece]
    slope = (records.ahead_to - records.ahead)[piece] / length
    passed = (wanted * unit.nanoseconds - begin + records.ahead[piece]) / (1 - slope)
    return np.asarray((begin + np.floor(passed).astype(np.int64)) // unit.nanoseconds)


def _near(records: ClockRecords, hosts: pa.Array, own: Ticks, unit: TimeUnit) -> tuple[Indexes, Indexes]:
    """Each event with each piece that can have its reading: pairs of their places."""
    known = hosts.dictionary_encode()
    of_event = known.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    instants = own * unit.nanoseconds
    found: list[tuple[Indexes, Indexes]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for number, name in enumerate(known.dictionary.to_pylist()):
        if name in records.hosts:
            rows = np.flatnonzero(of_event == number)
            found.append(_near_on(records, records.hosts.index(name), rows, instants[rows], unit))
    events, pieces = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return events, pieces


def _near_on(
    records: ClockRecords, host: int, rows: Indexes, instants: Ticks, unit: TimeUnit
) -> tuple[Indexes, Indexes]:
    """The pairs of one host, whose pieces are disjoint and in order."""
    first, last = np.searchsorted(records.host, [host, host + 1]).tolist()
    own = slice(first, last)
    # Bounds and estimate are rounded outwards by a tick at most.
    least = int((np.minimum(records.ahead, records.ahead_to) + records.low)[own].min()) - 2 * unit.nanoseconds
    most = int((np.maximum(records.ahead, records.ahead_to) + records.high)[own].max()) + 2 * unit.nanoseconds
    begin = np.searchsorted(records.end[own], instants + least, "right")
    end = np.searchsorted(records.begin[own], instants + most, "right")
    count = np.maximum(end - begin, 0)
    starts = np.repeat(begin - (np.cumsum(count) - count), count)
    return np.repeat(rows, count), first + starts + np.arange(int(count.sum()))


def drawn_offsets(
    recorded: RecordedOffset, by: str, unit: TimeUnit, draw: Callable[[str, Sequence[str]], Reals]
) -> Offsets:
    """Offsets that are drawn once for each clock, from the mass that the rule gives it, under its ties.

    `draw`: a number in [0, 1) for each clock by its name, and for what it is drawn.
    """
    from cepctl.calibration.draws import chosen, places, tied_offsets
    from cepctl.clocks.shared import parse_offset

    tied = recorded.tied_clocks(by, unit)
    known = tied_offsets(tied, lambda names: draw("tick", names)) if tied else {}

    def offsets(pieces: Indexes) -> Ticks:
        group = recorded.residuals.of_piece[pieces]
        used, place = np.unique(group, return_inverse=True)
        first = recorded.residuals.first[used]
        names = recorded.names(by, first).to_pylist()
        which, where = (draw(purpose, names) for purpose in ("bucket", "tick"))
        found = np.zeros(len(used), np.int64)
        for number, text in enumerate(recorded.texts(first, unit).to_pylist()):
            if names[number] in known:
                found[number] = known[names[number]]
                continue
            offset = parse_offset(text)
            assert offset is not None
            lo, hi, mass = (np.array(side) for side in zip(*offset, strict=True))
            bucket = chosen(mass, which[number : number + 1])
            found[number] = places(where[number : number + 1], lo[bucket], hi[bucket])[0]
        return found[place.reshape(-1)]

    return offsets
