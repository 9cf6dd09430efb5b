"""Records of writers on the ticks of one unit of time: choices of ticks counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from cepctl.engines.confidence.given.one_distance import (
    OneDistance,
    UnitPairs,
    apart_as_asked,
    pair_probability,
    place_taken,
)
from cepctl.engines.confidence.given.units import Interleaved, interleaved_as_asked

NOT_AFTER, NOT_BEFORE = 1, -1
"""`t_record - t_other <= bound`, and `t_other - t_record <= bound`."""


class Clause(NamedTuple):
    """What is asked of a record: differences (writer and rank of the other, side, bound)."""

    record: int
    differences: tuple[tuple[int, int, int, int], ...]
    absent: bool = False


class Unit(NamedTuple):
    """A question: writers of so many records on so many ticks, and clauses in order of their records."""

    records: tuple[int, ...]
    ticks: int
    clauses: tuple[Clause, ...] = ()
    meetings: int = 9


def asked(*units: Unit) -> Interleaved:
    records = [count for unit in units for count in unit.records]
    before = np.cumsum([0, *(sum(unit.records) for unit in units)])
    clauses = [clause for unit in units for clause in unit.clauses]
    of = [before[i] + clause.record for i, unit in enumerate(units) for clause in unit.clauses]
    others = [each for clause in clauses for each in clause.differences]
    writer, rank, side, bound = np.array(others, dtype=np.int64).reshape(-1, 4).T
    return Interleaved(
        np.cumsum([0, *(len(unit.records) for unit in units)]),
        np.array([unit.ticks for unit in units]),
        np.array([min(unit.meetings, sum(unit.records) - max(unit.records)) for unit in units]),
        np.array(records),
        np.cumsum([0, *records]),
        np.searchsorted(of, np.arange(sum(records) + 1)),
        np.array([clause.absent for clause in clauses], dtype=bool),
        np.cumsum([0, *(len(clause.differences) for clause in clauses)]),
        *(writer, rank, side, bound),
    )


def between(bound: int, *, absent: bool = False) -> Clause:
    """Record 2, the only one of the second writer, and both of the first."""
    return Clause(2, ((0, 0, NOT_BEFORE, bound), (0, 1, NOT_AFTER, bound)), absent)


def test_a_record_between_two_of_another_writer() -> None:
    """Two on four ticks have 0, 1 or 2 between them in 3, 2 and 1 of 6 choices: 2 + 2 of 24 with the other.

    At one tick with one or between them it is in 3 * 2 + 2 * 3 + 4; without that tick still in 4.
    """
    units = [
        Unit((2, 1), 4, (between(-1),)),
        Unit((2, 1), 4),
        Unit((2, 1), 4, (between(-1, absent=True),)),
        Unit((2, 1), 4, (between(0),)),
        Unit((2, 1), 4, (between(0),), meetings=0),
    ]
    found = interleaved_as_asked(asked(*units))
    assert found == pytest.approx([4 / 24, 1.0, 20 / 24, 16 / 24, 4 / 24], rel=1e-14)


def test_records_of_three_writers_in_order() -> None:
    """Of 27 triples of three ticks one rises and ten do not fall; three have all on one tick."""

    def in_order(bound: int) -> tuple[Clause, ...]:
        return Clause(1, ((0, 0, NOT_BEFORE, bound),)), Clause(2, ((1, 0, NOT_BEFORE, bound),))

    at_once = Clause(
        1, ((0, 0, NOT_BEFORE, 0), (0, 0, NOT_AFTER, 0), (2, 0, NOT_BEFORE, 0), (2, 0, NOT_AFTER, 0))
    )
    units = [Unit((1, 1, 1), 3, each) for each in (in_order(-1), in_order(0), (at_once,))]
    assert interleaved_as_asked(asked(*units)) == pytest.approx([1 / 27, 10 / 27, 3 / 27], rel=1e-14)


Record = tuple[int, int]
"""A writer, and which of its records."""


def apart(
    bounds: list[int], units: Sequence[Unit], left: Record, right: Record, first: int = 0
) -> list[float]:
    """P(all that is asked, and the left record at most so much after the right one).

    `first`: the first tick of the right unit, where that of the left one is 0.
    """
    every = np.ones((len(bounds), 1), dtype=np.int64)
    question, ticks = [0, len(units) - 1], [0, first]
    writer, rank = np.array([left, right]).T
    distance = OneDistance(np.array(bounds), every * question, every * writer, every * rank, every * ticks)
    found: list[float] = apart_as_asked(asked(*units), distance).tolist()
    return found


V_NOT_AFTER_W = Unit((1, 1), 2, (Clause(0, ((1, 0, NOT_AFTER, 0),)),))
"""On two ticks in three of four ways: both at the first, both at the second, v first."""


def test_records_of_two_units() -> None:
    """Of 8 ways v is on the left, one tick or more before x at 1 or 2, in all but 1 1 1: v w x are 0 0 1,
    0 1 1, 0 0 2, 0 1 2 and 1 1 2; two ticks or more in 0 0 2 and 0 1 2.

    With v at 1 or 2 and x at 0 or 1, x is one tick before it in 1 1 0, 1 2 0 and 2 2 1, two in 2 2 0.
    """
    found = apart([-3, -2, -1, 0], (V_NOT_AFTER_W, Unit((1,), 2)), (0, 0), (0, 0), first=1)
    assert found == pytest.approx([0, 2 / 8, 5 / 8, 6 / 8], rel=1e-14)
    found = apart([-3, -2, -1, 0], (Unit((1,), 2), V_NOT_AFTER_W), (0, 0), (0, 0), first=1)
    assert found == pytest.approx([0, 1 / 8, 4 / 8, 6 / 8], rel=1e-14)


def test_two_records_of_a_writer_before_another_one() -> None:
    """Three on 1 to 5 in ten ways, the second so much after the first, and w after the second.

    1 2 with 3 for the third and 3 for w, 2 3 with 2 and 2, 3 4 with 1 and 1: 14; two apart 1 3 with 2 and 2
    and 2 4 with 1 and 1; three apart 1 4 with 1 and 1.
    """
    unit = Unit((3, 1), 5, (Clause(3, ((0, 1, NOT_BEFORE, -1),)),))
    found = apart([0, 1, 2, 3], [unit], (0, 1), (0, 0))
    assert found == pytest.approx([0, 14 / 50, 19 / 50, 20 / 50], rel=1e-14)
    found = apart([-4, -3, -2, -1, 0], [unit], (0, 0), (0, 1))
    assert found == pytest.approx([0, 1 / 50, 6 / 50, 20 / 50, 20 / 50], rel=1e-14)


def test_one_record_of_each_of_two_writers() -> None:
    """On four ticks they are 3 to 0 apart in either order, in 1, 2 and 3 ways, and 4 at once."""
    found = apart([-4, -3, -2, -1, 0, 1, 2, 3], [Unit((1, 1), 4)], (0, 0), (1, 0))
    assert found == pytest.approx([each / 16 for each in (0, 1, 3, 6, 10, 13, 15, 16)], rel=1e-14)


@pytest.mark.parametrize(
    ("some", "chances"), [(2, [1, 6, 3, 0]), (0, [10, 0, 0, 0]), (5, [0, 0, 0, 10]), (3, [0, 3, 6, 1])]
)
def test_so_many_of_three_records_are_on_some_of_five_ticks(some: int, chances: list[int]) -> None:
    """Of two ticks none is taken in one of ten ways, one in 2 * 3, both in 3."""
    found = np.empty(4)
    place_taken(3, 5, some, found)
    assert found == pytest.approx([each / 10 for each in chances], rel=1e-14)


def test_records_of_two_units_in_order() -> None:
    """Two records on 0 to 3 and two on 2 to 4, in 6 and 3 ways.

    The second on the left is at 1, 2 and 3 in 1, 2 and 3 of 6; on the right the first is at 2 and 3 in 2 and
    1 of 3, the second at 3 and 4 in 1 and 2.  So the second is before the first in 1/6 + 2/6 * 1/3, before
    the second in 1/6 + 2/6 + 3/6 * 2/3; the first, at 2 in 1/6, before the first in 5/6 + 1/6 * 1/3.  In
    2/6 * 2/3 + 3/6 * 1/3, 3/6 * 1/3 and 1/6 * 2/3 more they are at one tick.
    """
    first, ticks, records = (np.array([each] * 2) for each in ([0, 2], [4, 3], [2, 2]))
    pairs = UnitPairs(
        first,
        ticks,
        records,
        np.array([-1, 0]),
        np.array([0, 3, 6]),
        np.array([1, 1, 0] * 2),
        np.array([0, 1, 0] * 2),
    )
    wanted = [5 / 18, 5 / 6, 16 / 18, 5 / 18 + 7 / 18, 5 / 6 + 1 / 6, 16 / 18 + 1 / 9]
    assert pair_probability(pairs) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("bound", "share"), [(-1, 0.4995), (0, 0.5005), (-1_000, 0.0), (999, 1.0), (-999, 1e-6)]
)
def test_one_record_of_each_of_two_long_units(bound: int, share: float) -> None:
    """Of 1,000 * 1,000 pairs of ticks a thousand are at one, and half of the others in order."""
    first, ticks, one = np.array([[5, 5]]), np.array([[1_000, 1_000]]), np.array([[1, 1]])
    zero = np.zeros(1, dtype=np.int64)
    pairs = UnitPairs(first, ticks, one, np.array([bound]), np.array([0, 1]), zero, zero)
    assert pair_probability(pairs) == pytest.approx([share], rel=1e-12, abs=1e-15)


def test_all_pairs_of_records_of_two_units_are_any_pairs_of_ticks() -> None:
    """However many there are, one of each is not after the other in 1001/2000 on 1,000 ticks, 11/20 on 10."""
    records, ticks = np.array([[8, 12], [1, 2], [2, 1], [3, 2]]), np.array([[1_000] * 2] * 3 + [[10] * 2])
    sizes = records.prod(axis=1)
    left, right = (
        np.concatenate([each.reshape(-1) for each in ranks])
        for ranks in zip(*(np.indices(tuple(each)) for each in records), strict=True)
    )
    offsets = np.cumsum([0, *sizes])
    found = pair_probability(UnitPairs(ticks * 0, ticks, records, sizes * 0, offsets, left, right))
    wanted = sizes * [1001 / 2000, 1001 / 2000, 1001 / 2000, 11 / 20]
    assert np.add.reduceat(found, offsets[:-1]) == pytest.approx(wanted, rel=1e-12)


def test_of_two_units_that_are_alike_neither_is_ahead() -> None:
    """The eighth of 40 is not after that of another unit, or that one is before it: together in every way."""
    ticks, records, rank = np.array([[1_000] * 2] * 2), np.array([[40, 40]] * 2), np.full(2, 7)
    found = pair_probability(
        UnitPairs(ticks * 0, ticks, records, np.array([0, -1]), np.arange(3), rank, rank)
    )
    assert found.sum() == pytest.approx(1.0, rel=1e-12)
    assert found[0] - found[1] > 0.0
