"""Offsets, their differences, and ticks that two of them move: ways counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.clocks.curved_cells import Curves, curve_at, part_of_curve
from cepctl.engines.confidence.clocks.offset_masses import (
    Difference,
    blocks_of,
    has_holes,
    mass_at,
    mass_between,
    support,
    write_sum,
)
from cepctl.engines.pattern.offset_bounds import ClockStamps

Bucket = tuple[int, int, float]


def masses_on(*each: tuple[Bucket, ...]) -> Buckets:
    """Masses with such buckets of a first and a last tick and a probability."""
    lo, hi, p = (np.array(column) for column in zip(*(b for one in each for b in one), strict=True))
    return Masses.of_buckets(np.cumsum([0, *map(len, each)]), lo, hi, p / (hi - lo + 1)).buckets


NARROW, WITH_A_HOLE = ((-1, 1, 1.0),), ((0, 0, 1 / 4), (3, 4, 3 / 4))
OFFSETS = masses_on(
    NARROW, WITH_A_HOLE, tuple((tick, tick, 0.1) for tick in range(10)), ((0, 1, 1.0),), ((0, 3, 1.0),)
)


def test_an_offset_less_another() -> None:
    """-1 to 1 less 0 has 1/12 on each, less 3 or 4 1/8 on each of -4 to -2 and of -5 to -3."""
    ahead = Difference(OFFSETS, 0, 1)
    wanted = {-6: 0, -5: 1 / 8, -4: 2 / 8, -3: 2 / 8, -2: 1 / 8, -1: 1 / 12, 0: 1 / 12, 1: 1 / 12, 2: 0}
    assert [mass_at(ahead, tick) for tick in wanted] == pytest.approx([*wanted.values()], rel=1e-14)
    for first, last in [(-6, 9), (-4, -2), (-2, 0), (2, 9), (-5, -5)]:
        mass = sum(p for tick, p in wanted.items() if first <= tick <= last)
        assert mass_between(ahead, first, last) == pytest.approx(mass, rel=1e-14)
        assert mass_between(Difference(OFFSETS, 1, 0), -last, -first) == pytest.approx(mass, rel=1e-14)
    assert support(ahead) == (-5, 1)


@pytest.mark.parametrize(
    ("first", "last", "pairs"), [(-8, -1, 16), (-3, 0, 8), (-9, 1, 20), (1, 1, 1), (-9, -9, 1), (-6, -1, 12)]
)
def test_an_offset_less_one_of_many_buckets(first: int, last: int, pairs: int) -> None:
    """0 or 1 less 0 to 9: each of -8 to 0 is the difference of two of 20 pairs, -9 and 1 of one."""
    assert mass_between(Difference(OFFSETS, 3, 2), first, last) == pytest.approx(pairs / 20, rel=1e-14)


def test_an_offset_by_itself() -> None:
    alone = Difference(OFFSETS, 1, -1)
    assert [mass_at(alone, tick) for tick in (-1, 0, 1, 3, 5)] == [0.0, 1 / 4, 0.0, 3 / 8, 0.0]
    assert [mass_between(alone, *ends) for ends in ((0, 3), (1, 2), (4, 9))] == [5 / 8, 0.0, 3 / 8]
    assert support(alone) == (0, 4)
    assert [has_holes(OFFSETS, clock) for clock in (0, 1, 2)] == [False, True, False]


def summed(own: tuple[Bucket, ...], clock: int, against: int) -> tuple[dict[int, float], int, int]:
    """The mass of an own tick and an offset, less another (-1 for none); its degree and blocks."""
    none = np.zeros(0, dtype=np.int64)
    stamps = ClockStamps(none, masses_on(own), OFFSETS, none, none, np.zeros(0, dtype=bool))
    room, nothing = np.zeros((2, 99), dtype=np.int64), np.zeros((5, 99))
    buckets = Buckets(none, none, none, room[0], room[1], nothing[0])
    curves = Curves(np.zeros(99, dtype=np.int64), *nothing[1:4])
    after, degree = write_sum(stamps, 0, clock, against, buckets, curves, 0)
    found: dict[int, float] = {}
    for i in range(after):
        last = int(room[1, i] - room[0, i])
        for x in range(last + 1):
            found[int(room[0, i]) + x] = curve_at(curves, i, float(x), float(last))
    return found, int(degree), int(blocks_of(stamps, 0, clock, against))


def shares(numbers: list[int], first: int, whole: int) -> dict[int, float]:
    return {first + place: number / whole for place, number in enumerate(numbers)}


def test_ticks_that_offsets_move() -> None:
    """0 to 3 and -1 to 1 add up to -1 to 4 in 1, 2, 3, 3, 2 and 1 ways; less 0 or 1 both are added."""
    assert summed(((0, 3, 1.0),), -1, -1) == (shares([1] * 4, 0, 4), 0, 1)
    found, degree, blocks = summed(((0, 3, 1.0),), 0, -1)
    assert found == pytest.approx(shares([1, 2, 3, 3, 2, 1], -1, 12), rel=1e-14)
    assert (degree, blocks) == (1, 1)
    found, degree, blocks = summed(((0, 3, 1.0),), 0, 3)
    assert found == pytest.approx(shares([1, 3, 5, 6, 5, 3, 1], -2, 24), rel=1e-14)
    assert (degree, blocks) == (2, 1)


def test_ticks_that_wide_offsets_move() -> None:
    """Two of 0 to 3 add up in 1, 2, 3, 4, 3, 2 and 1 ways; less 0 to 3 four of these are added."""
    found, degree, blocks = summed(((0, 3, 1.0),), 4, 4)
    assert found == pytest.approx(shares([1, 3, 6, 10, 12, 12, 10, 6, 3, 1], -3, 64), rel=1e-14)
    assert (degree, blocks) == (2, 1)


def test_ticks_that_an_offset_with_a_hole_moves() -> None:
    """0 or 1 with 1/8 each, or 3 or 4 more with 3/16: none at 2.  Less -1 to 1 three of these are added."""
    found, degree, blocks = summed(((0, 1, 1.0),), 1, -1)
    assert found == pytest.approx({0: 2 / 16, 1: 2 / 16, 3: 3 / 16, 4: 6 / 16, 5: 3 / 16}, rel=1e-14)
    assert (degree, blocks) == (1, 2)
    found, degree, blocks = summed(((0, 1, 1.0),), 1, 0)
    wanted = [2, 4, 4, 5, 9, 12, 9, 3]
    assert found == pytest.approx(shares(wanted, -1, 48), rel=1e-14)
    assert (degree, blocks) == (2, 2)


def test_part_of_a_curve() -> None:
    """Squares of 1 to 5 are 1 at first, 25 at last, and 7 in the middle; those of 2 to 4 are 4, 9 and 16.

    At 2 and at 3 they are (1 * 6 + 7 * 6) / 12 and (1 * 2 + 7 * 8 + 25 * 2) / 12.
    """
    curves = Curves(np.array([2]), np.array([1.0]), np.array([7.0]), np.array([25.0]))
    squares = [curve_at(curves, 0, float(x), 4.0) for x in range(5)]
    assert squares == pytest.approx([1, 4, 9, 16, 25], rel=1e-14)
    assert part_of_curve(curves, 0, 1.0, 3.0, 4.0) == pytest.approx((2, 4, 9, 16), rel=1e-14)
    assert part_of_curve(curves, 0, 1.0, 2.0, 4.0) == pytest.approx((1, 4, 6.5, 9), rel=1e-14)
    assert part_of_curve(curves, 0, 3.0, 1.0, 4.0) == pytest.approx((0, 16, 16, 16), rel=1e-14)
    falling = Curves(np.array([2]), np.array([25.0]), np.array([7.0]), np.array([1.0]))
    assert part_of_curve(falling, 0, 1.0, 3.0, 4.0) == pytest.approx((2, 16, 9, 4), rel=1e-14)
