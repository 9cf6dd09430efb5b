"""Weights of ticks by polynomials: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.laws import (
    Laws,
    Polynomials,
    degree_of,
    even_laws,
    is_weighted,
    weight_at,
    weighted_laws,
)
from cepctl.engines.columns.masses import Masses

ENDS = np.array([0, 10]), np.array([3, 10])
BUCKETS = Masses(*ENDS, np.arange(3), *ENDS, np.array([1 / 4, 1.0])).buckets
EARLIER = Polynomials(
    np.array([0]), np.array([4]), np.array([-1]), np.array([0, 3]), np.array([0.5, 1.0, 2.0])
)
"""1/2 + x / 4 + 2 C(x, 2) / C(4, 2) on x from 0 on."""
LATER = Polynomials(np.array([-3]), np.array([4]), np.array([-1]), np.array([0, 2]), np.array([0.0, 1.0]))
"""x / 4 on x = 3 - tick."""
ROOM = Polynomials(np.array([0]), np.array([3]), np.array([2]), np.array([0, 0]), np.zeros(0))
"""The room of two others from 0 on, of 10 ways where three ticks are to spare."""


def laws(earlier: Polynomials = EARLIER, *, later: bool = False) -> Laws:
    """Event 0 is anywhere from 0 to 3, and weighed; event 1 is certain, and is not."""
    after = np.array([0 if later else -1, -1])
    return weighted_laws(BUCKETS, np.array([2, 0]), np.array([0, -1]), after, earlier, LATER)


@pytest.mark.parametrize(("tick", "weight"), [(0, 1 / 2), (1, 3 / 4), (2, 4 / 3), (3, 9 / 4), (4, 0.0)])
def test_a_polynomial_weighs_the_ticks_of_an_event(tick: int, weight: float) -> None:
    """At 2 there are 1/2 + 2/4 + 2 * 1/6, at 3 there are 1/2 + 3/4 + 2 * 3/6; the event is not at 4."""
    assert weight_at(laws(), 0, tick) == pytest.approx(weight, rel=1e-15)


@pytest.mark.parametrize(("tick", "weight"), [(0, 1 / 2 * 3 / 4), (2, 4 / 3 * 1 / 4), (3, 0.0)])
def test_what_is_before_and_what_is_after_weigh_together(tick: int, weight: float) -> None:
    assert weight_at(laws(later=True), 0, tick) == pytest.approx(weight, rel=1e-15)


@pytest.mark.parametrize(("tick", "weight"), [(1, 0.0), (2, 1 / 10), (3, 3 / 10)])
def test_others_need_room_before_an_event(tick: int, weight: float) -> None:
    """Two others fit before tick 2 in one way, before 3 in three."""
    assert weight_at(laws(ROOM), 0, tick) == pytest.approx(weight, rel=1e-15)


def test_what_nothing_bends_has_no_degree() -> None:
    assert [degree_of(laws(), event) for event in (0, 1)] == [2, 0]
    assert [is_weighted(laws(), event) for event in (0, 1)] == [True, False]
    assert (degree_of(even_laws(BUCKETS), 0), is_weighted(even_laws(BUCKETS), 0)) == (0, False)
