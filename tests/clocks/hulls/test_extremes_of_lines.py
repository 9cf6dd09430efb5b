"""The extremes of lines in windows, against all corners of the polygon of (begin, end) in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from cepctl.clocks.hulls.fractions import along
from cepctl.clocks.hulls.lines import ExtremeLines, WindowBounds, extremes

MS = 1_000_000
Halfplane = tuple[Fraction, Fraction, Fraction]
"""a, b, c: the line with the values (x, y) at begin and end has a x + b y <= c."""


def polygon(
    length: int, lower: list[tuple[int, int]], upper: list[tuple[int, int]], drift: int
) -> list[Halfplane]:
    """What bounds (time, value) and the drift say of the values at begin and end of a window."""
    steep = Fraction(drift * length, 10**9)
    one = Fraction(1)
    found = [(-one, one, steep), (one, -one, steep)]
    for bounds, sign in ((lower, -1), (upper, 1)):
        for time, value in bounds:
            part = Fraction(time, length)
            found.append((sign * (1 - part), sign * part, Fraction(sign * value)))
    return found


def corners(planes: list[Halfplane]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the polygon: crossings of two edges that all others allow."""
    found = []
    for (a, b, c), (d, e, f) in combinations(planes, 2):
        turn = a * e - b * d
        if turn:
            x, y = (c * e - b * f) / turn, (a * f - c * d) / turn
            if all(p * x + q * y <= r for p, q, r in planes):
                found.append((x, y))
    return found


def bounds_of(windows: list[list[tuple[int, int]]]) -> WindowBounds:
    rows = [(number, *bound) for number, bounds in enumerate(windows) for bound in bounds]
    return WindowBounds(*np.array(rows, np.int64).T.reshape(3, -1))


def lines(
    length: list[int],
    lower: list[list[tuple[int, int]]],
    upper: list[list[tuple[int, int]]],
    drift: int = 200_000,
) -> ExtremeLines:
    return extremes(np.array(length), bounds_of(lower), bounds_of(upper), drift)


WORKED_LOWER = [(0, -50 * MS), (300_000 * MS, 0), (600_000 * MS, 60 * MS)]
WORKED_UPPER = [(0, 30 * MS), (300_000 * MS, 40 * MS), (600_000 * MS, 90 * MS)]


def test_three_spans_ten_minutes_apart() -> None:
    found = lines([600_000 * MS], [WORKED_LOWER], [WORKED_UPPER])
    begin, end = (found.low[0], found.high[0]), (found.low_to[0], found.high_to[0])
    assert (begin, end) == ((-50 * MS, 20 * MS), (60 * MS, 90 * MS))
    found = lines([600_000 * MS], [WORKED_LOWER], [WORKED_UPPER], drift=100_000)
    begin, end = (found.low[0], found.high[0]), (found.low_to[0], found.high_to[0])
    assert (begin, end) == ((0, 20 * MS), (60 * MS, 70 * MS))


LENGTHS = st.one_of(st.integers(1, 30), st.integers(1, 10**12), st.integers(2**55, 2**56 - 1))


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]:
    """A window with bounds around a line that often, but not always, leave it possible."""
    length = draw(LENGTHS)
    base = draw(st.sampled_from([0, 2**58, -(2**58)]))
    slope = Fraction(draw(st.integers(-250_000, 250_000)), 10**9)
    slack = draw(st.sampled_from([3, 1_000, max(length // 1_000, 1)]))

    def side(sign: int) -> list[tuple[int, int]]:
        times = draw(st.lists(st.integers(0, length), min_size=1, max_size=6))
        offs = [draw(st.integers(-slack // 4, slack)) for _ in times]
        return [
            (time, base + floor(slope * time) + sign * off) for time, off in zip(times, offs, strict=True)
        ]

    return length, side(-1), side(1)


DRIFTS = st.sampled_from([200_000, 100_000, 1, 10**8, 123_457])


@given(st.lists(windows(), min_size=1, max_size=4), DRIFTS)
@example([(600_000 * MS, WORKED_LOWER, WORKED_UPPER)], 200_000)
@example([(10, [(5, 3)], [(5, 3)])], 10**8)
@example([(10, [(5, 4)], [(5, 3)])], 10**8)
def test_extremes_are_those_of_the_corners_rounded_outwards(
    cases: list[tuple[int, list[tuple[int, int]], list[tuple[int, int]]]], drift: int
) -> None:
    found = lines(
        [each[0] for each in cases], [each[1] for each in cases], [each[2] for each in cases], drift
    )
    for number, (length, lower, upper) in enumerate(cases):
        planes = polygon(length, lower, upper, drift)
        values = corners(planes)
        assert found.fits[number] == bool(values)
        if values:
            begins, ends = zip(*values, strict=True)
            assert found.low[number] == floor(min(begins))
            assert found.high[number] == ceil(max(begins))
            assert found.low_to[number] == floor(min(ends))
            assert found.high_to[number] == ceil(max(ends))


@given(
    st.lists(
        st.tuples(st.integers(-(2**56), 2**56), st.integers(1, 2**57 - 1), st.integers(0, 2**56 - 1)).filter(
            lambda each: abs(each[0] * each[2]) < each[1] * 2**61
        ),
        max_size=5,
    )
)
def test_products_are_those_of_whole_numbers_of_any_size(cases: list[tuple[int, int, int]]) -> None:
    columns = (np.array([each[at] for each in cases], np.int64) for at in range(3))
    whole, rest = along(*columns)
    expected = [divmod(rise * length, run) for rise, run, length in cases]
    assert list(zip(whole.tolist(), rest.tolist(), strict=True)) == expected
