"""When events start whose length is bounded: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns import endpoints
from cepctl.engines.columns.endpoints import Endpoints, agreeing, masses_of_starts
from cepctl.engines.columns.masses import Masses
from cepctl.errors import QueryTooLargeError

Bucket = tuple[int, int, float]


def masses_on(*events: tuple[Bucket, ...]) -> Masses:
    """Events with such buckets of a first and a last tick and a probability."""
    lo, hi, p = (np.array(each) for each in zip(*(b for event in events for b in event), strict=True))
    starts = np.cumsum([0, *map(len, events)])
    return Masses.of_buckets(starts, lo, hi, p / (hi - lo + 1))


def started(start: tuple[Bucket, ...], end: tuple[Bucket, ...], shortest: int, longest: int) -> list[Bucket]:
    """The buckets of the start of an event that lasts so long, beside a point on ticks 7 to 8."""
    point = ((7, 8, 1.0),)
    masses = masses_on(point, start, end)
    which = np.array([1]), np.array([2])
    bounds = np.array([0, shortest]), np.array([99, longest])
    whole = agreeing(masses, *which, *(each[1:] for each in bounds))
    ends = Endpoints(masses, np.array([0, 2]), *bounds, np.append(1.0, whole))
    found = masses_of_starts(ends, masses.take(np.arange(2)))
    assert (found.lo[0], found.hi[0], found.density[0]) == (7, 8, 0.5)
    buckets = slice(int(found.starts[1]), int(found.starts[2]))
    return list(zip(*(each[buckets].tolist() for each in (found.lo, found.hi, found.density)), strict=True))


@pytest.mark.parametrize(("end", "ends"), [((2, 5), [2, 3, 3, 2, 1]), ((3, 4), [1, 2, 2, 1])])
def test_a_start_is_as_probable_as_the_ends_that_it_leaves(end: tuple[int, int], ends: list[int]) -> None:
    """From 0 to 4, 1 to 3 ticks: until 2 to 5 these are 2 for 0, 3 for 1, 11 in all; until 3 to 4 six."""
    found = started(((0, 4, 1.0),), ((*end, 1.0),), 1, 3)
    assert [each[:2] for each in found] == [(tick, tick) for tick in range(len(ends))]
    assert [each[2] for each in found] == pytest.approx([n / sum(ends) for n in ends], rel=1e-15)


def test_a_start_that_no_end_fits_has_no_mass() -> None:
    """From 0 to 9, until 4 or 8, exactly 2 ticks: 2 with 3/4, 6 with 1/4."""
    found = started(((0, 9, 1.0),), ((4, 4, 3 / 4), (8, 8, 1 / 4)), 2, 2)
    assert [each[:2] for each in found] == [(2, 2), (6, 6)]
    assert [each[2] for each in found] == pytest.approx([3 / 4, 1 / 4], rel=1e-15)


def test_a_start_whose_ends_do_not_change_stays_one_bucket() -> None:
    """From 0 to 9, until -20 or 50, 10 to 99 ticks: 50 it is."""
    assert started(((0, 9, 1.0),), ((-20, -20, 1 / 2), (50, 50, 1 / 2)), 10, 99) == [(0, 9, 0.1)]


def test_buckets_of_a_start_weigh_what_their_ends_do() -> None:
    """1/3 on 0 and 1, 2/3 on 4 and 5; ends on 2 to 5 up to 2 ticks later.

    From 0 there is one end of four, from 1 two, from 4 two, from 5 one: with 1/6 or 1/3 each (1 + 2) / 24 and
    (2 + 1) / 12, 9/24 in all.
    """
    found = started(((0, 1, 1 / 3), (4, 5, 2 / 3)), ((2, 5, 1.0),), 0, 2)
    assert [each[:2] for each in found] == [(0, 0), (1, 1), (4, 4), (5, 5)]
    assert [each[2] for each in found] == pytest.approx([1 / 9, 2 / 9, 4 / 9, 2 / 9], rel=1e-15)


def test_a_long_stretch_of_a_start_stays_one_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 to 9, until 2 to 999, up to 3 ticks: 2, 3 and then 4 ends, 2 + 3 + 8 * 4 = 37 pairs in all.

    From 0 to 2 each tick has an end more, which makes three buckets; those from 3 on are one, and the point
    has one.  At most three and at most four are too few.
    """
    monkeypatch.setattr(endpoints, "MOST_BUCKETS", 5)
    found = started(((0, 9, 1.0),), ((2, 999, 1.0),), 0, 3)
    assert [each[:2] for each in found] == [(0, 0), (1, 1), (2, 2), (3, 9)]
    assert [each[2] for each in found] == pytest.approx([2 / 37, 3 / 37, 4 / 37, 4 / 37], rel=1e-12)
    for most in (3, 4):
        monkeypatch.setattr(endpoints, "MOST_BUCKETS", most)
        with pytest.raises(QueryTooLargeError, match=f"more than {most} ticks"):
            started(((0, 9, 1.0),), ((2, 999, 1.0),), 0, 3)
