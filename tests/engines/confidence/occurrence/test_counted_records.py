"""What is asked of records of a unit that are counted, against binomial coefficients in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from cepctl.engines.confidence.occurrence.counted_records import CountedRecords, outside_of_ranges

NONE = np.zeros(1, dtype=np.int64)


def the_record_is_outside(records: int, rank: int, last: int, begin: int, end: int) -> float:
    """How probable it is that a record on ticks 0 to `last` is on none from `begin` to `end`."""
    counted = CountedRecords(
        np.array([0, 1]), NONE, np.array([records]), NONE - 1, NONE - 1, np.array([0, 1]), np.array([rank])
    )
    return float(outside_of_ranges(counted, 0, 0, last, np.array([begin]), np.array([end]), 1))


def at_most(records: int, rank: int, ticks: int, first: int) -> Fraction:
    """The same for the first ticks: more than `rank` records are before `first`, of choices of ticks."""
    ways = sum(comb(first, c) * comb(ticks - first, records - c) for c in range(rank + 1, records + 1))
    return Fraction(ways, comb(ticks, records))


def test_of_two_records_on_three_ticks_the_first_is_on_the_middle_one_once_in_three() -> None:
    assert the_record_is_outside(2, 0, 2, 1, 1) == pytest.approx(2 / 3, rel=1e-14)


@pytest.mark.parametrize(
    ("records", "rank", "ticks", "first"),
    [
        (1_500, 700, 1_000_000, 470_000),
        (1_500, 1_499, 1_000_000, 998_000),
        (1_500, 1_400, 1_000_000, 600_000),
        (700, 350, 701, 350),
        (700, 0, 1_000_000, 5),
    ],
)
def test_the_record_of_a_rank_is_before_a_tick_as_often_as_so_many_are_chosen_there(
    records: int, rank: int, ticks: int, first: int
) -> None:
    right = float(at_most(records, rank, ticks, first))
    assert the_record_is_outside(records, rank, ticks - 1, first, ticks - 1) == pytest.approx(
        right, rel=1e-11
    )


def test_on_as_many_ticks_as_there_are_records_each_is_on_its_own() -> None:
    assert the_record_is_outside(900, 450, 899, 450, 450) == 0.0
    assert the_record_is_outside(900, 450, 899, 451, 899) == pytest.approx(1.0, rel=1e-14)


def test_a_range_in_the_middle_is_what_lies_before_its_end_and_not_before_its_begin() -> None:
    records, rank, ticks, begin, end = 1_200, 600, 1_000_000, 490_000, 509_999
    inside = at_most(records, rank, ticks, end + 1) - at_most(records, rank, ticks, begin)
    right = float(1 - inside)
    assert the_record_is_outside(records, rank, ticks - 1, begin, end) == pytest.approx(right, rel=1e-11)
