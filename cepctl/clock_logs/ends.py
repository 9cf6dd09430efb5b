"""Before the first and after the last row of a host: a constant estimate, whose bounds grow by the drift."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Numbers
from cepctl.clock_logs.values import AFTER, BEFORE, SECOND, Choices, HostRows, Pieces, growth, pieces_of
from cepctl.io.clocks.contract import UNSYNCHRONISED

_FIRST_CUT = 64 * SECOND


def held_ends(rows: HostRows, zones: Numbers, choices: Choices) -> list[Pieces]:
    """The pieces before the first and after the last row, as long as the estimate is held.

    There are none at a row that is not synchronised, and none beyond a step that a message places: `zones`.
    """
    found = []
    if len(rows) and rows.state[0] != UNSYNCHRONISED:
        reached = zones[zones[:, 1] <= rows.time[0], 1]
        found.append(_held(rows, 0, BEFORE, int(reached[-1]) if len(reached) else None, choices))
    if len(rows) and rows.state[-1] != UNSYNCHRONISED:
        reached = zones[zones[:, 0] > rows.time[-1], 0]
        found.append(_held(rows, len(rows) - 1, AFTER, int(reached[0]) if len(reached) else None, choices))
    return [each for each in found if len(each)]


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


def _held(rows: HostRows, at: int, note: int, limit: int | None, choices: Choices) -> Pieces:
    """The pieces at one end; nothing is said beyond the reading `limit`."""
    time, ahead = int(rows.time[at]), int(rows.ahead[at])
    length = choices.hold if limit is None else min(choices.hold, abs(limit - time))
    edges = cuts(length)
    sign = -1 if note == BEFORE else 1
    found = []
    for near, far in zip(edges, edges[1:], strict=False):
        grown = int(growth(np.array([far]), choices.drift)[0])
        ends = sorted((time + sign * near, time + sign * far))
        low, high = int(rows.least[at]) - grown - ahead, int(rows.most[at]) + grown - ahead
        joins = near > 0 if note == AFTER else far < length
        own = (int(rows.sd[at]), joins, note, int(rows.file[at]), int(rows.line[at]))
        found.append((*ends, ahead, ahead, low, high, *own))
    return pieces_of(sorted(found))
