"""Classes of events: those of a key with the same step and mass, which are counted and not told apart.

A table over sets of events has a place for each set.  Of c events that are alike only the number that has
happened matters, c + 1 places in place of 2^c.  Classes stand by key and by their first tick, so that those
with which one shares a tick, of those after it, come right after it: it has a pair with itself and each.

m of a pair is the larger of how many events of the other's step share a tick with one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses, alike_events
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.keys import Factors, Keys

_MANY = 62
"""Of so many classes alive at once the number of sets is beyond every limit."""


class ClassColumns(NamedTuple):
    """What a kernel reads of classes.

    `starts`: those of key k are from starts[k] to starts[k + 1].  `event`: one of each, for its mass.
    `members`: how many events it has.  `pairs`: where those of class a with itself and with later ones begin.
    """

    starts: Indexes
    event: Indexes
    members: Indexes
    step: Indexes
    lower: Ticks
    upper: Ticks
    pairs: Indexes


@dataclass(frozen=True)
class Classes:
    """The classes of some keys.

    Attributes
    ----------
    columns
        Of each class.
    of_event
        The class of each event, shape (n,).
    """

    columns: ClassColumns
    of_event: Indexes

    @classmethod
    def of(cls, keys: Keys, marked: Flags | None = None) -> Classes:
        """The classes of all events; each that is marked is one of its own."""
        masses, key = keys.masses, keys.key
        count = len(key)
        own = np.full(count, -1) if marked is None else np.where(marked, np.arange(count), -1)
        stamp = np.zeros(count, dtype=np.int64) if keys.stamps is None else _alike_in_keys(key, keys.stamps)
        told = [own, stamp, keys.step, _alike_in_keys(key, masses), masses.upper, masses.lower, key]
        order = np.lexsort(told)
        new = np.ones(count, dtype=bool)
        new[1:] = np.any([column[order][1:] != column[order][:-1] for column in told], axis=0)
        number = np.cumsum(new) - 1
        of_event = np.empty(count, dtype=np.int64)
        of_event[order] = number
        event = order[new]
        starts = np.searchsorted(key[event], np.arange(keys.count + 1)).astype(np.int64)
        lower, upper = masses.lower[event], masses.upper[event]
        pairs = np.zeros(len(event) + 1, dtype=np.int64)
        _count_later(starts, lower, upper, pairs[1:])
        columns = ClassColumns(
            starts, event, np.bincount(number, minlength=len(event)), keys.step[event],
            lower, upper, np.cumsum(pairs),
        )  # fmt: skip
        return cls(columns, of_event)

    def sets_alive(self) -> Reals:
        """The most sets of a key's events that are alive in one cell, shape (k,); infinite from 2^62 on."""
        most = np.ones(len(self.columns.starts) - 1)
        _count_sets(self.columns, most)
        return most

    @property
    def pair_classes(self) -> tuple[Indexes, Indexes]:
        """Both classes of each pair, the one that begins earlier first."""
        first, place = places_in_runs(np.diff(self.columns.pairs))
        return first, first + place


def _alike_in_keys(key: Indexes, masses: Masses) -> Indexes:
    """A number for each event, the same for those of a key that are alike.

    It is that of the first of them, so that the classes of a key have one order whatever keys are beside it.
    """
    _, first, same = np.unique(key * len(key) + alike_events(masses), return_index=True, return_inverse=True)
    return np.asarray(first[same], dtype=np.int64)


@kernel
def _count_later(starts, lower, upper, count):
    """How many classes of its key, from each on, begin before it ends."""
    for key in range(len(starts) - 1):
        for a in range(starts[key], starts[key + 1]):
            begin, end = a + 1, starts[key + 1]
            while begin < end:
                middle = (begin + end) // 2
                if lower[middle] <= upper[a]:
                    begin = middle + 1
                else:
                    end = middle
            count[a] = begin - a


@kernel
def _count_sets(classes, most):
    for key in range(len(most)):
        alive = np.empty(_MANY, dtype=np.int64)
        count = 0
        for a in range(classes.starts[key], classes.starts[key + 1]):
            kept = 0
            for i in range(count):
                if classes.upper[alive[i]] >= classes.lower[a]:
                    alive[kept] = alive[i]
                    kept += 1
            if kept == _MANY:
                most[key] = np.inf
                break
            alive[kept] = a
            count = kept + 1
            sets = 1.0
            for i in range(count):
                sets *= classes.members[alive[i]] + 1.0
            most[key] = max(most[key], sets)


def habits(keys: Keys, classes: Classes) -> Indexes:
    """The m of each pair of classes."""
    steps = int(keys.step.max(initial=0)) + 1
    group = keys.key * steps + keys.step
    stamps = keys.masses if keys.stamps is None else keys.stamps
    event = classes.columns.event
    columns = classes.columns._replace(lower=stamps.lower[event], upper=stamps.upper[event])
    by_lower = np.lexsort((stamps.lower, group))
    by_upper = np.lexsort((stamps.upper, group))
    first, second = classes.pair_classes
    found = np.ones(len(first), dtype=np.int64)
    ends = np.unique(group[by_lower], return_index=True)
    begin = np.append(ends[1], len(group))
    place = np.searchsorted(ends[0], group[event])
    _count_sharing(
        columns, first, second, place, begin,
        stamps.lower[by_lower], stamps.upper[by_upper], found,
    )  # fmt: skip
    return found


@kernel
def _count_sharing(classes, first, second, group, begin, lowers, uppers, found):
    for pair in range(len(found)):
        a, b = first[pair], second[pair]
        one = _sharing(classes, a, begin[group[b]], begin[group[b] + 1], lowers, uppers)
        other = _sharing(classes, b, begin[group[a]], begin[group[a] + 1], lowers, uppers)
        found[pair] = max(one, other)


@inner
def _sharing(classes, a, begin, end, lowers, uppers):
    """How many events of a key's step, from begin to end, share a tick with those of a class."""
    begun = np.searchsorted(lowers[begin:end], classes.upper[a], side="right")
    return begun - np.searchsorted(uppers[begin:end], classes.lower[a], side="left")


@dataclass(frozen=True)
class Roots:
    """Which before[x, y]^(1/m) each pair of classes has, of a few that differ.

    `one`, `other`: two steps, and `habit`: m, of each that differs; `place`: which of them is that of each
    pair for the first one first, and for the second one first, shape (2, p).  Of events of one step one comes
    first in every order: their factor is left out, as it is where `one` is -1.
    """

    one: Indexes
    other: Indexes
    habit: Indexes
    place: Indexes

    @classmethod
    def of(cls, classes: Classes, habit: Indexes) -> Roots:
        """Of the pairs of some classes."""
        first, second = classes.pair_classes
        step = classes.columns.step
        size, most = int(step.max(initial=0)) + 1, int(habit.max(initial=0)) + 1
        codes = [
            np.where(step[x] == step[y], -1, (step[x] * size + step[y]) * most + habit)
            for x, y in ((first, second), (second, first))
        ]
        there, place = np.unique(np.concatenate(codes), return_inverse=True)
        pair = there // most
        return cls(
            one=pair // size,
            other=pair % size,
            habit=there % most,
            place=place.reshape(2, -1),
        )

    def under(self, factors: Factors) -> Reals:
        """The factors of each pair, shape (2, p)."""
        # Python's own power is the same on every machine, which NumPy's is not.
        values = [
            float(factors.before[x, y]) ** (1.0 / m) if x >= 0 else 1.0
            for x, y, m in zip(self.one.tolist(), self.other.tolist(), self.habit.tolist(), strict=True)
        ]
        return np.asarray(np.array(values)[self.place])
