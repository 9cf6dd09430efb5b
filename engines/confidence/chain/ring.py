"""The links of a chain as a ring, which is opened where a link holds anyway, and falls apart into runs.

Order and window are links, each between an event and the next one:

    t_1 < t_2 < ... < t_l < t_1 + W

A link that holds at all ticks of both events says nothing.  Where one does, the ring is opened: what follows
it, and then what comes before it, a window later, is a chain without window, of which further links that hold
make runs.  Where every link may fail, the ticks of the first event are parted: before all ticks of the second its
link to that holds; late enough, the window does.  What is left between is summed with its window.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.confidence.chain.cells import WIDEST_CELL
from cepctl.engines.confidence.chain.runs import MORE, WINDOWED

NO_WINDOW = 0
MOST_PARTS = 3
"""A chain is the sum of at most so many."""
_NOWHERE = -1
_FARTHEST = 1 << 61
"""Ticks of chains that reach farther are not moved by a window: int64 may not hold them."""


@njit(nogil=True, cache=True)
def lay_out(buckets, matches, valid_lower, valid_upper, window, begin, end, runs, row_of):
    """Fill the runs of all parts of some matches, and the row of each part; returns how many parts there are."""
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    product, low, high, mass, offsets, whole, counts, chain, first_event, size_of = runs
    counts[:] = 0
    parts, event, k, positions = 0, 0, 0, matches.shape[1]
    for row in range(begin, end):
        opened = _opened(valid_lower, valid_upper, row, window)
        for number in range(MOST_PARTS if opened == _NOWHERE else 1):
            least, most, at = valid_lower[row, 0], valid_upper[row, 0], opened
            if opened == _NOWHERE:
                least, most, at = _part(
                    number, least, most, valid_lower[row, 1], valid_upper[row, positions - 1], window
                )
                if least > most:
                    continue
            row_of[parts], product[parts] = row, 1.0
            kind, size, reached = WINDOWED, 0, 0
            for place in range(positions):
                position = place + max(at, 0)
                moved = window if position >= positions else 0
                position -= positions if position >= positions else 0
                first, last = valid_lower[row, position], valid_upper[row, position]
                if position == 0:
                    first, last = least, most
                bucket, stop = starts[matches[row, position]], starts[matches[row, position] + 1]
                whole[event] = first <= lo[bucket] and hi[stop - 1] <= last
                for b in range(bucket, stop):
                    start, end_tick = max(lo[b], first), min(hi[b], last)
                    if start <= end_tick:
                        if apart(start, end_tick) >= WIDEST_CELL:
                            low[k], high[k], mass[k] = start + moved, start + moved + (WIDEST_CELL - 1), density[b]
                            start += WIDEST_CELL
                            k += 1
                        low[k], high[k], mass[k] = start + moved, end_tick + moved, density[b]
                        k += 1
                if place > 0 and (at == _NOWHERE or reached >= first + moved):
                    counts[kind] -= 1
                    size += 1
                else:
                    size = 1
                reached = last + moved
                kind = WINDOWED if at == _NOWHERE else min(size, MORE + 1) - 1
                run = counts[kind]
                chain[kind, run], first_event[kind, run], size_of[kind, run] = parts, event - size + 1, size
                counts[kind] += 1
                event += 1
                offsets[event] = k
            parts += 1
    return parts


@njit(nogil=True, cache=True)
def _opened(lower, upper, row, window):
    """The position that a chain without window begins with; _NOWHERE where every link may fail."""
    last = lower.shape[1] - 1
    reach = apart(lower[row, 0], upper[row, last])
    if window == NO_WINDOW or last == 0 or reach < window:
        return 0
    for position in range(1, last + 1):
        if upper[row, position - 1] < lower[row, position] and reach <= _FARTHEST:
            return position
    return _NOWHERE


@njit(nogil=True, cache=True)
def _part(number, least, most, second, last, window):
    """Ticks of the first event, and the position that a chain without window then begins with."""
    if apart(least, last) > _FARTHEST:
        return least, most if number == 0 else least - 1, _NOWHERE
    in_window = last - window + 1
    if number == 0:
        return least, min(most, second - 1), 1
    if number == 1:
        return max(least, second, in_window), most, 0
    return max(least, second), min(most, in_window - 1), _NOWHERE
