"""What a rule may say of the true time around a logged one: one class for each kind, in one list.

    kind          ticks
    interval      t - before .. t + after                              alone, or beside a kind of the list
    granularity   the local unit that contains t                       depends on t, see assign.py
    latency       t - to + 1 .. t - from, one bucket per delay
    normal        64 buckets of equal width over ± cut * sigma, fewer where that is fewer ticks

Lengths of time are whole or fractional microseconds; as offsets in ticks around the raw tick t they are
rounded outwards.  Where two latency buckets meet inside one tick, the tick belongs to the shorter delay, and
a bucket that is left without a tick gives its mass to the bucket that took it.

A kind that is a histogram around t is a class with `read`, `buckets` and `lengths`, and a line in SHAPES.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from cepctl.errors import UncertaintyModelError
from cepctl.numeric.precision import MASS_TOLERANCE
from cepctl.schema import TimeUnit, parse_duration


def text_in_quotes(value: object, key: str) -> str:
    """A text; raises UncertaintyModelError naming its key."""
    if not isinstance(value, str):
        raise UncertaintyModelError(f"{key} must be text in quotes, not {value!r}")
    return value


def finite_number(value: object, what: str) -> float:
    """A number that is finite; raises UncertaintyModelError naming what it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise UncertaintyModelError(f"{what} must be a number, not {value!r}")
    return float(value)


NORMAL_BUCKETS = 64
LONGEST = 2**62


@dataclass(frozen=True)
class Bucket:
    """Ticks t + first .. t + last with this probability, spread evenly."""

    first: int
    last: int
    mass: float


class Histogram(Protocol):
    """A mass around t that is the same for every t."""

    @property
    def lengths(self) -> Sequence[Fraction]:
        """The lengths of time in it that ticks have to hold as they are."""

    def buckets(self, unit: TimeUnit) -> tuple[Bucket, ...]:
        """Its mass, in order of time."""


@dataclass(frozen=True)
class Interval:
    """The true time lies in [t - before, t + after]; microseconds, negative for a known offset."""

    before: Fraction
    after: Fraction

    def offsets(self, unit: TimeUnit) -> tuple[int, int]:
        """First and last tick relative to t.

        Examples
        --------
        >>> Interval(Fraction(1_500), Fraction(0)).offsets(TimeUnit(1_000))
        (-2, 0)
        """
        return -ticks_up(self.before, unit), ticks_up(self.after, unit)


@dataclass(frozen=True)
class Granularity:
    """The true time lies in the unit of this many microseconds that contains t, in its local zone."""

    microseconds: int | Fraction

    @classmethod
    def read(cls, value: object) -> Granularity:
        """From a model; raises UncertaintyModelError saying what to write, as all `read` do."""
        length = parse_duration(text_in_quotes(value, "granularity"))
        if length <= 0 or (length * 1_000).denominator != 1:
            raise UncertaintyModelError("granularity must be a whole number of nanoseconds above 0")
        return cls(int(length) if length.denominator == 1 else length)

    @property
    def lengths(self) -> Sequence[Fraction]:
        """Its own, where it is not of whole microseconds; a coarser tick holds the others."""
        length = Fraction(self.microseconds)
        return () if length.denominator == 1 else (length,)


@dataclass(frozen=True)
class Delay:
    """One bucket of a latency histogram: the event was logged [start, end) microseconds late."""

    start: Fraction
    end: Fraction
    mass: float


@dataclass(frozen=True)
class Latency:
    """Buckets of a detection delay in order of their start, disjoint; masses sum to 1."""

    delays: tuple[Delay, ...]

    @classmethod
    def read(cls, value: object) -> Latency:
        """From a model."""
        form = 'write latency = [["0 ms", "10 ms", 0.6], ["10 ms", "20 ms", 0.4]]'
        if not isinstance(value, list) or not value:
            raise UncertaintyModelError(form)
        delays = []
        for bucket in value:
            if not isinstance(bucket, list) or len(bucket) != 3 or isinstance(bucket[2], bool | str):
                raise UncertaintyModelError(form)
            start, end = (parse_duration(text_in_quotes(edge, "a latency")) for edge in bucket[:2])
            if start >= end:
                raise UncertaintyModelError(
                    f"latency from '{bucket[0]}' to '{bucket[1]}' is empty: 'to' is excluded"
                )
            delays.append(Delay(start, end, finite_number(bucket[2], "a probability")))
        return cls(_checked(delays))

    @property
    def lengths(self) -> Sequence[Fraction]:
        return [edge for delay in self.delays for edge in (delay.start, delay.end)]

    def buckets(self, unit: TimeUnit) -> tuple[Bucket, ...]:
        """The longest delay first.

        Examples
        --------
        >>> delays = (Delay(Fraction(0), Fraction(10), 0.6), Delay(Fraction(10), Fraction(20), 0.4))
        >>> [(b.first, b.last) for b in Latency(delays).buckets(TimeUnit(1))]
        [(-19, -10), (-9, 0)]
        """
        buckets: list[Bucket] = []
        for delay in self.delays:
            first, last = 1 - ticks_up(delay.end, unit), ticks_up(-delay.start, unit)
            if buckets:
                last = min(last, buckets[-1].first - 1)
            if first <= last:
                buckets.append(Bucket(first, last, delay.mass))
            else:
                taken = buckets.pop()
                buckets.append(Bucket(taken.first, taken.last, taken.mass + delay.mass))
        return tuple(reversed(buckets))


