"""The keys that teach: events of each in the order of their stamps, with the true ticks that are hidden.

A law can tell something of a key only where a run of events that touch each other has events of two steps.
Of such keys the pieces are measured (cepctl.engines.order_laws.keys).  Many are alike: pieces of the same
steps and stamps, whatever the day, are of one *kind*, and one of them is measured for all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.draws import drawn
from cepctl.calibration.truth import numbered_texts
from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import Masses, alike_events
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.order_laws.keys import Keys, OpenRuns
from cepctl.engines.order_laws.kinds import numbers_of_runs
from cepctl.engines.order_laws.table import sets_alive
from cepctl.numeric.arrays import Flags, Indexes, Numbers, Ticks


@dataclass(frozen=True)
class TaughtKeys:
    """n events of some keys: key i has those from offsets[i] to offsets[i + 1].

    `names`: of the keys.  `rows`: of each event in the blurred events; within a key they are in the order of
    `lower`, then id.  `step`: the place of each event's step in `steps`.  `masses`: by the stamps; `tick`:
    true.  All of n events.
    """

    names: tuple[str, ...]
    offsets: Indexes
    rows: Indexes
    step: Indexes
    steps: tuple[str, ...]
    masses: Masses
    tick: Ticks

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, blurred: BlurredEvents, steps: pa.ChunkedArray) -> TaughtKeys:
        """All keys of blurred events; `steps`: of each event."""
        key, (step, names) = blurred.truth.key, numbered_texts(steps)
        rows = np.argsort(key, kind="stable")
        there, sizes = np.unique(key, return_counts=True)
        return cls(
            names=tuple(blurred.truth.keys[each] for each in there.tolist()),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            rows=rows,
            step=step[rows],
            steps=names,
            masses=events_of(blurred.table).masses.take(rows),
            tick=blurred.truth.tick[rows],
        )

    @property
    def lower(self) -> Ticks:
        """The first tick of each event by its stamp."""
        return self.masses.lower

    @property
    def upper(self) -> Ticks:
        """The last one."""
        return self.masses.upper

    @cached_property
    def key(self) -> Indexes:
        """The place of each event's key, shape (n,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def runs(self) -> OpenRuns:
        """The runs of events that touch each other, and which of them hide the order of two steps."""
        return OpenRuns.of(self.key, self.lower, self.upper, self.step)

    @cached_property
    def can_teach(self) -> Flags:
        """Keys of which the order of some steps is hidden, shape (keys,)."""
        some = np.zeros(len(self), dtype=bool)
        some[self.key[self.runs.is_open]] = True
        return some

    def in_hashed_order(self, seed: int) -> Indexes:
        """The keys as a seed draws them, none before another by name or size, shape (keys,)."""
        shares = drawn(seed, "learn", pa.array(self.names, pa.string()))
        return np.lexsort((np.arange(len(self)), shares))

    def folds(self, seed: int, count: int) -> Indexes:
        """The fold of each key, which depends on its name and the seed alone; shape (keys,)."""
        shares = drawn(seed, "fold", pa.array(self.names, pa.string()))
        return np.asarray((shares * count).astype(np.int64))

    def only(self, keys: Indexes) -> TaughtKeys:
        """The events of some keys, in the order of keys as they are here."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[keys] = True
        kept = np.flatnonzero(wanted[self.key])
        sizes = np.diff(self.offsets)[wanted]
        return TaughtKeys(
            names=tuple(name for name, taken in zip(self.names, wanted.tolist(), strict=True) if taken),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            rows=self.rows[kept],
            step=self.step[kept],
            steps=self.steps,
            masses=self.masses.take(kept),
            tick=self.tick[kept],
        )


@dataclass(frozen=True)
class KeyPieces:
    """p pieces of keys, as keys to be measured: by their stamps, and at their `true` ranks in their piece.

    `event`: the place of each of their events in the keys, shape (n,), within a piece in one order for all of
    its kind.  `key`: of each piece; `tied`: whether it has events of two steps at one true tick; `kind`:
    equal for pieces that are alike; shape (p,).
    """

    event: Indexes
    stamped: Keys
    true: Keys
    key: Indexes
    tied: Flags
    kind: Indexes

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(cls, keys: TaughtKeys) -> KeyPieces:
        """The pieces of all keys."""
        begin, end, before, after = keys.runs.pieces(keys.step, np.full(len(keys.step), len(keys.steps)))
        piece, place = places_in_runs(end - begin)
        event = begin[piece] + place
        code = _codes(keys, piece, event)
        order = np.lexsort((code, piece))
        event, code = event[order], code[order]
        starts, stamps = np.concatenate([[0], np.cumsum(end - begin)]), keys.masses.take(event)
        stamped = Keys(stamps, starts, keys.step[event], around=(before, after))
        true = replace(stamped, masses=Masses.at(_ranks(piece, keys.tick[event])), stamps=stamps)
        kind = numbers_of_runs(np.column_stack([code, before[piece], after[piece]]), starts)
        return cls(event, stamped, true, keys.key[begin], _tied(keys, piece, event, len(begin)), kind)

    def only(self, some: Indexes) -> KeyPieces:
        """Some of the pieces, in this order."""
        starts = self.stamped.starts
        run, place = places_in_runs(np.diff(starts)[some])
        stamped, true = (each.take(some) for each in (self.stamped, self.true))
        key, tied, kind = self.key[some], self.tied[some], self.kind[some]
        return KeyPieces(self.event[starts[some][run] + place], stamped, true, key, tied, kind)

    def within(self, limit: int) -> KeyPieces:
        """Those with no more sets alive in a cell than the limit, by their stamps and true ranks."""
        beyond = sets_alive(self.stamped) > limit
        tied = np.flatnonzero(self.tied)
        beyond[tied] |= sets_alive(self.true.take(tied)) > limit
        return self.only(np.flatnonzero(~beyond))

    def true_kinds(self) -> Indexes:
        """Numbers that are equal for pieces that are alike in their true ranks, too; shape (p,)."""
        rows = np.column_stack([self.true.masses.lower, self.kind[self.true.key]])
        return numbers_of_runs(rows, self.true.starts)


def _codes(keys: TaughtKeys, piece: Indexes, event: Indexes) -> Indexes:
    """Numbers that are equal for events of one step and stamp in a run, counted from its begin."""
    run = keys.runs.run[event]
    fresh = np.append(True, keys.runs.run[1:] != keys.runs.run[:-1])[: len(keys.runs.run)]
    begin = keys.lower[fresh][run]
    number = run - run[np.searchsorted(piece, piece)]
    lower, upper = keys.lower[event] - begin, keys.upper[event] - begin
    return distinct_rows(
        np.column_stack([number, lower, upper, _uneven(keys, event), keys.step[event]])
    ).which


def _uneven(keys: TaughtKeys, event: Indexes) -> Numbers:
    """Numbers for the masses of events; 0 for those that are even over an interval, which tells them."""
    sizes = np.diff(keys.masses.starts)
    return np.where(sizes > 1, alike_events(keys.masses) + 1, 0)[event]


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
