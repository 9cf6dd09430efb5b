"""The residual of a recorded clock as an offset in ticks, and how far its estimate moves own parts."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.clocks.shared import parse_offset
from cepctl.schema import TimeUnit
from cepctl.uncertainty.clock_records import NO_PIECE, ClockRecords
from cepctl.uncertainty.clock_rules import read_clock
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.recorded_offsets import RecordedOffset, residual_offset
from cepctl.uncertainty.stamping import rule_offset

MS = TimeUnit(1_000)
SHORT_TICKS = st.sampled_from([1, 3, 1_000, 1_000_000])
UNIFORM = math.nan


def records_of(*rows: tuple[int, int, int, int, int, int, float, int, int]) -> ClockRecords:
    """Pieces of one host: from, to, ahead, ahead_to, low, high, sd, epoch, segment."""
    columns = [np.array(each) for each in zip(*rows, strict=True)]
    begin, end, ahead, ahead_to, low, high, sd, epoch, segment = columns
    host, jump = np.zeros(len(rows), np.int64), np.full(len(rows), -1)
    return ClockRecords(
        "c", "", ("n7",), host, begin, end, ahead, ahead_to, low, high, sd.astype(float), epoch, segment, jump
    )


def test_a_constant_bound_is_the_offset_of_a_rule_to_the_bit() -> None:
    found = residual_offset(-500_000_000, 500_000_000, UNIFORM, whole=True, unit=MS)
    clock = read_clock({"by": "node", "offset": "500 ms"})
    assert found == rule_offset(Rule(1, clock=clock), MS)


def test_the_estimate_of_a_row_of_chrony_is_half_a_tick_wide_of_its_bounds() -> None:
    # Ahead 12.6 and -0.76 ms, and at most 21.4 ms in between: -34 to 22.16 ms beside the estimate.
    found = residual_offset(-34_000_000, 22_160_000, UNIFORM, whole=False, unit=MS)
    assert found == ((-23, 35, 1.0),)


@given(st.integers(-(10**9), 0), st.integers(0, 10**9), st.booleans(), SHORT_TICKS)
def test_ends_are_rounded_outwards(low: int, high: int, whole: bool, tick: int) -> None:
    found = residual_offset(low, high, UNIFORM, whole=whole, unit=TimeUnit(Fraction(tick, 1_000)))
    half = Fraction(0 if whole else 1, 2)
    first = math.floor(Fraction(-high, tick) - half)
    last = math.ceil(Fraction(-low, tick) + half)
    assert found == ((first, last, 1.0),)


@given(st.integers(-40, 0), st.integers(0, 40), st.floats(0.5, 60.0))
def test_few_ticks_have_a_normal_mass_each_and_a_hundredth_evenly(low: int, high: int, sd: float) -> None:
    found = residual_offset(low * 10, high * 10, sd * 10, whole=True, unit=TimeUnit(Fraction(1, 100)))
    assert found is not None
    normal, ticks = NormalDist(0.0, sd), range(-high, -low + 1)
    if len(ticks) > 64:
        assert math.isclose(sum(p for *_, p in found), 1.0)
        assert (found[0][0], found[-1][1]) == (-high, -low)
        return
    assert [bucket[:2] for bucket in found] == [(tick, tick) for tick in ticks]
    mass = [normal.cdf(tick + 0.5) - normal.cdf(tick - 0.5) for tick in ticks]
    for (*_, p), own in zip(found, mass, strict=True):
        assert p == pytest.approx(0.99 * own / sum(mass) + 0.01 / len(ticks), abs=1e-12)


def test_many_ticks_have_62_buckets_within_4_sd_and_one_on_either_side() -> None:
    found = residual_offset(-1_000_000, 500_000, 10_000.0, whole=True, unit=TimeUnit(1))
    assert found is not None
    assert [found[0][:2], found[-1][:2]] == [(-500, -41), (41, 1_000)]
    assert len(found) == 64
    inner = found[1:-1]
    assert (inner[0][0], inner[-1][1]) == (-40, 40)
    normal = NormalDist(0.0, 10.0)
    for lo, hi, p in found:
        own = normal.cdf(hi + 0.5) - normal.cdf(lo - 0.5)
        assert p == pytest.approx(0.99 * own + 0.01 * (hi - lo + 1) / 1_501, abs=1e-12)


def test_pieces_of_a_segment_share_the_widest_bounds_and_the_root_of_the_mean_square() -> None:
    records = records_of(
        (0, 10, 0, 0, -5, 4, 3.0, 1, 1), (10, 40, 0, 0, -2, 8, 5.0, 1, 1), (40, 50, 0, 0, -1, 1, 2.0, 1, 2)
    )
    shared = RecordedOffset(records).residuals
    assert (shared.low.tolist(), shared.high.tolist()) == ([-5, -1], [8, 1])
    assert shared.sd.tolist() == pytest.approx([math.sqrt((10 * 9 + 30 * 25) / 40), 2.0])
    whole = RecordedOffset(records, by_epoch=True).residuals
    assert (whole.low.tolist(), whole.high.tolist()) == ([-5], [8])


def test_clocks_are_named_by_host_and_segment_or_epoch() -> None:
    records = records_of((0, 10, 0, 0, -5, 5, UNIFORM, 2, 3))
    pieces = np.array([0, NO_PIECE])
    assert RecordedOffset(records).names("node", pieces).to_pylist() == ["node=n7#3", None]
    assert RecordedOffset(records, by_epoch=True).names("node", pieces).to_pylist() == ["node=n7@2", None]


def test_a_uniform_residual_leaves_its_sd_out() -> None:
    records = records_of((0, 10, 0, 0, -5_000, 5_000, 2_000.0, 1, 1))
    pieces, unit = np.array([0]), TimeUnit(1)
    (uniform,) = RecordedOffset(records, uniform=True).texts(pieces, unit).to_pylist()
    (normal,) = RecordedOffset(records).texts(pieces, unit).to_pylist()
    assert parse_offset(uniform) == ((-5, 5, 1.0),)
    assert len(parse_offset(normal) or ()) == 11


@given(
    st.integers(-(10**10), 10**10),
    st.integers(-(10**10), 10**10),
    st.integers(1, 10**13),
    st.floats(0, 1, exclude_max=True),
    SHORT_TICKS,
)
def test_own_parts_move_by_the_estimate_to_the_nearest_tick(
    ahead: int, ahead_to: int, length: int, share: float, tick: int
) -> None:
    begin = 1_700_000_000_000_000_000
    records = records_of((begin, begin + length, ahead, ahead_to, -1, 1, UNIFORM, 1, 1))
    passed = int(share * length)
    estimate = ahead + Fraction((ahead_to - ahead) * passed, length)
    moved = RecordedOffset(records).moves(
        np.array([0, NO_PIECE]), np.array([begin + passed, 0]), TimeUnit(Fraction(tick, 1_000))
    )
    assert moved.tolist() == [-math.floor(estimate / tick + Fraction(1, 2)), 0]