@dataclass(frozen=True)
class Normal:
    """A normal distribution around t, cut at ± cut * sigma microseconds."""

    sigma: Fraction
    cut: Fraction

    @classmethod
    def read(cls, value: object) -> Normal:
        """From a model."""
        if not isinstance(value, dict) or "sigma" not in value or not value.keys() <= {"sigma", "cut"}:
            raise UncertaintyModelError('write normal = { sigma = "200 ms", cut = 3 }')
        sigma = parse_duration(text_in_quotes(value["sigma"], "sigma"))
        cut = finite_number(value.get("cut", 3), "cut")
        if sigma <= 0 or cut <= 0:
            raise UncertaintyModelError("sigma and cut must be above 0")
        return cls(sigma, Fraction(cut).limit_denominator(10**6))

    @property
    def lengths(self) -> Sequence[Fraction]:
        """None: a mass that is cut into buckets is held by any tick."""
        return ()

    def buckets(self, unit: TimeUnit) -> tuple[Bucket, ...]:
        """A tick has the mass from half a tick before to half a tick after it."""
        half = ticks_up(self.cut * self.sigma, unit)
        sigma = float(self.sigma / unit.microseconds)
        ticks = 2 * half + 1
        count = min(NORMAL_BUCKETS, ticks)
        edges = [number * ticks // count - half for number in range(count + 1)]
        masses = [normal_mass((a - 0.5) / sigma, (b - 0.5) / sigma) for a, b in itertools.pairwise(edges)]
        total = math.fsum(masses)
        return tuple(
            Bucket(first, after - 1, mass / total)
            for first, after, mass in zip(edges, edges[1:], masses, strict=False)
            if mass > 0
        )


Shape: TypeAlias = Granularity | Histogram

SHAPES: dict[str, Callable[[object], Shape]] = {
    "granularity": Granularity.read,
    "latency": Latency.read,
    "normal": Normal.read,
}
"""Every kind, by the key of a rule that it is read from; they exclude each other."""


def ticks_up(length: Fraction, unit: TimeUnit) -> int:
    """A length of time in ticks, rounded up; refuses what exceeds the range of ticks."""
    ticks = math.ceil(length / unit.microseconds)
    if abs(ticks) >= LONGEST:
        raise UncertaintyModelError(f"a duration of {ticks} ticks is too long; choose a coarser time_unit")
    return ticks


def _checked(delays: list[Delay]) -> tuple[Delay, ...]:
    """Disjoint buckets of positive mass in order, renormalised."""
    ordered = sorted(delays, key=lambda delay: delay.start)
    for left, right in itertools.pairwise(ordered):
        if left.end > right.start:
            raise UncertaintyModelError("two latency buckets overlap; end one before the next begins")
    if any(delay.mass < 0 for delay in ordered):
        raise UncertaintyModelError("a probability is below 0")
    total = math.fsum(delay.mass for delay in ordered)
    if abs(total - 1) > MASS_TOLERANCE:
        raise UncertaintyModelError(f"the probabilities of the latency sum to {total:.9g}, not to 1")
    return tuple(Delay(d.start, d.end, d.mass / total) for d in ordered if d.mass > 0)


def normal_mass(low: float, high: float) -> float:
    """Probability of [low, high] under the standard normal; by the tail, where it does not cancel."""
    if low < 0 < high:
        return (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    near, far = sorted((abs(low), abs(high)))
    return (math.erfc(near / math.sqrt(2)) - math.erfc(far / math.sqrt(2))) / 2


def widened(buckets: tuple[Bucket, ...], before: int, after: int) -> tuple[Bucket, ...]:
    """Buckets whose extremes move by an interval: first tick + before, last tick + after.

    `before` is <= 0 as a rule and `after` >= 0: the outermost buckets grow.  A known offset (both of
    one sign) moves all buckets by the smaller of the two first, so that none becomes empty.

    Examples
    --------
    >>> widened((Bucket(0, 3, 0.5), Bucket(4, 7, 0.5)), -2, 1)
    (Bucket(first=-2, last=3, mass=0.5), Bucket(first=4, last=8, mass=0.5))
    """
    shift = before if before > 0 else min(after, 0)
    moved = [Bucket(b.first + shift, b.last + shift, b.mass) for b in buckets]
    first = moved[0]
    moved[0] = Bucket(first.first + before - shift, first.last, first.mass)
    last = moved[-1]
    moved[-1] = Bucket(last.first, last.last + after - shift, last.mass)
    return tuple(moved)
