"""The second derivation of chain confidences, checked itself against plain enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.exact_chain import (
    Absence,
    Mass,
    _interpolated,
    chain_confidence,
    chain_confidence_with_absences,
)


def uniform(lo: int, hi: int) -> Mass:
    return [(lo, hi, Fraction(1))]


@st.composite
def masses(draw: st.DrawFn) -> Mass:
    """Up to three buckets, with holes between them."""
    weights = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    lo = draw(st.integers(-3, 5))
    buckets = []
    for weight in weights:
        hi = lo + draw(st.integers(0, 3))
        buckets.append((lo, hi, Fraction(weight, sum(weights))))
        lo = hi + 1 + draw(st.integers(0, 2))
    return buckets


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Mass], int | None, list[Absence]]:
    """Up to three events, a window or none, and rivals absent from one or two gaps each."""
    chain = draw(st.lists(masses(), min_size=1, max_size=3))
    window = draw(st.none() | st.integers(1, 12))
    gaps = [(g, g + 1) for g in range(-1, len(chain)) if window is not None or 0 <= g < len(chain) - 1]
    absences: list[Absence] = []
    for _ in range(draw(st.integers(0, 2 if len(chain) < 3 else 1))):
        rival = draw(masses())
        chosen = draw(st.lists(st.sampled_from(gaps), max_size=2, unique=True)) if gaps else []
        absences.extend((rival, *gap) for gap in chosen)
    return chain, window, absences


def worlds(all_masses: list[Mass]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    points = [
        [(t, p / (hi - lo + 1)) for lo, hi, p in mass for t in range(lo, hi + 1)] for mass in all_masses
    ]
    for world in product(*points):
        probability = Fraction(1)
        for _, mass in world:
            probability *= mass
        yield tuple(tick for tick, _ in world), probability


def enumerated(chain: list[Mass], window: int | None, absences: list[Absence]) -> Fraction:
    rivals = list({id(mass): mass for mass, _, _ in absences}.values())
    total = Fraction(0)
    for ticks, probability in worlds([*chain, *rivals]):
        t = ticks[: len(chain)]
        if any(a >= b for a, b in pairwise(t)) or (window is not None and t[-1] - t[0] >= window):
            continue
        edges = [t[-1] - (window or 0), *t, t[0] + (window or 0)]
        place = {id(mass): tick for mass, tick in zip(rivals, ticks[len(chain) :], strict=True)}
        if not any(
            (edges[0] if start == -1 else t[start])
            < place[id(mass)]
            < (edges[-1] if end == len(t) else t[end])
            for mass, start, end in absences
        ):
            total += probability
    return total


@given(chains())
def test_chains_with_windows_and_absences_agree_with_enumeration(
    case: tuple[list[Mass], int | None, list[Absence]],
) -> None:
    assert chain_confidence_with_absences(*case) == enumerated(*case)


def test_figure_1_of_zdi10() -> None:
    a1, b3, c2, c4 = uniform(1, 5), uniform(3, 5), uniform(3, 5), uniform(4, 8)
    assert chain_confidence([a1, b3, c2], 4) == Fraction(25, 225)
    assert chain_confidence([a1, b3, c4], 4) == Fraction(27, 225)


def test_equal_intervals_of_a_billion_ticks_in_a_window_of_ten() -> None:
    n, window = 10**9, 10
    pairs = sum(n - gap for gap in range(1, window))
    assert chain_confidence([uniform(1, n)] * 2, window) == Fraction(pairs, n**2)


def test_a_rival_listed_for_two_gaps_is_one_event() -> None:
    rival = uniform(1, 5)
    chain = [uniform(0, 0), uniform(3, 3), uniform(6, 6)]
    assert chain_confidence_with_absences(chain, None, [(rival, 0, 1), (rival, 1, 2)]) == Fraction(1, 5)


def test_two_rivals_are_independent() -> None:
    chain = [uniform(0, 0), uniform(3, 3)]
    absences: list[Absence] = [(uniform(1, 4), 0, 1), (uniform(2, 5), 0, 1)]
    assert chain_confidence_with_absences(chain, None, absences) == Fraction(1, 2) * Fraction(3, 4)


def test_a_forgotten_cut_point_is_noticed() -> None:
    kinked = _interpolated(lambda t: Fraction(abs(t)), 0, 9, 1)
    assert (kinked.lo, kinked.hi) == (0, 9)
    assert [Fraction(each, kinked.denominator) for each in kinked.coefficients] == [0, 1]
    with pytest.raises(AssertionError, match="cut point"):
        _interpolated(lambda t: Fraction(abs(t - 5)), 0, 9, 1)
