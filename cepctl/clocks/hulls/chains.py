"""Windows of pairs of clocks -> how far each clock is ahead of the reference, over chains of hosts.

A clock c is ahead of the reference by what it is ahead of a host p, and p of the reference.  The first is
known at readings of c, the other at readings of p, which differ by the first; over these p drifts as far as
it may:

    ahead(c, t) = ahead(c of p, t) + ahead(p, t - ahead(c of p, t))
    widened     both bounds by drift * |ahead(c of p)|

Of several chains that lead to a clock in a window the one with the narrowest bounds counts: shortest paths,
all windows at a time, by Bellman and Ford.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clocks.hulls.fractions import along
from cepctl.clocks.hulls.windows import Windows
from cepctl.clocks.logs.values import growth
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_FAR = 2**62
_WIDEST = 2**61


@dataclass(frozen=True, eq=False)
class LinkedClocks:
    """Windows of links with the two clocks of each, places among the hosts: `host` is ahead of `other`."""

    host: Indexes
    other: Indexes
    windows: Windows

    def taken(self, which: Indexes | Flags) -> LinkedClocks:
        """Some of the windows, in the order of `which`."""
        return LinkedClocks(self.host[which], self.other[which], self.windows.taken(which))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Windows of links as steps of chains, by state: a clock in a window; arrays of shape (k,).

    `before` is the state of the other clock, of no meaning where that is the reference: `is_direct`.  Both
    bounds are `wider` then than the sum.
    """

    links: LinkedClocks
    state: Indexes
    before: Indexes
    is_direct: Flags
    wider: Ticks


@dataclass(eq=False)
class _Best:
    """The narrowest bounds of each state so far, at begin and end, and how wide both are: _FAR for none."""

    cost: Ticks
    bounds: tuple[Ticks, Ticks, Ticks, Ticks]


@dataclass(frozen=True, eq=False)
class Chained:
    """How far clocks are ahead of the reference, by host and begin; each window of a host once.

    Windows are cut where those of other links begin or end inside of them.  In so many, `contradicted`, the
    bounds of several chains do not meet.
    """

    links: LinkedClocks
    contradicted: int


def chained(links: LinkedClocks, reference: int, drift: int) -> Chained:
    """Follow links from the reference to all clocks that they lead to."""
    cut = _cut(links)
    begins, at = np.unique(cut.windows.begin, return_inverse=True)
    states, state = np.unique(cut.host * len(begins) + at, return_inverse=True)
    steps = _steps(cut, states, state, cut.other * len(begins) + at, reference, drift)
    best = _narrowest(steps, len(states))
    found = np.flatnonzero(best.cost < _FAR)
    host, place = np.divmod(states[found], max(len(begins), 1))
    # Windows that begin at one reading end at one, too: each is cut where others are.
    ends = np.zeros(len(begins), np.int64)
    ends[at] = cut.windows.end
    windows = Windows(host, begins[place], ends[place], *(each[found] for each in best.bounds))
    return Chained(LinkedClocks(host, np.full(len(found), reference), windows), _contradicted(steps, best))


def _contradicted(steps: _Steps, best: _Best) -> int:
    """How many states have steps whose bounds do not meet."""
    cost, (low, high, low_to, high_to) = _added(steps, best)
    known = cost < _FAR
    state = steps.state[known]
    if not len(state):
        return 0
    starts = np.flatnonzero(np.diff(state, prepend=-1))
    apart = [
        np.maximum.reduceat(below[known], starts) > np.minimum.reduceat(above[known], starts)
        for below, above in ((low, high), (low_to, high_to))
    ]
    return int((apart[0] | apart[1]).sum())


def _cut(links: LinkedClocks) -> LinkedClocks:
    """Windows cut at every reading where some window begins or ends."""
    own = links.windows
    edges = np.unique(np.concatenate([own.begin, own.end]))
    first, last = np.searchsorted(edges, own.begin), np.searchsorted(edges, own.end)
    counts = last - first
    row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts) + first[row]
    begin, end = edges[place], edges[place + 1] if len(place) else place
    sides = [
        _between(own, row, reading, *bounds)
        for reading in (begin, end)
        for bounds in ((own.low, own.low_to, 1), (own.high, own.high_to, -1))
    ]
    return LinkedClocks(links.host[row], links.other[row], Windows(own.link[row], begin, end, *sides))


def _between(own: Windows, row: Indexes, reading: Ticks, begin: Ticks, end: Ticks, sign: int) -> Ticks:
    """A bound at readings inside of windows: no line is beyond the line between both extremes.

    Rounded down, or up for the sign -1.
    """
    whole, _ = along(sign * (end - begin)[row], (own.end - own.begin)[row], reading - own.begin[row])
    return np.asarray(begin[row] + sign * whole)


def _steps(
    cut: LinkedClocks, states: Indexes, state: Indexes, other: Indexes, reference: int, drift: int
) -> _Steps:
    """The steps that chains can take: from the reference, or from a clock that is known in the window."""
    order = np.lexsort((cut.other, state))
    cut, state, other = cut.taken(order), state[order], other[order]
    before = np.minimum(np.searchsorted(states, other), len(states) - 1)
    usable = (cut.other == reference) | (states[before] == other)
    cut, state, before = cut.taken(usable), state[usable], before[usable]
    is_direct = cut.other == reference
    own = cut.windows
    furthest = np.maximum(
        np.maximum(np.abs(own.low), np.abs(own.high)), np.maximum(np.abs(own.low_to), np.abs(own.high_to))
    )
    return _Steps(cut, state, before, is_direct, np.where(is_direct, 0, growth(furthest, drift)))


def _narrowest(steps: _Steps, count: int) -> _Best:
    """The narrowest bounds of so many states."""
    low, high, low_to, high_to = np.zeros((4, count), np.int64)
    best = _Best(np.full(count, _FAR), (low, high, low_to, high_to))
    if not len(steps.state):
        return best
    starts = np.flatnonzero(np.diff(steps.state, prepend=-1))
    counts, at = np.diff(starts, append=len(steps.state)), steps.state[starts]
    while True:
        cost, sums = _added(steps, best)
        least = np.minimum.reduceat(cost, starts)
        better = least < best.cost[at]
        if not better.any():
            return best
        equal = np.flatnonzero(cost == np.repeat(least, counts))
        _, first = np.unique(steps.state[equal], return_index=True)
        row, changed = equal[first][better], at[better]
        best.cost[changed] = cost[row]
        for column, values in zip(best.bounds, sums, strict=True):
            column[changed] = values[row]


def _added(steps: _Steps, best: _Best) -> tuple[Ticks, tuple[Ticks, Ticks, Ticks, Ticks]]:
    """What each step makes of the bounds of the clock before it, and how wide that is."""
    own, before = steps.links.windows, steps.before
    low, high, low_to, high_to = (
        each + sign * steps.wider + np.where(steps.is_direct, 0, known[before])
        for each, known, sign in zip(
            (own.low, own.high, own.low_to, own.high_to), best.bounds, (-1, 1, -1, 1), strict=True
        )
    )
    cost = np.where(steps.is_direct | (best.cost[before] < _FAR), (high - low) + (high_to - low_to), _FAR)
    furthest = np.maximum(np.maximum(-low, high), np.maximum(-low_to, high_to))
    return np.where((furthest < _WIDEST) & (cost < _FAR), cost, _FAR), (low, high, low_to, high_to)
