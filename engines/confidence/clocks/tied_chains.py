"""Chains of events on tied clocks, which order and window alone decide.

    events                   what is summed
    all sharp                offsets alone: order, window and ties bound their differences (tied_sums.py)
    with own parts           the closed form on own parts, at few offsets

When such a chain can happen is told by difference constraints, so that no offset is looked at for that.

    name here          meaning
    limits[m, a, b]    by how much the offset of level a may exceed that of level b in match m; 0 for level 0
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.confidence.clocks.chain_weights import AFTER, BEFORE, WeighedMasses, joined
from cepctl.engines.confidence.clocks.estimates import refused_at_offsets
from cepctl.engines.confidence.clocks.frames import Frames, frames_over_all, is_wide
from cepctl.engines.confidence.clocks.tied_sums import fill_tied_sums
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.work import TIED_OFFSETS, most_products
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.offset_bounds import valid_on_clocks
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

MATCHES_AT_ONCE = 10_000
_FAR = np.int64(1) << 61


def tied_chains(clocks: EventClocks, system: Ticks, matches: Indexes) -> tuple[Indexes, Measured]:
    """Measure those of matches, shape (n, l), whose clocks are tied; which these are.

    Parameters
    ----------
    clocks
        Of all events.
    system
        Closed constraints of the chain, shape (l, l).
    matches
        The events of each match in chain order.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many clocks of one chain, or its measure at too many offsets.
    """
    rows = np.flatnonzero(_on_tied_clocks(clocks, matches) & ~is_wide(clocks)[matches].any(axis=1))
    found = impossible(len(rows))
    if not len(rows):
        return rows, found
    lower, upper = valid_on_clocks(clocks, system, matches[rows])
    possible: Flags = np.asarray((lower <= upper).all(axis=1))
    every = np.flatnonzero(possible)
    for some in np.array_split(every, -(-len(every) // MATCHES_AT_ONCE)) if len(every) else []:
        events = matches[rows[some]]
        frames = frames_over_all(clocks, len(some), [np.ascontiguousarray(each) for each in events.T])
        exact = Measured.exact(
            _sharp(frames, system, events), lower[some, 0], upper[some, -1], np.ones(len(some), dtype=bool)
        )
        found.put(some, exact)
    return rows, found


def _on_tied_clocks(clocks: EventClocks, matches: Indexes) -> Flags:
    """Matches whose ties matter: of several clocks, some of which are tied, and chains without holes."""
    clock = clocks.clock[matches]
    stamped = clock != NO_CLOCK
    tied = (np.append(clocks.is_tied, False)[clock] & stamped).any(axis=1)
    holed = np.isin(clocks.chain, clocks.chain[np.asarray(clocks.offsets.has_hole)])
    holes = clocks.own.has_hole[matches] | (np.append(holed, False)[clock] & stamped)
    return np.asarray(tied & (clock != clock[:, :1]).any(axis=1) & ~holes.any(axis=1))


def _sharp(frames: Frames, system: Ticks, events: Indexes) -> Reals:
    confidence = np.ones(len(frames))
    asked = _limits(frames, system, events)
    known = _closed(_of_clocks(frames))
    rows = np.flatnonzero((known > asked).any(axis=(1, 2)))
    if not len(rows):
        return confidence
    which, masses = _masses(frames, rows)
    within = _closed(np.minimum(asked[rows], known[rows]))
    found = np.empty(len(rows))
    fill_tied_sums(within, frames.levels[rows], which, masses, most_products(TIED_OFFSETS), found)
    for row in rows[found < 0.0][:1].tolist():
        most = f"{most_products(TIED_OFFSETS):,} products"
        what, levels = "the exact confidence of a match", int(frames.levels[row])
        raise refused_at_offsets(what, most, levels, frames.longest_chain(row))
    confidence[rows] = np.minimum(found / _whole(frames, rows), 1.0)
    return confidence


def _masses(frames: Frames, rows: Indexes) -> tuple[Indexes, WeighedMasses]:
    """The mass of every level of matches, shape (n, levels + 1), and these masses.

    What is before the first clock of a chain weighs that one; what is after any clock weighs the last.
    """
    size = frames.most_levels + 1
    named = np.zeros((len(frames), size), dtype=np.int64)
    for level in range(1, size):
        match, clock = frames.clocks_of_level(level)
        follows, precedes = (np.zeros(len(frames), dtype=bool) for _ in range(2))
        follows[frames.tied_levels(level)[0]] = True
        if level + 1 < size:
            precedes[frames.tied_levels(level + 1)[0]] = True
        named[match, level] = 4 * clock + 2 * follows[match] + precedes[match]
    wanted, which = np.unique(named[rows], return_inverse=True)
    sides = ((BEFORE, AFTER), (BEFORE,), (AFTER,), ())
    masses = joined([frames.weights.mass(each // 4, sides[each % 4]) for each in wanted.tolist()])
    return which.reshape(len(rows), size), masses


def _limits(frames: Frames, system: Ticks, events: Indexes) -> Ticks:
    """What order and window ask of offsets."""
    size, matches = frames.most_levels + 1, np.arange(len(frames))
    found = np.full((len(frames), size, size), _FAR)
    level = [np.maximum(frames.level_of(matches, each), 0) for each in events.T]
    own = frames.clocks.own.lower[events]
    for i in range(events.shape[1]):
        for j in range(events.shape[1]):
            if system[i, j] < UNBOUNDED:
                limit = system[i, j] + own[:, j] - own[:, i]
                np.minimum.at(found, (matches, level[i], level[j]), limit)
    return found


def _of_clocks(frames: Frames) -> Ticks:
    """What masses and ties leave to offsets."""
    size = frames.most_levels + 1
    found = np.full((len(frames), size, size), _FAR)
    for level in range(1, size):
        match, clock = frames.clocks_of_level(level)
        found[match, level, 0] = frames.clocks.offsets.upper[clock]
        found[match, 0, level] = -frames.clocks.offsets.lower[clock]
        if level > 1:
            match, apart = frames.tied_levels(level)
            found[match, level, level - 1] = found[match, level - 1, level] = apart
    return found


def _closed(limits: Ticks) -> Ticks:
    """With what limits say together."""
    found = limits.copy()
    size = found.shape[1]
    for each in range(size):
        found[:, each, each] = np.minimum(found[:, each, each], 0)
    for middle in range(size):
        over = np.minimum(found[:, :, middle, None] + found[:, middle, None, :], _FAR)
        found = np.minimum(found, over)
    return found


def _whole(frames: Frames, rows: Indexes) -> Reals:
    """The probability that the ties of all chains of matches hold."""
    found = np.ones(len(frames))
    for level in range(1, frames.most_levels + 1):
        match, clock = frames.clocks_of_level(level)
        follows = np.zeros(len(frames), dtype=bool)
        follows[frames.tied_levels(level)[0]] = True
        for each in np.unique(clock[~follows[match]]).tolist():
            found[match[(clock == each) & ~follows[match]]] *= frames.weights.whole(each)
    return found[rows]
