"""ln P of true orders and its gradient, against every world and every order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.laws.learning.factors import OpenFactors
from cepctl.laws.learning.likelihood import Lessons
from cepctl.numeric.arrays import Reals
from tests.laws.learning.orders_in_every_world import Told, log_likelihood
from tests.taught_keys import taught_keys

Key = tuple[Told, ...]


@st.composite
def events(draw: st.DrawFn) -> Told:
    lower = draw(st.integers(0, 5))
    upper = lower + draw(st.integers(0, 3))
    return Told(draw(st.sampled_from("ABC")), lower, upper, draw(st.integers(lower, upper)))


keys = st.lists(events(), min_size=2, max_size=4).map(tuple)


def written(key: Key) -> str:
    return " ".join(f"{e.step}{e.lower}-{e.upper}@{e.tick}" for e in key)


def lessons_of(some: Sequence[Key]) -> Lessons:
    taught = taught_keys(*map(written, some))
    return Lessons.of(taught, np.arange(len(taught)) % 2, 2)


def named(found: OpenFactors, vector: Reals) -> dict[tuple[str, str, str], float]:
    """The factors that a vector says, by name."""
    begins, ends = (*found.steps, "^"), (*found.steps, "$")
    factors = {
        ("next", begins[i], ends[j]): math.exp(vector[found.following[i, j]])
        for i, j in np.argwhere(found.following >= 0)
    }
    for i, j in np.argwhere(found.before >= 0):
        factor = math.exp(vector[found.before[i, j]])
        factors["before", begins[i], begins[j]] = factor
        factors["before", begins[j], begins[i]] = 1 / factor
    return factors


def summed(some: Sequence[Key], found: OpenFactors, vector: Reals) -> float:
    factors = named(found, vector)
    return math.fsum(log_likelihood(key, factors) for key in some)


@given(st.lists(keys, min_size=1, max_size=3), st.integers(0, 10_000))
def test_all_orders_are_weighed(some: list[Key], seed: int) -> None:
    lessons = lessons_of(some)
    vector = np.random.default_rng(seed).normal(size=lessons.factors.count)
    value, _ = lessons.likelihood(np.ones(2, dtype=bool), 1)(vector)
    # Without factors a world is as probable as any other, so that nothing is added to this.
    assert value == pytest.approx(summed(some, lessons.factors, vector), abs=1e-9)


@given(st.lists(keys, min_size=1, max_size=2), st.integers(0, 10_000))
def test_the_gradient_is_that_of_finite_differences(some: list[Key], seed: int) -> None:
    lessons = lessons_of(some)
    vector = np.random.default_rng(seed).normal(size=lessons.factors.count)
    _, gradient = lessons.likelihood(np.ones(2, dtype=bool), 1)(vector)
    for place in range(len(vector)):
        step = np.zeros(len(vector))
        step[place] = 1e-5
        ends = [summed(some, lessons.factors, vector + sign * step) for sign in (1, -1)]
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


@given(st.lists(keys, min_size=1, max_size=3), st.integers(0, 10_000))
def test_a_tangent_touches_the_sum_where_all_factors_are_1_and_grows_by_no_more(
    some: list[Key], seed: int
) -> None:
    lessons = lessons_of(some)
    whole = lessons.likelihood(np.ones(2, dtype=bool), 1)
    none = np.zeros(lessons.factors.count)
    (value, gradient), (touching, slope) = whole(none), whole.tangent(none)
    assert slope == pytest.approx(gradient, abs=1e-12)
    vector = np.random.default_rng(seed).normal(scale=3, size=lessons.factors.count)
    assert whole.tangent(vector)[0] - touching <= whole(vector)[0] - value + 1e-9


def test_of_tied_events_a_tangent_takes_each_order_alike() -> None:
    """Three ties and one key in which A is first: of the four, A counts as first in two and a half."""
    tied, told = (Told("A", 1, 4, 2), Told("B", 1, 4, 2)), (Told("A", 1, 4, 2), Told("B", 1, 4, 3))
    lessons = lessons_of([tied, tied, tied, told])
    tangent = lessons.likelihood(np.ones(2, dtype=bool), 1).tangent
    assert tangent.tied == ()
    place = lessons.factors.before[0, 1]
    assert tangent.counted[place] == pytest.approx(1.0)  # before(A, B), less before(B, A)


@given(st.lists(keys, min_size=1, max_size=2), st.integers(0, 10_000))
def test_a_factor_that_is_not_open_makes_no_difference(some: list[Key], seed: int) -> None:
    """What is left out of the vector tells every key as before: it counts alike in all its orders."""
    found = lessons_of(some).factors
    random = np.random.default_rng(seed)
    closed = {}
    for i, x in enumerate((*found.steps, "^")):
        for j, y in enumerate((*found.steps, "$")):
            if found.following[i, j] < 0:
                closed["next", x, y] = random.uniform(0.2, 5)
            if x < y and y in found.steps and x in found.steps and found.before[i, j] < 0:
                closed["before", x, y] = random.uniform(0.2, 5)
    for key in some:
        assert log_likelihood(key, closed) == pytest.approx(0.0, abs=1e-9)


def test_a_sum_is_over_the_keys_of_the_folds_asked_for() -> None:
    some = [(Told("A", 1, 4, 1), Told("B", 3, 6, 5)), (Told("A", 1, 4, 4), Told("B", 1, 6, 2))]
    lessons = lessons_of(some)
    vector = np.linspace(-1, 1, lessons.factors.count)
    for fold in (0, 1):
        value, _ = lessons.likelihood(np.arange(2) == fold, 1)(vector)
        assert value == pytest.approx(summed(some[fold : fold + 1], lessons.factors, vector), abs=1e-12)


def test_pieces_that_are_alike_are_measured_once() -> None:
    lessons = lessons_of(
        [
            (Told("A", 1, 4, 1), Told("B", 1, 4, 2)),
            (Told("A", 101, 104, 103), Told("B", 101, 104, 101)),
            (Told("B", 201, 205, 203), Told("A", 201, 205, 201)),
        ]
    )
    assert lessons.kinds.counts.tolist() == [[1, 1], [1, 0]]


def test_the_bits_do_not_depend_on_how_many_threads_there_are() -> None:
    random = np.random.default_rng(7)
    some = [
        tuple(
            Told("ABCD"[random.integers(4)], int(low), int(low) + 5, int(low) + int(random.integers(6)))
            for low in random.integers(0, 9, 4)
        )
        for _ in range(40)
    ]
    lessons = lessons_of(some)
    vector = random.normal(size=lessons.factors.count)
    every = np.ones(2, dtype=bool)
    (one, first), (two, second) = (lessons.likelihood(every, threads)(vector) for threads in (1, 3))
    assert one == two and first.tobytes() == second.tobytes()
