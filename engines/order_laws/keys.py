"""Events by key, and the factors of a law for their steps, as columns: what the table of a key is made of.

keys       events side by side by key: when each happened, and which step it is
factors    following[x, y] and before[x, y] for the steps that occur, which are numbered
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.order_laws.law import BEGIN, END, OrderLaw


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
                _, first, same = np.unique(each.following, axis=0, return_index=True, return_inverse=True)
                alike[number, : each.steps + 1] = first[same.reshape(-1)]
        return cls(following, before, alike)
