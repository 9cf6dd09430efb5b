"""Ticks of one unit as ticks of another: all that are covered, and no more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cepctl.event_table import PMF_TYPE
from cepctl.io.contract.rescaling import first_tick, last_tick, rescaled
from cepctl.schema import TICK_MAX, TICK_MIN, TimeUnit

SECOND, MILLISECOND = TimeUnit(1_000_000), TimeUnit(1_000)
units = st.integers(1, 10**7).map(TimeUnit)


def table(lower: int, upper: int, pmf: list[dict[str, float]] | None = None) -> pa.Table:
    return pa.table({"lower": [lower], "upper": [upper], "pmf": pa.array([pmf], PMF_TYPE)})


def test_a_tick_becomes_all_the_ticks_that_it_covers() -> None:
    fine = rescaled(table(-1, 2), SECOND, MILLISECOND)
    assert (fine.column("lower")[0].as_py(), fine.column("upper")[0].as_py()) == (-1_000, 2_999)


def test_going_coarser_keeps_every_tick_that_is_touched() -> None:
    coarse = rescaled(table(-1, 2_000), MILLISECOND, SECOND)
    assert (coarse.column("lower")[0].as_py(), coarse.column("upper")[0].as_py()) == (-1, 2)


def test_buckets_that_fall_into_one_tick_are_joined() -> None:
    pmf = [
        {"lo": 0, "hi": 499, "p": 0.25},
        {"lo": 500, "hi": 999, "p": 0.25},
        {"lo": 1_000, "hi": 2_999, "p": 0.5},
    ]
    coarse = rescaled(table(0, 2_999, pmf), MILLISECOND, SECOND)
    assert coarse.column("pmf")[0].as_py() == [{"lo": 0, "hi": 0, "p": 0.5}, {"lo": 1, "hi": 2, "p": 0.5}]


def test_ends_of_the_range_saturate() -> None:
    ends = np.array([TICK_MIN, TICK_MAX])
    assert first_tick(ends, SECOND, MILLISECOND).tolist() == [TICK_MIN, TICK_MAX]
    assert last_tick(ends, SECOND, MILLISECOND).tolist() == [TICK_MIN, TICK_MAX]


@given(st.integers(TICK_MIN, TICK_MAX), units, units)
def test_the_new_ticks_cover_the_old_one_exactly(tick: int, old: TimeUnit, new: TimeUnit) -> None:
    start, end = tick * old.microseconds, (tick + 1) * old.microseconds - 1
    first, last = start // new.microseconds, end // new.microseconds
    ticks = np.array([tick])
    assert first_tick(ticks, old, new)[0] == min(max(first, TICK_MIN), TICK_MAX)
    assert last_tick(ticks, old, new)[0] == min(max(last, TICK_MIN), TICK_MAX)


def test_a_length_in_a_finer_unit_is_any_that_its_ticks_cover() -> None:
    """One second between a tick and the next is 1 ms at least, and less than two seconds."""
    table = pa.table({name: pa.array([1, None], pa.int64()) for name in ("length_lower", "length_upper")})
    finer = rescaled(table, TimeUnit(1_000_000), TimeUnit(1_000))
    assert finer.to_pylist() == [
        {"length_lower": 1, "length_upper": 1_999},
        {"length_lower": None, "length_upper": None},
    ]
