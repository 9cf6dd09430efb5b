"""The mass of a start and an end that must be in none of several regions of both.

Given the ticks of the variables each region is a rectangle of a start and an end, for lengths of its own.
What is left of the event's law is added up from the rectangles between: positive terms, so that a sum is 0
exactly when nothing is left.
"""

from __future__ import annotations

from cepctl.engines.columns.tick_masses import ends_of, pairs_apart
from cepctl.engines.columns.tick_sums import LAST, with_cut
from cepctl.engines.confidence.coupled.factor_masses import region_ticks
from cepctl.engines.kernels.kernel import inner


@inner
def pair_mass(factors, pairs, number, laws, tick, rectangles, cuts):
    """What is left of the law of an event that must not be in any region of its start and end."""
    start, end = factors.event[number], factors.event[number + 1]
    count = 0
    for pair in range(pairs.size[number]):
        here = rectangles[count]
        here[0], here[1] = _side(factors, number + 2 * pair, laws, tick)
        here[2], here[3] = _side(factors, number + 2 * pair + 1, laws, tick)
        here[4], here[5] = pairs.asked[number + 2 * pair]
        if here[0] <= here[1] and here[2] <= here[3]:
            count += 1
    sizes = (
        _sorted_cuts(rectangles[:count, 0], rectangles[:count, 1], ends_of(laws, start), cuts[0]),
        _sorted_cuts(rectangles[:count, 2], rectangles[:count, 3], ends_of(laws, end), cuts[1]),
    )
    least, most = pairs.law[number]
    total = 0.0
    for i in range(sizes[0] - 1):
        for k in range(sizes[1] - 1):
            cell = (cuts[0, i], cuts[0, i + 1] - 1, cuts[1, k], cuts[1, k + 1] - 1)
            # No length is less, and nothing is added to the greatest integer.
            at = max(least, -LAST)
            while at <= most:
                absent, until = _alike_until(rectangles[:count], cell, at, most)
                if not absent:
                    total += _mass(laws, start, end, cell, at, until)
                if until >= most:
                    break
                at = until + 1
    return total / pairs.whole[number]


@inner
def _side(factors, number, laws, tick):
    """The ticks of one endpoint that its region leaves to it."""
    first, last = ends_of(laws, factors.event[number])
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
def _alike_until(rectangles, cell, length, most):
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
def _mass(laws, start, end, cell, least, most):
    """P(start and end in a rectangle, the length within its bounds)."""
    total = 0.0
    for b in range(laws.starts[start], laws.starts[start + 1]):
        first, last = max(laws.lo[b], cell[0]), min(laws.hi[b], cell[1])
        if first <= last:
            for c in range(laws.starts[end], laws.starts[end + 1]):
                begin, stop = max(laws.lo[c], cell[2]), min(laws.hi[c], cell[3])
                if begin <= stop:
                    apart = pairs_apart(first, last, begin, stop, least, most)
                    total += laws.density[b] * laws.density[c] * apart
    return total
