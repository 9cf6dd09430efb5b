"""Cuts of time: in order, each once, and nothing beyond them is touched; sums of ticks that stop."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.columns.tick_sums import (
    FIRST,
    LAST,
    apart,
    distance,
    plus,
    sort_cuts,
    tick_count,
    with_cut,
)


def test_a_cut_is_put_in_its_place_once() -> None:
    cuts = np.array([1, 5, 0, 9])
    assert with_cut(cuts, 2, 3) == 3
    assert with_cut(cuts, 3, 5) == 3
    assert cuts.tolist() == [1, 3, 5, 9]
    assert with_cut(cuts, 3, 0) == 4
    assert cuts.tolist() == [0, 1, 3, 5]


def test_of_cuts_in_turned_order_each_is_left_once() -> None:
    """40, 40, 39, 39, ... 1, 1; and three that differ."""
    cuts = np.arange(80, 0, -1) // 2 + np.arange(80, 0, -1) % 2
    assert sort_cuts(cuts, 80) == 40
    assert cuts[:40].tolist() == list(range(1, 41))
    few = np.array([5, 1, 3])
    assert sort_cuts(few, 3) == 3
    assert few.tolist() == [1, 3, 5]


def test_sums_and_differences_of_ticks_stop_at_the_ends_of_whole_numbers() -> None:
    """2^62 and 2^62 - 1 are the last tick, 2^63 - 1; one more is no tick."""
    far = np.int64(2**62)
    some = np.int64(3)
    assert [plus(far, far - 1), plus(far, far)] == [LAST, LAST]
    assert [plus(-far, -far), plus(-far, -far - 1)] == [FIRST, FIRST]
    assert [plus(each, by) - each for each in (far, -far) for by in (some, -some)] == [3, -3, 3, -3]
    with np.errstate(over="ignore"):  # of whole numbers that wrap around
        assert [apart(np.int64(3), far), apart(far, far), apart(-far, far)] == [far - 3, 0, LAST]
        assert [distance(np.int64(3), np.int64(8)), distance(np.int64(8), np.int64(3))] == [5.0, -5.0]
        assert [distance(-far, far), distance(far, -far), distance(far, far)] == [2.0**63, -(2.0**63), 0.0]
        assert [tick_count(np.int64(3), np.int64(8)), tick_count(-far, far)] == [6.0, 2.0**63 + 1]


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9) | st.integers(-(2**62), 2**62), max_size=300))
def test_cuts_are_sorted_each_once(ticks: list[int]) -> None:
    cuts = np.array([*ticks, 99], dtype=np.int64)
    assert cuts[: sort_cuts(cuts, len(ticks))].tolist() == sorted(set(ticks))
    assert cuts[-1] == 99


def test_thousands_of_cuts_are_sorted_alike() -> None:
    ticks = np.random.default_rng(3).integers(-4_000, 4_000, 6_000)
    cuts = ticks.copy()
    assert cuts[: sort_cuts(cuts, len(cuts))].tolist() == sorted(set(ticks.tolist()))
