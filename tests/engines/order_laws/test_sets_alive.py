"""How many sets of events are alive at once: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.order_laws.kinds import Kinds
from cepctl.engines.order_laws.sets import times_two_to


def sets_alive(*problems: list[tuple[int, int, int]]) -> list[float]:
    """Of problems of kinds with so many members, each from a tick to another; the earliest kinds first."""
    kinds = [kind for problem in problems for kind in problem]
    members, lower, upper = (np.array(each) for each in zip(*kinds, strict=True))
    none, starts = np.zeros(len(kinds), dtype=np.int64), np.cumsum([0, *map(len, problems)])
    found = Kinds(
        starts, none, members, none, none, none, lower, upper, np.append(none, 0), np.ones((2, 0))
    ).sets_alive()  # fmt: skip
    return list(found)


def test_alike_events_are_counted() -> None:
    """Of three As none to all have happened, of two Bs none to both: 4 * 3."""
    assert sets_alive([(3, 0, 9), (2, 0, 9)]) == [12.0]


def test_events_that_are_over_are_no_more_told_apart() -> None:
    """The first kind ends at 4 and the third begins at 5: 4 * 3, then 3 * 6; one more tick, and 4 * 3 * 6."""
    assert sets_alive([(3, 0, 4), (2, 0, 9), (5, 5, 9)]) == [18.0]
    assert sets_alive([(3, 0, 5), (2, 0, 9), (5, 5, 9)]) == [72.0]


def test_the_most_sets_are_those_of_any_time() -> None:
    """Five events that are over at 3, and one from 5 on: 6, then 2."""
    assert sets_alive([(5, 0, 3), (1, 5, 9)]) == [6.0]


def test_each_problem_has_its_own() -> None:
    assert sets_alive([(1, 0, 0)], [(1, 0, 3), (1, 2, 5), (1, 3, 9)], [(9, 7, 7)]) == [2.0, 8.0, 10.0]


@pytest.mark.parametrize(
    ("value", "exponent", "product"),
    [(0.75, 3, 6.0), (-3.0, -1, -1.5), (1.0, -5_000, 0.0), (0.5, 5_000, 2.0**899)],
)
def test_a_power_of_two_is_never_too_large(value: float, exponent: int, product: float) -> None:
    assert times_two_to(value, exponent) == product
