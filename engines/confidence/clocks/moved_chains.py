"""A chain whose events are moved by offsets: its parts copied side by side, and measured at given offsets.

An event whose clock no other event has gets the mass of its own tick and the offset together: that of the
offset, moved, where the own part is one tick, else curves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.chain.closed_form import Workspace, sum_chains, workspace
from cepctl.engines.confidence.clocks.curved_cells import Curves
from cepctl.engines.confidence.clocks.curved_chains import CurvedSpace, curved_chain, curved_space
from cepctl.engines.confidence.clocks.frames import CONVOLVED
from cepctl.engines.confidence.clocks.summed_masses import write_sum
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Indexes, Reals, Ticks

_CONVOLVED, _NO_CLOCK = CONVOLVED, NO_CLOCK


class MovedChain(NamedTuple):
    """The events of one chain, numbered by position: `still` without offsets, `moved` with them.

    `raised`, shape (l,): by how much each event raises the degree of what it is summed in: 0 with one tick, 1
    where its buckets are even, more where they have curves.
    """

    still: Buckets
    moved: Buckets
    curves: Curves
    raised: Indexes
    positions: Indexes
    valid_lower: Ticks
    valid_upper: Ticks
    confidence: Reals
    space: Workspace
    curved: CurvedSpace


@inner
def room_for(positions, size):
    """Room for any chain of `positions` events with at most `size` buckets together."""
    return MovedChain(
        _parts(positions, size),
        _parts(positions, size),
        Curves(np.empty(size, dtype=np.int64), np.empty(size), np.empty(size), np.empty(size)),
        np.empty(positions, dtype=np.int64),
        np.arange(positions).reshape(1, -1),
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        np.empty(1),
        workspace(1, positions, size),
        curved_space(positions, size),
    )


@inner
def _parts(positions, size):
    return Buckets(
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        np.zeros(positions + 1, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size),
    )


@inner
def copy_parts(chain, stamps, events, level, frame):
    """Copy own parts; of an event of level CONVOLVED that of its own tick and its offset together.

    `frame` is the clock whose offset such an event is derived from, NO_CLOCK where its ticks are absolute.
    """
    still, moved = chain.still, chain.moved
    at = 0
    for j in range(len(events)):
        event, begin = events[j], at
        if level[j] == _CONVOLVED:
            at, degree = write_sum(stamps, event, stamps.clock[event], frame, still, chain.curves, at)
        else:
            at, degree = _copy_own(chain, stamps.own, event, at), 0
        still.starts[j + 1] = at
        still.lower[j], still.upper[j] = still.lo[begin], still.hi[at - 1]
        chain.raised[j] = degree + 1 if still.lower[j] < still.upper[j] else 0
        for b in range(begin, at):
            still.density[b] = chain.curves.begin[b]
    moved.starts[0] = still.starts[0]
    for j in range(len(still.lower)):
        moved.lower[j], moved.upper[j] = still.lower[j], still.upper[j]
        moved.starts[j + 1] = still.starts[j + 1]
    for b in range(at):
        moved.lo[b], moved.hi[b], moved.density[b] = still.lo[b], still.hi[b], still.density[b]


@inner
def _copy_own(chain, own, event, at):
    """Copy the buckets of an own part; returns the place after the last."""
    still, curves = chain.still, chain.curves
    for b in range(own.starts[event], own.starts[event + 1]):
        still.lo[at], still.hi[at] = own.lo[b], own.hi[b]
        curves.degree[at] = 0
        curves.begin[at] = curves.middle[at] = curves.end[at] = own.density[b]
        at += 1
    return at


@inner
def move(chain, position, by):
    """Put one event where an offset puts it."""
    still, moved = chain.still, chain.moved
    moved.lower[position], moved.upper[position] = still.lower[position] + by, still.upper[position] + by
    for b in range(still.starts[position], still.starts[position + 1]):
        moved.lo[b], moved.hi[b] = still.lo[b] + by, still.hi[b] + by


@inner
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
    if chain.raised.max() > 1:
        return curved_chain(
            chain.moved,
            chain.curves,
            chain.raised,
            chain.valid_lower,
            chain.valid_upper,
            window,
            chain.curved,
        )
    bounds = chain.valid_lower.reshape(1, -1), chain.valid_upper.reshape(1, -1)
    sum_chains(chain.moved, chain.positions, *bounds, window, chain.space, chain.confidence)
    return chain.confidence[0]
