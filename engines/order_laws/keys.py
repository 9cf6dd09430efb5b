"""Events by key, the factors of a law for their steps, and the pieces in which the order of events is open.

Events of a key whose intervals touch each other, one after the other, are a *run*: those of two runs are in
certain order.  A run with events of two steps is open, in every other one all orders have the same steps.
Under every law what comes before an event whose place is certain, and what comes after it, are independent.
So a key is measured in pieces: open runs that follow one on the other, of which it is known what comes right
before them and right after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


@dataclass(frozen=True)
class Keys:
    """The events of k keys, those of a key side by side.

    Attributes
    ----------
    masses
        When each of the n events happened.
    starts
        Offsets of the keys into the events, shape (k + 1,).
    step
        The code of each event's step, shape (n,).
    stamps
        By which m counts the events that share a tick; `masses` if None.  Where these are true ticks, the
        stamps are what the law sees.
    around
        The codes of what comes right before and after the events of each key, shape (k,) each; its ends if
        None.
    """

    masses: Masses
    starts: Indexes
    step: Indexes
    stamps: Masses | None = None
    around: tuple[Indexes, Indexes] | None = None

    @property
    def count(self) -> int:
        """How many keys there are."""
        return len(self.starts) - 1

    @cached_property
    def key(self) -> Indexes:
        """The number of each event's key, shape (n,)."""
        return np.repeat(np.arange(self.count), np.diff(self.starts))

    def take(self, keys: Indexes) -> Keys:
        """Some of the keys, in this order."""
        sizes = np.diff(self.starts)[keys]
        run, place = places_in_runs(sizes)
        events = self.starts[:-1][keys][run] + place
        starts = np.concatenate([[0], np.cumsum(sizes)])
        stamps = None if self.stamps is None else self.stamps.take(events)
        around = None if self.around is None else (self.around[0][keys], self.around[1][keys])
        return Keys(self.masses.take(events), starts, self.step[events], stamps, around)


@dataclass(frozen=True)
class Factors:
    """The factors of a law for s steps.

    Attributes
    ----------
    following
        Shape (s + 1, s + 1): following[x, y] for y next after x; row s is `^`, column s is `$`.
    before
        Shape (s, s): before[x, y] for x anywhere before y.
    """

    following: Reals
    before: Reals

    @classmethod
    def of_law(cls, law: OrderLaw, steps: Sequence[str]) -> Factors:
        """What a law says of these steps, whose codes are their places.

        Examples
        --------
        >>> law = OrderLaw("case", following={("^", "A"): 2.0}, before={("A", "B"): 4.0})
        >>> factors = Factors.of_law(law, ["A", "B"])
        >>> factors.following.tolist(), factors.before.tolist()
        ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]], [[1.0, 4.0], [1.0, 1.0]])
        """
        code = {step: place for place, step in enumerate(steps)}
        before, after = {**code, BEGIN: len(code)}, {**code, END: len(code)}
        following = np.ones((len(code) + 1, len(code) + 1))
        for (one, other), factor in law.following.items():
            if one in before and other in after:
                following[before[one], after[other]] = factor
        pairs = np.ones((len(code), len(code)))
        for (one, other), factor in law.before.items():
            if one in code and other in code:
                pairs[code[one], code[other]] = factor
        return cls(following, pairs)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.before)

    @cached_property
    def alike(self) -> Indexes:
        """For each step and `^`, the first whose following factors are the same, shape (s + 1,)."""
        _, first, same = np.unique(self.following, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[same.reshape(-1)])


class LawTables(NamedTuple):
    """The factors of L laws, of up to n steps and the ends of a key, as kernels read them.

    `following`, shape (L, n, n), as in `Factors`; so `before`.  `alike`, shape (L, n): what a key may end
    with, each code by the first one after which all factors are the same.
    """

    following: Reals
    before: Reals
    alike: Indexes

    @classmethod
    def of(cls, factors: Sequence[Factors], *, each_last: bool = False) -> LawTables:
        """Of some laws; `each_last`: no two codes that a key may end with are taken for one.

        Examples
        --------
        >>> factors = Factors(np.array([[1.0, 4.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), np.ones((2, 2)))
        >>> LawTables.of([factors]).alike.tolist()
        [[0, 1, 1]]
        """
        size = max(each.steps for each in factors) + 1
        following, before = np.ones((2, len(factors), size, size))
        alike = np.tile(np.arange(size), (len(factors), 1))
        for number, each in enumerate(factors):
            following[number, : each.steps + 1, : each.steps + 1] = each.following
            before[number, : each.steps, : each.steps] = each.before
            if not each_last:
                alike[number, : each.steps + 1] = each.alike
        return cls(following, before, alike)


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
