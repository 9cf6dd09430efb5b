"""The mass of one event at ticks, on ranges of ticks that cut it, and in its holes; how far apart two are."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.masses import masses_of
from cepctl.engines.columns.tick_masses import (
    density_at,
    difference_probability,
    ends_of,
    first_possible,
    mass_on,
)
from cepctl.engines.columns.tick_sums import LAST
from tests.plans import Event, event_table

WITH_A_HOLE = Event("b", "A", 10, 15, pmf=((10, 11, 0.5), (14, 15, 0.5)))
MASSES = masses_of(event_table((Event("a", "A", 0, 3), WITH_A_HOLE, Event("c", "A", 9, 11))))
BUCKETS = MASSES.buckets


def test_an_event_has_mass_where_a_bucket_is() -> None:
    assert [density_at(BUCKETS, 1, tick) for tick in (9, 10, 12, 15, 16)] == [0.0, 0.25, 0.0, 0.25, 0.0]
    assert ends_of(BUCKETS, 1) == (10, 15)


@pytest.mark.parametrize(
    ("lower", "upper", "mass"),
    [(10, 15, 1.0), (11, 14, 0.5), (12, 13, 0.0), (-(2**62), 10, 0.25), (15, 2**62, 0.25), (14, 11, 0.0)],
)
def test_a_range_cuts_the_mass_of_an_event(lower: int, upper: int, mass: float) -> None:
    assert mass_on(BUCKETS, 1, lower, upper) == mass


def test_the_next_tick_that_has_mass() -> None:
    assert [first_possible(BUCKETS, 1, tick) for tick in (9, 11, 12, 15, 16)] == [10, 11, 14, 15, LAST]


def apart(pair: tuple[int, int], least: int, most: int, first: int = -99, last: int = 99) -> float:
    """P(the second event is so many ticks after the first), with the first one from `first` to `last`."""
    held = np.array([[first, -99]]), np.array([[last, 99]])
    bounds = np.array([least]), np.array([most])
    return float(difference_probability(MASSES, np.array([pair]), *held, *bounds)[0])


@pytest.mark.parametrize(
    ("least", "most", "pairs"),
    [
        (6, 6, 1),
        (7, 7, 2),
        (8, 9, 6),
        (10, 10, 2),
        (11, 11, 1),
        (7, 10, 10),
        (0, 99, 12),
        (12, 99, 0),
        (0, 5, 0),
    ],
)
def test_pairs_of_ticks_that_are_so_far_apart(least: int, most: int, pairs: int) -> None:
    """Of 0 to 3 and 9 to 11 there are 1, 2, 3, 3, 2 and 1 pairs that are 6 to 11 ticks apart, 12 in all."""
    assert apart((0, 2), least, most) == pytest.approx(pairs / 12, rel=1e-15)
    assert apart((2, 0), -most, -least) == pytest.approx(pairs / 12, rel=1e-15)


@pytest.mark.parametrize(
    ("first", "last", "pairs"), [(-99, 99, 7), (-99, 10, 3), (11, 99, 4), (14, 14, 1), (12, 13, 0)]
)
def test_pairs_of_ticks_in_several_buckets(first: int, last: int, pairs: int) -> None:
    """9 to 11 is from 3 ticks before to 1 after 10 and 11 in three ways each, and 14 in one: 11."""
    assert apart((1, 2), -3, 1, first, last) == pytest.approx(pairs / 12, rel=1e-15)
    assert difference_probability(
        MASSES, np.array([[2, 1]]), np.array([[-99, first]]), np.array([[99, last]]), *np.array([[-1], [3]])
    ) == pytest.approx([pairs / 12], rel=1e-15)
