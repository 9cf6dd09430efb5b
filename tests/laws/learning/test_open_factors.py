"""Which factors a log can tell something about."""

from __future__ import annotations

import math

import numpy as np

from cepctl.laws.law import OrderLaw
from cepctl.laws.learning.factors import OpenFactors
from tests.taught_keys import taught_keys


def open_ones(*keys: str) -> tuple[set[str], set[str]]:
    """The open factors of keys such as `A1-4 B3-6`."""
    found = OpenFactors.of(taught_keys(*keys))
    names, begins, ends = found.steps, (*found.steps, "^"), (*found.steps, "$")
    following = {f"{begins[i]} {ends[j]}" for i, j in np.argwhere(found.following >= 0)}
    before = {f"{names[i]} {names[j]}" for i, j in np.argwhere(found.before >= 0)}
    assert found.count == len(following) + len(before)
    return following, before


def test_events_in_certain_order_leave_nothing_open() -> None:
    assert open_ones("A1-4 B5-6", "A1-4 A2-4") == (set(), set())


def test_steps_that_may_be_next_to_one_another_are_open_and_the_ends_of_their_key() -> None:
    following, before = open_ones("A1-4 B3-6")
    assert following == {"^ A", "^ B", "A B", "B A", "A $", "B $"}
    assert before == {"A B"}


def test_before_and_after_an_open_stretch_what_is_next_is_open() -> None:
    following, before = open_ones("C0-0 A1-4 B3-6 D7-7 D8-8")
    assert following == {"C A", "C B", "A B", "B A", "A D", "B D"}
    assert before == {"A B"}


def test_a_step_may_follow_itself_where_two_events_of_it_are_there() -> None:
    following, _ = open_ones("A1-4 A1-4 B1-4")
    assert "A A" in following and "B B" not in following


def test_events_that_share_one_tick_can_be_in_either_order() -> None:
    assert open_ones("A1-4 B4-6")[1] == {"A B"}
    assert open_ones("A1-3 B4-6")[1] == set()


def test_what_one_key_leaves_open_is_open_and_another_closes_nothing() -> None:
    assert open_ones("A1-4 B3-6", "A1-4 B5-6", "C1-2 D2-3")[1] == {"A B", "C D"}


def test_factors_of_both_orders_are_written_and_those_that_round_to_one_are_not() -> None:
    found = OpenFactors.of(taught_keys("A1-4 B3-6"))
    vector = np.zeros(found.count)
    vector[found.before[0, 1]] = math.log(3.0)
    vector[found.following[0, 1]] = 1e-7
    assert found.law(vector, "case", ("s",)) == OrderLaw(
        "case", ("s",), {}, {("A", "B"): 3.0, ("B", "A"): 0.333333}
    )
