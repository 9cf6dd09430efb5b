"""Pieces of keys: where the order of a key's events is open.

Events of a key whose intervals touch each other, one after the other, are a *run*: those of two runs are in
certain order.  A run with events of two steps is open, in every other one all orders have the same steps.
Under every law what comes before an event whose place is certain, and what comes after it, are independent.
So a key is measured in pieces: open runs that follow one on the other, of which it is known what comes right
before them and right after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.keys import Keys


class PieceEnds(NamedTuple):
    """Of each piece its first event, the event after its last, and the codes that surround it, shape (p,)."""

    begin: Indexes
    end: Indexes
    before: Indexes
    after: Indexes


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

    def pieces(self, step: Indexes, edge: Indexes) -> PieceEnds:
        """The pieces of n events; `step`: the code of each, `edge`: that of both ends of its key."""
        count, is_open = len(self.key), self.is_open
        first = np.append(True, self.key[1:] != self.key[:-1])[:count]
        last = np.append(first[1:], True)[:count]
        begin = np.flatnonzero(is_open & (first | ~np.append(False, is_open[:-1])[:count]))
        end = np.flatnonzero(is_open & (last | ~np.append(is_open[1:], False)[:count])) + 1
        before = np.where(first, edge, np.roll(step, 1))[begin]
        after = np.where(last, edge, np.roll(step, -1))[end - 1]
        return PieceEnds(begin, end, before, after)


def pieces_of(keys: Keys, edge: Indexes) -> tuple[Keys, Indexes]:
    """The pieces of keys whose events are in any order, each as a key; the place of each of their events.

    `edge`: of each event the code of both ends of its key.
    """
    lower, upper, key = keys.masses.lower, keys.masses.upper, keys.key
    order = np.lexsort((upper, lower, key))
    runs = OpenRuns.of(key[order], lower[order], upper[order], keys.step[order])
    ends = runs.pieces(keys.step[order], edge[order])
    piece, place = places_in_runs(ends.end - ends.begin)
    event = order[ends.begin[piece] + place]
    starts = np.concatenate([[0], np.cumsum(ends.end - ends.begin)])
    around = ends.before, ends.after
    return Keys(keys.masses.take(event), starts, keys.step[event], around=around), event
