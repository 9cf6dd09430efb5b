"""Sorting the few cuts of a chain."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.confidence.chain.cells import sorted_unique


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9) | st.integers(-(2**62), 2**62), min_size=1, max_size=300))
def test_cuts_are_sorted_and_stand_there_once(values: list[int]) -> None:
    cuts = np.array([*values, 99], dtype=np.int64)
    kept = sorted_unique(cuts, len(values))
    assert cuts[:kept].tolist() == sorted(set(values))
    assert cuts[-1] == 99
