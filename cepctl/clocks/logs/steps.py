"""Where a clock was set: readings that may be from before it or from after it, and the pieces beside them.

A message tells when, to the second and a little late, and by how much.  Readings from that much and a
second before it to that much and two seconds after it may be from either side: a zone.  What a row in a
zone says may be of the clock before it was set, as chrony writes it, so no estimate is drawn to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.clocks.logs.values import NONE, SECOND, STEPPED, HostRows, Pieces, growth, pieces_of
from cepctl.io.clocks.contract import UNSYNCHRONISED
from cepctl.numeric.arrays import Flags, Numbers

_BEFORE, _AFTER = SECOND, 2 * SECOND


def step_zones(rows: HostRows) -> Numbers:
    """The zones of all messages, in order and disjoint, shape (n, 2): first and last reading."""
    order = np.argsort(rows.step_times, kind="stable")
    amounts = np.abs(rows.step_amounts[order])
    zones: list[list[int]] = []
    begins = (rows.step_times[order] - amounts - _BEFORE).tolist()
    ends = (rows.step_times[order] + amounts + _AFTER).tolist()
    for begin, end in sorted(zip(begins, ends, strict=True)):
        if zones and begin <= zones[-1][1]:
            zones[-1][1] = max(zones[-1][1], end)
        else:
            zones.append([begin, end])
    return np.array(zones, np.int64).reshape(-1, 2)


def doubtful_rows(rows: HostRows, zones: Numbers) -> Flags:
    """Which rows stand in a zone."""
    if not len(zones):
        return np.zeros(len(rows), np.bool_)
    at = np.searchsorted(zones[:, 0], rows.time, side="right") - 1
    return np.asarray((at >= 0) & (rows.time <= zones[np.maximum(at, 0), 1]), np.bool_)


def placed_pieces(
    rows: HostRows, zones: Numbers, doubtful: HostRows, pairs: Numbers, drift: int, ends_plain: Flags
) -> list[Pieces]:
    """The pieces between rows that a zone parts: constant up to it, both laws in it, constant after it.

    Between several zones nothing is said.  `doubtful` are the rows in zones, `ends_plain` tells of each row
    whether an epoch can go on there.
    """
    found: list[tuple[int, ...]] = []
    for pair in pairs.tolist():
        earlier, later = int(rows.time[pair]), int(rows.time[pair + 1])
        inside = zones[(zones[:, 0] > earlier) & (zones[:, 1] < later)]
        if not len(inside):
            continue
        begin, end = int(inside[0, 0]), int(inside[-1, 1])
        sides = [each for each in (pair, pair + 1) if rows.state[each] != UNSYNCHRONISED]
        if pair in sides:
            found.append(_constant(rows, pair, earlier, begin, drift, joins=bool(ends_plain[pair])))
        if len(sides) == 2 and len(inside) == 1:
            found.append(_either(rows, doubtful, pair, begin, end, drift))
        if pair + 1 in sides:
            found.append(_constant(rows, pair + 1, end, later, drift))
    return [pieces_of(found)] if found else []


def twice_pieces(rows: HostRows, pairs: Numbers, drift: int) -> list[Pieces]:
    """The pieces of readings that a clock showed twice, as it was set back and no message says when.

    The time that really passed between two rows is that of their readings less what they are ahead, give or
    take their bounds: the clock may have gone on for so long after the one row, or before the other.
    """
    found: list[tuple[int, ...]] = []
    for pair in pairs.tolist():
        true = [int(rows.time[each]) - int(rows.ahead[each]) for each in (pair, pair + 1)]
        doubt = sum(int(rows.most[each]) - int(rows.least[each]) for each in (pair, pair + 1))
        passed = max(true[1] - true[0] + doubt, 0) + SECOND
        last, first = int(rows.time[pair]), int(rows.time[pair + 1])
        # Between the rows themselves is a piece already, where the later one has the later reading.
        if last + passed > (begin := max(last, first)):
            found.append(_constant(rows, pair, begin, last + passed, drift))
        if first - passed < (end := min(last, first)):
            found.append(_constant(rows, pair + 1, first - passed, end, drift))
    return [pieces_of(found)] if found else []


def _grown(length: int, drift: int) -> int:
    return int(growth(np.array([length]), drift)[0])


def _constant(
    rows: HostRows, at: int, start: int, stop: int, drift: int, *, joins: bool = False
) -> tuple[int, ...]:
    """A piece with the estimate of a row, and its bounds as they are at the far end."""
    time, ahead = int(rows.time[at]), int(rows.ahead[at])
    grown = _grown(max(abs(start - time), abs(stop - time)), drift)
    low, high = int(rows.least[at]) - grown - ahead, int(rows.most[at]) + grown - ahead
    own = (int(rows.sd[at]), joins, STEPPED, int(rows.file[at]), int(rows.line[at]))
    return (start, stop, ahead, ahead, low, high, *own)


def _either(
    rows: HostRows, doubtful: HostRows, pair: int, begin: int, end: int, drift: int
) -> tuple[int, ...]:
    """A zone: the laws of the rows on either side and of those in it."""
    far = [end - int(rows.time[pair]), int(rows.time[pair + 1]) - begin]
    grown = [_grown(each, drift) for each in far]
    least = [int(rows.least[pair + side]) - grown[side] for side in (0, 1)]
    most = [int(rows.most[pair + side]) + grown[side] for side in (0, 1)]
    inside = (doubtful.time >= begin) & (doubtful.time <= end) & (doubtful.state != UNSYNCHRONISED)
    if inside.any():
        within = _grown(end - begin, drift)
        least.append(int(doubtful.least[inside].min()) - within)
        most.append(int(doubtful.most[inside].max()) + within)
    ahead: Sequence[int] = [int(rows.ahead[pair]), int(rows.ahead[pair + 1])]
    law = (min(least) - max(ahead), max(most) - min(ahead))
    return (
        begin,
        end,
        *ahead,
        *law,
        NONE,
        False,
        STEPPED,
        int(rows.file[pair + 1]),
        int(rows.line[pair + 1]),
    )
