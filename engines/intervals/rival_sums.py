"""Nested sums in which events that last must be absent: the mass of both their ends outside of regions.

As `coupled.nested_sums`, which walks over the same cells (`nested_cells`); but some factors come in pairs,
the start and the end of an event that must not be in any of several regions of both.  Given the ticks of the
variables each region is a rectangle of a start and an end, for lengths of its own.  What is left of the
event's law is added up from the rectangles between: positive terms, so that a sum is 0 exactly when nothing
is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.tick_differences import pairs_apart
from cepctl.engines.columns.tick_masses import ends_of
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.columns.time_cuts import with_cut
from cepctl.engines.confidence.coupled.factor_masses import factor_mass, region_ticks
from cepctl.engines.confidence.coupled.nested_cells import (
    CELL,
    CELLS,
    COEFFICIENT,
    TOTAL,
    WORK,
    enter,
    next_tick,
    prepare,
)
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE
from cepctl.engines.kernels.kernel import inner, kernel


class Absences(NamedTuple):
    """Of each factor, shape (f,): `pairs` > 0 where it is the first of so many pairs of a start and an end
    that belong to one event, 0 where it stands alone, -1 where it is one of those that follow.

    `law` and `asked`, shape (f, 2): lengths that the event can have, and those at which it must not be in the
    region of a pair.
    `whole`: the probability of its law.
    """

    pairs: Indexes
    law: Ticks
    asked: Ticks
    whole: Reals


@kernel
def solve_with_absences(batch, absences, space, limits, confidence, first):
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    most = 2 * (absences.pairs.max() if len(absences.pairs) else 0) + 4
    rectangles, cuts = np.empty((most, 6), dtype=np.int64), np.empty((2, 2 * most), dtype=np.int64)
    for row in range(len(batch.variables.event)):
        prepare(batch, row, space)
        _decide_together(batch.factors, absences, row, space.decided_at)
        first[row] = IMPOSSIBLE
        for step in range(2 if limits.summing else 1):
            searching = step == 0
            if not searching and first[row] == IMPOSSIBLE:
                break
            space.counters[WORK] = 0
            bound = limits.search if searching else limits.work
            found, total = _nested(batch, absences, row, space, rectangles, cuts, searching, bound)
            if space.counters[WORK] > bound:
                return row
            if searching:
                first[row] = found
            else:
                confidence[row] = total
    return -1


@inner
def _decide_together(factors, absences, row, decided_at):
    """The pairs of one event are decided with the last of them."""
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    for i in range(end - begin):
        size = 2 * absences.pairs[begin + i]
        if size > 0:
            decided_at[i : i + size] = decided_at[i : i + size].max()


@inner
def _nested(batch, absences, row, space, rectangles, cuts, searching, work_bound):
    factors, buckets, event = batch.factors, batch.buckets, batch.variables.event[row]
    cursor, sums, tick, decided_at = space.cursor, space.sums, space.tick, space.decided_at
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    deepest, level = len(event) - 1, 0
    enter(batch, row, level, space)
    while True:
        at, weight = next_tick(
            buckets, event, level, space.cells, space.nodes, space.weights, cursor, sums, space.stop,
            decided_at[: end - begin], searching and level == 0,
        )  # fmt: skip
        if cursor[level, CELL] >= cursor[level, CELLS]:
            total = sums[level, TOTAL]
            level -= 1
            if level < 0:
                return IMPOSSIBLE, total
            sums[level, TOTAL] += sums[level, COEFFICIENT] * total
            continue
        tick[level] = at
        space.counters[WORK] += 1 + end - begin
        if space.counters[WORK] > work_bound:
            return IMPOSSIBLE, 0.0
        product = 1.0
        for i in range(end - begin):
            if decided_at[i] == level and product != 0.0:
                if absences.pairs[begin + i] == 0:
                    product *= factor_mass(factors, begin + i, buckets, tick, space.outside)
                elif absences.pairs[begin + i] > 0:
                    product *= _absent(factors, absences, begin + i, buckets, tick, rectangles, cuts)
        if product == 0.0:
            continue
        if level == deepest:
            if searching:
                return tick[0], product
            sums[level, TOTAL] += weight * product
        else:
            sums[level, COEFFICIENT] = weight * product
            level += 1
            enter(batch, row, level, space)


@inner
def _absent(factors, absences, number, buckets, tick, rectangles, cuts):
    """What is left of the law of an event that must not be in any region of its start and end."""
    start, end = factors.event[number], factors.event[number + 1]
    count = 0
    for pair in range(absences.pairs[number]):
        here = rectangles[count]
        here[0], here[1] = _side(factors, number + 2 * pair, buckets, tick)
        here[2], here[3] = _side(factors, number + 2 * pair + 1, buckets, tick)
        here[4], here[5] = absences.asked[number + 2 * pair]
        if here[0] <= here[1] and here[2] <= here[3]:
            count += 1
    sizes = (
        _sorted_cuts(rectangles[:count, 0], rectangles[:count, 1], ends_of(buckets, start), cuts[0]),
        _sorted_cuts(rectangles[:count, 2], rectangles[:count, 3], ends_of(buckets, end), cuts[1]),
    )
    least, most = absences.law[number]
    total = 0.0
    for i in range(sizes[0] - 1):
        for k in range(sizes[1] - 1):
            cell = (cuts[0, i], cuts[0, i + 1] - 1, cuts[1, k], cuts[1, k + 1] - 1)
            # No length is less, and nothing is added to the greatest integer.
            at = max(least, -LAST)
            while at <= most:
                absent, until = _alike_from(rectangles[:count], cell, at, most)
                if not absent:
                    total += _mass(buckets, start, end, cell, at, until)
                if until >= most:
                    break
                at = until + 1
    return total / absences.whole[number]


@inner
def _side(factors, number, buckets, tick):
    """The ticks of one endpoint that its region leaves to it."""
    first, last = ends_of(buckets, factors.event[number])
    return region_ticks(factors, factors.region_offsets[number], first, last, tick)


@inner
def _sorted_cuts(firsts, lasts, ends, cuts):
    cuts[0], cuts[1] = ends[0], ends[1] + 1
    count = 2
    for i in range(len(firsts)):
        for at in (firsts[i], lasts[i] + 1):
            count = with_cut(cuts, count, at)
    return count


@inner
def _alike_from(rectangles, cell, length, most):
    """Whether an event of this length must be absent from a cell, and up to which one the same holds."""
    until = most
    for r in range(len(rectangles)):
        if (
            rectangles[r, 0] <= cell[0]
            and cell[1] <= rectangles[r, 1]
            and rectangles[r, 2] <= cell[2]
            and cell[3] <= rectangles[r, 3]
        ):
            if rectangles[r, 4] <= length <= rectangles[r, 5]:
                return True, min(most, rectangles[r, 5])
            if rectangles[r, 4] > length:
                until = min(until, rectangles[r, 4] - 1)
    return False, until


@inner
def _mass(buckets, start, end, cell, least, most):
    """P(start and end in a rectangle, the length within its bounds)."""
    total = 0.0
    for b in range(buckets.starts[start], buckets.starts[start + 1]):
        first, last = max(buckets.lo[b], cell[0]), min(buckets.hi[b], cell[1])
        if first <= last:
            for c in range(buckets.starts[end], buckets.starts[end + 1]):
                begin, stop = max(buckets.lo[c], cell[2]), min(buckets.hi[c], cell[3])
                if begin <= stop:
                    apart = pairs_apart(first, last, begin, stop, least, most)
                    total += buckets.density[b] * buckets.density[c] * apart
    return total
