"""Histograms read in one pass give the masses that the general way gives, to the bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.columns import masses
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.masses import Masses, histograms_in_order, masses_of
from cepctl.errors import EventSchemaError
from cepctl.event_table import PMF_TYPE

Bucket = dict[str, float]


@st.composite
def histograms(draw: st.DrawFn) -> list[Bucket] | None:
    """None or up to three buckets; some without probability, some in the wrong order."""
    lo, buckets = draw(st.integers(-50, 50)), []
    weights = draw(st.sampled_from([(), (1.0,), (0.1, 0.9), (0.3, 0.3, 0.4), (0.5, 0.0, 0.5), (0.2, 0.7)]))
    for weight in weights:
        hi = lo + draw(st.integers(0, 9))
        buckets.append({"lo": lo, "hi": hi, "p": weight})
        lo = hi + draw(st.integers(1, 9))
    if draw(st.integers(0, 19)) == 0:
        buckets.reverse()
    return buckets or None


def table(pmfs: list[list[Bucket] | None]) -> pa.Table:
    ends = [sorted(t for each in pmf for t in (each["lo"], each["hi"])) if pmf else [3, 7] for pmf in pmfs]
    return pa.table(
        {
            "event_id": [str(i) for i in range(len(pmfs))],
            "lower": pa.array([each[0] for each in ends], pa.int64()),
            "upper": pa.array([each[-1] for each in ends], pa.int64()),
            "pmf": pa.array(pmfs, PMF_TYPE),
        }
    )


def read(events: pa.Table, at_least: int, monkeypatch: pytest.MonkeyPatch) -> Masses | str:
    monkeypatch.setattr(masses, "_MANY", at_least)
    try:
        return masses_of(events)
    except EventSchemaError as problem:
        return str(problem)


def test_the_masses_are_those_of_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(deadline=None)
    @given(st.lists(histograms(), min_size=1, max_size=6))
    def agrees(pmfs: list[list[Bucket] | None]) -> None:
        events = table(pmfs)
        quick, general = read(events, 0, monkeypatch), read(events, 1 << 40, monkeypatch)
        if isinstance(quick, str) or isinstance(general, str):
            assert quick == general
        else:
            for name in Buckets._fields:
                assert getattr(quick, name).tolist() == getattr(general, name).tolist()

    agrees()


def test_the_mass_of_a_bucket_is_spread_over_its_ticks() -> None:
    """0 to 9 with 1/10 each; then 1/4 on 1 and 2, 3/4 on 4 to 8; then all on 5."""
    lower, upper = np.array([0, 1, 5]), np.array([9, 8, 5])
    buckets = np.array([1, 4, 5]), np.array([2, 8, 5]), np.array([1 / 4, 3 / 4, 1.0])
    found = histograms_in_order(lower, upper, np.array([0, 2, 1]), *buckets)
    assert found is not None
    starts, lo, hi, density = found
    assert (starts.tolist(), lo.tolist(), hi.tolist()) == ([0, 1, 3, 4], [0, 1, 4, 5], [9, 2, 8, 5])
    assert density == pytest.approx([1 / 10, 1 / 8, 3 / 20, 1.0], rel=1e-15)


@pytest.mark.parametrize("rounded", [0.7499995, 0.7500005])
def test_buckets_that_miss_1_by_a_little_are_scaled(rounded: float) -> None:
    """The whole of 1/4 and 0.7499995 is 0.9999995: of it 1/4 is on two ticks."""
    ticks = np.array([1, 4]), np.array([2, 8])
    found = histograms_in_order(
        np.array([1]), np.array([8]), np.array([2]), *ticks, np.array([0.25, rounded])
    )
    assert found is not None
    assert found[3] == pytest.approx([1 / 8 / (0.25 + rounded), rounded / 5 / (0.25 + rounded)], rel=1e-15)


@pytest.mark.parametrize(("begin", "end"), [(3, 8), (2, 8), (9, 8)])
def test_buckets_that_overlap_or_are_turned_are_left_to_the_general_way(begin: int, end: int) -> None:
    one, ticks = np.array([0]), (np.array([1, begin]), np.array([3, end]))
    assert histograms_in_order(one, one + 8, np.array([2]), *ticks, np.array([0.5, 0.5])) is None


@pytest.mark.parametrize(
    "p", [(0.0, 1.0), (0.5, 0.4), (np.nan, 1.0), (-0.5, 1.5), (0.5, np.inf), (0.5, 0.500002)]
)
def test_masses_that_are_wrong_or_none_are_left_to_the_general_way(p: tuple[float, float]) -> None:
    one, ticks = np.array([0]), (np.array([1, 4]), np.array([3, 8]))
    assert histograms_in_order(one, one + 8, np.array([2]), *ticks, np.array(p)) is None


def test_buckets_out_of_order_are_left_to_the_general_way() -> None:
    one, ticks = np.array([0]), (np.array([4, 1]), np.array([8, 3]))
    assert histograms_in_order(one, one + 8, np.array([2]), *ticks, np.array([0.5, 0.5])) is None
