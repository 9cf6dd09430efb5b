"""A chain whose events are moved by offsets: its parts copied side by side, and measured at given offsets.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.clocks.frames import CONVOLVED
from cepctl.engines.columns.masses import Buckets
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.chain.closed_form import Workspace, one_chain, workspace
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

_CONVOLVED = CONVOLVED


class MovedChain(NamedTuple):
    """The events of one chain, numbered by position: `still` without offsets, `moved` with them."""

    still: Buckets
    moved: Buckets
    positions: Indexes
    valid_lower: Ticks
    valid_upper: Ticks
    space: Workspace


@njit(nogil=True, cache=True)
def room_for(positions, most_buckets):
    """Room for any chain of `positions` events with at most `most_buckets` buckets each."""
    size = positions * most_buckets
    return MovedChain(
        _parts(positions, size),
        _parts(positions, size),
        np.arange(positions),
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        workspace(positions, size),
    )


@njit(nogil=True, cache=True)
def _parts(positions, size):
    return Buckets(
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        np.zeros(positions + 1, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size),
    )


@njit(nogil=True, cache=True)
def copy_parts(chain, stamps, events, level):
    """Copy own parts; of an event of level CONVOLVED its offset's mass, moved to its own tick."""
    still, moved = chain.still, chain.moved
    at = 0
    for j in range(len(events)):
        event, by, source = events[j], 0, stamps.own
        if level[j] == _CONVOLVED:
            by = stamps.own.lower[event]
            event, source = stamps.clock[event], stamps.offsets
        still.lower[j], still.upper[j] = source.lower[event] + by, source.upper[event] + by
        for b in range(source.starts[event], source.starts[event + 1]):
            still.lo[at], still.hi[at], still.density[at] = (
                source.lo[b] + by,
                source.hi[b] + by,
                source.density[b],
            )
            at += 1
        still.starts[j + 1] = at
    moved.lower[:], moved.upper[:], moved.starts[:] = still.lower, still.upper, still.starts
    moved.lo[:at], moved.hi[:at], moved.density[:at] = still.lo[:at], still.hi[:at], still.density[:at]


@njit(nogil=True, cache=True)
def move(chain, position, by):
    """Put one event where an offset puts it."""
    still, moved = chain.still, chain.moved
    moved.lower[position], moved.upper[position] = still.lower[position] + by, still.upper[position] + by
    for b in range(still.starts[position], still.starts[position + 1]):
        moved.lo[b], moved.hi[b] = still.lo[b] + by, still.hi[b] + by


@njit(nogil=True, cache=True)
def moved_confidence(chain, system, window):
    """Confidence of the chain where its events were moved to; 0 where it cannot happen."""
    lower, upper = chain.moved.lower, chain.moved.upper
    for i in range(len(lower)):
        earliest, latest = lower[i], upper[i]
        for j in range(len(lower)):
            if i != j and system[j, i] < UNBOUNDED:
                earliest = max(earliest, plus(lower[j], -system[j, i]))
            if i != j and system[i, j] < UNBOUNDED:
                latest = min(latest, plus(upper[j], system[i, j]))
        if earliest > latest:
            return 0.0
        chain.valid_lower[i], chain.valid_upper[i] = earliest, latest
    return one_chain(chain.moved, chain.positions, chain.valid_lower, chain.valid_upper, window, chain.space)
