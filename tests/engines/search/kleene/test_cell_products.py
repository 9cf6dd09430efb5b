"""Products over the members of groups for pairs of cells: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.masses import Masses
from cepctl.engines.search.kleene.cell_products import (
    CellGaps,
    _multiplied,
    count_tries,
    lengthen,
    narrow,
    pair_cells,
    share_of_cells,
)


def anywhere(*intervals: tuple[int, int]) -> Buckets:
    """Events that are on any tick of their intervals."""
    lower, upper = (np.array(each, dtype=np.int64) for each in zip(*intervals, strict=True))
    return Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / (upper - lower + 1)).buckets


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


EARLY, LATE = 0, 1
MEMBERS = anywhere((0, 3), (2, 5))
FOUR_PAIRS = CellGaps(
    np.array([[0, 2]]), np.array([[1, 3]]), np.array([[1, 3]]), np.array([[0, 2]]), together=False
)
"""Gaps from 0 or 2 to 1 or 3, by the cells of either neighbour; the narrowest are from 1 or 3 to 0 or 2."""


def test_the_share_of_an_event_in_each_cell() -> None:
    """Of 0 to 3 one tick in [0, 1), three in [1, 4), none in a cell without ticks."""
    shares = np.full((1, 3), 9.0)
    share_of_cells(MEMBERS, numbers(EARLY), np.array([[0, 1, 4, 4]]), shares)
    assert shares.tolist() == [[1 / 4, 3 / 4, 0.0]]


def test_pairs_of_cells_that_cannot_be_weigh_nothing() -> None:
    """One in [0, 2) or [2, 4), the other, a tick later, in [1, 3) or [3, 5): in both first or both last."""
    weights = np.empty((1, 4))
    shares = np.array([[1 / 2, 1 / 2]]), np.array([[1 / 4, 3 / 4]])
    pair_cells(np.array([[0, 2, 4]]), np.array([[1, 3, 5]]), -1, 1, *shares, weights)
    assert weights.tolist() == [[1 / 8, 0.0, 0.0, 3 / 8]]
    # The other one in [1, 4) or [4, 6): 2 and 3 fit together, and so do 3 and 4.
    pair_cells(np.array([[0, 2, 4]]), np.array([[1, 4, 6]]), -1, 1, *shares, weights)
    assert weights.tolist() == [[1 / 8, 0.0, 1 / 8, 3 / 8]]


def test_members_in_the_widest_gaps() -> None:
    """0 to 3 in [0, 1], [0, 3], [2, 1], [2, 3]: 1/2, 1, 0, 1/2; 2 to 5 there: 0, 1/2, 0, 1/2."""
    weights = np.ones((1, 4))
    narrow(MEMBERS, FOUR_PAIRS, numbers(0), numbers(0, 2), numbers(EARLY, LATE), False, weights)
    assert weights.tolist() == [[0.0, 1 / 2, 0.0, 1 / 4]]


def test_members_in_gaps_of_one_tick() -> None:
    """Either is at 3 with 1/4, as it is at 0 or 5."""
    ticks = np.array([[0], [3], [5]])
    gaps, weights = CellGaps(ticks, ticks, ticks, ticks, together=False), np.ones((3, 1))
    members = numbers(0, 1, 3, 4), numbers(EARLY, EARLY, LATE, LATE)
    narrow(MEMBERS, gaps, numbers(0, 1, 2), *members, False, weights)
    assert weights.tolist() == [[1 / 4], [1 / 16], [1 / 4]]
    found = np.empty((4, 1))
    lengthen(MEMBERS, gaps, numbers(0, 1, 2), np.ones((3, 1)), *members, False, found)
    assert found.tolist() == [[1 / 4]] * 4


def test_members_outside_of_the_narrowest_gaps() -> None:
    """0 to 3 in [1, 0], [1, 2], [3, 0], [3, 2]: only the second has ticks, two of the four."""
    weights = np.full((1, 4), 0.5)
    narrow(MEMBERS, FOUR_PAIRS, numbers(0), numbers(0, 1), numbers(EARLY), True, weights)
    assert weights.tolist() == [[0.5, 0.25, 0.5, 0.5]]


def test_the_cells_of_one_neighbour_come_alone() -> None:
    """[0, 1] and [2, 3], and not [0, 3] nor [2, 1]."""
    one, weights = FOUR_PAIRS._replace(together=True), np.ones((1, 2))
    narrow(MEMBERS, one, numbers(0), numbers(0, 1), numbers(LATE), False, weights)
    assert weights.tolist() == [[0.0, 1 / 2]]
    # Outside of [1, 0] and [3, 2], which have no tick; then also of [2, 3], where it is with 1/2.
    narrow(MEMBERS, one, numbers(0), numbers(0, 1), numbers(LATE), True, weights)
    assert weights.tolist() == [[0.0, 1 / 2]]
    wide = one._replace(surely_first=np.array([[1, 2]]), surely_last=np.array([[0, 3]]))
    narrow(MEMBERS, wide, numbers(0), numbers(0, 1), numbers(LATE), True, weights)
    assert weights.tolist() == [[0.0, 1 / 4]]


def test_an_event_of_several_masses_is_in_a_gap_with_the_sum_of_these() -> None:
    """0 with 1/4 and 2 to 3 with 3/8 each: in [0, 1] with 1/4, [0, 3] with 1, [2, 3] with 3/4."""
    two = Masses(
        numbers(0), numbers(3), numbers(0, 2), numbers(0, 2), numbers(0, 3), np.array([1 / 4, 3 / 8])
    ).buckets
    weights = np.ones((1, 4))
    narrow(two, FOUR_PAIRS, numbers(0), numbers(0, 1), numbers(0), False, weights)
    assert weights.tolist() == [[1 / 4, 1.0, 0.0, 3 / 4]]


@pytest.mark.parametrize(
    ("whole", "late"), [(False, [0.0, 1 / 2, 0.0, 1 / 2]), (True, [0.0, 1 / 4, 0.0, 1 / 2])]
)
def test_a_set_grows_by_each_member(whole: bool, late: list[float]) -> None:
    """Where all that may be members are, the late one alone has the early one outside: 1/2 of 1/2."""
    found = np.empty((2, 4))
    members = numbers(0, 2), numbers(EARLY, LATE)
    lengthen(MEMBERS, FOUR_PAIRS, numbers(0), np.ones((1, 4)), *members, whole, found)
    assert found.tolist() == [[1 / 2, 1.0, 0.0, 1 / 2], late]


def tries(intervals: list[tuple[int, int]], last: int, window: int, least: float, allowed: int = 99) -> int:
    """How many sets are tried of some members in one gap from 0 to `last`."""
    gap = np.array([[0]]), np.array([[0]]), np.array([[last]]), np.array([[last]])
    members = numbers(0, len(intervals)), np.arange(len(intervals))
    gaps = CellGaps(*gap, together=False)
    one = np.ones((1, 1))
    return int(count_tries(anywhere(*intervals), gaps, numbers(0), one, *members, window, least, allowed))


ABC = [(0, 3), (2, 5), (3, 6)]
"""a, b and c, which are in a gap from 0 to 3 with 1, 1/2 and 1/4."""


@pytest.mark.parametrize(
    ("least", "tried"),
    [
        (0.0, 7),  # a ab abc ac b bc c
        (0.3, 7),  # abc and bc are tried, as ab and b have 1/2; c has 1/4, and nothing would follow
        (0.6, 5),  # a ab ac b c: of a alone, with 1, sets grow
        (1.1, 3),  # a b c
    ],
)
def test_sets_that_are_too_improbable_are_tried_and_do_not_grow(least: float, tried: int) -> None:
    assert tries(ABC, 3, 100, least) == tried


@pytest.mark.parametrize(("window", "tried"), [(100, 7), (4, 7), (3, 6)])
def test_sets_whose_members_are_too_far_apart_do_not_grow(window: int, tried: int) -> None:
    """0 to 3 and 6 to 9 are three ticks apart or more: ac does not grow, and acb is not tried."""
    assert tries([(0, 3), (6, 9), (2, 5)], 9, window, 0.5) == tried


def test_products_are_summed() -> None:
    """1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81."""
    one, products = np.arange(1.0, 10.0), np.empty(9)
    assert _multiplied(one, one, products) == 285.0
    assert products.tolist() == [1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0]


def test_sets_beside_several_rows_are_tried() -> None:
    """Of a and b beside row 0 a, ab and b; of c beside row 1 c."""
    zero, last, one = np.zeros((2, 1), np.int64), np.full((2, 1), 3), np.ones((2, 1))
    gaps = CellGaps(zero, zero, last, last, together=False)
    members = numbers(0, 2, 3), numbers(0, 1, 2)
    for allowed, tried in [(99, 4), (3, 4), (2, 3)]:
        assert count_tries(anywhere(*ABC), gaps, numbers(0, 1), one, *members, 100, 0.0, allowed) == tried


def test_the_trial_ends_after_more_than_are_allowed() -> None:
    assert tries(ABC, 3, 100, 0.0, allowed=2) == 3
