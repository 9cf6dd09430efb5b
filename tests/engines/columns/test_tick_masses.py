"""The mass of one event at ticks, on ranges of ticks that cut it, and in its holes."""

from __future__ import annotations

import pytest

from cepctl.engines.columns.masses import masses_of
from cepctl.engines.columns.tick_masses import density_at, ends_of, mass_on
from tests.plans import Event, event_table

WITH_A_HOLE = Event("b", "A", 10, 15, pmf=((10, 11, 0.5), (14, 15, 0.5)))
BUCKETS = masses_of(event_table((Event("a", "A", 0, 3), WITH_A_HOLE))).buckets


def test_an_event_has_mass_where_a_bucket_is() -> None:
    assert [density_at(BUCKETS, 1, tick) for tick in (9, 10, 12, 15, 16)] == [0.0, 0.25, 0.0, 0.25, 0.0]
    assert ends_of(BUCKETS, 1) == (10, 15)


@pytest.mark.parametrize(
    ("lower", "upper", "mass"),
    [(10, 15, 1.0), (11, 14, 0.5), (12, 13, 0.0), (-(2**62), 10, 0.25), (15, 2**62, 0.25), (14, 11, 0.0)],
)
def test_a_range_cuts_the_mass_of_an_event(lower: int, upper: int, mass: float) -> None:
    assert mass_on(BUCKETS, 1, lower, upper) == mass
