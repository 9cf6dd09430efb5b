"""How probable it is that events of one key are at one tick: the numbers that can be worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.order_laws.same_ticks import mean_powers, most_at_once, one_tick_weights


def test_means_are_those_of_every_tick() -> None:
    means = mean_powers(4, 2)
    assert means[1, 0] == means[0, 1] == pytest.approx(3 / 8)
    for p, q in [(0, 0), (2, 0), (1, 1), (0, 2)]:
        ticks = [Fraction(t, 4) ** p * Fraction(3 - t, 4) ** q for t in range(4)]
        assert means[p, q] == pytest.approx(float(sum(ticks) / 4))


def test_few_ticks_stand_for_many() -> None:
    """The mean of x^3 y^2 over all ticks of a very long cell is that of a uniform number: 3! 2! / 6!."""
    assert mean_powers(1 << 40, 5)[3, 2] == pytest.approx(1 / 60)


def test_of_two_events_each_order_has_half_of_what_is_at_one_tick() -> None:
    assert one_tick_weights(4, 2)[0, 1, 0] == pytest.approx(1 / 8)


def test_of_three_events_two_in_a_row_are_at_one_tick_with_the_third_before_them_after_or_beside() -> None:
    """As often as two neighbours of three sorted ticks are equal among all 64 worlds."""
    worlds = [sorted((a, b, c)) for a in range(4) for b in range(4) for c in range(4)]
    for place in (0, 1):
        equal = sum(world[place] == world[place + 1] for world in worlds)
        weight = one_tick_weights(4, 3)[place, 1, 1 - place]
        # In each of the 6 orders, of which each world has its share.
        assert 6 * weight == pytest.approx(equal / 64)


def test_so_few_of_many_are_at_one_second_of_a_day() -> None:
    assert most_at_once(86_400, 16) == 4


@pytest.mark.parametrize(
    ("ticks", "events", "some"), [(31_000_000, 3, 3), (32_000_000, 3, 2), (10**14, 2, 2)]
)
def test_events_are_not_at_one_tick_where_that_is_less_probable_than_rounding(
    ticks: int, events: int, some: int
) -> None:
    """Three are at one of n ticks with 1 / n^2, which is 1.04e-15 and 0.98e-15; two with 1 / n."""
    assert most_at_once(ticks, events) == some
