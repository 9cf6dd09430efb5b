"""CONFIDENCE and --top-k pushed into the search: partial matches that cannot reach the threshold die early.

A match needs its events in order and inside the window, whatever else it needs: rivals, negations,
groups and timing constraints only take worlds away.  So the probability of a chain of some of its events, in
closed form, is an upper bound of its confidence, and every event more can only lower it.

Two events that end too far apart are not even listed as a pair.  The shape of an event is its mass with all
ticks counted from its latest one.  Whether two events of a pair are close enough, `least <= t_b - t_a <=
most`, depends on their shapes and on `upper_b - upper_a` alone: the smallest range of this difference that
holds every pair of at least a confidence is known before any pair is measured.  As a function of the
difference that probability is a quadratic polynomial between the places where an end of a bucket of one
passes one of the other, so that the ends of the range are found exactly.

    name here          in ZDI10, section 7 (future work)
    least              the threshold of confidence; with --top-k it rises to the k-th best so far
    chain              the events of a partial match, one for each block in time order

    name here          in PTJ06
    greatest           stime, counted from the end of the other event; S in its join
    ranges of shapes   the pruning of its join, section 5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from threading import Lock

import numpy as np

from cepctl.engines.columns.masses import Masses, alike_events, shapes_of
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.chain.closed_form import chain_confidence
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, valid_bounds
from cepctl.engines.rows.order import rounded
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.plan import Alternative

_RELATIVE_ERROR = 1e-9
"""Generous bound on the error of what is measured; keeps what lies on the threshold."""
MOST_SHAPES = 256
"""Of more pairs of shapes no ranges are looked up: there are about as many as pairs of events."""


class Threshold:
    """What a confidence must reach to be a row; shared by the threads that look for rows.

    Examples
    --------
    >>> threshold = Threshold(0.0, top=2)
    >>> threshold.reached(np.array([0.5, 0.2, 0.9]), np.array([3, 1, 2])).tolist()
    [True, False, True]
    >>> round(threshold.least, 6)
    0.5
    """

    def __init__(self, least: float, top: int | None = None) -> None:
        self._least = least
        self._top = top
        self._best: Reals = np.zeros(0)
        self._worst_kept: tuple[float, int] | None = None
        self._lock = Lock()

    @property
    def decides(self) -> bool:
        """Whether some match may fail to be a row."""
        return self._least > 0.0 or self._top is not None

    @property
    def rises(self) -> bool:
        """Whether rows that are found leave less room for others."""
        return self._top is not None

    @property
    def least(self) -> float:
        """The smallest confidence that can still be a row."""
        return self._least

    def rise(self, confidence: float, start: int) -> None:
        """As many rows as are wanted are at least as good as this one in the order of the output."""
        self._worst_kept = (float(rounded(np.array([confidence]))[0]), start)

    def in_reach(self, bounds: Reals) -> Flags:
        """Which upper bounds of confidences leave room for one that reaches the threshold."""
        return np.asarray(bounds * (1.0 + _RELATIVE_ERROR) >= self._least)

    def reached(self, confidence: Reals, start: Ticks) -> Flags:
        """Which of some new rows reach the threshold, after it has risen with them; shape (n,)."""
        if self._top is not None:
            with self._lock:
                best = np.concatenate([self._best, confidence[confidence >= self._least]])
                if len(best) >= self._top:
                    best = np.partition(best, len(best) - self._top)[len(best) - self._top :]
                    self._least = max(self._least, float(best.min()) - CONFIDENCE_SLACK)
                self._best = best
        reached = confidence >= self._least
        if (worst := self._worst_kept) is not None:
            ranked = rounded(confidence)
            reached &= (ranked > worst[0]) | ((ranked == worst[0]) & (start <= worst[1]))
        return np.asarray(reached)


@dataclass(frozen=True)
class PushDown:
    """A threshold, and what the search of one alternative must know to apply it to partial matches.

    `complete`: whether rows that bind all single events are worth a look as well, because measuring
    them costs more than the bound.  `ranges`: how far apart the events of AND may be.  `clock`, shape (n,):
    who stamped each event, where they share clocks; `masses` are own parts then, which bound what one clock
    stamped, and nothing bounds the rest.
    """

    threshold: Threshold
    masses: Masses
    complete: bool
    ranges: tuple[RangesOfPairs, ...] = ()
    clock: Indexes | None = None

    def kept(
        self, alternative: Alternative, singles: Sequence[int], system: Ticks, rows: Indexes,
        columns: Sequence[int],
    ) -> Indexes:  # fmt: skip
        """The rows whose events in `columns` can be part of a match that reaches the threshold."""
        if self.threshold.least <= 0.0:
            return rows
        for each in self.ranges:
            if each.column_a in columns and each.column_b in columns:
                rows = each.kept(self.masses, rows)
        chain = chain_columns(alternative, singles, columns)
        if len(chain) < 2:
            return rows
        reaching = self.threshold.in_reach(self._bounds(rows[:, chain], system[np.ix_(chain, chain)]))
        return rows if reaching.all() else rows[reaching]

    def _bounds(self, chain: Indexes, system: Ticks) -> Reals:
        if self.clock is None:
            return upper_bounds(self.masses, chain, system)
        stamped = self.clock[chain]
        together = np.flatnonzero((stamped == stamped[:, :1]).all(axis=1))
        bounds = np.ones(len(chain))
        bounds[together] = upper_bounds(self.masses, chain[together], system)
        return bounds


def chain_columns(alternative: Alternative, singles: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Of the bound columns one for each block, in time order: what certainly is a chain."""
    place = {component: number for number, block in enumerate(alternative.blocks) for component in block}
    chosen: dict[int, int] = {}
    for column in sorted(columns):
        chosen.setdefault(place[singles[column]], column)
    return [chosen[block] for block in sorted(chosen)]


