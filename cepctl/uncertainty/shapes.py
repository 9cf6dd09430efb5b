"""A rule's durations as offsets in ticks around the raw tick t; lengths round outwards.

    kind          ticks
    interval      t - before .. t + after
    granularity   the local unit that contains t                       depends on t, see assign.py
    latency       t - to + 1 .. t - from, one bucket per delay
    normal        64 buckets of equal width over ± cut * sigma, fewer where that is fewer ticks

Where two latency buckets meet inside one tick, the tick belongs to the shorter delay, and a bucket
that is left without a tick gives its mass to the bucket that took it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

from cepctl.errors import UncertaintyModelError
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import Interval, Latency, Normal

NORMAL_BUCKETS = 64
LONGEST = 2**62


@dataclass(frozen=True)
class Bucket:
    """Ticks t + first .. t + last with this probability, spread evenly."""

    first: int
    last: int
    mass: float


def ticks_up(length: Fraction, unit: TimeUnit) -> int:
    """A length of time in ticks, rounded up; refuses what exceeds the range of ticks."""
    ticks = math.ceil(length / unit.microseconds)
    if abs(ticks) >= LONGEST:
        raise UncertaintyModelError(f"a duration of {ticks} ticks is too long; choose a coarser time_unit")
    return ticks


def interval_offsets(interval: Interval, unit: TimeUnit) -> tuple[int, int]:
    """First and last tick relative to t.

    Examples
    --------
    >>> interval_offsets(Interval(Fraction(1_500), Fraction(0)), TimeUnit(1_000))
    (-2, 0)
    """
    return -ticks_up(interval.before, unit), ticks_up(interval.after, unit)


def latency_buckets(latency: Latency, unit: TimeUnit) -> tuple[Bucket, ...]:
    """The buckets of a delay histogram in order of time, so the longest delay first.

    Examples
    --------
    >>> from cepctl.uncertainty.model import Delay
    >>> delays = (Delay(Fraction(0), Fraction(10), 0.6), Delay(Fraction(10), Fraction(20), 0.4))
    >>> [(b.first, b.last) for b in latency_buckets(Latency(delays), TimeUnit(1))]
    [(-19, -10), (-9, 0)]
    """
    buckets: list[Bucket] = []
    for delay in latency.delays:
        first, last = 1 - ticks_up(delay.end, unit), ticks_up(-delay.start, unit)
        if buckets:
            last = min(last, buckets[-1].first - 1)
        if first <= last:
            buckets.append(Bucket(first, last, delay.mass))
        else:
            taken = buckets.pop()
            buckets.append(Bucket(taken.first, taken.last, taken.mass + delay.mass))
    return tuple(reversed(buckets))


def normal_buckets(normal: Normal, unit: TimeUnit) -> tuple[Bucket, ...]:
    """A cut normal distribution; a tick has the mass from half a tick before to half a tick after it."""
    half = ticks_up(normal.cut * normal.sigma, unit)
    sigma = float(normal.sigma / unit.microseconds)
    ticks = 2 * half + 1
    count = min(NORMAL_BUCKETS, ticks)
    edges = [number * ticks // count - half for number in range(count + 1)]
    masses = [_normal_mass((a - 0.5) / sigma, (b - 0.5) / sigma) for a, b in itertools.pairwise(edges)]
    total = math.fsum(masses)
    return tuple(
        Bucket(first, after - 1, mass / total)
        for first, after, mass in zip(edges, edges[1:], masses, strict=False)
        if mass > 0
    )


def _normal_mass(low: float, high: float) -> float:
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
