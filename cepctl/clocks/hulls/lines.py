"""The lines that lie within bounds: how far apart two clocks can be at both ends of each window.

In a window the difference of two clocks is a line d(t) = p + s t, t from its begin, with |s| at most the
drift.  Bounds say l <= d(t) or d(t) <= u, each at a time t of its own.  For a slope s

    L(s)     max of l - s t, convex         the least p
    U(s)     min of u - s t, concave        the largest p
    s fits   L(s) <= U(s)                   these slopes are an interval

Of the steepest line that fits, d is least at the begin, L(s), and largest at the end, U(s) + s T; with time
turned round the same finds the other two extremes.  The steepest slope is found from the drift downwards,
by Newton's method: the bounds l and u that forbid a slope forbid all above (u - l) / (their times apart).  It
visits corners of the two hulls of the bounds alone.  All is exact, in whole numbers, for all windows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clocks.hulls.fractions import along
from cepctl.clocks.logs.values import SECOND
from cepctl.numeric.arrays import Flags, Indexes, Numbers, Ticks


@dataclass(frozen=True, eq=False)
class WindowBounds:
    """Bounds from one side in g windows, by window, each of which has one at least; arrays of shape (k,).

    `window`: which, rising.  `time`: nanoseconds from its begin.  `value`: nanoseconds, below 2**60.
    """

    window: Indexes
    time: Ticks
    value: Ticks

    def turned(self, length: Ticks) -> WindowBounds:
        """The bounds with time turned round in each window."""
        return WindowBounds(self.window, length[self.window] - self.time, self.value)


@dataclass(frozen=True, eq=False)
class ExtremeLines:
    """The extremes of g windows, arrays of shape (g,), nanoseconds rounded outwards.

    `low`, `high` at the begin, `low_to`, `high_to` at the end; they mean nothing where no line fits.
    """

    fits: Flags
    low: Ticks
    high: Ticks
    low_to: Ticks
    high_to: Ticks


def extremes(length: Ticks, lower: WindowBounds, upper: WindowBounds, drift: int) -> ExtremeLines:
    """The extremes of the lines that fit into each window.

    `length`: of the windows, nanoseconds below 2**56.  `drift`: nanoseconds per second, above 0.
    """
    rising = _steepest(length, lower, upper, drift)
    falling = _steepest(length, lower.turned(length), upper.turned(length), drift)
    return ExtremeLines(
        rising.fits & falling.fits,
        low=rising.low,
        high=falling.high_to,
        low_to=falling.low,
        high_to=rising.high_to,
    )


@dataclass(frozen=True, eq=False)
class _Steepest:
    """Of the steepest line of each window the least at the begin, the largest at the end."""

    fits: Flags
    low: Ticks
    high_to: Ticks


def _steepest(length: Ticks, lower: WindowBounds, upper: WindowBounds, drift: int) -> _Steepest:
    count = len(length)
    common = int(np.gcd(drift, SECOND))
    rise, run = np.full(count, drift // common), np.full(count, SECOND // common)
    fits = np.ones(count, dtype=bool)
    low, high_to = np.zeros(count, np.int64), np.zeros(count, np.int64)
    left = np.arange(count)
    while len(left):
        least = _Corners.of(lower, left, rise, run, sign=1)
        most = _Corners.of(upper, left, rise, run, sign=-1)
        apart = least.whole - most.whole
        crossed = (apart > 0) | ((apart == 0) & (least.rest < most.rest))
        fit = left[~crossed]
        low[fit] = least.whole[~crossed] - (least.rest[~crossed] > 0)
        whole, rest = along(rise[fit], run[fit], length[fit])
        high_to[fit] = most.whole[~crossed] + whole + (rest > most.rest[~crossed])
        left = left[crossed]
        i, j = least.row[crossed], most.row[crossed]
        run_to, rise_to = upper.time[j] - lower.time[i], upper.value[j] - lower.value[i]
        # Bounds that forbid a slope, and are not the later the higher, forbid all that are less steep.
        possible = (run_to > 0) & (rise_to >= -_allowed(run_to, drift))
        fits[left[~possible]] = False
        left = left[possible]
        rise[left], run[left] = rise_to[possible], run_to[possible]
    return _Steepest(fits, low, high_to)


def _allowed(length: Ticks, drift: int) -> Numbers:
    """How far clocks drift apart at most, in whole nanoseconds."""
    seconds, rest = np.divmod(length, SECOND)
    return np.asarray(seconds * drift + rest * drift // SECOND)


@dataclass(frozen=True, eq=False)
class _Corners:
    """Where a line of given slope touches the bounds of each window: whole - rest / run at the begin."""

    whole: Ticks
    rest: Numbers
    row: Indexes

    @classmethod
    def of(cls, bounds: WindowBounds, windows: Indexes, rise: Numbers, run: Numbers, sign: int) -> _Corners:
        """The largest of the bounds less what the slope makes of their times (sign 1), or the least (-1)."""
        begin, end = (np.searchsorted(bounds.window, windows, side) for side in ("left", "right"))
        counts = end - begin
        starts = np.cumsum(counts) - counts
        row = np.arange(int(counts.sum())) + np.repeat(begin - starts, counts)
        own = bounds.window[row]
        moved, rest = along(rise[own], run[own], bounds.time[row])
        values = sign * (bounds.value[row] - moved)
        best = np.maximum.reduceat(values, starts)
        # Of equal ones the rest decides: as it is taken away, the least is the largest.
        rests = np.where(values == np.repeat(best, counts), sign * rest, _LARGEST)
        least = np.minimum.reduceat(rests, starts)
        first = np.flatnonzero(rests == np.repeat(least, counts))
        _, at = np.unique(own[first], return_index=True)
        return cls(sign * best, sign * least, row[first[at]])


_LARGEST = np.iinfo(np.int64).max
