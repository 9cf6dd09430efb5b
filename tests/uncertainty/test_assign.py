"""Exact ticks for every kind of rule, and what holds for all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import UncertaintyModelError
from cepctl.event_table import PMF_TYPE
from cepctl.schema import TICK_MAX, TICK_MIN, TimeUnit, parse_duration
from cepctl.uncertainty.assign import DAY, Assigned, RawTimes, assign
from cepctl.uncertainty.model import UncertaintyModel, parse_model
from cepctl.uncertainty.shapes import SHAPES, Bucket, Granularity, ticks_up

MS = TimeUnit(1_000)
SECOND = TimeUnit(1_000_000)


def times(
    *microseconds: int | None,
    zone: int = 0,
    before: int = 0,
    after: int = 0,
    given: tuple[int, int] | None = None,
) -> RawTimes:
    n = len(microseconds)
    lower, upper = given or (0, 0)
    return RawTimes(
        instants=np.array([t or 0 for t in microseconds], dtype=np.int64),
        known=np.array([t is not None for t in microseconds], dtype=np.bool_),
        zone_seconds=np.full(n, zone, np.int64),
        before=np.full(n, before, np.int64),
        after=np.full(n, after, np.int64),
        lower=np.full(n, lower, np.int64),
        upper=np.full(n, upper, np.int64),
        given=np.full(n, given is not None),
        pmf=pa.nulls(n, PMF_TYPE),
    )


def assigned(
    rule: str,
    raw: RawTimes,
    unit: TimeUnit = MS,
    events: Mapping[str, list[object]] | None = None,
    default: Granularity | None = None,
) -> Assigned:
    n = len(raw.instants)
    columns = {"event_type": ["A"] * n, "source": ["dir/log.jhist"] * n} | dict(events or {})
    model = parse_model(rule) if rule else UncertaintyModel()
    return assign(raw, {k: pa.array(v) for k, v in columns.items()}, model.rules, unit, default)


def intervals(result: Assigned) -> list[tuple[int, int]]:
    return list(zip(result.lower.tolist(), result.upper.tolist(), strict=True))


def buckets(result: Assigned, row: int = 0) -> list[tuple[int, int, float]]:
    return [(b["lo"], b["hi"], b["p"]) for b in result.pmf[row].as_py()]


@dataclass(frozen=True)
class Triangle:
    """A kind of a test: twice as probable in the half before the raw tick as in the half after it."""

    half: Fraction

    @classmethod
    def read(cls, value: object) -> Triangle:
        return cls(parse_duration(str(value)))

    @property
    def lengths(self) -> Sequence[Fraction]:
        return (self.half,)

    def buckets(self, unit: TimeUnit) -> tuple[Bucket, ...]:
        half = ticks_up(self.half, unit)
        return Bucket(-half, -1, 2 / 3), Bucket(0, half - 1, 1 / 3)


def test_a_kind_that_is_added_to_the_list_is_read_and_assigned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHAPES, "triangle", Triangle.read)
    result = assigned("rule = [{ triangle = '2 ms', interval = { before = '1 ms' } }]", times(5_000))
    assert buckets(result) == [(2, 4, 2 / 3), (5, 6, 1 / 3)]
    with pytest.raises(UncertaintyModelError, match="normal and triangle exclude"):
        parse_model("rule = [{ triangle = '2 ms', normal = { sigma = '1 s' } }]")


def test_interval_reaches_before_and_after_the_raw_tick() -> None:
    rule = "rule = [{ interval = { before = '15 s', after = '1 s' } }]"
    assert intervals(assigned(rule, times(20_000_000))) == [(5_000, 21_000)]


def test_a_negative_duration_is_a_known_offset() -> None:
    rule = "rule = [{ interval = { before = '-2 s', after = '3 s' } }]"
    assert intervals(assigned(rule, times(20_000_000))) == [(22_000, 23_000)]


def test_durations_round_outwards_to_ticks() -> None:
    rule = "rule = [{ interval = { before = '0.5 s', after = '0.1 s' } }]"
    assert intervals(assigned(rule, times(20_900_000), SECOND)) == [(19, 21)]


def test_a_time_before_the_epoch_falls_into_the_tick_that_contains_it() -> None:
    assert intervals(assigned("", times(-1), SECOND)) == [(-1, -1)]


def test_granularity_gives_the_whole_unit_that_contains_the_time() -> None:
    rule = "rule = [{ granularity = '15 s' }]"
    assert intervals(assigned(rule, times(44_999_999, 45_000_000))) == [(30_000, 44_999), (45_000, 59_999)]


def test_a_day_is_the_calendar_day_of_the_written_zone() -> None:
    rule = "rule = [{ granularity = '1 day' }]"
    noon_in_delhi = 12 * 3_600 - 5 * 3_600 - 1_800
    (interval,) = intervals(assigned(rule, times(noon_in_delhi * 1_000_000, zone=19_800), SECOND))
    assert interval == (-19_800, -19_800 + 86_400 - 1)


def test_latency_gives_one_bucket_per_delay_the_longest_first() -> None:
    rule = "rule = [{ latency = [['0 ms', '10 ms', 0.6], ['10 ms', '20 ms', 0.3], ['20 ms', '40 ms', 0.1]] }]"
    result = assigned(rule, times(100_000))
    assert buckets(result) == [(61, 80, 0.1), (81, 90, 0.3), (91, 100, 0.6)]
    assert intervals(result) == [(61, 100)]


def test_latency_buckets_that_meet_inside_a_tick_do_not_overlap() -> None:
    rule = "rule = [{ latency = [['0 s', '0.4 s', 0.5], ['0.4 s', '0.8 s', 0.25], ['0.8 s', '2 s', 0.25]] }]"
    result = assigned(rule, times(10_000_000), SECOND)
    assert buckets(result) == [(9, 9, 0.25), (10, 10, 0.75)]


def test_normal_has_64_buckets_symmetric_around_the_raw_tick() -> None:
    result = assigned("rule = [{ normal = { sigma = '200 ms', cut = 3 } }]", times(5_000_000))
    found = buckets(result)
    assert len(found) == 64
    assert intervals(result) == [(4_400, 5_600)]
    below = sum(p for _, hi, p in found if hi < 5_000)
    assert below == pytest.approx(0.5, abs=0.02)


def test_normal_on_few_ticks_has_one_bucket_per_tick_with_the_mass_of_that_tick() -> None:
    result = assigned("rule = [{ normal = { sigma = '1 ms', cut = 2 } }]", times(0))
    found = buckets(result)
    assert [(lo, hi) for lo, hi, _ in found] == [(-2, -2), (-1, -1), (0, 0), (1, 1), (2, 2)]

    def phi(x: float) -> float:
        return math.erf(x / math.sqrt(2)) / 2

    assert found[2][2] == pytest.approx((phi(0.5) - phi(-0.5)) / (phi(2.5) - phi(-2.5)), rel=1e-12)


def test_an_interval_beside_granularity_widens_the_unit() -> None:
    rule = "rule = [{ granularity = '1 s', interval = { before = '10 ms', after = '20 ms' } }]"
    assert intervals(assigned(rule, times(1_500_000))) == [(990, 2_019)]


def test_an_interval_beside_a_histogram_widens_its_outermost_buckets() -> None:
    rule = (
        "rule = [{ latency = [['0 ms', '5 ms', 0.5], ['5 ms', '9 ms', 0.5]], "
        "interval = { before = '2 ms', after = '1 ms' } }]"
    )
    result = assigned(rule, times(100_000))
    assert buckets(result) == [(90, 95, 0.5), (96, 101, 0.5)]
    assert intervals(result) == [(90, 101)]


def test_a_known_offset_beside_a_histogram_moves_all_buckets() -> None:
    rule = (
        "rule = [{ latency = [['0 ms', '5 ms', 0.5], ['5 ms', '9 ms', 0.5]], "
        "interval = { before = '-20 ms', after = '21 ms' } }]"
    )
    assert buckets(assigned(rule, times(100_000))) == [(112, 115, 0.5), (116, 121, 0.5)]


def test_the_first_rule_that_fits_wins() -> None:
    rule = """
        [[rule]]
        event_type = "CPU*"
        interval = { before = "1 s" }
        [[rule]]
        source = "*.jhist"
        interval = { before = "2 s" }
    """
    events: dict[str, list[object]] = {
        "event_type": ["CPU_user", "Job", "Job"],
        "source": ["a/b.jhist", "a/b.jhist", "a/b.xml"],
    }
    raw = times(10_000_000, 10_000_000, 10_000_000)
    assert intervals(assigned(rule, raw, events=events)) == [
        (9_000, 10_000),
        (8_000, 10_000),
        (10_000, 10_000),
    ]


def test_a_source_glob_also_fits_the_name_of_the_file_alone() -> None:
    rule = "rule = [{ source = 'log.*', interval = { before = '1 s' } }]"
    assert intervals(assigned(rule, times(0))) == [(-1_000, 0)]


def test_where_reads_attributes_and_null_fits_nothing() -> None:
    rule = "rule = [{ where = \"node = 'n7' AND load > 3\", interval = { before = '1 s' } }]"
    events: dict[str, list[object]] = {"node": ["n7", "n7", "n8", None], "load": [4, 3, 4, 4]}
    found = intervals(assigned(rule, times(0, 0, 0, 0), events=events))
    assert [lower for lower, _ in found] == [-1_000, 0, 0, 0]


def test_where_on_an_attribute_that_no_event_has_fits_nothing() -> None:
    rule = "rule = [{ where = \"rack = 'r1'\", interval = { before = '1 s' } }]"
    assert intervals(assigned(rule, times(0))) == [(0, 0)]


def test_where_with_a_variable_is_refused() -> None:
    rule = "rule = [{ where = \"a.node = 'n7'\", interval = { before = '1 s' } }]"
    with pytest.raises(UncertaintyModelError, match="rule 1: where reads attributes by their bare names"):
        assigned(rule, times(0))


def test_without_a_rule_the_reader_says_how_uncertain_its_times_are() -> None:
    assert intervals(assigned("", times(5_000_000, after=999_000))) == [(5_000, 5_999)]


@pytest.mark.parametrize(("unit", "upper"), [(1, 5_999_999), (1_000, 5_999), (1_000_000, 5), (2_000_000, 2)])
def test_a_time_written_to_the_second_ends_before_the_next_second_in_every_unit(
    unit: int, upper: int
) -> None:
    ((_, last),) = intervals(assigned("", times(5_000_000, after=999_999), TimeUnit(unit)))
    assert last == upper


def test_an_interval_that_the_event_brought_is_kept_unless_a_rule_fits() -> None:
    raw = times(5_000_000, given=(1, 9))
    assert intervals(assigned("", raw)) == [(1, 9)]
    assert intervals(assigned("rule = [{ granularity = '1 s' }]", raw)) == [(5_000, 5_999)]


def test_an_event_without_time_keeps_its_interval_whatever_fits() -> None:
    raw = times(None, given=(1, 9))
    assert intervals(assigned("rule = [{ granularity = '1 s' }]", raw)) == [(1, 9)]


def test_a_rule_replaces_the_histogram_that_the_event_brought() -> None:
    raw = times(0, given=(0, 1))
    brought = RawTimes(**{**raw.__dict__, "pmf": pa.array([[{"lo": 0, "hi": 1, "p": 1.0}]], PMF_TYPE)})
    assert assigned("", brought).pmf[0].as_py() is not None
    assert assigned("rule = [{ granularity = '1 s' }]", brought).pmf[0].as_py() is None


def test_the_default_of_a_file_covers_what_no_rule_fits() -> None:
    rule = "rule = [{ event_type = 'B', interval = { before = '1 s' } }]"
    result = assigned(rule, times(0, 0), SECOND, {"event_type": ["A", "B"]}, default=DAY)
    assert intervals(result) == [(0, 86_399), (-1, 0)]


def test_ticks_saturate_at_64_bits() -> None:
    rule = "rule = [{ interval = { before = '9 day', after = '9 day' } }]"
    result = assigned(rule, times(TICK_MIN, TICK_MAX), TimeUnit(1))
    assert result.lower[0] == TICK_MIN
    assert result.upper[1] == TICK_MAX
    assert result.upper[0] == TICK_MIN + 9 * 86_400_000_000


def test_a_duration_beyond_the_range_of_ticks_is_refused() -> None:
    rule = "rule = [{ interval = { before = '99999999999999 day' } }]"
    with pytest.raises(UncertaintyModelError, match="choose a coarser time_unit"):
        assigned(rule, times(0), TimeUnit(1))


raw_microseconds = st.integers(min_value=-(10**15), max_value=10**15)
units = st.sampled_from([TimeUnit(1), TimeUnit(1_000), TimeUnit(1_000_000), TimeUnit(7)])


@st.composite
def histogram_rules(draw: st.DrawFn) -> str:
    """A latency or normal rule, some widened by an interval that may be a known offset."""
    if draw(st.booleans()):
        edges = sorted(draw(st.sets(st.integers(-5_000, 50_000), min_size=2, max_size=6)))
        weights = draw(st.lists(st.integers(1, 9), min_size=len(edges) - 1, max_size=len(edges) - 1))
        delays = [
            f"['{lo} us', '{hi} us', {weight / sum(weights)!r}]"
            for lo, hi, weight in zip(edges, edges[1:], weights, strict=False)
        ]
        shape = f"latency = [{', '.join(delays)}]"
    else:
        shape = f"normal = {{ sigma = '{draw(st.integers(1, 50_000))} us', cut = {draw(st.integers(1, 5))} }}"
    if draw(st.booleans()):
        before = draw(st.integers(-20_000, 20_000))
        after = draw(st.integers(-before, 30_000))
        shape += f", interval = {{ before = '{before} us', after = '{after} us' }}"
    return f"rule = [{{ {shape} }}]"


@given(histogram_rules(), raw_microseconds, units)
def test_histograms_are_disjoint_ordered_span_the_interval_and_sum_to_one(
    rule: str, raw: int, unit: TimeUnit
) -> None:
    result = assigned(rule, times(raw), unit)
    found = buckets(result)
    assert all(lo <= hi and p > 0 for lo, hi, p in found)
    assert all(left[1] < right[0] for left, right in itertools.pairwise(found))
    assert (found[0][0], found[-1][1]) == intervals(result)[0]
    assert math.fsum(p for _, _, p in found) == pytest.approx(1, abs=1e-9)


@given(st.integers(0, 10**7), st.integers(0, 10**7), raw_microseconds, units)
def test_an_interval_of_nonnegative_reach_contains_the_raw_tick(
    before: int, after: int, raw: int, unit: TimeUnit
) -> None:
    rule = f"rule = [{{ interval = {{ before = '{before} us', after = '{after} us' }} }}]"
    ((lower, upper),) = intervals(assigned(rule, times(raw), unit))
    tick = raw // unit.microseconds
    assert lower <= tick <= upper
    assert (tick - lower) * unit.microseconds >= before
    assert (upper - tick) * unit.microseconds >= after


@given(st.integers(1, 10**9), st.integers(-14 * 3_600, 14 * 3_600), raw_microseconds, units)
def test_a_granule_contains_the_time_and_is_as_long_as_it_says(
    grain: int, zone: int, raw: int, unit: TimeUnit
) -> None:
    ((lower, upper),) = intervals(
        assigned(f"rule = [{{ granularity = '{grain} us' }}]", times(raw, zone=zone), unit)
    )
    assert lower <= raw // unit.microseconds <= upper
    assert grain <= (upper - lower + 1) * unit.microseconds < grain + 2 * unit.microseconds
