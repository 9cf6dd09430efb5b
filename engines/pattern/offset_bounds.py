"""What difference constraints leave to the offsets of a match's clocks, and so to its ticks.

Own parts, offsets and the pattern are one system of difference constraints: `T - O` lies in the own part, `O`
in the offset's mass, and the pattern bounds differences of two `T`.  A path from one offset to another passes
two events, so that the ticks need not stand in the system: it is closed over the offsets alone.  Ties bound
differences of offsets.  Of a chain those alone are left that some world has, so that no other clock of it
need stand in the system.

    name here       meaning
    slot            of an event the number of its clock among those of the match, from 1; 0 without a clock
    bound[c, d]     the offset of slot c is at most this much ahead of that of slot d; slot 0 stays at 0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_NO_CLOCK = NO_CLOCK


class ClockStamps(NamedTuple):
    """`EventClocks` for a kernel."""

    clock: Indexes
    own: Buckets
    offsets: Buckets
    chain: Indexes
    along: Ticks
    is_tied: Flags


def stamps_of(clocks: EventClocks) -> ClockStamps:
    """The arrays of the clocks of some events."""
    return ClockStamps(
        clocks.clock, clocks.own.buckets, clocks.offsets.buckets, clocks.chain, clocks.along, clocks.is_tied
    )


def possible_on_clocks(clocks: EventClocks, system: Ticks, matches: Indexes) -> Flags:
    """Rows of events, shape (n, l), that own parts and offsets allow; `system` closed, shape (l, l)."""
    allowed = np.empty(len(matches), dtype=np.bool_)
    _possible(stamps_of(clocks), system, matches, allowed)
    return allowed


def valid_on_clocks(clocks: EventClocks, system: Ticks, matches: Indexes) -> tuple[Ticks, Ticks]:
    """Valid lower and upper bounds of events that share clocks, shape (n, l), as `valid_bounds` gives.

    The intervals of a row that cannot happen are all empty.
    """
    lower, upper = np.ones(matches.shape, dtype=np.int64), np.zeros(matches.shape, dtype=np.int64)
    _valid(stamps_of(clocks), system, matches, lower, upper)
    return lower, upper


def least_apart(clocks: EventClocks, system: Ticks, matches: Indexes, later: int, earlier: int) -> Ticks:
    """How far one event of possible rows is after another at least, in any world, shape (n,)."""
    least = np.empty(len(matches), dtype=np.int64)
    _least_apart(stamps_of(clocks), system, matches, later, earlier, least)
    return least


@kernel
def _least_apart(stamps, system, matches, later, earlier, least):
    lower, upper = stamps.own.lower, stamps.own.upper
    length = matches.shape[1]
    slot, clocks = np.empty(length, dtype=np.int64), np.empty(length + 1, dtype=np.int64)
    bound = np.empty((length + 1, length + 1), dtype=np.int64)
    for row in range(len(matches)):
        events = matches[row]
        count = slots(stamps, events, slot, clocks)
        close_offsets(stamps, system, events, slot, clocks, count, bound)
        most = system[earlier, later]
        for p in range(length):
            for q in range(length):
                between = bound[slot[p], slot[q]]
                if max(system[earlier, p], system[q, later], between) < UNBOUNDED:
                    path = plus(plus(system[earlier, p], upper[events[p]]), between)
                    most = min(most, plus(plus(path, -lower[events[q]]), system[q, later]))
        least[row] = -most


def offsets_of(clocks: EventClocks, system: Ticks, match: Indexes) -> tuple[Indexes, Ticks]:
    """The clocks of one match, shape (k,), and by how much an offset may exceed another, (k + 1, k + 1).

    Row and column 0 of the second stand for no clock: offset 0.
    """
    slot, found = np.empty(len(match), dtype=np.int64), np.empty(len(match) + 1, dtype=np.int64)
    bound = np.empty((len(match) + 1, len(match) + 1), dtype=np.int64)
    stamps = stamps_of(clocks)
    count = slots(stamps, match, slot, found)
    close_offsets(stamps, system, match, slot, found, count, bound)
    return found[1 : count + 1], bound[: count + 1, : count + 1]


@kernel
def _valid(stamps, system, matches, lower, upper):
    length = matches.shape[1]
    slot, clocks = np.empty(length, dtype=np.int64), np.empty(length + 1, dtype=np.int64)
    bound = np.empty((length + 1, length + 1), dtype=np.int64)
    for row in range(len(matches)):
        events = matches[row]
        count = slots(stamps, events, slot, clocks)
        if close_offsets(stamps, system, events, slot, clocks, count, bound):
            for j in range(length):
                lower[row, j] = first_tick(stamps, system, events, slot, bound, j)
                upper[row, j] = last_tick(stamps, system, events, slot, bound, j)


@kernel
def _possible(stamps, system, matches, allowed):
    length = matches.shape[1]
    slot, clocks = np.empty(length, dtype=np.int64), np.empty(length + 1, dtype=np.int64)
    bound = np.empty((length + 1, length + 1), dtype=np.int64)
    for row in range(len(matches)):
        count = slots(stamps, matches[row], slot, clocks)
        allowed[row] = close_offsets(stamps, system, matches[row], slot, clocks, count, bound)


@kernel
def slots(stamps, events, slot, clocks):
    """Fill the slot of every event, and the clock of every slot; returns the number of the last slot."""
    count = 0
    clocks[0] = _NO_CLOCK
    for j in range(len(events)):
        clock = stamps.clock[events[j]]
        slot[j] = 0
        if clock == _NO_CLOCK:
            continue
        for s in range(1, count + 1):
            if clocks[s] == clock:
                slot[j] = s
        if slot[j] == 0:
            count += 1
            clocks[count] = clock
            slot[j] = count
    return count


@kernel
def close_offsets(stamps, system, events, slot, clocks, count, bound):
    """Fill `bound`; returns whether any world obeys the constraints, as far as the ends of masses tell."""
    lower, upper = stamps.own.lower, stamps.own.upper
    for c in range(count + 1):
        for d in range(count + 1):
            bound[c, d] = UNBOUNDED
        bound[c, c] = 0
        if c:
            bound[c, 0] = stamps.offsets.upper[clocks[c]]
            bound[0, c] = -stamps.offsets.lower[clocks[c]]
        for d in range(1, count + 1):
            if c and c != d and stamps.chain[clocks[c]] == stamps.chain[clocks[d]]:
                bound[c, d] = abs(stamps.along[clocks[c]] - stamps.along[clocks[d]])
    for i in range(len(events)):
        for j in range(len(events)):
            if system[i, j] < UNBOUNDED:
                limit = plus(plus(system[i, j], upper[events[j]]), -lower[events[i]])
                bound[slot[i], slot[j]] = min(bound[slot[i], slot[j]], limit)
    for k in range(count + 1):
        for c in range(count + 1):
            for d in range(count + 1):
                if bound[c, k] < UNBOUNDED and bound[k, d] < UNBOUNDED:
                    bound[c, d] = min(bound[c, d], plus(bound[c, k], bound[k, d]))
    return (np.diag(bound)[: count + 1] >= 0).all()


@inner
def first_tick(stamps, system, events, slot, bound, position):
    """Earliest tick of one event of a match in any world; exact where masses have no holes."""
    first = -UNBOUNDED
    for i in range(len(events)):
        if system[i, position] < UNBOUNDED and bound[0, slot[i]] < UNBOUNDED:
            after = plus(plus(stamps.own.lower[events[i]], -bound[0, slot[i]]), -system[i, position])
            first = max(first, after)
    return first


@inner
def last_tick(stamps, system, events, slot, bound, position):
    """Latest tick of one event of a match in any world; exact where masses have no holes."""
    last = UNBOUNDED
    for i in range(len(events)):
        if system[position, i] < UNBOUNDED and bound[slot[i], 0] < UNBOUNDED:
            before = plus(plus(stamps.own.upper[events[i]], bound[slot[i], 0]), system[position, i])
            last = min(last, before)
    return last
