"""Which series are sampled at a steady step."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.sampling import SampledSeries, sampled_series
from cepctl.schema import TimeUnit
from tests.inspection.observations import observed

MILLISECOND, SECOND = TimeUnit(1_000), 1_000_000
Row = dict[str, Any]


def samples(seconds: list[float], node: str = "n1", **more: Any) -> list[Row]:
    return [{"time": round(at * SECOND), "node": node, "value": 1.0, **more} for at in seconds]


def steps(rows: list[Row]) -> dict[str | None, int | None]:
    found = sampled_series(observed(rows), MILLISECOND)
    return {series.node: series.step_microseconds for series in found}


def only(rows: list[Row]) -> SampledSeries:
    (series,) = sampled_series(observed(rows), MILLISECOND)
    return series


@settings(deadline=None)
@given(st.integers(2, 300), st.lists(st.floats(-0.09, 0.09), min_size=40, max_size=80), st.integers(0, 10**9))
def test_a_planted_step_is_found_under_jitter(step: int, jitter: list[float], start: int) -> None:
    times = [start + step * (number + shift) for number, shift in enumerate(jitter)]
    found = only(samples(times)).step_microseconds
    assert found is not None
    assert abs(found - step * SECOND) <= 0.2 * step * SECOND


def test_the_median_is_rounded_to_whole_seconds_or_below_one_to_milliseconds() -> None:
    assert steps(samples([15.2 * number for number in range(40)])) == {"n1": 15 * SECOND}
    assert steps(samples([0.2504 * number for number in range(40)])) == {"n1": 250_000}


def test_a_few_missing_samples_do_no_harm_many_do() -> None:
    steady = [15.0 * number for number in range(101)]
    assert steps(samples([*steady[:50], *steady[52:]])) == {"n1": 15 * SECOND}
    assert steps(samples(steady[:60] + steady[61:101:3])) == {"n1": None}


def test_short_series_of_one_type_and_step_speak_together() -> None:
    each = [60.0 * number for number in range(11)]
    assert steps(samples(each) + samples(each, "n2")) == {"n1": None, "n2": None}
    three = samples(each) + samples(each, "n2") + samples(each, "n3")
    assert set(steps(three).values()) == {60 * SECOND}
    other = [{**row, "event_type": "B"} for row in samples(each, "n3")]
    assert set(steps(samples(each) + samples(each, "n2") + other).values()) == {None}


def test_what_has_no_number_is_no_sample() -> None:
    rows = samples([15.0 * number for number in range(100)])
    assert steps([{**row, "value": None} for row in rows]) == {}


def test_equal_times_make_no_gap() -> None:
    assert only(samples([15.0 * (number // 2) for number in range(80)])).gaps == 39


def test_intervals_that_reach_back_by_just_the_step_cover_it() -> None:
    rows = samples([15.0 * number for number in range(40)])

    def reaching(before: int, after: int) -> SampledSeries:
        ticks = [row["time"] // 1_000 for row in rows]
        return only(
            [{**r, "lower": t - before, "upper": t + after} for r, t in zip(rows, ticks, strict=True)]
        )

    assert reaching(15_000, 2_000).covered
    assert reaching(15_000, 2_000).after_microseconds == 2 * SECOND
    assert reaching(14_999, 0).covered  # (t - 15 s, t]
    assert not reaching(61_000, 2_000).covered
    assert not reaching(0, 0).covered
