"""Series of events that come one after the other: masses given those before, by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.given.series import Pass, series_pass

Bucket = tuple[int, int, float]


def passed(
    *events: tuple[Bucket, ...], bound: int = -1, begins: tuple[int, ...] = (0,), most: int = 999
) -> Pass:
    """Events with such buckets (first and last tick, probability), each so much after the one before it."""
    lo, hi, p = (np.array(each) for each in zip(*(b for event in events for b in event), strict=True))
    masses = Masses.of_buckets(np.cumsum([0, *map(len, events)]), lo, hi, p / (hi - lo + 1))
    count = len(events)
    begin = np.isin(np.arange(count), begins)
    found: Pass = series_pass(masses.buckets, np.arange(count), np.full(count, bound), begin, most)
    return found


def mass(found: Pass, event: int) -> dict[int, float]:
    """The mass of an event at each tick: the sum of c_k C(x, k) / C(n, k) in each cell of n ticks."""
    cells, masses = found.cells, {}
    for i in range(found.cell_offsets[event], found.cell_offsets[event + 1]):
        own, n = cells.coefficient[cells.offsets[i] : cells.offsets[i + 1]], int(cells.ticks[i])
        for x in range(n):
            masses[int(cells.start[i]) + x] = sum(c * comb(x, k) / comb(n, k) for k, c in enumerate(own))
    return masses


A, B, C = ((1, 4, 1.0),), ((2, 5, 1.0),), ((4, 6, 1.0),)


def test_each_event_has_what_those_before_leave_to_it() -> None:
    """B at 2 to 5 has 1, 2, 3 and 4 as before it: 10 of 16 pairs; c at 4 to 6 has 1 + 2, 3 more and 4 more.

    So c is after b in (3 + 6 + 10) / 30.
    """
    found = passed(A, B, C)
    assert found.ratio == pytest.approx([1.0, 10 / 16, 19 / 30], rel=1e-14)
    assert mass(found, 0) == dict.fromkeys(range(1, 5), 1 / 4)
    assert mass(found, 1) == pytest.approx({2: 1 / 10, 3: 2 / 10, 4: 3 / 10, 5: 4 / 10}, rel=1e-14)
    assert mass(found, 2) == pytest.approx({4: 3 / 19, 5: 6 / 19, 6: 10 / 19}, rel=1e-14)


@pytest.mark.parametrize(("bound", "pairs"), [(0, 13), (-2, 6), (-4, 1), (2, 16), (-5, 0)])
def test_an_event_may_be_so_much_later(bound: int, pairs: int) -> None:
    """Of 16 pairs 3 are at one tick, 6 two ticks apart or more, one is four ticks apart."""
    assert passed(A, B, bound=bound).ratio == pytest.approx([1.0, pairs / 16], rel=1e-14)


def test_a_series_begins_with_what_nothing_is_before() -> None:
    found = passed(A, B, C, begins=(0, 2))
    assert found.ratio == pytest.approx([1.0, 10 / 16, 1.0], rel=1e-14)
    assert mass(found, 2) == pytest.approx({4: 1 / 3, 5: 1 / 3, 6: 1 / 3}, rel=1e-14)


def test_an_event_that_comes_later_anyway_keeps_its_mass() -> None:
    found = passed(A, ((5, 6, 1.0),))
    assert found.ratio.tolist() == [1.0, 1.0]
    assert mass(found, 1) == {5: 1 / 2, 6: 1 / 2}


def test_events_of_several_buckets() -> None:
    """Of a at 0 with 1/4, 4 or 5 with 3/8 each; b at 1 or 2 with 1/8 each, at 3 with 1/4, at 5 to 7 with 1/6.

    b at 1, 2 or 3 has 1/4 before it, at 5 5/8, then all: 1/2 * 1/4 + 1/6 (5/8 + 2) = 27/48.
    """
    first = ((0, 0, 1 / 4), (4, 5, 3 / 4))
    found = passed(first, ((1, 2, 1 / 4), (3, 3, 1 / 4), (5, 7, 1 / 2)))
    assert found.ratio == pytest.approx([1.0, 27 / 48], rel=1e-14)
    wanted = {1: 3 / 54, 2: 3 / 54, 3: 6 / 54, 5: 10 / 54, 6: 16 / 54, 7: 16 / 54}
    assert {at: p for at, p in mass(found, 1).items() if p} == pytest.approx(wanted, rel=1e-14)
    # From 1 to 7 b has 1/4 before it four times, 5/8, and all twice.
    assert passed(first, ((1, 7, 1.0),)).ratio == pytest.approx([1.0, (1 + 5 / 8 + 2) / 7], rel=1e-14)


def test_an_event_that_cuts_what_three_before_it_leave() -> None:
    """Of 10^3 ways on 0 to 9 C(t, 3) rise and end before t: 1, 4, 10 and 20 of 3 to 6."""
    found = passed(*[((0, 9, 1.0),)] * 3, ((3, 6, 1.0),))
    assert np.prod(found.ratio) == pytest.approx(35 / 4_000, rel=1e-13)
    assert mass(found, 3) == pytest.approx({3: 1 / 35, 4: 4 / 35, 5: 10 / 35, 6: 20 / 35}, rel=1e-13)


def test_events_of_many_buckets() -> None:
    """0 to 19 in twenty buckets, before 10 to 29: 10 + 11 + ... + 19 = 145 pairs, and 10 * 20."""
    found = passed(tuple((tick, tick, 1 / 20) for tick in range(20)), ((10, 29, 1.0),))
    assert found.ratio == pytest.approx([1.0, 345 / 400], rel=1e-13)
    assert mass(found, 1)[12] == pytest.approx(12 / 345, rel=1e-13)


def test_twenty_events_that_may_be_in_any_order() -> None:
    """On 0 to 19 they are one after the other on a tick for each, in one of 20^20 ways; the last is at 19."""
    found = passed(*[((0, 19, 1.0),)] * 20, most=9_999)
    assert np.log(found.ratio).sum() == pytest.approx(-20 * np.log(20.0), rel=1e-13)
    assert {at: p for at, p in mass(found, 19).items() if p} == pytest.approx({19: 1.0}, rel=1e-12)


def test_beyond_so_many_steps_nothing_is_said() -> None:
    """Squares of how many coefficients there are: one of a, two on 2 to 4 and one on 5 of b."""
    assert len(passed(A, B, most=1 + 9).ratio) == 2
    assert len(passed(A, B, most=9).ratio) == 0