def upper_bounds(masses: Masses, chain: Indexes, system: Ticks) -> Reals:
    """P(the events are in order, and as close as the whole match needs them), shape (n,).

    `chain` has shape (n, m), one event per column in time order; `system` is the part of the closed
    system of the whole pattern for these columns, so that it knows the room that others need.
    """
    # Columns that were picked lie in the order of columns: kernels would be compiled for that, too.
    chain = np.ascontiguousarray(chain)
    lower, upper = valid_bounds(masses.lower[chain], masses.upper[chain], system)
    span = int(system[-1, 0])
    bounds = chain_confidence(masses, chain, lower, upper, span + 1 if 0 <= span < UNBOUNDED else None)
    bounds[(lower > upper).any(axis=1)] = 0.0
    return bounds


"""Generous bound on the error of a probability; keeps what lies on the threshold."""


@dataclass(frozen=True)
class PairRange:
    """`upper_b - upper_a` of pairs of two shapes that reach a threshold: from `least` to `most`.

    FIRST and LAST where it has no end; none where `least` exceeds `most`.
    """

    least: int
    most: int


def pair_range(shapes: Masses, a: int, b: int, bounds: tuple[int, int], confidence: float) -> PairRange:
    """The range of two shapes of which `least <= t_b - t_a <= most` must be as probable as `confidence`.

    FIRST and LAST stand for no bound.
    """
    least, most = bounds
    mirrored = (FIRST if most == LAST else -most, LAST if least == FIRST else -least)
    smallest = _greatest(shapes, b, a, mirrored, confidence)
    turned = {LAST: FIRST, FIRST: LAST}.get(smallest, -smallest)
    return PairRange(turned, _greatest(shapes, a, b, (least, most), confidence))


def _greatest(shapes: Masses, a: int, b: int, bounds: tuple[int, int], confidence: float) -> int:
    """The greatest difference that reaches the confidence; LAST where all great ones do, FIRST where none."""
    if bounds[1] == LAST:
        return LAST
    held = _Held(shapes, a, b, bounds)
    knots = held.knots()
    values = held.at(knots)
    for i in range(len(knots) - 2, -1, -1):
        begin, stop = knots[i], knots[i + 1]
        inside = [begin, *(held.turn(begin, stop) if values[i] < confidence else ())]
        reaching = [u for u, p in zip(inside, held.at(inside), strict=True) if p >= confidence]
        if reaching:
            return held.last_reaching(max(reaching), stop, confidence)
    return FIRST


