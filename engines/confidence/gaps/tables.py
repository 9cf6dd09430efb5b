"""Confidence of chains with rival-free gaps, by a table per distinct gap.

For a gap between events A and B with rivals R let

    Q(s, t) = product over r in R of 1 - P(s < t_r < t)

be the probability that no rival lies strictly between ticks s and t.  A chain is then a product of such
tables: the sum over all ticks is carried from event to event.  The window ties the last event to the
first: the table of the first gap is kept as sums over all first ticks from s on, so that the ticks
that the window still allows are one row of it, and a chain of three costs the square of its ticks, not
the cube (longer ones repeat the middle for each last tick).

    name here      meaning
    summed         of the first gap: [s, t], sum over ticks s' >= s of mass of s' times Q(s', t)
    table          of the other gaps: [t, s], mass of s times Q(s, t)
    reach          last tick t with Q(s, t) > 0: the bound that ZDI10 calls NELT

Every term is positive, nothing cancels.  Wider intervals are for `polynomials`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, window_ticks
from cepctl.engines.confidence.gaps.product_trees import AT_ONCE, INDEX, ONE, THREE, TWO, exclude, room_for
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

MOST_TICKS = 512
"""Widest interval that is tabulated tick by tick."""

_NEVER = np.iinfo(np.int64).max
_TABLE_BYTES = 1 << 25
_MOST_SLOTS = 64


def narrow(masses: Masses, chains: GapChains) -> Flags:
    """Chains of narrow intervals alone, shape (n,)."""
    widths = ticks_between(masses.lower[chains.event], masses.upper[chains.event])
    return np.asarray((widths <= MOST_TICKS).all(axis=1))


def gap_confidence(masses: Masses, chains: GapChains, window: int | None) -> Reals:
    """Confidence of every chain, shape (n,)."""
    count, length = chains.event.shape
    confidence = np.zeros(count)
    if not count:
        return confidence
    ticks = int((masses.upper[chains.event] - masses.lower[chains.event]).max()) + 1
    slots = int(np.clip(_TABLE_BYTES // (8 * ticks * ticks * (length - 1)), 1, _MOST_SLOTS))
    most_rivals = int(np.diff(chains.gaps.rival_offsets).max(initial=0))
    pivot = chains.event[:, length // 2]
    order = np.lexsort((chains.event[:, 0], pivot))
    tabulated = _Tabulated(
        np.full((length - 1, slots), -1, dtype=np.int64),
        np.empty((length - 1, slots, ticks, ticks)),
        np.empty(ticks, dtype=np.int64),
        np.empty((2, max(most_rivals, 1), ticks)),
    )
    own = _Chains(chains.event, chains.lower, chains.upper, chains.gap)
    _solve(masses.buckets, own, chains.gaps, order, window_ticks(window), tabulated, confidence)
    return confidence


class _Chains(NamedTuple):
    """The arrays of `GapChains` that speak of single chains: events, valid intervals, gaps."""

    event: Indexes
    lower: Ticks
    upper: Ticks
    gap: Indexes


class _Tabulated(NamedTuple):
    """The tables that are held, `tables[g, slot]` for the gap number `held[g, slot]`; -1 for none.

    And room for the reach and, of both events of a gap, the masses of rivals up to each tick.
    """

    held: Indexes
    tables: Reals
    reach: Ticks
    cumulated: Reals


@kernel
def _solve(buckets, chains, gaps, order, window, tabulated, confidence):
    event, held, tables, lower = chains.event, tabulated.held, tabulated.tables, buckets.lower
    length, slots, ticks = event.shape[1], held.shape[1], tables.shape[2]
    mass = np.zeros((length, ticks))
    slot = np.zeros(length - 1, dtype=np.int64)
    carried = np.zeros((length, ticks))
    spans = _spans(chains, len(gaps.left))
    for row in order:
        own = event[row]
        for g in range(length - 1):
            number = chains.gap[row, g]
            slot[g] = number % slots
            if held[g, slot[g]] != number:
                held[g, slot[g]] = number
                _tabulate(buckets, gaps, number, spans[number], g == 0, tabulated, tables[g, slot[g]])
        for j in range(length):
            _masses(buckets, own[j], mass[j])
        confidence[row] = total_of(
            own, lower, chains.lower[row], chains.upper[row], mass, tables, slot, window, carried
        )


@inner
def _spans(chains, count):
    """Least and greatest valid ticks of the left and the right event of each gap, over all its chains."""
    gap = chains.gap
    spans = np.empty((count, 4), dtype=np.int64)
    spans[:, 0::2], spans[:, 1::2] = _NEVER, -_NEVER
    for row in range(len(gap)):
        for g in range(gap.shape[1]):
            span = spans[gap[row, g]]
            span[0] = min(span[0], chains.lower[row, g])
            span[1] = max(span[1], chains.upper[row, g])
            span[2] = min(span[2], chains.lower[row, g + 1])
            span[3] = max(span[3], chains.upper[row, g + 1])
    return spans


@inner
def _masses(buckets, event, mass):
    """Mass of every tick of an event's interval."""
    begin = buckets.lower[event]
    mass[: buckets.upper[event] - begin + 1] = 0.0
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        mass[buckets.lo[b] - begin : buckets.hi[b] - begin + 1] = buckets.density[b]


