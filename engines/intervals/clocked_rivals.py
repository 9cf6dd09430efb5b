"""Which events can break a match some of whose clocks are summed over, told by where they can be.

A rival is looked at as its own clock sees it: what that clock stamped moves with it, anything else may be
anywhere in its envelope.  What no world allows there none allows at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.intervals.clocked_cuts import compare_with_constants
from cepctl.engines.intervals.conditions import Case
from cepctl.engines.intervals.rivals import FoundRivals, deciding
from cepctl.engines.intervals.skeletons import Lasting


def deciding_on_clocks(
    endpoints: Endpoints,
    clocks: EventClocks,
    cases: Sequence[Case],
    matches: Indexes,
    lasting: Lasting,
    found: Sequence[FoundRivals],
) -> tuple[list[FoundRivals], Flags]:
    """The pairs that can decide matches which bind points at the same places, and which are certainly broken.

    `matches`, shape (n, l); `endpoints` and `clocks` as `IntervalMeasure` has them.
    """
    seen = [
        _seen(endpoints, clocks, matches, each, absolute=compare_with_constants(cases, found))
        for each in found
    ]
    can = [np.zeros(len(row), dtype=bool) for _, row, _ in found]
    broken = np.ones(len(matches), dtype=bool)
    for case in cases:
        here = np.zeros(len(matches), dtype=bool)
        for number, ((negation, row, _), copies) in enumerate(zip(found, seen, strict=True)):
            pairs = np.arange(len(row) * (len(lasting) + 1)).reshape(len(row), len(lasting) + 1)
            rival = (negation, np.arange(len(row)), pairs[:, -1])
            lists, must = deciding(copies, pairs[:, :-1], case, lasting, [rival])
            here[row[must]] = True
            can[number] |= must
            for each in lists:
                can[number][each.row] = True
        broken &= here
    kept = [can[number] & ~broken[row] for number, (_, row, _) in enumerate(found)]
    pairs_of = zip(found, kept, strict=True)
    return [(each[0], each[1][some], each[2][some]) for each, some in pairs_of if some.any()], broken


def _seen(
    endpoints: Endpoints, clocks: EventClocks, matches: Indexes, found: FoundRivals, *, absolute: bool
) -> Endpoints:
    """Pair by pair the events of the match and, last, its rival, as the clock of the rival sees them."""
    _, row, event = found
    together = np.column_stack([matches[row], event])
    own_clock = np.full(len(row), NO_CLOCK) if absolute else clocks.clock[event]
    events, seer = together.reshape(-1), np.repeat(own_clock, together.shape[1])
    lasts = np.flatnonzero(endpoints.end[events] != events)
    which = np.concatenate([events, endpoints.end[events[lasts]]])
    seer = np.concatenate([seer, seer[lasts]])
    lower, upper = clocks.own.lower[which].copy(), clocks.own.upper[which].copy()
    clock, offsets = clocks.clock[which], clocks.offsets
    moved = np.flatnonzero((clock != seer) & (clock != NO_CLOCK))
    lower[moved] += offsets.lower[clock[moved]]
    upper[moved] += offsets.upper[clock[moved]]
    away = np.flatnonzero((clock != seer) & (seer != NO_CLOCK))
    lower[away] -= offsets.upper[seer[away]]
    upper[away] -= offsets.lower[seer[away]]
    end = np.arange(len(events))
    end[lasts] = len(events) + np.arange(len(lasts))
    masses = Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / ticks_between(lower, upper))
    return Endpoints(
        masses, end, endpoints.shortest[events], endpoints.longest[events], endpoints.whole[events]
    )
