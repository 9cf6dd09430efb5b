"""The links of a chain as a ring, which is opened where a link holds anyway.

Order and window are links, each between an event and the next one:

    t_1 < t_2 < ... < t_l < t_1 + W

A link that holds at all ticks of both events says nothing.  Where one does, the ring is opened: what follows
it, and then what comes before it, a window later, is a chain without window.  Where every link may fail, the
ticks of the first event are parted: before all ticks of the second its link to that holds; late enough, the
window does.  What is left between is summed with its window.
"""

from __future__ import annotations

from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.kernels.kernel import inner

NO_WINDOW = 0
MOST_PARTS = 3
"""A chain is the sum of at most so many."""
_NOWHERE = -1
_FARTHEST = 1 << 61
"""Ticks of chains that reach farther are not moved by a window: int64 may not hold them."""


@inner
def open_rings(matches, valid_lower, valid_upper, window, begin, end, runs, row_of):
    """Fill the events of all parts of some matches, and the row of each part; returns the numbers of both."""
    event, first, last, moved = runs.event, runs.first, runs.last, runs.moved
    part, tied, product, windowed = runs.part, runs.tied, runs.product, runs.windowed
    parts, events, positions = 0, 0, matches.shape[1]
    for row in range(begin, end):
        opened = _opened(valid_lower, valid_upper, row, window)
        for number in range(MOST_PARTS if opened == _NOWHERE else 1):
            least, most, at = valid_lower[row, 0], valid_upper[row, 0], opened
            if opened == _NOWHERE:
                limits = valid_lower[row, 1], valid_upper[row, positions - 1]
                least, most, at = _part(number, least, most, *limits, window)
                if least > most:
                    continue
            row_of[parts], product[parts], windowed[parts] = row, 1.0, at == _NOWHERE
            position, by = max(at, 0), 0
            for place in range(positions):
                event[events], part[events], moved[events] = matches[row, position], parts, by
                first[events] = valid_lower[row, position] if position else least
                last[events] = valid_upper[row, position] if position else most
                tied[events] = place > 0 and (
                    at == _NOWHERE or last[events - 1] + moved[events - 1] >= first[events] + by
                )
                events += 1
                position += 1
                if position == positions:
                    position, by = 0, window
            parts += 1
    return parts, events


@inner
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


@inner
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
