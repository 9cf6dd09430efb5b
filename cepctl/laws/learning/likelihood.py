"""How probable the true orders of keys are under a law, and how that changes with each of its factors.

ln P(true order | stamps) of a key is the sum over its pieces of the logarithms of the factors that count in
the true order, less ln Z of all orders, but for what no law changes: it is concave in them.  Where events are
truly at one tick any order of them is as true: their factors count as the mean over these, which is ln Z of
the piece at its true ticks.  That part is convex, so that there may be several summits.

    d / d ln factor = (how often it counts in the true order) - (how often it is expected to)

The most probable factors maximise that less (ln factor)^2 / (2 sigma^2) each.  SciPy's L-BFGS-B climbs to a
summit.  A concave sum has one; of several the highest that is reached counts.

Sums are taken kind by kind of piece, in parts that do not depend on the number of cores: the same bits each
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.concurrency import in_turn
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.kinds import habits, kinds_of_keys
from cepctl.engines.order_laws.table import KeyTables, in_parts
from cepctl.errors import UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.laws.learning.factors import OpenFactors
from cepctl.laws.learning.keys import KeyPieces, TaughtKeys
from cepctl.numeric.arrays import Flags, Indexes, Numbers, Reals

_PAIRS_AT_ONCE = 1 << 20
_STEPS = 500

Sum = Callable[[Reals], tuple[float, Reals]]


@dataclass(frozen=True)
class PieceKinds:
    """Some kinds of pieces: the place of one `example` of each, shape (u,); how many are in each fold, shape
    (folds, u).
    """

    example: Indexes
    counts: Numbers

    @classmethod
    def of(cls, kind: Indexes, fold: Indexes, folds: int) -> PieceKinds:
        """Of pieces of these kinds, in these folds."""
        _, example, number = np.unique(kind, return_index=True, return_inverse=True)
        counts = np.zeros((folds, len(example)), dtype=np.int64)
        np.add.at(counts, (fold, number.reshape(-1)), 1)
        return cls(example, counts)


@dataclass(frozen=True)
class WeighedKeys:
    """Keys to measure, with `weight` of each, one of the few `weights`."""

    tables: KeyTables
    weight: Indexes
    weights: Reals

    @property
    def total(self) -> Reals:
        """The weight of each key."""
        return self.weights[self.weight]


@dataclass(frozen=True)
class Likelihood:
    """The summed ln P of the true orders of some keys, as a function of the logarithms of `factors`.

    `parts`: pieces whose ln Z is taken off; `tied`: those with equal true ticks, whose ln Z is added;
    `counted`: how often each factor counts in true orders beside these.
    """

    factors: OpenFactors
    parts: tuple[WeighedKeys, ...]
    tied: tuple[WeighedKeys, ...]
    counted: Reals
    threads: int

    def __call__(self, vector: Reals) -> tuple[float, Reals]:
        """The sum, but for what no law changes, and its gradient."""
        factors = self.factors.factors(vector)
        all_orders = self._summed(self.parts, factors)
        true_orders = self._summed(self.tied, factors)
        value = float(self.counted @ vector) + true_orders[0] - all_orders[0]
        return value, self.counted + true_orders[1] - all_orders[1]

    @property
    def tangent(self) -> Likelihood:
        """A concave sum with the same gradient where all factors are 1, from where it grows by no more.

        ln Z at the true ticks is convex.  Its tangent stands for it: each order of equal ticks counts alike.
        """
        counted = self._summed(self.tied, self.factors.factors(np.zeros(self.factors.count)))[1]
        return replace(self, tied=(), counted=self.counted + counted)

    def _summed(self, parts: tuple[WeighedKeys, ...], factors: Factors) -> tuple[float, Reals]:
        value, gradient = 0.0, np.zeros(self.factors.count)
        measure: list[Callable[[], tuple[float, Reals]]] = [
            partial(_log_z, part, factors, self.factors) for part in parts
        ]
        for log_z, counts in in_turn(measure, self.threads):
            value += log_z
            gradient += counts
        return value, gradient


def _log_z(part: WeighedKeys, factors: Factors, vector: OpenFactors) -> tuple[float, Reals]:
    found = part.tables.measure(factors, folds=part.weight, expected=True)
    assert found.following is not None and found.before is not None
    weights = part.weights[: len(found.following), None, None]
    following, before = ((weights * each).sum(0) for each in (found.following, found.before))
    return float(part.total @ found.log_z), vector.gradient(following, before)


@dataclass(frozen=True)
class Lessons:
    """The pieces of keys by kind and fold, from which the likelihood of some folds is made."""

    pieces: KeyPieces
    factors: OpenFactors
    kinds: PieceKinds
    tied: PieceKinds
    counted: Reals

    @classmethod
    def of(cls, keys: TaughtKeys, fold: Indexes, folds: int) -> Lessons:
        """Of keys in folds, as far as their pieces are within the limit; `fold`: of each key."""
        pieces, factors = KeyPieces.of(keys).within(MOST_SETS_ALIVE), OpenFactors.of(keys)
        own = fold[pieces.key]
        tied = np.flatnonzero(pieces.tied)
        true = PieceKinds.of(pieces.true_kinds()[tied], own[tied], folds)
        return cls(
            pieces,
            factors,
            PieceKinds.of(pieces.kind, own, folds),
            PieceKinds(tied[true.example], true.counts),
            np.stack([_true_counts(pieces, factors, own == each) for each in range(folds)]),
        )

    def likelihood(self, folds: Flags, threads: int) -> Likelihood:
        """The likelihood of the keys of some folds."""
        return Likelihood(
            self.factors,
            _weighed(self.pieces.stamped, self.kinds, folds),
            _weighed(self.pieces.true, self.tied, folds),
            self.counted[folds].sum(0),
            threads,
        )


def _weighed(pieces: Keys, kinds: PieceKinds, folds: Flags) -> tuple[WeighedKeys, ...]:
    """One of each kind of pieces in some folds, weighed by how many there are, in parts."""
    count = kinds.counts[folds].sum(0)
    there = np.flatnonzero(count)
    if not len(there):
        return ()
    whole, parts = pieces.take(kinds.example[there]), []
    for some in in_parts(whole):
        weights, weight = np.unique(count[there][some], return_inverse=True)
        parts.append(
            WeighedKeys(KeyTables.of(whole.take(some)), weight.reshape(-1), weights.astype(np.float64))
        )
    return tuple(parts)


def _true_counts(pieces: KeyPieces, factors: OpenFactors, some: Flags) -> Reals:
    """How often each open factor counts in the true order of some pieces, as far as true ticks tell.

    Left to ln Z at the true ticks are what is next in pieces with ties, and the order of tied events.
    """
    size = len(factors.steps)
    following, before = np.zeros((size + 1, size + 1)), np.zeros((size, size))
    _add_following(pieces.true.take(np.flatnonzero(some & ~pieces.tied)), following)
    _add_before(pieces.true.take(np.flatnonzero(some)), before)
    return factors.gradient(following, before)


def _add_following(true: Keys, found: Reals) -> None:
    order = np.lexsort((true.step, true.masses.lower, true.key))
    step, key = true.step[order], true.key[order]
    together = key[1:] == key[:-1]
    assert true.around is not None
    before, after = true.around
    np.add.at(found, (step[:-1][together], step[1:][together]), 1.0)
    np.add.at(found, (before, step[true.starts[:-1]]), 1.0)
    np.add.at(found, (step[true.starts[1:] - 1], after), 1.0)


def _add_before(true: Keys, found: Reals) -> None:
    """Pairs of two steps whose stamps share a tick and whose true ticks differ, each divided by its m."""
    assert true.stamps is not None
    kinds, kind = kinds_of_keys(Keys(true.stamps, true.starts, true.step))
    m = habits(kinds)
    lower, upper, rank = true.stamps.lower, true.stamps.upper, true.masses.lower
    for one, other in _pairs(true.starts):
        counts = (true.step[one] != true.step[other]) & (rank[one] != rank[other])
        counts &= (lower[one] <= upper[other]) & (lower[other] <= upper[one])
        first = np.where(rank[one] < rank[other], one, other)[counts]
        second = (one + other)[counts] - first
        least, most = (each(kind[first], kind[second]) for each in (np.minimum, np.maximum))
        pair = kinds.pairs[least] + most - least
        np.add.at(found, (true.step[first], true.step[second]), 1.0 / m[pair])


def _pairs(starts: Indexes) -> Iterator[tuple[Indexes, Indexes]]:
    """All pairs of events of each key, so many at a time."""
    key, place = places_in_runs(np.diff(starts))
    left = np.diff(starts)[key] - place - 1
    upto = np.cumsum(left)
    cuts = np.searchsorted(upto, np.arange(0, upto[-1] if len(upto) else 0, _PAIRS_AT_ONCE))
    for begin, end in pairwise([0, *np.unique(cuts[1:]).tolist(), len(left)]):
        row, after = places_in_runs(left[begin:end])
        one = row + begin
        yield one, one + 1 + after


def require_scipy() -> None:
    """Raise UsageError where SciPy is not installed, which nothing but learning needs."""
    if find_spec("scipy") is None:
        raise UsageError("learn needs SciPy, which is not installed; pip install 'cepctl[learn]'")


def fitted(summed: Sum, starts: Sequence[Reals], sigma: float, share: float) -> Reals:
    """The logarithms of the factors under a normal prior with mean 0 and deviation `sigma`, shape of a start.

    `summed`: the sum over the keys, and its gradient.  One climb begins at each of the `starts`; a step that
    gains less than this `share` of all ends it.

    Examples
    --------
    Eight of ten: the maximum of 8 t - 10 ln(1 + e^t) - t^2 / 2.

    >>> found = fitted(lambda t: (8 * t[0] - 10 * np.log1p(np.exp(t[0])), 8 - 10 / (1 + np.exp(-t))),
    ...                [np.zeros(1)], 1.0, 1e-9)
    >>> round(float(found[0]), 4)
    0.8969
    """
    if not len(starts[0]):
        return starts[0]
    require_scipy()
    # SciPy takes a third of a second to import, and nothing else needs it.
    from scipy.optimize import minimize

    def loss(vector: Reals) -> tuple[float, Reals]:
        value, gradient = summed(vector)
        return float(vector @ vector) / (2 * sigma**2) - value, vector / sigma**2 - gradient

    options = {"maxiter": _STEPS, "ftol": share, "gtol": 1e-4}
    climbs = [minimize(loss, start, jac=True, method="L-BFGS-B", options=options) for start in starts]
    highest: Reals = min(climbs, key=lambda climb: float(climb.fun)).x
    return np.asarray(highest)