@inner
def _cumulate(buckets, event, first, count, ramp, up_to):
    """P(t <= tick) for consecutive ticks from `first`; exactly 0 and 1 outside the interval."""
    upper, lo, hi = buckets.upper[event], buckets.lo, buckets.hi
    certain = count if upper >= first + count else max(upper - first, 0)
    for i in range(INDEX(certain)):
        up_to[i] = 0.0
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        before = tick_count(lo[b], first)
        most, each = tick_count(lo[b], hi[b]), buckets.density[b]
        for i in range(INDEX(certain)):
            up_to[i] += each * min(max(before + ramp[i], 0.0), most)
    for i in range(INDEX(certain)):
        up_to[i] = min(up_to[i], 1.0)
    for i in range(INDEX(certain), INDEX(count)):
        up_to[i] = 1.0


@inner
def _tabulate(buckets, gaps, number, span, first, tabulated, table):
    """Fill the table of a gap, in the form for the first or for another, and the reach of left ticks.

    `span`: ticks that some chain needs.  Places in the table count from the events' lower ends.
    """
    lower, upper, reach = buckets.lower, buckets.upper, tabulated.reach
    left, right = gaps.left[number], gaps.right[number]
    rivals = gaps.rivals[gaps.rival_offsets[number] : gaps.rival_offsets[number + 1]]
    others, closed = np.where(rivals < 0, ~rivals, rivals), np.where(rivals < 0, 1, 0)
    at_left, at_right = tabulated.cumulated[0], tabulated.cumulated[1]
    width, height = upper[left] - lower[left] + 1, upper[right] - lower[right] + 1
    ramp = np.arange(max(width, height)).astype(np.float64)
    for r in range(len(others)):
        _cumulate(buckets, others[r], lower[left], width, ramp, at_left[r])
        _cumulate(buckets, others[r], lower[right] - 1 + closed[r], height, ramp, at_right[r])
    since, until = span[0] - lower[left], span[1] - lower[left] + 1
    begin, end = span[2] - lower[right], span[3] - lower[right] + 1
    _fill_reach(lower[left], since, until, others, closed, lower, upper, reach)
    weight = np.empty(width)
    _masses(buckets, left, weight)
    ranges = since, until, begin, end, lower[right] - lower[left]
    if first:
        _fill_summed(ranges, lower[right], others, closed, lower, at_left, at_right, reach, weight, table)
    else:
        _fill_table(ranges, lower[left], others, upper, at_left, at_right, reach, weight, table)


@inner
def _fill_summed(ranges, right_lower, others, closed, lower, at_left, at_right, reach, weight, summed):
    """The form of the first gap: rows x from `since` to `until` - 1, columns y from `begin` to `end` - 1."""
    since, until, begin, end, shift = ranges
    chosen = room_for(len(others))
    for x in range(until - 1, since - 1, -1):
        row = summed[x]
        after = min(max(x + 1 - shift, begin), end)
        stop = max(min(reach[x], right_lower + end - 1) - right_lower + 1, after)
        _allow(row, begin, after, stop, end)
        count = 0
        for r in range(len(others)):
            from_r = max(lower[others[r]] + 1 - closed[r] - right_lower, after)
            if at_left[r, x] < 1.0 and from_r < stop:
                chosen.rival[count], chosen.at[count] = r, at_left[r, x]
                chosen.begin[count], chosen.end[count] = from_r, stop
                count += 1
        exclude(row, at_right, chosen, count)
        if x == until - 1:
            for y in range(INDEX(begin), INDEX(end)):
                row[y] *= weight[x]
        else:
            later = summed[x + 1]
            for y in range(INDEX(begin), INDEX(end)):
                row[y] = weight[x] * row[y] + later[y]


@inner
def _fill_table(ranges, left_lower, others, upper, at_left, at_right, reach, weight, table):
    """The form of the others: rows y from `begin` to `end` - 1, columns x from `since` to `until` - 1."""
    since, until, begin, end, shift = ranges
    chosen = room_for(len(others))
    after = since
    for y in range(begin, end):
        row = table[y]
        stop = max(min(shift + y, until), since)
        while after < until and reach[after] < left_lower + shift + y:
            after += 1
        _allow(row, since, min(after, stop), stop, until)
        count = 0
        for r in range(len(others)):
            last = upper[others[r]]
            until_r = stop if last >= left_lower + stop else last - left_lower
            if at_right[r, y] > 0.0 and until_r > after:
                chosen.rival[count], chosen.at[count] = r, at_right[r, y]
                chosen.begin[count], chosen.end[count] = after, until_r
                count += 1
        exclude(row, at_left, chosen, count)
        for x in range(INDEX(since), INDEX(until)):
            row[x] *= weight[x]


