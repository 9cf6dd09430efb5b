"""Cuts of time: in order, each once, and nothing beyond them is touched."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.columns.tick_sums import sort_cuts, with_cut


def test_a_cut_is_put_in_its_place_once() -> None:
    cuts = np.array([1, 5, 0, 9])
    assert with_cut(cuts, 2, 3) == 3
    assert with_cut(cuts, 3, 5) == 3
    assert cuts.tolist() == [1, 3, 5, 9]


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
