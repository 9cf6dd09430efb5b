"""Open factors: which factors of a law a log can tell something about, and where each stands in a vector.

A factor is open if in some key a run of touching events leaves open whether it counts: next(A, B)
where a B may come next to an A or may not, before(A, B) where both lie in one run.  All others stay 1.  A
vector holds the logarithms: those of next(A, B) first, then one of before(A, B) for each two steps, A the
smaller in code-point order; before(B, A) is 1 / before(A, B).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.keys import Factors
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.laws.learning.keys import TaughtKeys
from cepctl.numeric.arrays import Indexes, Reals

DIGITS = 6
"""Significant digits of a factor: a law is what is written of it."""
NONE = -1


@dataclass(frozen=True)
class OpenFactors:
    """Places of factors in a vector, NONE where a factor is not open.

    `steps`: s texts.  `following`: shape (s + 1, s + 1), of a step and the next; row s is the begin of a
    key, column s its end.  `before`: shape (s, s), of a step and a greater one.  `count`: of open factors.
    """

    steps: tuple[str, ...]
    following: Indexes
    before: Indexes
    count: int

    @classmethod
    def of(cls, keys: TaughtKeys) -> OpenFactors:
        """The factors that some keys leave open."""
        size = len(keys.steps)
        follows, precedes = np.zeros((size + 1, size + 1), dtype=bool), np.zeros((size, size), dtype=bool)
        for one, other in _neighbours(keys):
            follows[one, other] = True
        for one, other in _together(keys):
            follows[one, other] = True
            precedes[np.minimum(one, other), np.maximum(one, other)] = True
        np.fill_diagonal(precedes, False)
        following, before = np.full(follows.shape, NONE), np.full(precedes.shape, NONE)
        first, second = int(follows.sum()), int(precedes.sum())
        following[follows] = np.arange(first)
        before[precedes] = first + np.arange(second)
        return cls(keys.steps, following, before, first + second)

    def factors(self, vector: Reals) -> Factors:
        """The factors that a vector of logarithms says, to measure keys by."""
        following, before = np.append(vector, 0.0)[self.following], np.append(vector, 0.0)[self.before]
        return Factors(np.exp(following), np.exp(before - before.T))

    def gradient(self, following: Reals, before: Reals) -> Reals:
        """Counts of steps and their next, and of pairs by their order, as a vector."""
        found = np.zeros(self.count + 1)
        found[self.following] = following
        found[self.before] = before - before.T
        return found[:-1]

    def law(self, vector: Reals, by: str, step: tuple[str, ...]) -> OrderLaw:
        """The law that a vector says, its factors rounded to DIGITS; those that are then 1 are left out."""
        factors = self.factors(vector)
        begins, ends = (*self.steps, BEGIN), (*self.steps, END)
        return OrderLaw(
            by=by,
            step=step,
            following={(begins[i], ends[j]): each for i, j, each in _rounded(factors.following)},
            before={(begins[i], ends[j]): each for i, j, each in _rounded(factors.before)},
        )


def _rounded(factors: Reals) -> Iterator[tuple[int, int, float]]:
    for i, j in np.argwhere(factors != 1.0).tolist():
        factor = float(f"{factors[i, j]:.{DIGITS}g}")
        if factor != 1.0:
            yield i, j, factor


def _together(keys: TaughtKeys) -> Iterator[tuple[Indexes, Indexes]]:
    """Steps of events of one open run, in both orders; a step with itself where it is there twice."""
    runs = _StepRuns.of(keys)
    other, place = places_in_runs(runs.sizes[runs.run])
    one = runs.begin[runs.run[other]] + place
    kept = runs.is_open[runs.run[other]] & ((one != other) | (runs.count[other] > 1))
    yield runs.step[one[kept]], runs.step[other[kept]]


def _neighbours(keys: TaughtKeys) -> Iterator[tuple[Indexes, Indexes]]:
    """Steps of a run with those of the next, where one of both is open; also begins and ends of keys."""
    runs, size = _StepRuns.of(keys), len(keys.steps)
    last = np.append(runs.key[1:] != runs.key[:-1], True)[: len(runs.key)]
    first = np.append(True, last[:-1])[: len(last)]
    begins = np.flatnonzero((first & runs.is_open)[runs.run])
    yield np.full(len(begins), size), runs.step[begins]
    ends = np.flatnonzero((last & runs.is_open)[runs.run])
    yield runs.step[ends], np.full(len(ends), size)
    either = np.append(runs.is_open[:-1] | runs.is_open[1:], False)[: len(last)] & ~last
    one = np.flatnonzero(either[runs.run])
    following = runs.run[one] + 1
    row, place = places_in_runs(runs.sizes[following])
    yield runs.step[one[row]], runs.step[runs.begin[following[row]] + place]


@dataclass(frozen=True)
class _StepRuns:
    """The steps of each run, each once.

    `run`, `step`, `count`: which one, which step, and of how many events; `begin`, `sizes`: which of
    these are those of a run; `key`, `is_open`: of each run.
    """

    run: Indexes
    step: Indexes
    count: Indexes
    begin: Indexes
    sizes: Indexes
    key: Indexes
    is_open: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def of(cls, keys: TaughtKeys) -> _StepRuns:
        size = max(len(keys.steps), 1)
        found, count = np.unique(keys.runs.run * size + keys.step, return_counts=True)
        first = np.unique(keys.runs.run, return_index=True)[1]
        sizes = np.bincount(found // size)
        return cls(
            run=found // size,
            step=found % size,
            count=count,
            begin=np.cumsum(sizes) - sizes,
            sizes=sizes,
            key=keys.key[first],
            is_open=keys.runs.is_open[first],
        )
