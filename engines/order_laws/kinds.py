"""Kinds of events: those of a key with the same step and mass, which are counted and not told apart.

A table over sets of events has a place for each set.  Of c events that are alike only the number that has
happened matters, c + 1 places in place of 2^c.  Kinds stand by problem and by their first tick, so that those
with which one shares a tick, of those after it, come right after it: it has a pair with itself and each.

    problem    what is summed at once: a key, or the events that decide a row, of several keys or of none
    slot       number of a key of the problem, -1 for events in none
    code       number of a step
    m          of a pair: the larger of how many events of the other's step share a tick with one of them
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.masses import Masses, alike_events
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.order_laws.keys import Keys, LawTables
from cepctl.numeric.arrays import Indexes, Numbers, Reals, Ticks

_MANY = 62
"""Of so many kinds alive at once the number of sets is beyond every limit."""


class Slots(NamedTuple):
    """The keys of P problems, those of problem p from starts[p] on: codes around their events, their law."""

    starts: Indexes
    begin: Indexes
    end: Indexes
    law: Indexes

    def take(self, problems: Indexes) -> Slots:
        """Those of some problems."""
        starts, chosen = _runs_of(self.starts, problems)
        return Slots(starts, self.begin[chosen], self.end[chosen], self.law[chosen])


class Kinds(NamedTuple):
    """K kinds, those of problem p from starts[p] on.

    `event`: one of each, for its mass, whose ends are `lower` and `upper`; `members`: how many it has;
    `letter`: what is asked of it, -1 for nothing.  `pairs`, shape (K + 1,): where those of each kind begin.
    `factors`, shape (2, pairs): of an event of the earlier kind before one of the other, and after it.
    """

    starts: Indexes
    event: Indexes
    members: Indexes
    slot: Indexes
    code: Indexes
    letter: Indexes
    lower: Ticks
    upper: Ticks
    pairs: Indexes
    factors: Reals

    @property
    def pair_kinds(self) -> tuple[Indexes, Indexes]:
        """Both kinds of each pair, the one that begins earlier first."""
        first, place = places_in_runs(np.diff(self.pairs))
        return first, first + place

    @property
    def problem(self) -> Indexes:
        """The problem of each kind."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def sets_alive(self) -> Reals:
        """The most sets of events that are alive in a cell of each problem; infinite from 2^62."""
        most = np.ones(len(self.starts) - 1)
        _count_sets(self, most)
        return most

    def take(self, problems: Indexes) -> Kinds:
        """Those of some problems, still without factors."""
        starts, chosen = _runs_of(self.starts, problems)
        pairs = np.concatenate([[0], np.cumsum(np.diff(self.pairs)[chosen])])
        event, members, slot, code, letter, lower, upper = (column[chosen] for column in self[1:8])
        factors = np.ones((2, 0))
        return Kinds(starts, event, members, slot, code, letter, lower, upper, pairs, factors)


class KindsOfEvents(NamedTuple):
    """Kinds, and that of each event."""

    kinds: Kinds
    of_event: Indexes


def kinds_of(
    masses: Masses, problem: Indexes, problems: int, event: Indexes, labels: tuple[Indexes, Indexes, Indexes],
    alike: Indexes, apart: Indexes | None = None,
) -> KindsOfEvents:  # fmt: skip
    """The kinds of n events of some problems.

    `event`: the row of each in `masses`; `labels`: slot, code and letter of each; `alike`: equal for those of
    one mass; `apart`: differs where events are no kind for another reason.
    """
    lower, upper = masses.lower[event], masses.upper[event]
    columns = [problem, lower, upper, alike, *labels, *([] if apart is None else [apart])]
    first, number = distinct_rows(np.column_stack(columns))
    problem, lower, upper = problem[first], lower[first], upper[first]
    slot, code, letter = (each[first] for each in labels)
    kinds = Kinds(
        np.searchsorted(problem, np.arange(problems + 1)), event[first],
        np.bincount(number, minlength=len(first)), slot, code, letter, lower, upper,
        _pair_starts(problem, lower, upper), np.ones((2, 0)),
    )  # fmt: skip
    return KindsOfEvents(kinds, number)


def kinds_of_keys(keys: Keys) -> KindsOfEvents:
    """The kinds of all events of keys, each key a problem."""
    nothing = np.zeros_like(keys.key)
    alike = _alike_in_keys(keys.key, keys.masses)
    apart = None if keys.stamps is None else _alike_in_keys(keys.key, keys.stamps)
    labels = nothing, keys.step, nothing - 1
    return kinds_of(keys.masses, keys.key, keys.count, np.arange(len(keys.key)), labels, alike, apart)


def _alike_in_keys(key: Indexes, masses: Masses) -> Indexes:
    """A number for each event, the same for those of a key that are alike.

    It is that of the first of them, so that the kinds of a key have one order whatever keys are beside it.
    """
    _, first, same = np.unique(key * len(key) + alike_events(masses), return_index=True, return_inverse=True)
    return np.asarray(first[same.reshape(-1)], dtype=np.int64)


def _pair_starts(problem: Indexes, lower: Ticks, upper: Ticks) -> Indexes:
    """Where the pairs of each kind begin: with itself and those after it that begin before it ends."""
    begin, end = _on_one_line(problem, lower, upper)
    later = np.searchsorted(begin, end, side="right") - np.arange(len(begin))
    return np.concatenate([[0], np.cumsum(later)])


