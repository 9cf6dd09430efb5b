"""Sums over ticks, also over part of a tick, from few places between ticks: against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.gauss_nodes import (
    holds_polynomials,
    lies_inside,
    place_real,
    place_real_to_end,
    real_count,
    zeros_of_gram,
)
from cepctl.engines.event.match import match_events
from cepctl.numeric.arrays import Reals
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.confidence.test_wide_absences import Negated, confidence
from tests.engines.confidence.test_wide_chains import wide_masses
from tests.engines.exact_chain import Mass, chain_confidence_with_absences

THOUSAND, MILLION = 10**3, 10**6
LENGTHS = (0.25, 1.5, 2, 3.75, 5, 7.0625, 13.5, 40.125, 1_000, 1_234.5, 10**6 + 0.5, 10**15)


def product(ticks: Fraction, degree: int) -> Fraction:
    """As many ways as there are to choose `degree` of so many ticks; their sums are of the same kind."""
    value = Fraction(1)
    for i in range(degree):
        value *= (ticks - i) / (i + 1)
    return value


def placed(ticks: float, degree: int, *, to_end: bool = False) -> tuple[Reals, Reals]:
    places, weights = np.zeros(degree + 1), np.zeros(degree + 1)
    count = (place_real_to_end if to_end else place_real)(ticks, degree, places, weights)
    return places[:count], weights[:count]


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 11, 16, 30])
@pytest.mark.parametrize("ticks", LENGTHS)
def test_every_polynomial_of_the_degree_is_summed(ticks: float, degree: int) -> None:
    places, weights = placed(ticks, degree)
    # Parts of a cell are never summed by more places than its ticks allow.
    scale = max(Fraction(ticks), Fraction(degree * degree), Fraction(1))
    error = 5e-15 * max(np.abs(weights).sum() / float(scale), 1.0)
    for k in range(degree + 1):
        largest = scale ** (k + 1) / math.factorial(k + 1)
        exact = product(Fraction(ticks), k + 1) / largest
        values = [float(product(Fraction(float(t)), k) / largest) for t in places]
        assert math.isclose(math.fsum(weights * values), exact, rel_tol=0, abs_tol=error)


@pytest.mark.parametrize("ticks", [3.5, 77.0])
def test_mirrored_places_have_the_same_weights(ticks: float) -> None:
    places, weights = placed(ticks, 9)
    mirrored, same = placed(ticks, 9, to_end=True)
    assert (places + mirrored).tolist() == pytest.approx([ticks - 1] * len(places))
    assert weights.tolist() == same.tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 40])
def test_weights_are_positive_and_places_inside(count: int) -> None:
    shares = (1.0001, 1.1, 1.7, 2.9, 3.1, count / 4, count / 3 - 0.01, count / 3 + 0.01, count + 0.1, 1e9)
    for ticks in (share * count for share in shares if share > 1):
        places, weights = np.zeros(count), np.zeros(count)
        zeros_of_gram(float(ticks), count, places, weights)
        assert (weights > 0).all()
        assert (np.diff(places) > 0).all()
        assert places[0] > -1e-9
        assert places[-1] < ticks - 1 + 1e-9
        assert places[0] >= 0.4 or not lies_inside(ticks, count)


def test_few_ticks_are_taken_one_by_one() -> None:
    assert placed(3, 8)[0].tolist() == [0, 1, 2]
    assert placed(3, 8)[1].tolist() == [1, 1, 1]
    assert placed(0, 8)[0].tolist() == []
    assert real_count(8) == 5
    assert not holds_polynomials(10, 5)
    assert holds_polynomials(11, 5)


@pytest.mark.parametrize("count", [2, 6, 7, 12, 24, 25, 60])
def test_part_of_a_tick_spoils_no_sum_over_a_cell(count: int) -> None:
    """Rounding errors of an inner sum, at the first zero of the outer one, are nothing beside the whole."""
    ticks = next(n for n in range(4, count**3 + 1) if lies_inside(n, count))
    places, weights = np.zeros(count), np.zeros(count)
    zeros_of_gram(float(ticks), count, places, weights)
    inner = placed(float(places[0]), 2 * count - 2)[1]
    assert np.abs(inner).sum() * weights[0] / (ticks * ticks) < 1


@st.composite
def one_gap(draw: st.DrawFn) -> Negated:
    """Two or three events of many ticks and one or two rivals of one gap."""
    scales = (50, THOUSAND, MILLION)
    chain = draw(st.lists(wide_masses(scales), min_size=2, max_size=3))
    window = draw(st.none() | st.integers(2, 3 * MILLION))
    rivals = draw(st.lists(wide_masses(scales), min_size=1, max_size=2))
    return chain, window, rivals, [draw(st.integers(0, len(chain) - 2))]


def relatively_agrees(case: Negated) -> None:
    chain, window, rivals, gaps = case
    exact = chain_confidence_with_absences(chain, window, [(r, g, g + 1) for r in rivals for g in gaps])
    measured = confidence(match_events, case)
    assert math.isclose(measured, exact, rel_tol=2e-10, abs_tol=0), (measured, float(exact))


def test_small_confidences_are_as_exact_as_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.gaps.tables.MOST_TICKS", 0)
    check(one_gap(), relatively_agrees, FEW_EXAMPLES)


def uniform(lower: int, upper: int) -> Mass:
    return [(lower, upper, Fraction(1))]


@pytest.mark.parametrize("overlap", [1, 2, 3, 4, 10, 100])
@pytest.mark.parametrize("window", [None, 2, 3, 5, 40])
def test_what_is_possible_in_a_corner_alone_has_its_confidence(overlap: int, window: int | None) -> None:
    """Events a and b share a few of a million ticks, and a rival leaves what is after it."""
    first, last = uniform(0, MILLION), uniform(MILLION - overlap, 2 * MILLION)
    rivals = [uniform(0, MILLION + 1), uniform(MILLION - 3, 3 * MILLION)]
    relatively_agrees(([first, last], window, rivals, [0]))
    relatively_agrees(([first, last, uniform(MILLION, 2 * MILLION)], window, rivals, [0]))
    relatively_agrees(([first, last, uniform(MILLION, 2 * MILLION)], window, rivals, [1]))
