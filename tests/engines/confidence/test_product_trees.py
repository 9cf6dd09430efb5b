"""Products over rivals for several gaps at once: against a plain product for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.laws import Buckets
from cepctl.engines.confidence.gaps.distinct_gaps import Gaps
from cepctl.engines.confidence.gaps.product_trees import ProductPlan, fill_plan, kinds_of, multiply, plan_room
from cepctl.numeric.arrays import Flags, Indexes

PLACES = 5


@st.composite
def lists(draw: st.DrawFn) -> tuple[Flags, Indexes, Indexes]:
    """Which of some rivals each of some kinds of gaps keeps out; some kinds; some rivals."""
    kinds, rivals = draw(st.integers(1, 7)), draw(st.integers(0, 9))
    size = kinds * rivals
    apart = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    chosen = draw(st.lists(st.integers(0, kinds - 1), min_size=1, unique=True))
    known = draw(st.lists(st.integers(0, rivals - 1), unique=True)) if rivals else []
    return apart.reshape(kinds, rivals), np.array(chosen), np.array(known, dtype=np.int64)


def planned(apart: Flags, chosen: Indexes, known: Indexes) -> tuple[ProductPlan, int, int]:
    plan, rows = plan_room(*apart.shape)
    return plan, rows, fill_plan(apart, chosen, len(chosen), known, len(known), plan)


@given(lists(), st.integers(0, 2**32 - 1))
def test_each_row_is_the_product_over_the_rivals_of_its_kind(
    case: tuple[Flags, Indexes, Indexes], seed: int
) -> None:
    apart, chosen, known = case
    random = np.random.default_rng(seed)
    factors, row = random.choice([0.0, 0.25, 1.0, 0.7], (len(known), PLACES)), random.random(PLACES)
    plan, rows, steps = planned(apart, chosen, known)
    result = np.full((rows, PLACES + 2), np.nan)
    multiply(plan, steps, factors, row, 1, PLACES, result)
    for i, kind in enumerate(chosen):
        expected = row * factors[apart[kind][known]].prod(axis=0)
        assert result[i, 1:-1].tolist() == pytest.approx(expected.tolist(), rel=1e-14, abs=0)
        assert ((result[i, 1:-1] == 0) == (expected == 0)).all()
        # What is beside the places is left alone.
        assert np.isnan(result[i, [0, -1]]).all()


def test_lists_that_leave_out_one_rival_each_cost_far_less_than_all_pairs() -> None:
    count = 64
    plan, _, steps = planned(~np.eye(count, dtype=bool), np.arange(count), np.arange(count))
    assert plan.offsets[steps] == count * 6


def test_equal_lists_are_one_product() -> None:
    plan, _, steps = planned(np.ones((1, 9), dtype=bool), np.array([0]), np.arange(9))
    assert (steps, plan.offsets[1]) == (1, 9)


def test_gaps_are_of_one_kind_where_their_rivals_differ_by_what_cannot_lie_there() -> None:
    """Events 0 to 2 precede event 3; event 4 is over before 1 begins, 5 may lie anywhere, 6 comes last."""
    lower, upper = np.array([0, 10, 10, 40, 0, 0, 41]), np.array([20, 20, 30, 40, 10, 90, 99])
    nothing = np.zeros(0, dtype=np.int64)
    buckets = Buckets(lower, upper, nothing, nothing, nothing, np.zeros(0))
    rivals, listed = np.array([4, 5, 6]), np.array([0, 1, 1, 0])
    gaps = Gaps(np.array([0, 1, 2]), np.array([3, 3, 3]), np.array([0, 2, 3, 4]), rivals[listed])
    kinds = kinds_of(buckets, gaps, np.arange(3), rivals, gaps.rival_offsets, listed)
    assert kinds.of.tolist() == [0, 0, 1]
    assert kinds.apart.tolist() == [[True, True, True], [True, False, True]]
