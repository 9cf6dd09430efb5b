"""The range of a pair: how far apart two events may end and still be as probable as a threshold asks.

The shape of an event is its mass with all ticks counted from its latest one.  Whether two events of a pair
are close enough, `least <= t_b - t_a <= most`, depends on their shapes and on `upper_b - upper_a` alone: the
smallest range of this difference that holds every pair of at least a confidence is known before any pair is
measured.  As a function of the difference that probability is a quadratic polynomial between the places
where an end of a bucket of one passes one of the other, so that the ends of the range are found exactly.

    name here          in PTJ06
    greatest           stime, counted from the end of the other event; S in its join
    ranges of shapes   the pruning of its join, section 5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from cepctl.engines.columns.masses import Masses, alike_events, shapes_of
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.plan.plan import Alternative

MOST_SHAPES = 256
"""Of more pairs of shapes no ranges are looked up: there are about as many as pairs of events."""
_RELATIVE_ERROR = 1e-9
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