@dataclass(frozen=True)
class _Held:
    """How probable the bounds are for two shapes, by how far apart they end."""

    shapes: Masses
    a: int
    b: int
    bounds: tuple[int, int]

    def at(self, differences: Sequence[int]) -> Reals:
        """P(least <= t_b - t_a <= most) where b ends so many ticks after a."""
        count = len(differences)
        pairs = np.tile(np.array([self.a, self.b]), (count, 1))
        everywhere = np.full((count, 2), FIRST), np.full((count, 2), LAST)
        least, most = (
            np.array([bound if bound in (FIRST, LAST) else _clipped(bound - each) for each in differences])
            for bound in self.bounds
        )
        return difference_probability(self.shapes, pairs, *everywhere, least, most)

    def knots(self) -> list[int]:
        """Where the polynomial changes, in order; before the first and after the last the value stays."""
        ends_a, ends_b = (
            {
                int(end)
                for bucket in range(self.shapes.starts[each], self.shapes.starts[each + 1])
                for end in (self.shapes.lo[bucket], self.shapes.hi[bucket])
            }
            for each in (self.a, self.b)
        )
        apart = {y - x for x, y in product(ends_a, ends_b)}
        finite = [each for each in self.bounds if each not in (FIRST, LAST)]
        # Ticks are counted, both ends included: a piece may begin one tick beside an end.
        return sorted(
            {bound - each + beside for bound in finite for each in apart for beside in range(-2, 3)}
        )

    def turn(self, begin: int, stop: int) -> tuple[int, ...]:
        """Ticks beside which the polynomial between two knots is greatest, strictly inside."""
        if stop - begin < 2:
            return ()
        middle = (begin + stop) // 2
        x = [0.0, float(middle - begin), float(stop - begin)]
        y = self.at([begin, middle, stop])
        slope, later = (y[1] - y[0]) / x[1], (y[2] - y[1]) / (x[2] - x[1])
        bend = (later - slope) / x[2]
        if bend >= 0.0:
            return (middle,)
        peak = begin + int(x[1] / 2 - slope / (2 * bend))
        return tuple(each for each in (middle, peak, peak + 1) if begin < each < stop)

    def last_reaching(self, reaching: int, beyond: int, confidence: float) -> int:
        """The last tick from `reaching` on, before `beyond`, as far as the confidence is reached."""
        while beyond - reaching > 1:
            middle = (reaching + beyond) // 2
            if self.at([middle])[0] >= confidence:
                reaching = middle
            else:
                beyond = middle
        return reaching


def _clipped(tick: int) -> int:
    return min(max(tick, FIRST + 1), LAST - 1)


# --- ranges of the pairs of a pattern ----------------------------------------------------


@dataclass(frozen=True)
class RangesOfPairs:
    """The ranges of the pairs that two columns of a search may bind.

    `shape_a`, `shape_b`: number of the shape of each event that fits there, shape (n,), else -1.  `least` and
    `most`: ends of the ranges, shape (shapes, shapes).  `examples_a`, `examples_b`: an event of each shape.
    """

    column_a: int
    column_b: int
    shape_a: Indexes
    shape_b: Indexes
    examples_a: Indexes
    examples_b: Indexes
    least: Ticks
    most: Ticks

    def kept(self, masses: Masses, rows: Indexes) -> Indexes:
        """The rows, both columns of which are bound, whose pair is in its range."""
        a, b = rows[:, self.column_a], rows[:, self.column_b]
        apart = _apart(masses.upper[a], masses.upper[b])
        which = self.shape_a[a], self.shape_b[b]
        inside = (apart >= self.least[which]) & (apart <= self.most[which])
        return rows if inside.all() else rows[inside]


def _apart(first: Ticks, last: Ticks) -> Ticks:
    """`last - first`, as far as int64 goes."""
    apart = last - first
    wrapped = ((last >= first) & (apart < 0)) | ((last < first) & (apart > 0))
    return np.where(wrapped, np.where(last >= first, LAST, FIRST), apart)


def ranges_of_pairs(
    alternative: Alternative,
    singles: Sequence[int],
    system: Ticks,
    candidates: Sequence[Indexes],
    masses: Masses,
    confidence: float,
) -> tuple[RangesOfPairs, ...]:
    """The ranges of all pairs that AND binds and a window or a constraint keeps together.

    Pairs in order have bounds of their own.  Where two components have more than MOST_SHAPES pairs of shapes
    there are none.
    """
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    found = []
    numbers = None
    for a, b in combinations(range(len(singles)), 2):
        bounds = _bounds(int(system[a, b]), int(system[b, a]))
        if block_of[singles[a]] != block_of[singles[b]] or bounds == (FIRST, LAST):
            continue
        if numbers is None:
            shapes = shapes_of(masses)
            numbers = alike_events(shapes)
        examples = [np.unique(numbers[candidates[singles[column]]]) for column in (a, b)]
        if 0 < len(examples[0]) * len(examples[1]) <= MOST_SHAPES:
            ranges = [
                pair_range(shapes, int(one), int(other), bounds, confidence * (1.0 - _RELATIVE_ERROR))
                for one, other in product(*examples)
            ]
            size = len(examples[0]), len(examples[1])
            least, most = (
                np.array([getattr(each, end) for each in ranges], dtype=np.int64).reshape(size)
                for end in ("least", "most")
            )
            x, y = examples
            shape = np.searchsorted(x, numbers) % len(x), np.searchsorted(y, numbers) % len(y)
            found.append(RangesOfPairs(a, b, *shape, x, y, least, most))
    return tuple(found)


def _bounds(before: int, after: int) -> tuple[int, int]:
    """`t_a - t_b <= before` and `t_b - t_a <= after` as bounds of t_b - t_a."""
    return (FIRST if before >= UNBOUNDED else -before), (LAST if after >= UNBOUNDED else after)
