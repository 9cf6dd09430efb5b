"""The probability that some problem holds, all separators being known: sets of problems as states.

The other events are independent then.  They are taken one by one; a state is the set of problems that can
still hold, and equal states are merged.  What remains of a problem whose last event was taken has happened.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import LAST, plus, with_cut
from cepctl.engines.confidence.occurrence.asked import NONE, Bits, difference_holds
from cepctl.engines.confidence.occurrence.counted_records import outside_of_ranges, which_counted
from cepctl.engines.kernels.kernel import inner

MOST_STATES = 1 << 14
STAMP, WORK, BOUND, FAILED = range(4)
"""Counters of `States`: of the table, the products so far, their bound, and whether that was exceeded."""
_FIRST = -(2**63)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class States(NamedTuple):
    """Sets of problems that can still hold, and their probabilities: twice, and a table to find equals."""

    bits: np.ndarray[tuple[int, int], np.dtype[np.uint64]]
    mass: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    slot: Indexes
    stamp: Indexes
    counters: Indexes


class Pieces(NamedTuple):
    """Working space for one event: what clauses forbid, and the pieces in which that cuts its interval."""

    begin: Ticks
    end: Ticks
    forbids: Bits
    cut: Ticks
    lost: Bits
    mass: Reals


@inner
def new_states(problems):
    """Room for the states of so many problems."""
    most = min(MOST_STATES, 1 << min(problems, 20))
    table = 4 * most
    return States(
        np.empty((2, most), np.uint64), np.empty((2, most)), np.empty(table, np.int64),
        np.zeros(table, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip


@inner
def new_pieces(part):
    """Room for the pieces of any event."""
    clauses = len(part.absent)
    cuts = 2 * clauses + 2
    return Pieces(
        np.empty(clauses, np.int64), np.empty(clauses, np.int64), np.empty(clauses, np.uint64),
        np.empty(cuts, np.int64), np.empty(cuts, np.uint64), np.empty(cuts),
    )  # fmt: skip


@inner
def given_separators(part, others, word, buckets, tick, alive, states, pieces):
    """Probability that some problem of `alive`, a word, holds, the ticks of all separators being known."""
    first, last = others.offsets[word], others.offsets[word + 1]
    open_to_others = NONE
    for i in range(first, last):
        open_to_others |= others.problems[i]
    if alive & ~open_to_others != NONE:
        return 1.0
    now = 0
    states.bits[0, 0], states.mass[0, 0] = alive, 1.0
    count = 1
    won = 0.0
    for i in range(first, last):
        if others.problems[i] & alive == NONE:
            continue
        found = _pieces(part, others, i, buckets, tick, alive, pieces)
        states.counters[STAMP] += 1
        after = 0
        clauses = others.clause_offsets[i + 1] - others.clause_offsets[i]
        # Each clause is asked, and each piece of the interval asks those that forbid it.
        states.counters[WORK] += count * found + clauses * (found + 2) + 4
        for s in range(count):
            bits, mass = states.bits[now, s], states.mass[now, s]
            if others.problems[i] & bits == NONE:
                after = _added(states, 1 - now, after, bits, mass)
                continue
            for g in range(found):
                left = bits & ~pieces.lost[g]
                if left == NONE:
                    continue
                if left & others.done[i] != NONE:
                    won += mass * pieces.mass[g]
                else:
                    after = _added(states, 1 - now, after, left, mass * pieces.mass[g])
        if after < 0 or states.counters[WORK] > states.counters[BOUND]:
            states.counters[FAILED] = 1
            return 0.0
        now, count = 1 - now, after
        if count == 0:
            break
    return min(won, 1.0)


@inner
def mass_beside(part, others, word, level, buckets, tick, states, pieces):
    """What the only problem of a word leaves of the events that a level decides: a product, 1 for none."""
    product = 1.0
    for i in range(others.offsets[word], others.offsets[word + 1]):
        if others.level[i] == level and product > 0.0:
            count = _forbidden_ticks(part, others, i, buckets, tick, ~NONE, pieces)
            states.counters[WORK] += others.clause_offsets[i + 1] - others.clause_offsets[i] + 2 * count + 2
            event = part.event[others.event[i]]
            _sort(pieces, count)
            counted = which_counted(part.counted, event)
            if counted < 0:
                product *= _mass_outside(buckets, event, pieces, count)
            else:
                states.counters[WORK] += part.counted.records[counted]
                product *= _records_outside(part, counted, buckets, tick, pieces, count)
    return product


@inner
def _records_outside(part, k, buckets, tick, pieces, count):
    """How probable it is that no record for which an event stands is where a clause forbids it."""
    counted, event = part.counted, part.counted.event[k]
    first, last = buckets.lower[event], buckets.upper[event]
    if counted.before[k] >= 0:
        first = max(first, tick[counted.before[k]] + 1)
    if counted.after[k] >= 0:
        last = min(last, tick[counted.after[k]] - 1)
    merged = 0
    for f in range(1, count):
        if pieces.begin[f] <= plus(pieces.end[merged], np.int64(1)):
            pieces.end[merged] = max(pieces.end[merged], pieces.end[f])
        else:
            merged += 1
            pieces.begin[merged], pieces.end[merged] = pieces.begin[f], pieces.end[f]
    if count > 0:
        merged += 1
    return outside_of_ranges(counted, k, first, last, pieces.begin, pieces.end, merged)


@inner
def _sort(pieces, count):
    """Sort what clauses forbid by where it begins."""
    for f in range(1, count):
        first, last = pieces.begin[f], pieces.end[f]
        at = f
        while at > 0 and pieces.begin[at - 1] > first:
            pieces.begin[at], pieces.end[at] = pieces.begin[at - 1], pieces.end[at - 1]
            at -= 1
        pieces.begin[at], pieces.end[at] = first, last


@inner
def _mass_outside(buckets, event, pieces, count):
    """The mass of an event on the ticks that no clause forbids: positive terms alone."""
    begin, total = buckets.lower[event], 0.0
    for f in range(count):
        if pieces.begin[f] > begin:
            total += mass_on(buckets, event, begin, pieces.begin[f] - 1)
        begin = max(begin, plus(pieces.end[f], np.int64(1)))
    return total + mass_on(buckets, event, begin, buckets.upper[event])


@inner
def _added(states, side, count, bits, mass):
    """Add probability to a state; returns how many states there are, -1 where they are too many."""
    if count < 0:
        return count
    table = len(states.slot)
    stamp = states.counters[STAMP]
    mixed = bits * _MIX
    place = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(table - 1))
    while states.stamp[place] == stamp:
        if states.bits[side, states.slot[place]] == bits:
            states.mass[side, states.slot[place]] += mass
            return count
        place = (place + 1) & (table - 1)
    if count == states.bits.shape[1]:
        return -1
    states.stamp[place], states.slot[place] = stamp, count
    states.bits[side, count], states.mass[side, count] = bits, mass
    return count + 1


@inner
def _pieces(part, others, i, buckets, tick, alive, pieces):
    """Sets of problems that an event can make fail, and how probable each is; returns their number."""
    event = part.event[others.event[i]]
    first, last = buckets.lower[event], buckets.upper[event]
    count = _forbidden_ticks(part, others, i, buckets, tick, alive, pieces)
    cuts = 1
    pieces.cut[0] = first
    for c in range(count):
        cuts = with_cut(pieces.cut, cuts, pieces.begin[c])
        if pieces.end[c] < last:
            cuts = with_cut(pieces.cut, cuts, pieces.end[c] + 1)
    found = 0
    for c in range(cuts):
        begin = pieces.cut[c]
        end = pieces.cut[c + 1] - 1 if c + 1 < cuts else last
        mass = mass_on(buckets, event, begin, end)
        if mass == 0.0:
            continue
        lost = NONE
        for f in range(count):
            if pieces.begin[f] <= begin <= pieces.end[f]:
                lost |= pieces.forbids[f]
        known = 0
        while known < found and pieces.lost[known] != lost:
            known += 1
        if known == found:
            pieces.lost[found], pieces.mass[found] = lost, 0.0
            found += 1
        pieces.mass[known] += mass
    return found


@inner
def _forbidden_ticks(part, others, i, buckets, tick, alive, pieces):
    """Write the ticks of an event that clauses of problems alive forbid; returns how many clauses do."""
    e = others.event[i]
    event = part.event[e]
    first, last = buckets.lower[event], buckets.upper[event]
    count = 0
    for at in range(others.clause_offsets[i], others.clause_offsets[i + 1]):
        k = others.clause[at]
        if part.mask[k] & alive == NONE:
            continue
        low, high = _forbidden(part, k, e, tick)
        low, high = max(low, first), min(high, last)
        if low <= high:
            pieces.begin[count], pieces.end[count] = low, high
            pieces.forbids[count] = part.mask[k] & alive
            count += 1
    return count


@inner
def _forbidden(part, k, event, tick):
    """The ticks of an event in which a clause fails, the ticks of all its other events being known."""
    low, high = np.int64(_FIRST), np.int64(LAST)
    for d in range(part.offsets[k], part.offsets[k + 1]):
        x, y, c = part.left[d], part.right[d], part.bound[d]
        if event not in (x, y):
            if not difference_holds(part, d, tick):
                return np.int64(1), np.int64(0)
        elif x == event:
            limit = plus(np.int64(0) if y < 0 else tick[y], c)
            if not part.absent[k]:
                return plus(limit, np.int64(1)), high
            high = min(high, limit)
        else:
            limit = plus(np.int64(0) if x < 0 else tick[x], -c)
            if not part.absent[k]:
                return low, plus(limit, np.int64(-1))
            low = max(low, limit)
    return low, high