def _on_one_line(group: Indexes, lower: Ticks, upper: Ticks) -> tuple[Indexes, Indexes]:
    """Numbers of the ticks at which intervals begin and end, one group after the other.

    Examples
    --------
    >>> begin, end = _on_one_line(np.array([0, 0, 1]), np.array([5, 7, 5]), np.array([7, 9, 7]))
    >>> begin.tolist(), end.tolist()
    ([0, 1, 3], [1, 2, 4])
    """
    ticks, place = np.unique(np.concatenate([lower, upper]), return_inverse=True)
    begin, end = np.split(place.reshape(-1), 2) + group * len(ticks)
    return begin, end


def _runs_of(starts: Indexes, problems: Indexes) -> tuple[Indexes, Indexes]:
    """Where the entries of some problems begin, put side by side, and which entries they are."""
    sizes = np.diff(starts)[problems]
    run, place = places_in_runs(sizes)
    return np.concatenate([[0], np.cumsum(sizes)]), starts[problems][run] + place


@kernel
def _count_sets(kinds, most):
    """Fill the most sets alive of each problem: of three As and two Bs on one day (3 + 1) (2 + 1) = 12."""
    for p in range(len(most)):
        alive = np.empty(_MANY, dtype=np.int64)
        count = 0
        for a in range(kinds.starts[p], kinds.starts[p + 1]):
            kept = 0
            for i in range(count):
                if kinds.upper[alive[i]] >= kinds.lower[a]:
                    alive[kept] = alive[i]
                    kept += 1
            if kept == _MANY:
                most[p] = np.inf
                break
            alive[kept] = a
            count = kept + 1
            sets = 1.0
            for i in range(count):
                sets *= kinds.members[alive[i]] + 1.0
            most[p] = max(most[p], sets)


def habits(kinds: Kinds, stamps: Masses | None = None) -> Numbers:
    """The m of each pair of kinds, as `stamps` tell who shares a tick; the masses of kinds if None."""
    lower, upper = kinds.lower, kinds.upper
    if stamps is not None:
        lower, upper = stamps.lower[kinds.event], stamps.upper[kinds.event]
    slots, codes = (int(each.max(initial=0)) + 2 for each in (kinds.slot, kinds.code))
    group = (kinds.problem * slots + kinds.slot + 1) * codes + kinds.code
    begin, end = _on_one_line(np.zeros_like(group), lower, upper)
    size = int(end.max(initial=0)) + 1
    begun, ended = (_Counted.of(group * size + each, kinds.members) for each in (begin, end))
    first, second = kinds.pair_kinds
    found = np.ones(len(first), dtype=np.int64)
    for one, other in ((first, second), (second, first)):
        own = group[other] * size
        sharing = begun.up_to(own + end[one]) - ended.up_to(own + begin[one] - 1)
        found = np.maximum(found, sharing)
    return found


@dataclass(frozen=True)
class _Counted:
    """Places on a line, in order, and how many events are at those before each."""

    places: Indexes
    before: Numbers

    @classmethod
    def of(cls, places: Indexes, count: Numbers) -> _Counted:
        order = np.argsort(places, kind="stable")
        return cls(places[order], np.concatenate([[0], np.cumsum(count[order])]))

    def up_to(self, places: Indexes) -> Numbers:
        """How many are at each of some places, or before it."""
        return self.before[np.searchsorted(self.places, places, side="right")]


@dataclass(frozen=True)
class Roots:
    """Which before[x, y]^(1/m) each pair of kinds has, of a few that differ.

    `law`, `one`, `other`, `m`: of each that differs; `place`: which of them is that of each pair for the
    first one first, and for the second one first, shape (2, p).  Of events of one step one comes first in
    every order: their factor is left out, `law` is -1, as it is of events of two keys or of none.
    """

    law: Indexes
    one: Indexes
    other: Indexes
    m: Numbers
    place: Indexes

    @classmethod
    def of(cls, kinds: Kinds, slots: Slots, m: Numbers) -> Roots:
        """Of the pairs of some kinds."""
        first, second = kinds.pair_kinds
        slot, code = kinds.slot, kinds.code
        together = (slot[first] >= 0) & (slot[first] == slot[second]) & (code[first] != code[second])
        law = np.full(len(first), -1)
        law[together] = slots.law[slots.starts[kinds.problem[first[together]]] + slot[first[together]]]
        x, y, m = (np.where(together, each, 0) for each in (code[first], code[second], m))
        ways = (np.column_stack([law, *both, m]) for both in ((x, y), (y, x)))
        rows = np.concatenate([*ways])
        there, place = distinct_rows(rows)
        law, x, y, m = rows[there].T
        return cls(law, x, y, m, place.reshape(2, -1))

    def under(self, laws: LawTables) -> Reals:
        """The factors of each pair, shape (2, p)."""
        columns = (each.tolist() for each in (self.law, self.one, self.other, self.m))
        # Python's own power is the same on every machine, which NumPy's is not.
        values = [
            float(laws.before[law, x, y]) ** (1.0 / m) if law >= 0 else 1.0
            for law, x, y, m in zip(*columns, strict=True)
        ]
        return np.asarray(np.array(values)[self.place])


def numbers_of_runs(rows: Numbers, starts: Indexes) -> Indexes:
    """A number for each run of rows, equal for runs of equal rows, in the order in which they first come.

    Examples
    --------
    >>> numbers_of_runs(np.array([[7, 1], [2, 2], [7, 1]]), np.array([0, 1, 2, 3])).tolist()
    [0, 1, 0]
    """
    data = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    offsets = pa.py_buffer(starts.astype(np.int64) * rows.shape[1] * 8)
    texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, [None, offsets, data])
    return np.asarray(texts.dictionary_encode().indices.to_numpy(), dtype=np.int64)
