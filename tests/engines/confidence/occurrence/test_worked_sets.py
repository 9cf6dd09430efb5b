"""Sets of members between neighbours, how many there are and which is the likeliest: numbers by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from cepctl.engines.columns.laws import even_laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.occurrence.member_counts import MemberCounts, Sizes, member_counts
from cepctl.engines.confidence.occurrence.room_unions import GroupPlaces, Rooms
from cepctl.engines.kernels.stages import only
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

Interval = tuple[int, int]
ANY = UNBOUNDED
IN_BETWEEN = GroupPlaces(np.array([[0, ANY], [ANY, 0]]), np.array([ANY, -1]), np.array([-1, ANY]))
"""A member is after the first neighbour and before the second."""
WITHIN_9 = GroupPlaces(np.array([[0]]), np.array([-1]), np.array([9]))
"""A member is before the neighbour, by 9 ticks at most."""
NEAR = GroupPlaces(np.array([[0, -1], [6, 0]]), np.array([3, -1]), np.array([-1, ANY]))
"""The second neighbour is 6 ticks at most after the first, a member 3 at most, and before the second."""


def counted(
    neighbours: list[Interval],
    members: list[Interval],
    least: int,
    most: int,
    certain: int = -1,
    places: GroupPlaces = IN_BETWEEN,
) -> MemberCounts:
    """Of one room beside one or two neighbours, in which one member perhaps is in every world."""
    count, others = len(members), len(neighbours)
    lower, upper = (np.array(each) for each in zip(*neighbours, *members, strict=True))
    masses = Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / (upper - lower + 1))
    member, single = np.arange(count) + others, np.arange(others)
    rooms = Rooms(single[np.newaxis], np.array([0, count]), member, np.arange(count) == certain)
    of_size = range(least, most + 1)
    sets = np.array([sum(comb(n, k) for k in of_size) for n in range(count + 1)], dtype=np.float64)
    with_one = np.array([sum(comb(n, k - 1) for k in of_size) for n in range(count + 1)], dtype=np.float64)
    with only("interpreted"):
        return member_counts(even_laws(masses.buckets), places, rooms, Sizes(least, most, sets, with_one))


def told(found: MemberCounts) -> list[float]:
    """P(some set), expected and possible sets, and P(best set)."""
    columns = found.some, found.expected, found.matches, found.confidence
    return [float(each[0]) for each in columns]


def test_sets_beside_a_member_that_is_always_there() -> None:
    """Between -1 and 4 are 0 to 4 with 4/5, 2 to 5 with 1/2, and 1 to 2.

    Two or more are there unless the last one is alone, in 1/10; sets of two or three are one of two members,
    there in 1/2, and four of three, there in 4/10.
    """
    found = counted([(-1, -1), (4, 4)], [(0, 4), (2, 5), (1, 2)], 2, 3, certain=2)
    assert told(found) == pytest.approx([9 / 10, 1 / 2 + 4 * 4 / 10, 4, 4 / 5], rel=1e-14)
    assert found.chosen.tolist() == [True, False, True]
    assert [int(each[0]) for each in (found.first, found.start, found.end)] == [-1, -1, 4]


def test_members_after_a_neighbour_at_one_of_three_ticks() -> None:
    """From 0, 1 or 2 to 3 are 0 to 3 with 1, 3/4 and 1/2, and 1 to 2 with 1, 1 and 1/2.

    None is there in 1/4 of 1/3.  Of the first, the second and both are there 3, 5/2 and 5/4 on average; the
    second is the likeliest set, with 5/6, where the first has 3/4 and both have 2/3.
    """
    found = counted([(-1, 1), (4, 4)], [(0, 3), (1, 2)], 1, 2)
    assert told(found) == pytest.approx([11 / 12, (3 + 5 / 2 + 5 / 4) / 3, 3, 5 / 6], rel=1e-14)
    assert found.chosen.tolist() == [False, True]
    both = counted([(-1, 1), (4, 4)], [(0, 3), (1, 2)], 2, 2)
    assert told(both) == pytest.approx([2 / 3, 2 / 3, 1, 2 / 3], rel=1e-14)
    assert both.chosen.tolist() == [True, True]


def test_members_that_no_world_has_between_are_in_no_set() -> None:
    """0 to 4 with 4/5; 5 to 9 is never before 4."""
    found = counted([(-1, -1), (4, 4)], [(5, 9), (0, 4)], 1, 2)
    assert told(found) == pytest.approx([4 / 5, 4 / 5, 1, 4 / 5], rel=1e-14)
    assert found.chosen.tolist() == [False, True]
    none = counted([(-1, -1), (4, 4)], [(5, 9), (0, 4)], 2, 2)
    assert none.matches.tolist() == [0.0]


def test_the_two_likeliest_of_four() -> None:
    """From 0 to 4 are 1/5, 4/5, 3/5 and 2/5 of five ticks: pairs are there with 12/25 at most.

    Of 1/5, 4/5, 3/5 and 2/5 the sum is 2; that of products of pairs is (2^2 - 30/25) / 2 = 7/5.
    """
    members = [(4, 8), (1, 5), (2, 6), (3, 7)]
    found = counted([(-1, -1), (5, 5)], members, 2, 2)
    none = 4 / 5 * 1 / 5 * 2 / 5 * 3 / 5
    one = none * (1 / 4 + 4 + 3 / 2 + 2 / 3)
    assert told(found) == pytest.approx([1 - none - one, 7 / 5, 6, 12 / 25], rel=1e-13)
    assert found.chosen.tolist() == [False, True, True, False]


def test_the_likeliest_pair_need_not_have_the_likeliest_member() -> None:
    """5 to 11 is before 9 with 4/7; two more are at 1, both after a neighbour at 0, not after one at 1.

    These two are there with 1/2, one of them beside the first with 2/7; at 0 there are 1 + 2 * 4/7 pairs.
    """
    found = counted([(0, 1), (9, 9)], [(5, 11), (1, 1), (1, 1)], 2, 2)
    assert told(found) == pytest.approx([1 / 2, 15 / 14, 3, 1 / 2], rel=1e-14)
    assert found.chosen.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("most", "chosen", "first"), [(1, [False, True, False], 0), (3, [True, True, False], 0)]
)
def test_of_sets_that_are_as_probable_one_starts_first(most: int, chosen: list[bool], first: int) -> None:
    """Those at 3 or 4, 0 or 1 and 1 or 2 are always there: with the second it starts at 0.

    Of sets that do the one with the first is named first.  What starts first starts at 0, and all end at 6.
    """
    found = counted([(6, 6)], [(3, 4), (0, 1), (1, 2)], 1, most, places=WITHIN_9)
    sets = 3 if most == 1 else 7
    assert told(found) == pytest.approx([1, sets, sets, 1], rel=1e-14)
    assert found.chosen.tolist() == chosen
    assert [int(each[0]) for each in (found.first, found.start, found.end)] == [first, 0, 6]


def test_members_too_far_before_a_neighbour() -> None:
    """Before 5 to 14, by 9 ticks at most, is 0 to 3.

    From 5 to 9 all four ticks are near enough, from 10, 11 and 12 three, two and one: 6 1/2 of 10.
    """
    found = counted([(5, 14)], [(0, 3)], 1, 1, places=WITHIN_9)
    assert told(found) == pytest.approx([13 / 20, 13 / 20, 1, 13 / 20], rel=1e-14)
    assert [int(each[0]) for each in (found.first, found.start, found.end)] == [0, 0, 12]


def test_neighbours_and_members_that_have_to_be_near() -> None:
    """With a at 0 to 6, c at 9, 6 ticks after it at most: a at 3 to 6, in four of seven worlds.

    7 is 3 ticks after it or less from 4 on, with 3/7; 5 or 6 from 3 on, with 1, 1 and 1/2 of 3, 4 and 5; sets
    are 1, 3, 2 and 1 on average.  So 7 is the likeliest, and starts at 4.
    """
    found = counted([(0, 6), (9, 9)], [(7, 7), (5, 6)], 1, 2, places=NEAR)
    assert told(found) == pytest.approx([4 / 7, 7 / 7, 3, 3 / 7], rel=1e-14)
    assert found.chosen.tolist() == [True, False]
    assert [int(each[0]) for each in (found.first, found.start, found.end)] == [4, 3, 9]
    other = counted([(0, 6), (9, 9)], [(7, 7), (5, 6)], 2, 2, places=NEAR)
    assert told(other) == pytest.approx([3 / 14, 3 / 14, 1, 3 / 14], rel=1e-14)