@inner
def _allow(row, begin, since, stop, end):
    """1 from `since` to before `stop`, and 0 around it, from `begin` to before `end`."""
    for t in range(INDEX(begin), INDEX(since)):
        row[t] = 0.0
    for t in range(INDEX(since), INDEX(stop)):
        row[t] = 1.0
    for t in range(INDEX(stop), INDEX(end)):
        row[t] = 0.0


@inner
def _fill_reach(left_lower, since, until, others, closed, lower, upper, reach):
    """For each left tick the last tick after which some rival certainly lies between the two."""
    for x in range(since, until):
        reach[x] = _NEVER
    for r in range(len(others)):
        last = min(lower[others[r]] - 1 - left_lower, until - 1)
        if last >= since:
            reach[last] = min(reach[last], upper[others[r]] - closed[r])
    for x in range(until - 2, since - 1, -1):
        reach[x] = min(reach[x], reach[x + 1])


@inner
def total_of(own, lower, valid_lower, valid_upper, mass, tables, slot, window, carried):
    """Sum over all ticks of the chain."""
    last, base = len(own) - 1, lower[own[-1]]
    summed, table = tables[0, slot[0]], tables[last - 1, slot[last - 1]]
    binding = window > 0 and valid_upper[last] - valid_lower[0] >= window
    since, until = valid_lower[last], valid_upper[last]
    until = min(until, valid_upper[0] + window - 1) if binding else until
    if last == 1:
        return _sum_of_two(since, until, valid_lower[0], lower[own[0]], base, window, binding, mass, summed)
    begin, stop = valid_lower[last - 1], valid_upper[last - 1] + 1
    middle = lower[own[last - 1]]
    if last == 2:
        ranges = since, until, begin, stop, middle
        first_lower = lower[own[0]]
        return _sum_of_three(
            ranges, valid_lower[0], first_lower, base, window, binding, mass[2], summed, table
        )
    total, oldest = 0.0, valid_lower[0]
    if not binding:
        _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
    for u in range(since, until + 1):
        if binding:
            oldest = max(u - window + 1, valid_lower[0])
            _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
        inside = _product(
            carried, last - 1, table, u - base, max(begin, oldest + 1) - middle, min(stop, u) - middle
        )
        total += mass[last, u - base] * inside
    return total


@inner
def _sum_of_two(since, until, earliest, first_lower, base, window, binding, mass, summed):
    """Sum over all ticks of a chain of two."""
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        total += mass[1, u - base] * summed[oldest - first_lower, u - base]
    return total


@inner
def _sum_of_three(ranges, earliest, first_lower, base, window, binding, mass, summed, table):
    """Sum over all ticks of a chain of three."""
    since, until, begin, stop, middle = ranges
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        first, end = max(begin, oldest + 1) - middle, min(stop, u) - middle
        total += mass[u - base] * _product(summed, oldest - first_lower, table, u - base, first, end)
    return total


@inner
def _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried):
    """Fill carried[j, t], for all events but the first and last, with the sum over what comes before t."""
    begin, stop = valid_lower[1] - lower[own[1]], valid_upper[1] - lower[own[1]] + 1
    for t in range(begin, stop):
        carried[1, t] = tables[0, slot[0], oldest - lower[own[0]], t]
    for g in range(1, len(own) - 2):
        following, until = valid_lower[g + 1] - lower[own[g + 1]], valid_upper[g + 1] - lower[own[g + 1]] + 1
        for y in range(following, until):
            carried[g + 1, y] = _product(carried, g, tables[g, slot[g]], y, begin, stop)
        begin, stop = following, until


@inner
def _product(left, i, right, j, begin, stop):
    """Sum of products of two rows between two places, in four sums: none waits for the one before it."""
    if begin >= stop:
        return 0.0
    whole = stop - (stop - begin) % AT_ONCE
    i, j = INDEX(i), INDEX(j)
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(begin), INDEX(whole), INDEX(AT_ONCE)):
        s0 += left[i, k] * right[j, k]
        s1 += left[i, k + ONE] * right[j, k + ONE]
        s2 += left[i, k + TWO] * right[j, k + TWO]
        s3 += left[i, k + THREE] * right[j, k + THREE]
    for k in range(INDEX(whole), INDEX(stop)):
        s0 += left[i, k] * right[j, k]
    return (s0 + s1) + (s2 + s3)
