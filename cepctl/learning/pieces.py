"""Pieces of the keys that teach (cepctl.engines.order_laws.keys), each measured as a key by itself.

Many are alike: pieces of the same steps and stamps, whatever the day, are of one *kind*, and one of them is
measured for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Numbers
from cepctl.engines.columns.masses import Masses, alike_events
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.order_laws.keys import Keys
from cepctl.engines.order_laws.table import sets_alive
from cepctl.learning.keys import TaughtKeys


@dataclass(frozen=True)
class Pieces:
    """p pieces of keys: piece i has the events from starts[i] to starts[i + 1].

    `event`: the place of each in the keys, shape (n,), within a piece in one order for all of its kind.
    `rank`: of each by its true tick, within its piece, shape (n,).  `before`, `after`: the codes that
    surround each piece; `key`: its key; `tied`: whether it has events of two steps at one true tick; `kind`:
    equal for pieces that are alike; shape (p,).
    """

    event: Indexes
    starts: Indexes
    rank: Indexes
    before: Indexes
    after: Indexes
    key: Indexes
    tied: Flags
    kind: Indexes

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(cls, keys: TaughtKeys) -> Pieces:
        """The pieces of all keys."""
        begin, end, before, after = keys.runs.pieces(keys.step, np.full(len(keys.step), len(keys.steps)))
        piece, place = places_in_runs(end - begin)
        event = begin[piece] + place
        code = _codes(keys, piece, event)
        order = np.lexsort((code, piece))
        event, code = event[order], code[order]
        starts = np.concatenate([[0], np.cumsum(end - begin)])
        return cls(
            event=event,
            starts=starts,
            rank=_ranks(piece, keys.tick[event]),
            before=before,
            after=after,
            key=keys.key[begin],
            tied=_tied(keys, piece, event, len(begin)),
            kind=_numbered(np.column_stack([before, after, _kinds(code, starts)])),
        )

    def only(self, some: Indexes) -> Pieces:
        """Some of the pieces, in this order."""
        sizes = np.diff(self.starts)[some]
        run, place = places_in_runs(sizes)
        at = self.starts[some][run] + place
        starts = np.concatenate([[0], np.cumsum(sizes)])
        before, after, key, kind = (each[some] for each in (self.before, self.after, self.key, self.kind))
        return Pieces(self.event[at], starts, self.rank[at], before, after, key, self.tied[some], kind)

    def within(self, keys: TaughtKeys, limit: int) -> Pieces:
        """Those with no more sets alive in a cell than the limit, by their stamps and true ranks."""
        beyond = sets_alive(self.as_keys(keys, np.arange(len(self)))) > limit
        tied = np.flatnonzero(self.tied)
        beyond[tied] |= sets_alive(self.as_keys(keys, tied, at_true_ranks=True)) > limit
        return self.only(np.flatnonzero(~beyond))

    @property
    def piece(self) -> Indexes:
        """The piece of each event, shape (n,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def as_keys(self, keys: TaughtKeys, some: Indexes, *, at_true_ranks: bool = False) -> Keys:
        """Some pieces as keys to be measured, in this order: by their stamps, or at their true ranks."""
        run, place = places_in_runs(np.diff(self.starts)[some])
        at = self.starts[some][run] + place
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[some])])
        event = self.event[at]
        stamps, around = keys.masses.take(event), (self.before[some], self.after[some])
        if at_true_ranks:
            return Keys(Masses.at(self.rank[at]), starts, keys.step[event], stamps, around)
        return Keys(stamps, starts, keys.step[event], around=around)

    def true_kinds(self) -> Indexes:
        """Numbers that are equal for pieces that are alike in their true ranks, too; shape (p,)."""
        return _kinds(self.rank * (int(self.kind.max(initial=0)) + 1) + self.kind[self.piece], self.starts)


def _codes(keys: TaughtKeys, piece: Indexes, event: Indexes) -> Indexes:
    """Numbers that are equal for events of one step and stamp in a run, counted from its begin."""
    run = keys.runs.run[event]
    fresh = np.append(True, keys.runs.run[1:] != keys.runs.run[:-1])[: len(keys.runs.run)]
    begin = keys.lower[fresh][run]
    number = run - run[np.searchsorted(piece, piece)]
    lower, upper = keys.lower[event] - begin, keys.upper[event] - begin
    return _numbered(np.column_stack([number, lower, upper, _uneven(keys, event), keys.step[event]]))


def _uneven(keys: TaughtKeys, event: Indexes) -> Numbers:
    """Numbers for the masses of events; 0 for those that are even over an interval, which tells them."""
    sizes = np.diff(keys.masses.starts)
    return np.where(sizes > 1, alike_events(keys.masses) + 1, 0)[event]


def _numbered(rows: Numbers) -> Indexes:
    """The number of each row among those that differ, in ascending order."""
    return distinct_rows(rows).which


def _ranks(piece: Indexes, tick: Numbers) -> Indexes:
    order = np.lexsort((tick, piece))
    later = (tick[order][1:] != tick[order][:-1]) & (piece[order][1:] == piece[order][:-1])
    steps = np.append(0, np.cumsum(later))[: len(piece)]
    rank = np.empty(len(piece), dtype=np.int64)
    rank[order] = steps - steps[np.searchsorted(piece, piece)]
    return rank


def _tied(keys: TaughtKeys, piece: Indexes, event: Indexes, count: int) -> Flags:
    tick, step = keys.tick[event], keys.step[event]
    order = np.lexsort((step, tick, piece))
    one, other = order[:-1], order[1:]
    together = (piece[one] == piece[other]) & (tick[one] == tick[other]) & (step[one] != step[other])
    found = np.zeros(count, dtype=bool)
    found[piece[one[together]]] = True
    return found


def _kinds(code: Indexes, starts: Indexes) -> Indexes:
    """Numbers that are equal for pieces with equal codes of events, in their order."""
    sizes = np.diff(starts)
    kind = np.zeros(len(sizes), dtype=np.int64)
    span = int(code.max(initial=0)) + 2
    for place in range(int(sizes.max(initial=0))):
        own = np.full(len(sizes), span - 1)
        there = sizes > place
        own[there] = code[starts[:-1][there] + place]
        kind = np.unique(kind * span + own, return_inverse=True)[1].reshape(-1)
    return kind
