"""Pieces of keys: where the order of a key's events is open, and what of it is beyond a limit.

Events of a key whose intervals touch each other, one after the other, are a *run*: those of two runs are in
certain order.  A run with events of two steps is open, in every other one all orders have the same steps.
Under every law what comes before an event whose place is certain, and what comes after it, are independent.
So a key is measured in pieces: open runs that follow one on the other, with the event right before them and
the one right after, where there are some.  A piece of more sets alive in a cell than the limit is beyond,
whatever else its key has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.keys import DEFAULT_LIMIT, Factors, Keys
from cepctl.engines.order_laws.table import sets_alive


@dataclass(frozen=True)
class OpenRuns:
    """The runs of n events, which stand by key and by their first tick.

    `key`: of each event; `run`: its number, which rises by one from run to run; `is_open`: whether the order
    in its run is open; shape (n,) each.
    """

    key: Indexes
    run: Indexes
    is_open: Flags

    @classmethod
    def of(cls, key: Indexes, lower: Ticks, upper: Ticks, step: Indexes) -> OpenRuns:
        """The runs of events; `step`: a number of each event's step."""
        # Keys are put one after the other on one line, on which ticks are numbered.
        ticks, place = np.unique(np.concatenate([lower, upper]), return_inverse=True)
        begin, end = np.split(place.reshape(-1), 2) + key * len(ticks)
        gap = np.append(True, begin[1:] > np.maximum.accumulate(end)[:-1])[: len(end)]
        run = np.cumsum(gap) - 1
        first = np.flatnonzero(gap)
        if not len(first):
            return cls(key, run, np.zeros(0, dtype=bool))
        is_open = np.minimum.reduceat(step, first) < np.maximum.reduceat(step, first)
        return cls(key, run, np.asarray(is_open[run]))

    def pieces(self) -> tuple[Indexes, Indexes]:
        """The first event of each piece, and the event after its last, shape (p,)."""
        count, is_open = len(self.key), self.is_open
        first = np.append(True, self.key[1:] != self.key[:-1])[:count]
        last = np.append(first[1:], True)[:count]
        was_open = np.append(False, is_open[:-1])[:count] & ~first
        goes_on = np.append(is_open[1:], False)[:count] & ~last
        begin = np.flatnonzero(is_open & ~was_open)
        end = np.flatnonzero(is_open & ~goes_on)
        return begin - ~first[begin], end + 1 + ~last[end]


@dataclass(frozen=True)
class KeyPieces:
    """The pieces of some keys.

    `keys`: each piece as a key; `event`: the place of each of their events in the keys that were cut;
    `at_begin`, `at_end`: whether no event of its key comes before a piece, and after it, shape (p,).
    """

    keys: Keys
    event: Indexes
    at_begin: Flags
    at_end: Flags

    @classmethod
    def of(cls, keys: Keys) -> KeyPieces:
        """The pieces of keys whose events are in any order."""
        lower, upper, key = keys.masses.lower, keys.masses.upper, keys.key
        order = np.lexsort((upper, lower, key))
        runs = OpenRuns.of(key[order], lower[order], upper[order], keys.step[order])
        begin, end = runs.pieces()
        piece, place = places_in_runs(end - begin)
        event = order[begin[piece] + place]
        starts = np.concatenate([[0], np.cumsum(end - begin)])
        pieces = Keys(keys.masses.take(event), starts, keys.step[event])
        return cls(pieces, event, runs.is_open[begin], runs.is_open[end - 1])

    def beyond(self, factors: Factors, limit: int = DEFAULT_LIMIT) -> Flags:
        """Pieces of more sets alive in a cell than the limit, but for those of which the law says nothing."""
        found = sets_alive(self.keys) > limit
        for piece in np.flatnonzero(found).tolist():
            found[piece] = not self._says_nothing(factors, piece)
        return found

    def _says_nothing(self, factors: Factors, piece: int) -> bool:
        """Whether all orders of a piece have the same factors, each of which is 1."""
        step = self.keys.step[self.keys.starts[piece] : self.keys.starts[piece + 1]]
        at_begin, at_end = bool(self.at_begin[piece]), bool(self.at_end[piece])
        inner = step[not at_begin : len(step) - (not at_end)]
        one = np.append(inner, factors.steps if at_begin else step[0])
        other = np.append(inner, factors.steps if at_end else step[-1])
        following, before = factors.following[np.ix_(one, other)], factors.before[np.ix_(inner, inner)]
        return bool((following == 1.0).all() and (before == 1.0).all())
