"""Bounds of the differences of clocks -> windows, in each of which lines lie within all of them.

Time is cut into equal windows.  Where no line fits into one, as a clock changed its drift, it is halved, and
so on: two bounds that the drift allows have a line of their own at last.  Two that it does not allow
contradict each other however short a window is.  Windows with bounds from one side alone say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from cepctl.clocks.hulls.fractions import along
from cepctl.clocks.hulls.lines import WindowBounds, extremes
from cepctl.clocks.logs.values import SECOND
from cepctl.numeric.arrays import Flags, Indexes, Ticks


@dataclass(frozen=True, eq=False)
class LinkBounds:
    """Bounds from one side of how far one clock is ahead of another; arrays of shape (k,), nanoseconds.

    `link`: which two clocks.  `time`: a reading of the first of them.  `pair`: the order that says it.
    """

    link: Indexes
    time: Ticks
    value: Ticks
    pair: Indexes

    def taken(self, which: Indexes | Flags) -> LinkBounds:
        """Some of the bounds, in the order of `which`."""
        return LinkBounds(self.link[which], self.time[which], self.value[which], self.pair[which])


@dataclass(frozen=True)
class Grid:
    """`count` windows of `length` nanoseconds from the reading `first` on."""

    first: int
    length: int
    count: int

    @classmethod
    def over(cls, first: int, last: int, window: int) -> Grid:
        """Equal windows of about the length `window` that hold the readings from `first` to `last`."""
        span = last - first + 1
        count = max((2 * span + window) // (2 * window), 1)
        return cls(first, -(-span // count), count)

    @property
    def end(self) -> int:
        """The reading at which the last window ends."""
        return self.first + self.length * self.count


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows [begin, end) of links with the extremes of their lines; arrays of shape (m,), nanoseconds.

    By link and begin.  The extremes are `low`, `high` at the begin, `low_to`, `high_to` at the end.
    """

    link: Indexes
    begin: Ticks
    end: Ticks
    low: Ticks
    high: Ticks
    low_to: Ticks
    high_to: Ticks

    def taken(self, which: Indexes | Flags) -> Windows:
        """Some of the windows, in the order of `which`."""
        return Windows(*(getattr(self, each.name)[which] for each in fields(self)))


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was found: the windows, how many were halved, and of how many only one side is known.

    `lower` and `upper` are bounds that contradict each other, and `gap` by how many nanoseconds, the worst
    first; all of shape (c,).
    """

    windows: Windows
    halved: int
    one_sided: int
    lower: LinkBounds
    upper: LinkBounds
    gap: Ticks


def fitted(lower: LinkBounds, upper: LinkBounds, grid: Grid, drift: int) -> Fitted:
    """Fit lines into the windows of all links.

    `lower`, `upper`: what is known from either side, at readings in the grid.  `drift`: how far apart two
    clocks drift at most, in nanoseconds per second.
    """
    level, one_sided = _WindowLevel.on(grid, lower, upper).two_sided()
    halved = 0
    windows = [Windows(*_nothing(Windows))]
    torn = [(LinkBounds(*_nothing(LinkBounds)), LinkBounds(*_nothing(LinkBounds)), np.zeros(0, np.int64))]
    while len(level):
        lines = extremes(level.length, level.bounds(level.lower), level.bounds(level.upper), drift)
        kept = (level.link, level.begin, level.end, lines.low, lines.high, lines.low_to, lines.high_to)
        windows.append(Windows(*(each[lines.fits] for each in kept)))
        level = level.only(~lines.fits)
        is_torn, contradictions = level.contradictions(drift)
        torn.extend(contradictions)
        level = level.only(~is_torn)
        halved += len(level)
        level, alone = level.in_halves().two_sided()
        one_sided += alone
    all_windows = Windows(*_joined(windows))
    low, high, gaps = zip(*torn, strict=True)
    below, above, gap = LinkBounds(*_joined(low)), LinkBounds(*_joined(high)), np.concatenate(gaps)
    order = np.lexsort((all_windows.begin, all_windows.link))
    worst = np.lexsort((above.pair, below.pair, -gap))
    return Fitted(
        all_windows.taken(order), halved, one_sided, below.taken(worst), above.taken(worst), gap[worst]
    )


def _nothing(kind: type[Windows | LinkBounds]) -> Iterator[Ticks]:
    return (np.zeros(0, np.int64) for _ in fields(kind))


def _joined(parts: Sequence[Windows] | Sequence[LinkBounds]) -> Iterator[Ticks]:
    return (np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(parts[0]))


@dataclass(frozen=True, eq=False)
class _WindowLevel:
    """Windows, arrays of shape (m,), and the bounds in them by window: which is that of each, rising."""

    link: Indexes
    begin: Ticks
    end: Ticks
    lower: LinkBounds
    upper: LinkBounds
    of_lower: Indexes
    of_upper: Indexes

    def __len__(self) -> int:
        return len(self.begin)

    @classmethod
    def on(cls, grid: Grid, lower: LinkBounds, upper: LinkBounds) -> _WindowLevel:
        """The windows of a grid that have some bound."""
        keys = [each.link * grid.count + (each.time - grid.first) // grid.length for each in (lower, upper)]
        found, places = np.unique(np.concatenate(keys), return_inverse=True)
        link, place = np.divmod(found, grid.count)
        begin = grid.first + place * grid.length
        of_lower, of_upper = np.split(places, [len(lower.time)])
        return cls._sorted(link, begin, begin + grid.length, lower, upper, of_lower, of_upper)

    @classmethod
    def _sorted(
        cls, link: Indexes, begin: Ticks, end: Ticks, lower: LinkBounds, upper: LinkBounds,
        of_lower: Indexes, of_upper: Indexes,
    ) -> _WindowLevel:  # fmt: skip
        one, other = (np.argsort(each, kind="stable") for each in (of_lower, of_upper))
        sorted_bounds = lower.taken(one), upper.taken(other)
        return cls(link, begin, end, *sorted_bounds, of_lower[one], of_upper[other])

    @property
    def length(self) -> Ticks:
        """Of each window."""
        return self.end - self.begin

    def bounds(self, side: LinkBounds) -> WindowBounds:
        """The bounds of one side with their times in their windows."""
        window = self.of_lower if side is self.lower else self.of_upper
        return WindowBounds(window, side.time - self.begin[window], side.value)

    def only(self, kept: Flags) -> _WindowLevel:
        """Some of the windows."""
        number = np.cumsum(kept) - 1
        lower, upper = np.flatnonzero(kept[self.of_lower]), np.flatnonzero(kept[self.of_upper])
        return _WindowLevel(
            self.link[kept], self.begin[kept], self.end[kept],
            self.lower.taken(lower), self.upper.taken(upper),
            number[self.of_lower[lower]], number[self.of_upper[upper]],
        )  # fmt: skip

    def two_sided(self) -> tuple[_WindowLevel, int]:
        """The windows with bounds from both sides, and how many have those of one alone."""
        has_lower, has_upper = np.zeros(len(self), bool), np.zeros(len(self), bool)
        has_lower[self.of_lower], has_upper[self.of_upper] = True, True
        return self.only(has_lower & has_upper), int((has_lower ^ has_upper).sum())

    def in_halves(self) -> _WindowLevel:
        """Both halves of each window."""
        middle = self.begin + self.length // 2
        begin = np.stack([self.begin, middle], axis=1).ravel()
        end = np.stack([middle, self.end], axis=1).ravel()
        of_lower, of_upper = (
            2 * window + (side.time >= middle[window])
            for side, window in ((self.lower, self.of_lower), (self.upper, self.of_upper))
        )
        link = np.repeat(self.link, 2)
        return self._sorted(link, begin, end, self.lower, self.upper, of_lower, of_upper)

    def contradictions(self, drift: int) -> tuple[Flags, list[tuple[LinkBounds, LinkBounds, Ticks]]]:
        """Which windows have bounds so far apart that the drift does not lead from one to the other.

        With each lower bound that is, the upper one that contradicts it most, and by how much.
        """
        torn = np.zeros(len(self), dtype=bool)
        found = []
        lower, upper = self.bounds(self.lower), self.bounds(self.upper)
        turned = lower.turned(self.length), upper.turned(self.length)
        for sides, at_once in (((lower, upper), True), (turned, False)):
            i, j, gap = _too_far(*sides, drift, at_once=at_once)
            torn[lower.window[i]] = True
            found.append((self.lower.taken(i), self.upper.taken(j), gap))
        return torn, found


def _too_far(
    lower: WindowBounds, upper: WindowBounds, drift: int, *, at_once: bool
) -> tuple[Indexes, Indexes, Ticks]:
    """The lower bounds that no upper bound before them leaves a way to, that upper bound, and the gap.

    `at_once`: whether bounds of one time are looked at, too.

    Compared are l - drift * t with the least u - drift * t before, both exactly: by their ranks.
    """
    count = len(lower.time)
    window = np.concatenate([lower.window, upper.window])
    time = np.concatenate([lower.time, upper.time])
    whole, rest = along(np.full(len(time), drift), np.full(len(time), SECOND), time)
    height = np.concatenate([lower.value, upper.value]) - whole
    is_lower = np.arange(len(time)) < count
    # Of equal heights the lower bound comes first: it does not contradict.
    by_height = np.lexsort((~is_lower, -rest, height))
    rank = np.empty(len(time), np.int64)
    rank[by_height] = np.arange(len(time))
    order = np.lexsort((is_lower == at_once, time, window))
    # Ranks of later windows are all less than those of earlier ones, so that each begins anew.
    below = rank - window * len(time)
    least = np.minimum.accumulate(np.where(is_lower, _LARGEST, below)[order])
    beyond = is_lower[order] & (least < below[order])
    i = order[beyond]
    j = by_height[least[beyond] + window[i] * len(time)]
    gap = height[i] - height[j] + (rest[j] > rest[i])
    return i, j - count, gap


_LARGEST = np.iinfo(np.int64).max
