"""Exact confidence of a chain by piecewise polynomials, for intervals far too wide to enumerate.

The second derivation that judges the engine's closed form; it counts nothing by binomials.
P(the first j events are in order and the j-th happens at t) is a polynomial in t between cut
points; it is found by evaluating at enough ticks and interpolating, and summed through power
sums that are found the same way, all in `Fraction`, or in integers over one denominator.
The window, and leading or trailing absences, tie the last event to the first: then the sum is done
for a fixed first tick, and is itself a piecewise polynomial in that tick.  Every interpolation is
checked at the far end of its piece, so that a forgotten cut point raises instead of giving a wrong
number.

    name here     meaning
    mass          buckets (lo, hi, p): both ends included, p spread evenly over their ticks
    cuts          ticks at which a bucket begins, or which follow its end
    presence      an event that must lie strictly inside its gap
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import TypeAlias

Bucket: TypeAlias = tuple[int, int, Fraction]
Mass: TypeAlias = Sequence[Bucket]
Absence: TypeAlias = tuple[Mass, int, int]
"""A rival, and the two chain positions that it must not lie strictly between.

From -1 is before the chain (`last - W < t < first`), to `len(masses)` after it (`last < t < first + W`).
"""
Presence: TypeAlias = tuple[Mass, int]
"""An event, and the position after which its gap begins; -1 and `len(masses) - 1` are the edges."""
OfTick: TypeAlias = Callable[[int], Fraction]
Coefficients: TypeAlias = tuple[Fraction, ...]

ZERO = Fraction(0)


def chain_confidence(masses: Sequence[Mass], window: int | None = None) -> Fraction:
    """P(t_1 < t_2 < ... < t_l and t_l - t_1 < window) for independent events.

    Examples
    --------
    >>> chain_confidence([[(1, 2, Fraction(1))], [(2, 3, Fraction(1))]])
    Fraction(3, 4)
    """
    return chain_with_presences(masses, window, [])


def chain_confidence_with_absences(
    masses: Sequence[Mass], window: int | None, absences: Sequence[Absence]
) -> Fraction:
    """P(the chain holds, and no rival lies in a gap from which it must be absent).

    One mass *object* listed for several gaps is one rival, absent from all of them: it lies in at
    most one, so that their probabilities add.  The product over rivals of 1 minus such sums is
    multiplied out, and each term is a chain with presences.
    """
    rivals: dict[int, tuple[Mass, list[int]]] = {}
    for mass, start, end in absences:
        if end != start + 1:
            raise ValueError(f"a gap lies between neighbours, not between {start} and {end}")
        rivals.setdefault(id(mass), (mass, []))[1].append(start)
    choices: list[list[Presence | None]] = [
        [None, *((mass, gap) for gap in gaps)] for mass, gaps in rivals.values()
    ]
    total = ZERO
    for choice in product(*choices):
        presences = [presence for presence in choice if presence is not None]
        total += (-1) ** len(presences) * chain_with_presences(masses, window, presences)
    return total


def chain_with_presences(
    masses: Sequence[Mass], window: int | None, presences: Sequence[Presence]
) -> Fraction:
    """P(the chain holds and every listed event lies strictly inside its gap)."""
    edges = [presence for presence in presences if presence[1] in (-1, len(masses) - 1)]
    inner = [presence for presence in presences if presence not in edges]
    if window is None:
        if edges:
            raise ValueError("an absence before or after the chain needs a window")
        return sum((piece.total() for piece in _last_event(masses, inner)), ZERO)
    cuts = _cuts([*masses, *(mass for mass, _ in presences)])
    shifted = {cut + k * window for cut in cuts for k in (-1, 0, 1)}
    degree = len(masses) + len(presences)
    return sum(
        (
            per_tick * piece.total()
            for lo, hi, per_tick in _per_tick(masses[0])
            for piece in _pieces(
                lambda first: _given_first_tick(first, masses, window, inner, edges), lo, hi, shifted, degree
            )
        ),
        ZERO,
    )


def _given_first_tick(
    first: int, masses: Sequence[Mass], window: int, inner: Sequence[Presence], edges: Sequence[Presence]
) -> Fraction:
    """P(the rest of the chain and all presences), when the first event happens at tick `first`."""
    certain = [(first, first, Fraction(1))]
    inside = [_clipped(mass, first + 1, first + window - 1) for mass in masses[1:]]

    def edge_factor(last: int) -> Fraction:
        factor = Fraction(1)
        for mass, gap in edges:
            lo, hi = (last - window, first) if gap == -1 else (last, first + window)
            factor *= _probability_between(mass, lo, hi)
        return factor

    cuts = _cuts([mass for mass, _ in edges])
    shifted = {cut + k * window for cut in cuts for k in (0, 1)}
    return sum(
        (
            piece.total()
            for last in _last_event([certain, *inside], inner)
            for piece in _pieces(
                lambda t, last=last: last.at(t) * edge_factor(t),  # type: ignore[misc]
                last.lo,
                last.hi,
                shifted,
                len(last.coefficients) + len(edges),
            )
        ),
        ZERO,
    )


# --- the chain, event by event -------------------------------------------------------------


def _last_event(masses: Sequence[Mass], inner: Sequence[Presence]) -> list[Piece]:
    """P(all events in order, inner presences hold, and the last happens at t), piece by piece."""
    pieces = [Piece(lo, hi, (p.numerator,), p.denominator) for lo, hi, p in _per_tick(masses[0])]
    cuts = _cuts([*masses, *(mass for mass, _ in inner)])
    for place, mass in enumerate(masses[1:], start=1):
        present = [rival for rival, gap in inner if gap == place - 1]
        degree = place + len(inner)
        before = pieces
        pieces = [
            piece.times(per_tick)
            for lo, hi, per_tick in _per_tick(mass)
            for piece in _pieces(
                lambda t: _up_to(t, before, present, cuts),  # noqa: B023 - used before the loop goes on
                lo,
                hi,
                cuts,
                degree,
            )
        ]
    return pieces


def _up_to(t: int, before: Sequence[Piece], present: Sequence[Mass], cuts: set[int]) -> Fraction:
    """Sum over s < t of P(previous event at s) times P(each of `present` strictly between s and t)."""
    total = ZERO
    for piece in before:
        end = min(piece.hi, t - 1)
        if end < piece.lo:
            continue
        if not present:
            total += piece.total(end)
            continue

        def at(s: int, piece: Piece = piece) -> Fraction:
            factor = piece.at(s)
            for mass in present:
                factor *= _probability_between(mass, s, t)
            return factor

        degree = len(piece.coefficients) + len(present)
        total += sum((part.total() for part in _pieces(at, piece.lo, end, cuts | {t}, degree)), ZERO)
    return total


# --- masses --------------------------------------------------------------------------------


def _per_tick(mass: Mass) -> list[Bucket]:
    return [(lo, hi, p / (hi - lo + 1)) for lo, hi, p in mass]


def _cuts(masses: Iterable[Mass]) -> set[int]:
    return {cut for mass in masses for lo, hi, _ in mass for cut in (lo, hi + 1)}


def _clipped(mass: Mass, lo: int, hi: int) -> list[Bucket]:
    """The part of a mass in [lo, hi], not renormalised."""
    parts = [(max(a, lo), min(b, hi), q) for a, b, q in _per_tick(mass)]
    return [(a, b, q * (b - a + 1)) for a, b, q in parts if a <= b]


def _probability_between(mass: Mass, lo: int, hi: int) -> Fraction:
    """P(lo < t < hi)."""
    return sum((p for _, _, p in _clipped(mass, lo + 1, hi - 1)), ZERO)


# --- polynomials ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """A polynomial in `t - lo`, lowest power first, over one denominator, for the ticks lo to hi."""

    lo: int
    hi: int
    coefficients: tuple[int, ...]
    denominator: int

    def at(self, t: int) -> Fraction:
        value, x = 0, t - self.lo
        for coefficient in reversed(self.coefficients):
            value = value * x + coefficient
        return Fraction(value, self.denominator)

    def times(self, factor: Fraction) -> Piece:
        coefficients = tuple(factor.numerator * c for c in self.coefficients)
        return Piece(self.lo, self.hi, coefficients, factor.denominator * self.denominator)

    def total(self, hi: int | None = None) -> Fraction:
        """Sum over the ticks from lo to `hi`, the end of the piece when not given."""
        n = (self.hi if hi is None else hi) - self.lo
        return Fraction(
            sum(c * _power_sum_at(k, n) for k, c in enumerate(self.coefficients)), self.denominator
        )


def _pieces(function: OfTick, lo: int, hi: int, cuts: Iterable[int], degree: int) -> Iterator[Piece]:
    """`function` on [lo, hi] as polynomials of at most `degree` between the cuts."""
    starts = sorted({lo, *(cut for cut in cuts if lo < cut <= hi)})
    for start, following in pairwise([*starts, hi + 1]):
        yield _interpolated(function, start, following - 1, degree)


def _interpolated(function: OfTick, lo: int, hi: int, degree: int) -> Piece:
    nodes = min(degree, hi - lo) + 1
    inverse = _whole_inverse(nodes)
    values = [function(lo + x) for x in range(nodes)]
    whole, of_values = _over_one_denominator(values)
    rows, of_rows = inverse
    coefficients = tuple(sum(a * v for a, v in zip(row, whole, strict=True)) for row in rows)
    piece = Piece(lo, hi, coefficients, of_rows * of_values)
    if hi - lo >= nodes and piece.at(hi) != function(hi):
        raise AssertionError(f"not one polynomial of degree {degree} on [{lo}, {hi}]: a cut point is missing")
    return piece


def _over_one_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    denominator = math.lcm(*(each.denominator for each in values))
    return [each.numerator * (denominator // each.denominator) for each in values], denominator


@lru_cache
def _whole_inverse(size: int) -> tuple[list[list[int]], int]:
    """`_inverse_vandermonde` in integers over one denominator."""
    rows = _inverse_vandermonde(size)
    whole, denominator = _over_one_denominator([each for row in rows for each in row])
    return [whole[start : start + size] for start in range(0, size * size, size)], denominator


@lru_cache
def _inverse_vandermonde(size: int) -> tuple[Coefficients, ...]:
    """Rows that turn the values at 0, 1, ..., size - 1 into coefficients (Lagrange's basis)."""
    columns = []
    for node in range(size):
        basis: list[Fraction] = [Fraction(1)]
        for other in (x for x in range(size) if x != node):
            shifted, scaled = [ZERO, *basis], [*basis, ZERO]
            basis = [(a - other * b) / (node - other) for a, b in zip(shifted, scaled, strict=True)]
        columns.append(basis)
    return tuple(zip(*columns, strict=True))


@lru_cache
def _power_sum(power: int) -> Coefficients:
    """The polynomial in n that is 0^power + 1^power + ... + n^power."""
    size = power + 2
    values = [Fraction(sum(x**power for x in range(n + 1))) for n in range(size)]
    rows = _inverse_vandermonde(size)
    return tuple(sum((a * v for a, v in zip(row, values, strict=True)), ZERO) for row in rows)


@lru_cache(10_000)
def _power_sum_at(power: int, n: int) -> int:
    value = ZERO
    for coefficient in reversed(_power_sum(power)):
        value = value * n + coefficient
    assert value.denominator == 1
    return value.numerator
