"""Products over rivals for several gaps at once: what gaps have in common is multiplied once.

The gaps of one event keep out almost the same rivals: all events of a type, or all but the one at their
other end.  A tree over the gaps says in which order a row is multiplied: with the rivals that all gaps have
in common first, then for each half of the gaps with those that all of this half have besides, and so on down
to the single gaps.  Equal lists cost one product; lists that leave out one event each cost n log n factors
instead of n^2; and it is right for any lists.

Rows are numbers, one for each of many ticks; loops over them are so short that each costs more to begin than
to run.  A product over rivals is the probability that none of them lies between a tick and each of a row of
ticks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.gaps.distinct_gaps import event_of
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Reals

AT_ONCE = 4
"""Rivals that one loop takes."""

INDEX = np.uintp
"""Loops over unsigned indexes need no look at negative ones, so that they are vectorised."""


class Chosen(NamedTuple):
    """Room for the rivals that matter to a row.

    Which they are, their mass up to the tick that is given, and the places from `begin` to `end` - 1
    outside of which each leaves everything.
    """

    rival: Indexes
    at: Reals
    begin: Indexes
    end: Indexes


@inner
def room_for(rivals):
    """Room for this many rivals."""
    most = max(rivals, 1)
    return Chosen(
        np.empty(most, dtype=np.int64), np.empty(most), np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
    )  # fmt: skip


@inner
def exclude(row, masses, chosen, count):
    """Multiply a row by what each of `count` rivals leaves.

    Rival r leaves 1 - |masses[r, k] - at|, both being P(t_r <= some tick).
    """
    rival, at, begins, ends = chosen
    i = 0
    while i + AT_ONCE <= count:
        r0, r1, r2, r3 = rival[i], rival[i + 1], rival[i + 2], rival[i + 3]
        at0, at1, at2, at3 = at[i], at[i + 1], at[i + 2], at[i + 3]
        first = min(begins[i], begins[i + 1], begins[i + 2], begins[i + 3])
        stop = max(ends[i], ends[i + 1], ends[i + 2], ends[i + 3])
        for k in range(INDEX(first), INDEX(max(first, stop))):
            # One after the other: those that leave everything then change no bit, wherever they stand.
            row[k] = (
                row[k]
                * (1.0 - abs(masses[r0, k] - at0)) * (1.0 - abs(masses[r1, k] - at1))
                * (1.0 - abs(masses[r2, k] - at2)) * (1.0 - abs(masses[r3, k] - at3))
            )  # fmt: skip
        i += AT_ONCE
    while i < count:
        r0, at0 = rival[i], at[i]
        for k in range(INDEX(begins[i]), INDEX(max(begins[i], ends[i]))):
            row[k] *= 1.0 - abs(masses[r0, k] - at0)
        i += 1


ONE, TWO, THREE = INDEX(1), INDEX(2), INDEX(3)


@inner
def add_rows(target, rows, factors, width, since):
    """Add factors[i] times the i-th row of this width, from its place `since` on; some rows at a time."""
    size, i = len(factors), 0
    while i + AT_ONCE <= size:
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        at = i * width + since
        one, two, three, four = rows[at:], rows[at + width :], rows[at + 2 * width :], rows[at + 3 * width :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k] + f1 * two[k] + f2 * three[k] + f3 * four[k]
        i += AT_ONCE
    while i < size:
        f0, one = factors[i], rows[i * width + since :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k]
        i += 1


@inner
def inner_product(one, other):
    """Sum of products, in four sums that are added up at the end: none waits for the one before it."""
    size = len(one)
    whole = size - size % AT_ONCE
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(0), INDEX(whole), INDEX(AT_ONCE)):
        s0 += one[k] * other[k]
        s1 += one[k + ONE] * other[k + ONE]
        s2 += one[k + TWO] * other[k + TWO]
        s3 += one[k + THREE] * other[k + THREE]
    for k in range(INDEX(whole), INDEX(size)):
        s0 += one[k] * other[k]
    return (s0 + s1) + (s2 + s3)


MOST_PLACES = 2048
"""Places of one row, about: so many rows then stay in the cache."""


class GapKinds(NamedTuple):
    """Gaps that keep the same rivals out are of one kind.

    `of`: that of each gap; `apart`: shape (kinds, rivals), which rivals may not lie in it.
    """

    of: Indexes
    apart: Flags


class ProductPlan(NamedTuple):
    """Steps, each a product of one row with some factors: row `target` becomes row `source` times these.

    The factors of step i are taken from `factors[offsets[i]:offsets[i + 1]]`.  The source -1 is the row that
    is given; the first rows are the results.
    """

    source: Indexes
    target: Indexes
    offsets: Indexes
    factors: Indexes


@inner
def kinds_of(buckets, gaps, chosen, rivals, offsets, listed):
    """Kinds of the chosen gaps, the rivals of gap g being listed[offsets[g]:offsets[g + 1]].

    A rival that cannot lie in a gap leaves all of it, so that it makes no difference whether it is listed.
    """
    of, apart = np.empty(len(chosen), dtype=np.int64), np.zeros((len(chosen), len(rivals)), dtype=np.bool_)
    count = 0
    for g in range(len(chosen)):
        begin, end = buckets.lower[gaps.left[chosen[g]]], buckets.upper[gaps.right[chosen[g]]]
        for r in range(len(rivals)):
            event, closed = event_of(rivals[r]), rivals[r] < 0
            apart[count, r] = buckets.upper[event] <= begin or buckets.lower[event] - closed >= end
        for r in listed[offsets[g] : offsets[g + 1]]:
            apart[count, r] = True
        kind = 0
        while (apart[kind] != apart[count]).any():
            kind += 1
        of[g] = kind
        count += kind == count
    return GapKinds(of, apart[:count])


@inner
def plan_room(kinds, rivals):
    """Room for a plan of so many kinds, and how many rows it may need."""
    steps, depth, ranges = 2 * kinds, 0, kinds
    while ranges > 1:
        ranges = (ranges + 1) // 2
        depth += 1
    return ProductPlan(
        np.empty(steps, dtype=np.int64), np.empty(steps, dtype=np.int64), np.zeros(steps + 1, dtype=np.int64),
        np.empty(rivals * kinds, dtype=np.int64),
    ), kinds + depth  # fmt: skip


@inner
def fill_plan(apart, chosen, count, rivals, known, plan):
    """Fill the plan for the first `count` of the chosen kinds and `known` of the rivals; returns its steps.

    Factor i is that of rivals[i]; row i is that of chosen[i].
    """
    steps, used, waiting = 0, 0, 1
    # A range of the kinds, that of its parent, the row it starts from, and the row for what it hands on.
    stack = np.empty((2 * count + 2, 6), dtype=np.int64)
    stack[0] = (0, count, 0, 0, -1, count)
    while waiting:
        waiting -= 1
        begin, end, parent_begin, parent_end, source, room = stack[waiting]
        first = used
        for i in range(known):
            r, common = rivals[i], True
            for k in range(begin, end):
                common = common and apart[chosen[k], r]
            if common and parent_begin < parent_end:
                above = True
                for k in range(parent_begin, parent_end):
                    above = above and apart[chosen[k], r]
                common = not above
            if common:
                plan.factors[used] = i
                used += 1
        if end - begin == 1 or used > first:
            target = begin if end - begin == 1 else room
            plan.source[steps], plan.target[steps], plan.offsets[steps + 1] = source, target, used
            steps += 1
            source = target
        if end - begin > 1:
            middle = (begin + end) // 2
            stack[waiting] = (middle, end, begin, end, source, room + 1)
            stack[waiting + 1] = (begin, middle, begin, end, source, room + 1)
            waiting += 2
    return steps


@inner
def multiply(plan, steps, factors, given, begin, size, rows):
    """Carry out the steps on `size` places of each row, from `begin` on."""
    for step in range(steps):
        source = plan.source[step]
        row = given if source < 0 else rows[source, begin : begin + size]
        target = rows[plan.target[step], begin : begin + size]
        i, end = plan.offsets[step], plan.offsets[step + 1]
        if i == end:
            for k in range(INDEX(size)):
                target[k] = row[k]
        while i < end:
            _multiply_some(target, row, factors, plan.factors, i, min(end - i, AT_ONCE), size)
            row = target
            i += AT_ONCE


@inner
def _multiply_some(target, row, factors, chosen, i, count, size):
    """Multiply a row by one to four factors, one after the other."""
    one = factors[chosen[i]]
    two, three, four = one, one, one
    if count > 1:
        two = factors[chosen[i + 1]]
    if count > 2:
        three = factors[chosen[i + 2]]
    if count > 3:
        four = factors[chosen[i + 3]]
    if count == 4:
        for k in range(INDEX(size)):
            target[k] = row[k] * one[k] * two[k] * three[k] * four[k]
    elif count == 3:
        for k in range(INDEX(size)):
            target[k] = row[k] * one[k] * two[k] * three[k]
    elif count == 2:
        for k in range(INDEX(size)):
            target[k] = row[k] * one[k] * two[k]
    else:
        for k in range(INDEX(size)):
            target[k] = row[k] * one[k]
