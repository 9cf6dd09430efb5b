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


@pytest.mark.parametrize("p", [(0.0, 1.0), (0.5, 0.4), (np.nan, 1.0), (-0.5, 1.5)])
def test_masses_that_are_wrong_or_none_are_left_to_the_general_way(p: tuple[float, float]) -> None:
    one, ticks = np.array([0]), (np.array([1, 4]), np.array([3, 8]))
    assert histograms_in_order(one, one + 8, np.array([2]), *ticks, np.array(p)) is None


def test_buckets_out_of_order_are_left_to_the_general_way() -> None:
    one, ticks = np.array([0]), (np.array([4, 1]), np.array([8, 3]))
    assert histograms_in_order(one, one + 8, np.array([2]), *ticks, np.array([0.5, 0.5])) is None
