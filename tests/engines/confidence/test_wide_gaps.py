"""Chains with rival-free gaps on wide intervals: against the judge, exact polynomials, tables of all ticks
and nested sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps import polynomials
from cepctl.engines.confidence.gaps import tables as gap_confidence
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, Gaps
from cepctl.engines.confidence.gaps.polynomials import have_rivals_in_common, wide_gap_confidence
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.numeric.arrays import Reals
from tests.engines.agreement import assert_same_rows, check
from tests.engines.confidence.test_wide_absences import Negated, agrees
from tests.engines.confidence.test_wide_chains import wide_masses
from tests.engines.exact_chain import Mass
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import NEXT, PARTITION, STRICT
from tests.strategies import Case, contiguity_cases, negation_cases, next_match_cases

MILLION = 10**6
LEVELS = {
    "next match": next_match_cases(),
    "contiguity": contiguity_cases(),
    "negation": negation_cases(),
    "negation under next match and contiguity": negation_cases(NEXT, STRICT, PARTITION),
}


@dataclass
class Counted:
    """How many chains were measured by few ticks instead of all."""

    chains: int = 0

    def __call__(
        self, masses: Masses, chains: GapChains, window: int | None, *, together: bool = True
    ) -> Reals:
        confidence = wide_gap_confidence(masses, chains, window, together=together)
        self.chains += int((~np.isnan(confidence)).sum()) if together else 0
        return confidence


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(polynomials, "wide_gap_confidence", counted)
    return counted


@pytest.fixture
def wide_ways_only(monkeypatch: pytest.MonkeyPatch, counted: Counted) -> Counted:
    """No table of all ticks, so that narrow chains go the way of wide ones."""
    monkeypatch.setattr(gap_confidence, "MOST_TICKS", 0)
    return counted


def left_to_nested_sums(
    masses: Masses, chains: GapChains, window: int | None, *, together: bool = True
) -> Reals:
    return np.full(len(chains.event), np.nan)


def repeated(spacing: int, reach: int, count: int) -> pa.Table:
    """Events A, B, C in turn, one every `spacing` ticks, each uncertain by `reach` ticks both ways."""
    events = []
    for i in range(count):
        lower, upper = i * spacing - reach, i * spacing + reach
        histogram = ((lower, i * spacing, 0.25), (i * spacing + 1, upper, 0.75)) if i % 4 == 0 else None
        events.append(Event(f"e{i}", "ABC"[i % 3], lower, upper, histogram))
    return event_table(events)


@pytest.mark.usefixtures("wide_ways_only")
@pytest.mark.parametrize("level", LEVELS)
def test_narrow_intervals_agree_with_the_judge(level: str) -> None:
    def agrees_with_the_judge(case: Case) -> None:
        plan = plan_of(case.query)
        assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))

    check(LEVELS[level], agrees_with_the_judge)


@st.composite
def negated_gaps(draw: st.DrawFn) -> Negated:
    """Two to four events and up to three rivals that must be absent from one gap."""
    chain = draw(st.lists(wide_masses((10, 1_000, MILLION)), min_size=2, max_size=4))
    window = draw(st.none() | st.integers(1, 20) | st.integers(1, 4 * MILLION))
    rivals = draw(st.lists(wide_masses((10, 1_000, MILLION)), min_size=1, max_size=3))
    return chain, window, rivals, [draw(st.integers(0, len(chain) - 2))]


def test_wide_intervals_agree_with_exact_polynomials(wide_ways_only: Counted) -> None:
    check(negated_gaps(), lambda case: agrees(match_events, case))
    assert wide_ways_only.chains > 0


@pytest.mark.parametrize(("length", "gap"), [(3, 0), (3, 1), (4, 0), (4, 1), (4, 2), (6, 3)])
@pytest.mark.parametrize("window", [None, 1_000, MILLION // 2, MILLION + 2, 2 * MILLION])
def test_nearly_equal_intervals_agree_with_exact_polynomials(
    length: int, gap: int, window: int | None, counted: Counted
) -> None:
    def around(lower: int) -> Mass:
        return [(lower, lower + MILLION, Fraction(1))]

    chain = [around(place + place // 2) for place in range(length)]
    agrees(match_events, (chain, window, [around(2), around(0)], [gap]))
    assert counted.chains == 1


@pytest.mark.parametrize("window", ["", "WITHIN 3 ticks", "WITHIN 97 ticks", "WITHIN 400 ticks"])
@pytest.mark.parametrize("pattern", ["SEQ(A a, B b)", "SEQ(A a, B b, C c)", "SEQ(A a, B b, C c, A d)"])
def test_many_rivals_agree_with_the_table_of_all_ticks(
    pattern: str, window: str, monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    events = repeated(spacing=25, reach=200, count=9 if "A d" in pattern else 18)
    plan = plan_of(f"PATTERN {pattern} {window} STRATEGY skip_till_next_match")
    expected = match_events(plan, events)
    assert counted.chains == 0
    monkeypatch.setattr(gap_confidence, "MOST_TICKS", 0)
    assert_same_rows(expected, match_events(plan, events))
    # Of three events in three ticks none leaves room for a rival.
    has_room = pattern == "SEQ(A a, B b)" or window != "WITHIN 3 ticks"
    assert expected.num_rows == 0 or (counted.chains > 0) == has_room


@pytest.mark.parametrize("scale", [1_000, 10**6, 10**9])
@pytest.mark.parametrize("window", [None, 1, 2])
def test_wide_intervals_agree_with_nested_sums(
    scale: int, window: int | None, monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    events = repeated(spacing=scale, reach=2 * scale + 1, count=9)
    within = "" if window is None else f"WITHIN {window * scale} ticks"
    plan = plan_of(f"PATTERN SEQ(A a, B b) {within} STRATEGY skip_till_next_match")
    measured = match_events(plan, events)
    assert counted.chains > 0
    monkeypatch.setattr(polynomials, "wide_gap_confidence", left_to_nested_sums)
    assert_same_rows(match_events(plan, events), measured)


def test_groups_too_large_for_one_table_are_halved(monkeypatch: pytest.MonkeyPatch, counted: Counted) -> None:
    events = repeated(spacing=1_000, reach=2_500, count=12)
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WITHIN 4000 ticks STRATEGY skip_till_next_match")
    expected = match_events(plan, events)
    assert counted.chains == expected.num_rows > 0
    monkeypatch.setattr("cepctl.engines.confidence.gaps.polynomials.MOST_VALUES", 20_000)
    assert_same_rows(expected, match_events(plan, events))
    assert counted.chains == 2 * expected.num_rows


def test_what_exceeds_the_bound_on_the_work_is_left(
    monkeypatch: pytest.MonkeyPatch, counted: Counted
) -> None:
    events = repeated(spacing=1_000, reach=1_500, count=6)
    plan = plan_of("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match")
    expected = match_events(plan, events)
    assert counted.chains > 0
    counted.chains = 0
    monkeypatch.setattr("cepctl.engines.confidence.gaps.polynomials.WORK_BOUND", 10)
    assert_same_rows(expected, match_events(plan, events))
    assert counted.chains == 0


def test_ticks_far_from_zero_are_told_apart(counted: Counted) -> None:
    """In nanoseconds since 1970, a float no longer counts single ticks."""
    epoch = 1_700_000_000_000_000_000
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WITHIN 700 ticks STRATEGY skip_till_next_match")
    near, far = repeated(150, 300, 9), repeated(150, 300, 9)
    pmf = far["pmf"].combine_chunks()
    moved = [
        None if each is None else [{**b, "lo": b["lo"] + epoch, "hi": b["hi"] + epoch} for b in each]
        for each in pmf.to_pylist()
    ]
    for name in ("lower", "upper"):
        column = pa.array([value.as_py() + epoch for value in far[name]], pa.int64())
        far = far.set_column(far.column_names.index(name), name, column)
    far = far.set_column(far.column_names.index("pmf"), "pmf", pa.array(moved, pmf.type))
    here, there = match_events(plan, near), match_events(plan, far)
    assert counted.chains == 2 * here.num_rows > 0
    assert here["confidence"].to_pylist() == pytest.approx(there["confidence"].to_pylist(), abs=1e-9)


@pytest.mark.parametrize(
    ("lists", "together"),
    [
        ([[7, 8]] * 6, True),
        ([[1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]], True),  # as under next match
        ([[1, 9], [2, 9], [3, 9], [4, 9], [5, 9], [6, 9]], False),  # moved by another offset in each
        ([[3, 4]], True),
    ],
)
def test_chains_of_two_are_summed_together_where_they_have_most_rivals_in_common(
    lists: list[list[int]], together: bool
) -> None:
    count = len(lists)
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    gaps = Gaps(np.zeros(count, np.int64), np.arange(count), offsets, np.concatenate(lists))
    # Before it one gap three times: what one run lists says nothing of the next.
    gap, begins = np.concatenate([np.zeros(3, np.int64), np.arange(count)]), np.array([0, 3])
    assert have_rivals_in_common(gaps, gap, begins).tolist() == [True, together]
