"""The probability that some problem holds, all separators being known: sets of problems as states.

The other events are independent then.  They are taken one by one; a state is the set of problems that can
still hold, and equal states are merged.  What remains of a problem whose last event was taken has happened.
A problem that asks of the events to come all that another one asks, and more, is left out (`asked`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import LAST, plus, with_cut
from cepctl.engines.confidence.occurrence.asked import NONE, ONE, Sets, difference_holds
from cepctl.engines.confidence.occurrence.counted_records import outside_of_ranges, which_counted
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals, Ticks

MOST_STATES = 1 << 14
STAMP, WORK, BOUND, LOOK, FAILED = range(5)
"""Counters of `States`: of the table, products so far, their bound, when to look, and whether it fails."""
_PROBLEMS_OF_PRODUCT = 4
"""Problems that are looked at in the time of one product of masses."""
_FIRST = -(2**63)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class States(NamedTuple):
    """Sets of problems that can still hold, and their probabilities: twice, and a table to find equals.

    `bits`, shape (2, states + 1, words): the last one is room for a state that may be among the others.
    """

    bits: np.ndarray[tuple[int, int, int], np.dtype[np.uint64]]
    mass: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    slot: Indexes
    stamp: Indexes
    counters: Indexes


class CutSpace(NamedTuple):
    """Working space for one event: what clauses forbid, and the pieces in which that cuts its interval.

    `forbids`: the clauses; `lost`, shape (pieces, words): the problems that each piece makes fail.
    """

    begin: Ticks
    end: Ticks
    forbids: Indexes
    cut: Ticks
    lost: Sets
    mass: Reals


@inner
def new_states(problems, words):
    """Room for the states of so many problems, each of some words."""
    most = min(MOST_STATES, 1 << min(problems, 20))
    table = 4 * most
    return States(
        np.empty((2, most + 1, words), np.uint64), np.empty((2, most + 1)), np.empty(table, np.int64),
        np.zeros(table, np.int64), np.zeros(5, np.int64),
    )  # fmt: skip


@inner
def new_pieces(part):
    """Room for the pieces of any event."""
    clauses = len(part.absent)
    cuts = 2 * clauses + 2
    return CutSpace(
        np.empty(clauses, np.int64), np.empty(clauses, np.int64), np.empty(clauses, np.int64),
        np.empty(cuts, np.int64), np.empty((cuts, part.mask.shape[1]), np.uint64), np.empty(cuts),
    )  # fmt: skip


@inner
def given_separators(part, others, implied, block, buckets, tick, alive, states, pieces):
    """Probability that some problem of `alive`, those of a block, holds, all separators being known."""
    first, last, words = others.offsets[block], others.offsets[block + 1], len(alive)
    for w in range(words):
        left = alive[w]
        for i in range(first, last):
            left &= ~others.problems[i, w]
        if left != NONE:
            return 1.0
        states.bits[0, 0, w] = alive[w]
    now, count, won = 0, 1, 0.0
    states.mass[0, 0] = 1.0
    stage = first + block
    states.counters[WORK] += _without_implied(implied, stage, states.bits[0], 0, words)
    for i in range(first, last):
        stage += 1
        if not shared(others.problems[i], alive):
            continue
        found = _pieces(part, others, i, buckets, tick, alive, pieces)
        states.counters[STAMP] += 1
        clauses = others.clause_offsets[i + 1] - others.clause_offsets[i]
        # Each clause is asked, and each piece of the interval asks those that forbid it.
        states.counters[WORK] += count * found + clauses * (found + 2) + 4
        happened, after = _taken(others, implied, i, stage, states, pieces, now, count, found, words)
        won += happened
        if after < 0 or states.counters[WORK] > states.counters[BOUND]:
            states.counters[FAILED] = 1
            return 0.0
        now, count = 1 - now, after
        if count == 0:
            break
    return min(won, 1.0)


@inner
def _taken(others, implied, i, stage, states, pieces, now, count, found, words):
    """Take an event in all states: what has happened, and how many states there are then, -1 for too many."""
    won, after = 0.0, 0
    for s in range(count):
        mass, concerned = states.mass[now, s], NONE
        for w in range(words):
            concerned |= others.problems[i, w] & states.bits[now, s, w]
        for g in range(found if concerned != NONE else 1):
            share, some, over = mass, NONE, NONE
            if concerned != NONE:
                share *= pieces.mass[g]
            room = max(after, 0)
            for w in range(words):
                left = states.bits[now, s, w]
                if concerned != NONE:
                    left &= ~pieces.lost[g, w]
                some |= left
                over |= left & others.done[i, w]
                states.bits[1 - now, room, w] = left
            if over != NONE:
                won += share
            elif some != NONE:
                states.counters[WORK] += _without_implied(implied, stage, states.bits[1 - now], room, words)
                after = _added(states, 1 - now, after, words, share)
    return won, after


@inner
def shared(some, others):
    """Whether two sets share a problem."""
    found = NONE
    for w in range(min(len(some), len(others))):
        found |= some[w] & others[w]
    return found != NONE


@inner
def _without_implied(implied, stage, sets, row, words):
    """Leave out problems that ask more of the events to come than another does; returns what it took."""
    steps = implied.offsets[stage + 1] - implied.offsets[stage]
    for at in range(implied.offsets[stage], implied.offsets[stage + 1]):
        p = implied.problem[at]
        if (sets[row, p >> 6] >> np.uint64(p & 63)) & ONE != NONE:
            for w in range(words):
                sets[row, w] &= ~implied.by[at, w]
            steps += words
    return steps // _PROBLEMS_OF_PRODUCT


@inner
def mass_beside(part, others, block, level, buckets, tick, states, pieces):
    """What the only problem of a block leaves of the events that a level decides: a product, 1 for none."""
    product = 1.0
    for i in range(others.offsets[block], others.offsets[block + 1]):
        if others.level[i] == level and product > 0.0:
            count = _forbidden_ticks(part, others, i, buckets, tick, others.problems[i], pieces)
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
def _added(states, side, count, words, mass):
    """Add probability to the state written behind the others; returns how many there are, -1 for no room."""
    if count < 0:
        return count
    table, stamp = len(states.slot), states.counters[STAMP]
    bits, mixed = states.bits[side], NONE
    for w in range(words):
        mixed = (mixed ^ (mixed >> np.uint64(32)) ^ bits[count, w]) * _MIX
    place = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(table - 1))
    while states.stamp[place] == stamp:
        if _same(bits, count, states.slot[place], words):
            states.mass[side, states.slot[place]] += mass
            return count
        place = (place + 1) & (table - 1)
    if count + 1 == states.bits.shape[1]:
        return -1
    states.stamp[place], states.slot[place] = stamp, count
    states.mass[side, count] = mass
    return count + 1


@inner
def _same(sets, one, other, words):
    difference = NONE
    for w in range(words):
        difference |= sets[one, w] ^ sets[other, w]
    return difference == NONE


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
        for w in range(len(alive)):
            lost = NONE
            for f in range(count):
                if pieces.begin[f] <= begin <= pieces.end[f]:
                    lost |= part.mask[pieces.forbids[f], w]
            pieces.lost[found, w] = lost & alive[w]
        known = 0
        while known < found and not _same(pieces.lost, known, found, len(alive)):
            known += 1
        if known == found:
            pieces.mass[found] = 0.0
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
        if not shared(part.mask[k], alive):
            continue
        low, high = _forbidden(part, k, e, tick)
        low, high = max(low, first), min(high, last)
        if low <= high:
            pieces.begin[count], pieces.end[count] = low, high
            pieces.forbids[count] = k
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
