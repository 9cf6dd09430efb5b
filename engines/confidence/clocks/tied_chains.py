"""Chains of events on tied clocks, which order and window alone decide.

    events                   what is summed
    all sharp                offsets alone: order, window and ties bound the differences of these
    with own parts           the closed form on own parts, at few offsets

When such a chain can happen is told by difference constraints, so that no offset is looked at for that.

    name here          meaning
    limits[m, a, b]    by how much the offset of level a may exceed that of level b in match m; 0 for level 0
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.clocks.breakpoints import (
    breakpoints_of,
    eliminated,
    ends_of_masses,
    ends_of_weights,
)
from cepctl.engines.confidence.clocks.chain_weights import AFTER, BEFORE
from cepctl.engines.confidence.clocks.frames import Frames, frames_of, frames_over_all, is_wide
from cepctl.engines.confidence.clocks.nodes import Nodes, nodes_within
from cepctl.engines.confidence.clocks.offset_sums import Copies, OffsetSum
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.offset_bounds import valid_on_clocks

MATCHES_AT_ONCE = 10_000
_AT_ONCE = {1: 10_000, 2: 10_000, 3: 500}
_FEWEST_AT_ONCE = 20
"""Matches that are summed together, by their levels."""
_FAR = np.int64(1) << 61

Chains = Callable[[Masses, Indexes], Measured]
"""From the masses of copies, and chains of these, to what is measured."""


def tied_chains(
    clocks: EventClocks, system: Ticks, window: int | None, matches: Indexes, chains: Chains
) -> tuple[Indexes, Measured]:
    """Measure those of matches, shape (n, l), whose clocks are tied; which these are.

    Parameters
    ----------
    clocks
        Of all events.
    system
        Closed constraints of the chain, shape (l, l).
    window
        W in ticks, None for none.
    matches
        The events of each match in chain order.
    chains
        Measures chains of independent events.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many clocks of one chain, or its measure at too many offsets.
    """
    rows = np.flatnonzero(_on_tied_clocks(clocks, matches))
    found = impossible(len(rows))
    if not len(rows):
        return rows, found
    lower, upper = valid_on_clocks(clocks, system, matches[rows])
    possible: Flags = np.asarray((lower <= upper).all(axis=1))
    sharp: Flags = ~np.asarray(is_wide(clocks)[matches[rows]].any(axis=1))
    shifts = np.array(sorted({0} if window is None else {0, window, -window}), dtype=np.int64)
    for alike in (possible & sharp, possible & ~sharp):
        every = np.flatnonzero(alike)
        for some in np.array_split(every, -(-len(every) // MATCHES_AT_ONCE)) if len(every) else []:
            events = matches[rows[some]]
            columns = [np.ascontiguousarray(each) for each in events.T]
            if sharp[some[0]]:
                confidence = _sharp(frames_over_all(clocks, len(some), columns), system, events)
            else:
                frames = frames_of(clocks, len(some), columns, [], absolute=False)
                confidence = _at_few_offsets(frames, shifts, events, chains)
            found.put(
                some,
                Measured.exact(confidence, lower[some, 0], upper[some, -1], np.ones(len(some), dtype=bool)),
            )
    return rows, found


def _on_tied_clocks(clocks: EventClocks, matches: Indexes) -> Flags:
    """Matches whose ties matter: of several clocks, some of which are tied, and chains without holes."""
    clock = clocks.clock[matches]
    stamped = clock != NO_CLOCK
    tied = (np.append(clocks.is_tied, False)[clock] & stamped).any(axis=1)
    holed = np.isin(clocks.chain, clocks.chain[np.asarray(clocks.offsets.has_hole)])
    holes = clocks.own.has_hole[matches] | (np.append(holed, False)[clock] & stamped)
    return np.asarray(tied & (clock != clock[:, :1]).any(axis=1) & ~holes.any(axis=1))


def _at_few_offsets(frames: Frames, shifts: Ticks, events: Indexes, chains: Chains) -> Reals:
    breakpoints = breakpoints_of(frames, shifts, shifts[:0])
    offsets = OffsetSum(frames, breakpoints, ranges=False)
    total, certain = np.zeros(len(frames)), np.ones(len(frames), dtype=bool)
    for nodes in offsets.nodes():
        copies, here = Copies.of(frames, nodes), np.arange(len(nodes))
        chosen = np.stack([copies.number(here, each[nodes.match]) for each in events.T], axis=1)
        found = chains(copies.masses, np.ascontiguousarray(chosen)).confidence
        np.add.at(total, nodes.match, nodes.weight * found)
        certain[nodes.match[found != 1.0]] = False
    return np.where(certain, 1.0, np.minimum(total, 1.0))


def _sharp(frames: Frames, system: Ticks, events: Indexes) -> Reals:
    confidence = np.ones(len(frames))
    asked = _limits(frames, system, events)
    known = _closed(_of_clocks(frames))
    open_still = np.flatnonzero((known > asked).any(axis=(1, 2)))
    for levels in np.unique(frames.levels[open_still]).tolist():
        rows = open_still[frames.levels[open_still] == levels]
        confidence[rows] = _of_level(frames, rows, asked, known)
    return confidence


def _of_level(frames: Frames, rows: Indexes, asked: Ticks, known: Ticks) -> Reals:
    """The confidence of matches of as many levels each."""
    levels, within = int(frames.levels[rows[0]]), _closed(np.minimum(asked, known))
    parts = {}
    for later in range(1, levels + 1):
        for earlier in range(later):
            parts[earlier, later] = _ends(asked, rows, earlier, later)
        if later > 1:
            parts[later - 1, later] += _ends(known, rows, later - 1, later)
        parts[0, later] += [ends_of_masses(frames, later), *ends_of_weights(frames, later)]
    breakpoints, total = eliminated(len(frames), levels, parts, within), np.zeros(len(frames))
    at_once = _AT_ONCE.get(levels, _FEWEST_AT_ONCE)
    for begin in range(0, len(rows), at_once):
        nodes = nodes_within(frames, rows[begin : begin + at_once], breakpoints, within, levels - 1)
        np.add.at(total, nodes.match, nodes.weight * _of_last_level(frames, nodes, within, levels))
    return np.minimum(total[rows] / _whole(frames, rows), 1.0)


def _of_last_level(frames: Frames, nodes: Nodes, within: Ticks, level: int) -> Reals:
    """The mass that the offset of the last level has at nodes of all others."""
    first, last = -within[nodes.match, 0, level], within[nodes.match, level, 0]
    for other in range(1, level):
        offset = nodes.offset[:, other - 1]
        first = np.maximum(first, offset - within[nodes.match, other, level])
        last = np.minimum(last, offset + within[nodes.match, level, other])
    found = np.zeros(len(nodes))
    match, clock = frames.clocks_of_level(level)
    of_match = np.full(len(frames), NO_CLOCK)
    of_match[match] = clock
    follows = np.zeros(len(frames), dtype=bool)
    follows[frames.tied_levels(level)[0]] = True
    for sides in ((BEFORE, AFTER), (AFTER,)):
        here = np.flatnonzero(follows[nodes.match] == (len(sides) == 1))
        for each in np.unique(of_match[nodes.match[here]]).tolist():
            at = here[of_match[nodes.match[here]] == each]
            found[at] = frames.weights.between(each, sides, first[at], last[at])
    return found


def _ends(limits: Ticks, rows: Indexes, earlier: int, later: int) -> list[tuple[Indexes, Ticks]]:
    """Where, told from the offset of another level, what limits allow of an offset begins and is over."""
    found = []
    for ticks in (limits[rows, later, earlier] + 1, -limits[rows, earlier, later]):
        kept = np.abs(ticks) < _FAR
        found.append((rows[kept], ticks[kept]))
    return found


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
