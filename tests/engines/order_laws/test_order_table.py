"""Keys under a law of order: worked numbers, and every number against the enumeration of all worlds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.table import LawAnswers, measure_keys, sets_alive
from cepctl.laws.law import OrderLaw
from tests.engines.order_laws.law_keys import STEPS, factors_of, habits, keys_of, stamped_keys, uniform
from tests.engines.order_laws.order_worlds import Habits, Stamped, enumerated

CLOSE = 1e-12
LAW_1 = OrderLaw("k", following={("A", "B"): 4.0})
LAW_2 = OrderLaw("k", before={("A", "B"): 4.0})
LAW_3 = OrderLaw("k", following={("A", "B"): 4.0, ("^", "A"): 2.0}, before={("B", "C"): 3.0})
THREE = (uniform("A", 1, 4), uniform("B", 1, 4), uniform("C", 3, 6))


def earlier(keys: Keys, law: OrderLaw) -> dict[tuple[int, int], float]:
    """The probability that the tick of one event is before that of another, by their places."""
    pairs = measure_keys(keys, Factors.of_law(law, STEPS), pairs=True).pairs
    assert pairs is not None
    found = zip(pairs.first, pairs.second, pairs.earlier, pairs.later, strict=True)
    return {key: p for i, j, one, other in found for key, p in {(i, j): one, (j, i): other}.items()}


@pytest.mark.parametrize(
    ("law", "a_before_b", "b_before_a", "a_before_c"),
    [
        (OrderLaw("k"), Fraction(3, 8), Fraction(3, 8), Fraction(13, 16)),
        (LAW_1, Fraction(9, 16), Fraction(1, 6), Fraction(127, 144)),
        (LAW_2, Fraction(3, 5), Fraction(3, 20), Fraction(281, 320)),
        (LAW_3, Fraction(171, 269), Fraction(213, 2152), Fraction(4059, 4304)),
    ],
)
def test_worked_numbers_of_three_events(
    law: OrderLaw, a_before_b: Fraction, b_before_a: Fraction, a_before_c: Fraction
) -> None:
    found = earlier(keys_of(THREE), law)
    assert [found[0, 1], found[1, 0], found[0, 2]] == pytest.approx(
        [float(a_before_b), float(b_before_a), float(a_before_c)], abs=CLOSE
    )


def test_repeats_that_share_a_tick_share_their_factor() -> None:
    found = earlier(keys_of([uniform("A", 1, 4), uniform("B", 1, 4), uniform("B", 1, 4)]), LAW_2)
    assert [found[0, 1], found[0, 2]] == pytest.approx([123 / 224, 123 / 224], abs=CLOSE)


def test_repeats_that_share_no_tick_with_an_event_leave_it_its_factor() -> None:
    alone = earlier(keys_of([uniform("A", 1, 4), uniform("B", 1, 4)]), LAW_2)
    beside = earlier(keys_of([uniform("A", 1, 4), uniform("B", 1, 4), uniform("B", 7, 8)]), LAW_2)
    assert beside[0, 1] == pytest.approx(alone[0, 1], abs=CLOSE) == pytest.approx(3 / 5, abs=CLOSE)


def test_repeats_with_intervals_of_their_own() -> None:
    found = earlier(keys_of([uniform("A", 1, 4), uniform("B", 2, 3), uniform("B", 3, 5)]), LAW_1)
    assert [found[0, 1], found[0, 2]] == pytest.approx([72 / 169, 144 / 169], abs=CLOSE)


def test_a_tie_counts_in_all_its_orders() -> None:
    measured = measure_keys(keys_of([uniform("A", 1, 1), uniform("B", 1, 1)]), factors(LAW_1), pairs=True)
    assert measured.log_z.tolist() == [pytest.approx(log(5 / 2), abs=CLOSE)]
    assert measured.pairs is not None
    assert measured.pairs.in_order.tolist() == [pytest.approx(4 / 5, abs=CLOSE)]
    assert [*measured.pairs.earlier, *measured.pairs.later] == [0.0, 0.0]


@pytest.mark.parametrize("end", [("^", "A"), ("B", "$")])
def test_the_first_and_the_last_event_have_a_factor(end: tuple[str, str]) -> None:
    found = earlier(keys_of([uniform("A", 1, 2), uniform("B", 1, 2)]), OrderLaw("k", following={end: 3.0}))
    # Orders A B and B A have half of the worlds each, weights 3 and 1; ties have half of each.
    assert [found[0, 1], found[1, 0]] == pytest.approx([3 / 8, 1 / 8], abs=CLOSE)


def factors(law: OrderLaw) -> Factors:
    return Factors.of_law(law, STEPS)


def require_enumerated(events: tuple[Stamped, ...], law: Habits, measured: LawAnswers) -> None:
    """Every number of a single key is that of its worlds."""
    truth = enumerated(events, law)
    assert exp(measured.log_z[0]) == pytest.approx(float(truth.z), rel=CLOSE)
    assert measured.following is not None and measured.before is not None and measured.pairs is not None
    for x, one in enumerate([*STEPS, "^"]):
        for y, other in enumerate([*STEPS, "$"]):
            expected = float(truth.following.get((one, other), 0))
            assert measured.following[0, x, y] == pytest.approx(expected, abs=CLOSE), (one, other)
            if one != "^" and other != "$":
                expected = float(truth.before.get((one, other), 0))
                assert measured.before[0, x, y] == pytest.approx(expected, abs=CLOSE), (one, other)
    pairs = measured.pairs
    shared = {(i, j) for i in range(len(events)) for j in range(i) if events[i].shares_tick(events[j])}
    assert {(max(pair), min(pair)) for pair in zip(pairs.first, pairs.second, strict=True)} == shared
    for i, j, *found in zip(
        pairs.first, pairs.second, pairs.in_order, pairs.earlier, pairs.later, strict=True
    ):
        worlds = [truth.in_order.get((i, j), 0), truth.earlier.get((i, j), 0), truth.earlier.get((j, i), 0)]
        assert found == pytest.approx([float(each) for each in worlds], abs=CLOSE), (i, j)


@given(stamped_keys(), habits())
def test_every_number_is_that_of_all_worlds(events: tuple[Stamped, ...], law: Habits) -> None:
    with only("interpreted"):
        measured = measure_keys(keys_of(events), factors_of(law), expected=True, pairs=True)
    require_enumerated(events, law, measured)


@given(st.lists(stamped_keys(), min_size=2, max_size=4), habits())
def test_keys_are_measured_as_if_each_were_alone(keys: list[tuple[Stamped, ...]], law: Habits) -> None:
    folds = np.arange(len(keys)) % 2
    with only("interpreted"):
        alone = [measure_keys(keys_of(key), factors_of(law), expected=True, pairs=True) for key in keys]
        together = measure_keys(keys_of(*keys), factors_of(law), folds=folds, expected=True, pairs=True)
    assert together.log_z.tobytes() == np.concatenate([each.log_z for each in alone]).tobytes()
    assert together.following is not None and together.before is not None and together.pairs is not None
    for fold in (0, 1):
        parts = [each for each, own in zip(alone, folds, strict=True) if own == fold]
        assert together.following[fold] == pytest.approx(
            sum(p.following[0] for p in parts if p.following is not None), abs=CLOSE
        )
        assert together.before[fold] == pytest.approx(
            sum(p.before[0] for p in parts if p.before is not None), abs=CLOSE
        )
    values = [each.pairs.earlier for each in alone if each.pairs is not None]
    assert together.pairs.earlier.tobytes() == np.concatenate(values).tobytes()


def test_a_key_of_more_sets_than_the_limit_is_beyond_and_the_others_are_not() -> None:
    many = [uniform("A", 0, tick) for tick in range(5, 9)]
    keys = keys_of(many, THREE, many * 2)
    assert sets_alive(keys).tolist() == [16, 8, 81]
    measured = measure_keys(keys, factors(LAW_1), limit=16, expected=True, pairs=True)
    assert measured.beyond.tolist() == [False, False, True]
    assert np.isnan(measured.log_z).tolist() == [False, False, True]
    assert measured.pairs is not None
    assert sorted(set(measured.pairs.first) | set(measured.pairs.second)) == [0, 1, 2, 3, 4, 5, 6]


def test_an_event_with_a_stamp_of_its_own_is_told_apart_from_those_that_are_alike() -> None:
    keys = keys_of([uniform("A", 0, 4)] * 5)
    assert sets_alive(keys).tolist() == [6]
    stamps = keys_of([uniform("A", 0, 5), *[uniform("A", 0, 4)] * 4]).masses
    assert sets_alive(replace(keys, stamps=stamps)).tolist() == [10]


def test_so_many_sets_that_no_number_tells_them_are_infinitely_many() -> None:
    assert sets_alive(keys_of([uniform("A", 0, tick) for tick in range(70)])).tolist() == [np.inf]
