"""Chains of events that share clocks, in compiled code: nothing but order and window decides them.

    clocks of a match                                        measured by
    one, or none                                             the closed form on the own parts
    all sharp, on two clocks                                 the mass of a difference between two ticks
    two, one of which has one event                          the closed form derived from the other's offset
    all alone on theirs                                      the closed form on own part and offset as one
    one offset, or the difference of two, to be summed       the closed form at few offsets (nodes)
    anything else, a mass with holes, or clocks with ties    left to `rows`

Between two breakpoints the confidence of a chain is a polynomial in the offset. In a chain ties run
along the order, and once at most through the window: cuts of two events meet where they are equal, or where
that of the later event is W after that of the earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.tick_sums import apart, sort_cuts
from cepctl.engines.confidence.chain.runs import NO_WINDOW
from cepctl.engines.confidence.clocks.estimates import MOST_NODES, too_many_offsets
from cepctl.engines.confidence.clocks.frames import CONVOLVED
from cepctl.engines.confidence.clocks.moved_chains import (
    MOST_RAISED,
    copy_parts,
    move,
    moved_confidence,
    room_for,
)
from cepctl.engines.confidence.clocks.offset_masses import (
    CUTS_OF_BLOCK,
    Difference,
    blocks_of,
    has_holes,
    mass_at,
    mass_between,
    support,
)
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.offset_bounds import close_offsets, first_tick, last_tick, slots, stamps_of
from cepctl.numeric.arrays import Indexes, Reals, Ticks

_MOST_NODES = MOST_NODES
_MOST_RAISED = MOST_RAISED


class RuleSpace(NamedTuple):
    """Room for the nodes and weights of a summation rule."""

    nodes: Ticks
    weights: Reals


@inner
def rule_room(positions):
    """Room for the degree of any chain of `positions` events over the difference of two offsets."""
    most = _MOST_RAISED * positions + 3
    return RuleSpace(np.empty(most, dtype=np.int64), np.empty(most))


@inner
def piece_ends(parts, level, difference, window, first, last):
    """Where pieces of [first, last] begin, in order, and the tick after the last one.

    `parts` are the masses of the chain's events without the offset that moves those of level 1; `window` is
    NO_WINDOW where the window decides nothing.
    """
    offsets, clock, other = difference
    moved = still = 0
    for j in range(len(level)):
        buckets = parts.starts[j + 1] - parts.starts[j]
        if level[j] == 1:
            moved += buckets
        else:
            still += buckets
    own = offsets.starts[clock + 1] - offsets.starts[clock]
    against = 1 if other < 0 else offsets.starts[other + 1] - offsets.starts[other]
    breakpoints = np.empty(8 * moved * still + 4 * own * against + 2, dtype=np.int64)
    breakpoints[0], breakpoints[1] = first, last + 1
    count = _ends_of_mass(difference, first, last, breakpoints, 2)
    for i in range(len(level)):
        for j in range(len(level)):
            if level[i] == 1 and level[j] != 1:
                by = 0 if window == NO_WINDOW else (window if j < i else -window)
                count = _meetings(parts, i, j, by, first, last, breakpoints, count)
    return breakpoints[: sort_cuts(breakpoints, count)]


@inner
def _meetings(parts, moved, still, by, first, last, breakpoints, count):
    """Add the offsets at which a cut of one event meets one of another, or that moved `by`."""
    for b in range(2 * parts.starts[moved], 2 * parts.starts[moved + 1]):
        mine = _cut(parts, b)
        for o in range(2 * parts.starts[still], 2 * parts.starts[still + 1]):
            at = _cut(parts, o) - mine
            if first < at <= last:
                breakpoints[count] = at
                count += 1
            if by != 0 and first < at + by <= last:
                breakpoints[count] = at + by
                count += 1
    return count


@inner
def _cut(buckets, number):
    """The cuts of buckets, numbered: the first tick of each, and the one after its last."""
    return buckets.lo[number // 2] if number % 2 == 0 else buckets.hi[number // 2] + 1


@inner
def _ends_of_mass(difference, first, last, breakpoints, count):
    """Add the ticks at which the mass of a difference of offsets can change."""
    offsets, clock, other = difference
    for b in range(2 * offsets.starts[clock], 2 * offsets.starts[clock + 1]):
        end = _cut(offsets, b)
        begin, stop = (0, 1) if other < 0 else (2 * offsets.starts[other], 2 * offsets.starts[other + 1])
        for o in range(begin, stop):
            at = end
            if other >= 0:
                at -= _cut(offsets, o)
            if first < at <= last:
                breakpoints[count] = at
                count += 1
    return count


@inner
def sum_over_offset(chain, rule, system, window, level, difference, breakpoints):
    """The sum over all ticks between breakpoints, and whether the chain was certain at each looked at.

    The sum is -1 where more than MOST_NODES ticks would be looked at.
    """
    degree = np.int64(difference.other >= 0)
    for j in range(len(level)):
        degree += chain.raised[j]
    total, certain, looked_at = 0.0, True, 0
    for p in range(len(breakpoints) - 1):
        begin, ticks = breakpoints[p], breakpoints[p + 1] - breakpoints[p]
        every = takes_every_tick(ticks, degree)
        count = ticks if every else summation_rule(ticks, degree, rule.nodes, rule.weights)
        looked_at += count
        if looked_at > _MOST_NODES:
            return -1.0, False
        for k in range(count):
            tick = begin + (k if every else rule.nodes[k])
            mass = mass_at(difference, tick)
            if mass == 0.0:
                continue
            for j in range(len(level)):
                if level[j] == 1:
                    move(chain, j, tick)
            value = moved_confidence(chain, system, window)
            certain = certain and value == 1.0
            total += (mass if every else mass * rule.weights[k]) * value
    return total, certain


_CONVOLVED, _NO_CLOCK = CONVOLVED, NO_CLOCK
_SUMMED, _LEFT, _TOO_MANY = 0, 1, 2
"""What became of a match."""
_MOST_BLOCKS, _MOST_BENT = 1_024, 64
"""Of masses added up: pairs of buckets, and triples, up to which their sum is written out."""


def clock_chains(
    clocks: EventClocks,
    system: Ticks,
    window: int | None,
    matches: Indexes,
    on_own_parts: Callable[[Indexes], Measured],
) -> tuple[Measured, Indexes]:
    """Measure matches, shape (n, l), and say which are left to be measured otherwise.

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
    on_own_parts
        Measures matches as if own parts were all; also those that cannot happen.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets.
    """
    first, several = np.empty(len(matches), dtype=np.int64), np.empty(len(matches), dtype=bool)
    if not _fill_first(clocks.clock, matches, first, several):
        return _moved(clocks, first, on_own_parts(matches)), np.zeros(0, dtype=np.int64)
    rows, together = np.flatnonzero(several), np.flatnonzero(~several)
    found = impossible(len(matches))
    found.put(together, _moved(clocks, first[together], on_own_parts(matches[together])))
    measured, become = impossible(len(rows)), np.zeros(len(rows), dtype=np.int64)
    size = matches.shape[1] * _most_buckets(clocks)
    _measure(
        stamps_of(clocks), system, np.int64(NO_WINDOW if window is None else window), matches[rows],
        size, (measured.confidence, measured.start, measured.end), become,
    )  # fmt: skip
    if (become == _TOO_MANY).any():
        raise too_many_offsets(1)
    found.put(rows, measured)
    return found, rows[become == _LEFT]


def _most_buckets(clocks: EventClocks) -> int:
    """How many buckets an event may have, with its offset and derived from another."""
    own, offset = clocks.own.most_buckets, clocks.offsets.most_buckets
    blocks = max(min(own * offset, _MOST_BLOCKS), min(own * offset * offset, _MOST_BENT))
    return max(own, CUTS_OF_BLOCK * blocks)


def _moved(clocks: EventClocks, clock: Indexes, found: Measured) -> Measured:
    """Where ranges on own parts lie in time: anywhere that the offset puts them."""
    least, most = clocks.extremes
    return found.shifted(least[clock], most[clock])


@kernel
def _fill_first(clock, matches, first, several):
    """Fill the clock of each first event, and which matches have others besides; returns their number."""
    count = 0
    for row in range(len(matches)):
        first[row], several[row] = clock[matches[row, 0]], False
        for j in range(1, matches.shape[1]):
            several[row] |= clock[matches[row, j]] != first[row]
        count += several[row]
    return count


@kernel
def _measure(stamps, system, window, matches, size, found, become):
    confidence, start, end = found
    length = matches.shape[1]
    chain, rule = room_for(length, size), rule_room(length)
    slot, level = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    clocks = np.empty(length + 1, dtype=np.int64)
    bound = np.empty((length + 1, length + 1), dtype=np.int64)
    for row in range(len(matches)):
        events = matches[row]
        count = slots(stamps, events, slot, clocks)
        if not close_offsets(stamps, system, events, slot, clocks, count, bound):
            continue
        if _any_holes(stamps, events) or _any_tied(stamps, events):
            become[row] = _LEFT
            continue
        sharp = _all_sharp(stamps, events) and count + (slot.min() == 0) == 2
        if sharp:
            level[:] = 0
            levels, still, summed, frame = 1, count - 1, count, 0
        else:
            frame = _implied_slot(stamps, events, slot, clocks, count, level)
            levels, still, summed = 0, 0, 0
            if frame == 0:
                levels, still, summed = _levels(stamps, events, slot, count, level)
        if levels > 1:
            become[row] = _LEFT
            continue
        start[row] = first_tick(stamps, system, events, slot, bound, 0)
        end[row] = last_tick(stamps, system, events, slot, bound, length - 1)
        copy_parts(chain, stamps, events, level, clocks[frame])
        if levels == 0:
            confidence[row] = moved_confidence(chain, system, window)
            continue
        difference = Difference(stamps.offsets, clocks[summed], clocks[still])
        reach = -bound[still, summed], bound[summed, still]
        ties = NO_WINDOW if _always_within(stamps, events, window) else window
        found = _over_offset(chain, rule, system, window, level, difference, reach, ties, sharp)
        confidence[row] = max(found, 0.0)
        become[row] = _TOO_MANY if found < 0.0 else _SUMMED


@inner
def _over_offset(chain, rule, system, window, level, difference, reach, ties, sharp):
    """The confidence, given how far the difference of two offsets may reach; -1 for too many offsets."""
    first, last = support(difference)
    least, most = max(first, reach[0]), min(last, reach[1])
    everywhere = least == first and most == last
    if sharp:
        return 1.0 if everywhere else min(mass_between(difference, least, most), 1.0)
    breakpoints = piece_ends(chain.still, level, difference, ties, least, most)
    total, certain = sum_over_offset(chain, rule, system, window, level, difference, breakpoints)
    return 1.0 if certain and everywhere else min(total, 1.0)


@inner
def _implied_slot(stamps, events, slot, clocks, count, level):
    """The slot of a clock that has all events but one, which can be told from it; 0 where there is none.

    Then its offset drops out, and `level` says which event has another mass than its own part.
    """
    if count + (slot.min() == 0) != 2 or len(events) < 3:
        return 0
    frame = slot[0] if slot[0] == slot[1] or slot[0] == slot[2] else slot[1]
    others = 0
    for j in range(len(events)):
        level[j] = 0
        if slot[j] != frame:
            level[j] = _CONVOLVED
            others += 1
            blocks = blocks_of(stamps, events[j], stamps.clock[events[j]], clocks[frame])
    return frame if others == 1 and blocks <= _MOST_BENT else 0


@inner
def _levels(stamps, events, slot, count, level):
    """Fill the level of every event, as `frames` says; here an event alone on its clock need not be sharp.

    Returns how many offsets are summed over, the slot that stays where it is and the one that is summed over.
    """
    members, lone = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.bool_)
    for j in range(len(events)):
        s = slot[j]
        members[s] += 1
        lone[s] = s > 0 and members[s] == 1
        if lone[s]:
            lone[s] = blocks_of(stamps, events[j], stamps.clock[events[j]], _NO_CLOCK) <= _MOST_BLOCKS
    left, fixed, still, summed = 0, members[0] > 0, 0, 0
    for s in range(1, count + 1):
        if lone[s]:
            fixed = True
        else:
            left += 1
            still, summed = summed, s
    drops = not fixed and left == 2
    if not drops:
        still = 0
    for j in range(len(events)):
        s = slot[j]
        level[j] = _CONVOLVED if lone[s] else np.int64(s > 0 and s == summed)
    return (1 if drops else left), still, summed


@inner
def _any_holes(stamps, events):
    for j in range(len(events)):
        clock = stamps.clock[events[j]]
        if has_holes(stamps.own, events[j]) or (clock != _NO_CLOCK and has_holes(stamps.offsets, clock)):
            return True
    return False


@inner
def _any_tied(stamps, events):
    for j in range(len(events)):
        clock = stamps.clock[events[j]]
        if clock != _NO_CLOCK and stamps.is_tied[clock]:
            return True
    return False


@inner
def _all_sharp(stamps, events):
    return (stamps.own.lower[events] == stamps.own.upper[events]).all()


@inner
def _always_within(stamps, events, window):
    """Whether the first and the last event are within the window in every world."""
    if window == NO_WINDOW:
        return True
    begin, end = events[0], events[len(events) - 1]
    first, last = stamps.own.lower[begin], stamps.own.upper[end]
    before, after = stamps.clock[begin], stamps.clock[end]
    if before != after:
        first += 0 if before == _NO_CLOCK else stamps.offsets.lower[before]
        last += 0 if after == _NO_CLOCK else stamps.offsets.upper[after]
    return apart(min(first, last), last) < window
