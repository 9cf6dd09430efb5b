"""Before the first and after the last row of a host: a constant estimate, whose bounds grow by the drift."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cepctl.clocks.logs.values import AFTER, BEFORE, SECOND, HostRows, PieceChoices, Pieces, growth, pieces_of
from cepctl.io.clocks.contract import UNSYNCHRONISED
from cepctl.numeric.arrays import Numbers

_FIRST_CUT = 64 * SECOND


def held_end(row: HostRows, note: int, zones: Numbers, choices: PieceChoices) -> list[Pieces]:
    """The pieces BEFORE the first or AFTER the last row, as long as the estimate is held.

    There are none at a row that is not synchronised, and none beyond a step that a message places: `zones`.
    `row` is one, or none.
    """
    if not len(row) or row.state[0] == UNSYNCHRONISED:
        return []
    time = int(row.time[0])
    earlier, later = zones[zones[:, 1] < time, 1][-1:], zones[zones[:, 0] > time, 0][:1]
    limits = earlier if note == BEFORE else later
    found = _held(row, note, int(limits[0]) if len(limits) else None, choices)
    return [found] if len(found) else []


def cuts(length: int) -> list[int]:
    """Where a held estimate is cut: 0, 64 s, 128 s, ... and its length, in nanoseconds.

    Examples
    --------
    >>> [each // SECOND for each in cuts(300 * SECOND)], cuts(0)
    ([0, 64, 128, 256, 300], [0])
    """
    found, cut = [0], _FIRST_CUT
    while cut < length:
        found.append(cut)
        cut *= 2
    return [*found, length] if length > 0 else found


def _held(rows: HostRows, note: int, limit: int | None, choices: PieceChoices) -> Pieces:
    """The pieces at one end; nothing is said beyond the reading `limit`."""
    time, ahead = int(rows.time[0]), int(rows.ahead[0])
    length = choices.hold if limit is None else min(choices.hold, abs(limit - time))
    edges = cuts(length)
    sign = -1 if note == BEFORE else 1
    found = []
    for near, far in pairwise(edges):
        grown = int(growth(np.array([far]), choices.drift)[0])
        ends = sorted((time + sign * near, time + sign * far))
        low, high = int(rows.least[0]) - grown - ahead, int(rows.most[0]) + grown - ahead
        joins = near > 0 if note == AFTER else far < length
        own = (int(rows.sd[0]), joins, note, int(rows.file[0]), int(rows.line[0]))
        found.append((*ends, ahead, ahead, low, high, *own))
    return pieces_of(sorted(found))
