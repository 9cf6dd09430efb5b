"""The closed form for chains against two judges: exact polynomials where wide, enumeration where small."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cepctl.engines.columns.masses import masses_of
from cepctl.engines.confidence.chain.closed_form import chain_confidence, chain_range
from cepctl.engines.pattern.difference_constraints import closed_system, possible, valid_bounds
from cepctl.event_table import PMF_TYPE
from tests.engines import exact_chain

Bucket = tuple[int, int, float]
Chain = list[list[Bucket]]
DAY = 86_400_000_000
"""Ticks of a day where one tick is a microsecond."""


def measured(chain: Chain, window: int | None) -> tuple[float, tuple[int, int] | None]:
    """Confidence and time range of one chain, as the match path computes them; no range: impossible."""
    events = pa.table(
        {
            "event_id": [str(i) for i in range(len(chain))],
            "lower": pa.array([buckets[0][0] for buckets in chain], pa.int64()),
            "upper": pa.array([buckets[-1][1] for buckets in chain], pa.int64()),
            "pmf": pa.array(
                [[{"lo": lo, "hi": hi, "p": p} for lo, hi, p in buckets] for buckets in chain], PMF_TYPE
            ),
        }
    )
    masses = masses_of(events)
    matches = np.arange(len(chain), dtype=np.int64)[None, :]
    bounds = valid_bounds(
        masses.lower[matches], masses.upper[matches], closed_system(range(len(chain)), window)
    )
    if not possible(*bounds)[0]:
        return 0.0, None
    first, last, happens = chain_range(masses, matches, *bounds, window)
    confidence = float(chain_confidence(masses, matches, *bounds, window)[0])
    return confidence, (int(first[0]), int(last[0])) if happens[0] else None


def exact(chain: Chain, window: int | None) -> Fraction:
    masses = []
    for buckets in chain:
        total = sum((Fraction(p) for _, _, p in buckets), Fraction(0))
        masses.append([(lo, hi, Fraction(p) / total) for lo, hi, p in buckets])
    return exact_chain.chain_confidence(masses, window)


def uniform(*intervals: tuple[int, int]) -> Chain:
    return [[(lo, hi, 1.0)] for lo, hi in intervals]


def assert_exact(chain: Chain, window: int | None) -> None:
    expected = exact(chain, window)
    assert expected > 0, "a case that is impossible shows nothing about relative errors"
    assert math.isclose(measured(chain, window)[0], float(expected), rel_tol=1e-9, abs_tol=0)


@pytest.mark.parametrize("length", range(1, 9))
def test_coinciding_wide_intervals_without_window_give_one_order_in_many(length: int) -> None:
    width = 10**9
    expected = Fraction(math.comb(width, length), width**length)
    confidence, _ = measured(uniform(*[(0, width - 1)] * length), None)
    assert math.isclose(confidence, float(expected), rel_tol=1e-12)


@pytest.mark.parametrize("length", range(2, 9))
def test_a_tiny_window_over_coinciding_wide_intervals(length: int) -> None:
    assert_exact(uniform(*[(0, 10**9 - 1)] * length), 10)


@pytest.mark.parametrize("length", [2, 3, 4, 5])
@pytest.mark.parametrize("window", [1_000, 10**8, 10**9 - 1, 10**9, 10**9 + 1, 2 * 10**9])
def test_wide_intervals_that_lie_staggered(length: int, window: int) -> None:
    assert_exact(uniform(*((i * 10**8, i * 10**8 + 10**9) for i in range(length))), window)


@pytest.mark.parametrize("length", [6, 7, 8])
def test_long_chains_of_different_widths(length: int) -> None:
    intervals = [(i * 7_000, i * 7_000 + 10 ** (4 + i % 3) + 13 * i) for i in range(length)]
    assert_exact(uniform(*intervals), None)
    assert_exact(uniform(*intervals), 150_001)


@pytest.mark.parametrize("window", [2, 3, 10**9, None])
def test_overlaps_of_a_single_tick(window: int | None) -> None:
    """Only the last tick of one interval and the first of the next can serve."""
    assert_exact(uniform((0, 10**9), (10**9 + 1, 2 * 10**9)), window)
    assert_exact(uniform((10**9, 2 * 10**9), (0, 10**9 + 1)), window)


def test_a_chain_that_fits_in_exactly_one_world() -> None:
    chain = uniform((5, 10**9), (6, 6), (0, 7))
    confidence, time_range = measured(chain, None)
    assert math.isclose(confidence, float(exact(chain, None)), rel_tol=1e-12)
    assert time_range == (5, 7)


def test_certain_events_between_wide_ones() -> None:
    assert_exact(uniform((0, 10**9), (5 * 10**8, 5 * 10**8), (0, 10**9)), 10**6)


def test_ticks_near_the_present_counted_in_microseconds() -> None:
    now = 1_800_000_000_000_000
    assert_exact(uniform((now, now + DAY), (now + 5, now + 2 * DAY), (now - 9, now + DAY)), DAY // 3)


def test_wide_histograms_with_holes() -> None:
    chain: Chain = [
        [(0, 10**8, 0.5), (3 * 10**8, 10**9, 0.5)],
        [(10**8, 2 * 10**8, 0.1), (2 * 10**8 + 1, 4 * 10**8, 0.6), (9 * 10**8, 10**9, 0.3)],
        [(0, 10**9, 0.75), (10**9 + 1, 10**9 + 1, 0.25)],
    ]
    for window in (None, 10, 12_345, 10**8, 7 * 10**8 + 1):
        assert_exact(chain, window)


@st.composite
def wide_chains(draw: st.DrawFn) -> tuple[Chain, int | None]:
    """Up to four events of up to three buckets, each up to 10^9 ticks wide or a single tick."""
    width = st.sampled_from([0, 1, 2, 9, 1_000, 10**6, 10**9])
    start = st.sampled_from([0, 1, 5, 1_000, 10**6, 10**9])
    chain: Chain = []
    for _ in range(draw(st.integers(2, 4))):
        lo, buckets = draw(start), []
        weights = draw(st.sampled_from([(1.0,), (1.0,), (0.25, 0.75), (0.1, 0.6, 0.3)]))
        for weight in weights:
            hi = lo + draw(width)
            buckets.append((lo, hi, weight))
            lo = hi + 1 + draw(width)
        chain.append(buckets)
    return chain, draw(st.none() | st.sampled_from([1, 2, 3, 10, 999, 10**6, 10**9, 3 * 10**9]))


@settings(deadline=None)
@given(wide_chains())
def test_random_wide_chains(case: tuple[Chain, int | None]) -> None:
    chain, window = case
    expected = exact(chain, window)
    confidence, _ = measured(chain, window)
    assert math.isclose(confidence, float(expected), rel_tol=1e-9, abs_tol=0), (confidence, float(expected))


@st.composite
def small_chains(draw: st.DrawFn) -> tuple[Chain, int | None]:
    chain: Chain = []
    for _ in range(draw(st.integers(1, 4))):
        lo, buckets = draw(st.integers(-2, 6)), []
        for weight in draw(st.sampled_from([(1.0,), (0.25, 0.75), (0.5, 0.2, 0.3)])):
            hi = lo + draw(st.integers(0, 2))
            buckets.append((lo, hi, weight))
            lo = hi + 1 + draw(st.integers(0, 2))
        chain.append(buckets)
    return chain, draw(st.none() | st.integers(1, 9))


@settings(deadline=None)
@given(small_chains())
@example((uniform((1, 10), (8, 9)), 3))
def test_small_chains_agree_with_every_world_written_out(case: tuple[Chain, int | None]) -> None:
    chain, window = case
    total, held = Fraction(0), []
    points = [
        [
            (t, Fraction(p) / sum(Fraction(q) for _, _, q in buckets) / (hi - lo + 1))
            for lo, hi, p in buckets
            for t in range(lo, hi + 1)
        ]
        for buckets in chain
    ]
    for world in product(*points):
        ticks = [t for t, _ in world]
        if all(a < b for a, b in pairwise(ticks)) and (window is None or ticks[-1] - ticks[0] < window):
            total += math.prod((p for _, p in world), start=Fraction(1))
            held.append((ticks[0], ticks[-1]))
    confidence, time_range = measured(chain, window)
    assert math.isclose(confidence, float(total), rel_tol=1e-12, abs_tol=0)
    tightest = (min(first for first, _ in held), max(last for _, last in held)) if held else None
    assert time_range == tightest


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("window", [60, 75, 120])
def test_every_way_to_open_a_ring(length: int, window: int) -> None:
    """Each link in turn holds or may fail: intervals far apart, touching, and within each other."""
    places = ((0, 20), (5, 40), (15, 60), (70, 99), (50, 80))
    for chosen in product(places[: 7 - length], repeat=length):
        chain = uniform(*chosen)
        expected = exact(chain, window)
        found, _ = measured(chain, window)
        assert math.isclose(found, float(expected), rel_tol=1e-12, abs_tol=0), (chosen, window)


def test_a_ring_all_of_whose_links_may_fail_is_parted() -> None:
    for window in (3, 30, 60, 89, 99):
        assert_exact(uniform((0, 60), (30, 70), (50, 100)), window + 2)
        assert_exact(
            [[(0, 60, 1.0)], [(30, 40, 0.5), (50, 70, 0.5)], [(50, 60, 0.2), (80, 100, 0.8)]], window + 2
        )


@pytest.mark.parametrize("window", [None, 10**6, 2**61, 2**62, 2**63 - 1])
def test_events_that_reach_as_far_as_ticks_go(window: int | None) -> None:
    whole = (-(2**62), 2**62)
    for chain in ((whole, whole), (whole, whole, whole), (whole, (0, 10), whole), ((-9, 9), whole, (-9, 9))):
        expected = exact(uniform(*chain), window)
        found, _ = measured(uniform(*chain), window)
        assert math.isclose(found, float(expected), rel_tol=1e-9, abs_tol=0)


def test_a_chain_has_the_same_bits_in_any_company_and_at_any_time() -> None:
    random = np.random.default_rng(5)
    count, window = 600, 40
    lower = random.integers(0, 60, count)
    upper = lower + random.integers(0, 40, count) * random.integers(0, 2, count)
    matches = random.integers(0, count, (3000, 3))
    system = closed_system(range(3), window)
    masses = [
        masses_of(
            pa.table({"event_id": [str(i) for i in range(count)], "lower": lower + by, "upper": upper + by})
        )
        for by in (0, -77, 2**61)
    ]
    bounds = [valid_bounds(each.lower[matches], each.upper[matches], system) for each in masses]
    rows = np.flatnonzero(possible(*bounds[0]))
    found = [
        chain_confidence(each, matches[rows], lower[rows], upper[rows], window)
        for each, (lower, upper) in zip(masses, bounds, strict=True)
    ]
    assert (found[0] > 0).all()
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    for some in (rows[:1], rows[7:40], rows[::-1]):
        alone = chain_confidence(masses[0], matches[some], bounds[0][0][some], bounds[0][1][some], window)
        assert (alone == found[0][np.searchsorted(rows, some)]).all()
