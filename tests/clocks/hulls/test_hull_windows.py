"""Windows: where no line fits they are halved; bounds that no drift allows are found, all of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.clocks.hulls.chains import LinkedClocks, chained
from cepctl.clocks.hulls.windows import Fitted, Grid, LinkBounds, Windows, fitted

SECOND, MS = 10**9, 10**6
Bound = tuple[int, int]
"""Reading and value."""


def side(bounds: list[Bound]) -> LinkBounds:
    times, values = np.array(bounds, np.int64).reshape(-1, 2).T
    return LinkBounds(np.zeros(len(times), np.int64), times, values, np.arange(len(times)))


def fit(lower: list[Bound], upper: list[Bound], grid: Grid, drift: int = 200_000) -> Fitted:
    return fitted(side(lower), side(upper), grid, drift)


@pytest.mark.parametrize(
    ("last", "expected"),
    [(599, (1, 600)), (898, (1, 899)), (899, (2, 450)), (1498, (2, 750)), (1499, (3, 500)), (0, (1, 1))],
)
def test_windows_are_equal_and_about_as_long_as_asked(last: int, expected: tuple[int, int]) -> None:
    grid = Grid.over(7, 7 + last, 600)
    assert (grid.count, grid.length) == expected
    assert grid.end > 7 + last


def test_a_change_of_drift_halves_a_window() -> None:
    """For five minutes a clock gains 100 ppm, for five more it loses them: no line, but two."""
    times = [second * SECOND for second in (0, 150, 299, 301, 450, 599)]
    values = [min(time, 600 * SECOND - time) // 10_000 for time in times]
    around = [(time, value - MS) for time, value in zip(times, values, strict=True)]
    above = [(time, value + MS) for time, value in zip(times, values, strict=True)]
    found = fit(around, above, Grid(0, 600 * SECOND, 1))
    assert found.halved == 1
    assert found.windows.begin.tolist() == [0, 300 * SECOND]
    assert found.windows.end.tolist() == [300 * SECOND, 600 * SECOND]
    peak = 30 * MS
    assert found.windows.low_to[0] <= peak <= found.windows.high_to[0]
    assert found.windows.low[1] <= peak <= found.windows.high[1]


def test_a_bound_in_the_middle_of_a_window_is_of_its_second_half() -> None:
    times = [second * SECOND for second in (0, 150, 299, 300, 450, 599)]
    values = [min(time, 600 * SECOND - time) // 10_000 for time in times]
    around = [(time, value - MS) for time, value in zip(times, values, strict=True)]
    above = [(time, value + MS) for time, value in zip(times, values, strict=True)]
    found = fit(around, above, Grid(0, 600 * SECOND, 1))
    assert found.windows.begin.tolist() == [0, 300 * SECOND]
    # At its begin there is a bound: of the others alone lines of 200 ppm would leave far more.
    assert (found.windows.low[1], found.windows.high[1]) == (29 * MS, 31 * MS)


def test_bounds_that_the_drift_just_allows_do_not_contradict() -> None:
    """The bound of 10 ms after 50 s is the line of 200 ppm itself; that of 5 ms at once is beyond it."""
    found = fit([(50 * SECOND, 10 * MS), (0, 5 * MS)], [(0, 0)], Grid(0, 600 * SECOND, 1))
    assert (found.lower.pair.tolist(), found.gap.tolist()) == ([1], [5 * MS])


def test_a_step_within_a_window_is_named_with_its_gap() -> None:
    found = fit(
        [(100 * SECOND, 60 * MS), (1, 0)], [(0, 30 * MS), (100 * SECOND, 90 * MS)], Grid(0, 600 * SECOND, 1)
    )
    # 30 ms lie between, of which 100 s allow 20.
    assert (found.lower.value.tolist(), found.upper.value.tolist()) == ([60 * MS], [30 * MS])
    assert found.gap.tolist() == [10 * MS]
    assert not len(found.windows.begin)
    assert found.halved == 0


def test_windows_with_bounds_of_one_side_say_nothing_and_are_counted() -> None:
    found = fit([(1, 0), (700 * SECOND, 0)], [(2, 5), (1_300 * SECOND, 5)], Grid(0, 600 * SECOND, 3))
    assert found.windows.begin.tolist() == [0]
    assert found.one_sided == 2


def test_links_do_not_touch_each_other() -> None:
    lower = LinkBounds(np.array([0, 3]), np.array([5, 5]), np.array([10, -10]), np.array([0, 1]))
    upper = LinkBounds(np.array([3, 0]), np.array([5, 5]), np.array([-8, 12]), np.array([2, 3]))
    found = fitted(lower, upper, Grid(0, 10, 1), 1)
    assert found.windows.link.tolist() == [0, 3]
    assert (found.windows.low.tolist(), found.windows.high.tolist()) == ([9, -11], [13, -7])


TIMES = st.integers(0, 40)
DRIFTS = st.sampled_from([10**8, 10**7, 33_333_333])


@st.composite
def bounds(draw: st.DrawFn) -> list[Bound]:
    return [(draw(TIMES), draw(st.integers(-4, 4))) for _ in range(draw(st.integers(1, 6)))]


@given(bounds(), bounds(), DRIFTS, st.integers(1, 3))
def test_contradictions_are_pairs_that_the_drift_does_not_allow(
    below: list[Bound], above: list[Bound], drift: int, count: int
) -> None:
    """A window contradicts itself if and only if two of its bounds do; each such lower bound is named."""
    lower = [(time, value - 1) for time, value in below]
    upper = [(time, value + 1) for time, value in above]
    length = -(-41 // count)
    found = fit(lower, upper, Grid(0, length, count), drift)

    def gap(i: int, j: int) -> Fraction:
        (time, least), (to, most) = lower[i], upper[j]
        return least - most - Fraction(drift * abs(time - to), 10**9)

    beyond = {
        (i, j)
        for i in range(len(lower))
        for j in range(len(upper))
        if lower[i][0] // length == upper[j][0] // length and gap(i, j) > 0
    }
    named = set(zip(found.lower.pair.tolist(), found.upper.pair.tolist(), strict=True))
    assert named <= beyond
    assert {i for i, _ in named} == {i for i, _ in beyond}
    worst = {i: max(gap(i, j) for k, j in beyond if k == i) for i, _ in beyond}
    for i, j, told in zip(found.lower.pair, found.upper.pair, found.gap, strict=True):
        assert 0 <= told - gap(i, j) < 1
    assert {i: max(gap(i, j) for k, j in named if k == i) for i, _ in named} == worst
    torn = {lower[i][0] // length for i, _ in beyond}
    covered = set((found.windows.begin // length).tolist())
    assert not torn & covered


@pytest.mark.parametrize(("at_begin", "at_end"), [(0, 100 * MS), (-100 * MS, 0)])
def test_a_chain_is_wider_by_what_a_clock_drifts_over_the_furthest_of_a_window(
    at_begin: int, at_end: int
) -> None:
    """Over 100 ms, which one end of the window has, 200 ppm are 20 microseconds, at both of its ends."""
    own, ends = np.array([0, at_begin]), np.array([0, at_end])
    begin = np.zeros(2, np.int64)
    windows = Windows(np.arange(2), begin, begin + 600 * SECOND, own, own, ends, ends)
    found = chained(LinkedClocks(np.array([1, 2]), np.array([0, 1]), windows), 0, 200_000).links
    of_second = found.windows.taken(found.host == 2)
    assert (of_second.low.tolist(), of_second.high.tolist()) == ([at_begin - 20_000], [at_begin + 20_000])
    assert (of_second.low_to.tolist(), of_second.high_to.tolist()) == ([at_end - 20_000], [at_end + 20_000])


def test_a_half_with_bounds_of_one_side_is_counted() -> None:
    """No line fits the whole; the second half has an upper bound alone."""
    found = fit(
        [(0, 0), (100 * SECOND, -15 * MS), (250 * SECOND, 20 * MS)],
        [(0, MS), (100 * SECOND, -14 * MS), (250 * SECOND, 21 * MS), (450 * SECOND, 90 * MS)],
        Grid(0, 600 * SECOND, 1),
        drift=400_000,
    )
    assert found.halved == 2
    assert found.one_sided == 1


def links(*rows: tuple[int, int, int, int, int, int, int, int]) -> LinkedClocks:
    """Windows of links: host, other, begin, end, low, high, low_to, high_to."""
    host, other, begin, end, *bounds = np.array(rows, np.int64).T
    return LinkedClocks(host, other, Windows(np.arange(len(rows)), begin, end, *bounds))


def test_a_window_is_cut_where_another_ends_and_its_bounds_are_rounded_outwards() -> None:
    found = chained(links((1, 0, 0, 600, 0, 0, 7, 7), (2, 0, 0, 300, 5, 6, 5, 6)), 0, 0).links
    of_first = found.windows.taken(found.host == 1)
    assert (of_first.begin.tolist(), of_first.end.tolist()) == ([0, 300], [300, 600])
    assert (of_first.low_to.tolist(), of_first.high_to.tolist()) == ([3, 7], [4, 7])
    assert (of_first.low.tolist(), of_first.high.tolist()) == ([0, 3], [0, 4])


def test_of_two_chains_that_counts_which_is_narrower_at_both_ends_together() -> None:
    rows = links(
        (1, 0, 0, 600, 0, 0, 0, 0), (2, 0, 0, 600, -1, 1, -99, 99), (2, 1, 0, 600, -9, 9, -9, 9)
    )  # fmt: skip
    found = chained(rows, 0, 0).links
    of_second = found.windows.taken(found.host == 2)
    assert (of_second.low.tolist(), of_second.high_to.tolist()) == ([-9], [9])


@pytest.mark.parametrize("apart_at", ["begin", "end"])
def test_two_chains_that_do_not_meet_at_either_end_contradict_each_other(apart_at: str) -> None:
    meets, apart = (5, 8), (20, 30)
    ends = (*apart, *meets) if apart_at == "begin" else (*meets, *apart)
    rows = links((1, 0, 0, 600, 0, 0, 0, 0), (2, 0, 0, 600, 0, 10, 0, 10), (2, 1, 0, 600, *ends))
    assert chained(rows, 0, 0).contradicted == 1
