"""Chains of three whose rivals stay out of both gaps: against the judge, nested sums and sums by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.gaps import shared_gaps
from cepctl.engines.confidence.gaps.shared_gaps import shared_gap_chains
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.engines.changed_methods import measure_nothing
from tests.plans import Event, event_table, histogram, plan_of

MILLION = 10**6
STRATEGIES = ("skip_till_next_match", "strict_contiguity")
THREE = "PATTERN SEQ(A a, A b, A c)"


@dataclass
class Told:
    """How many matches of how many were measured this way."""

    found: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, masses: object, event: Indexes, *rest: object) -> tuple[Indexes, Measured]:
        rows, measured = shared_gap_chains(masses, event, *rest)  # type: ignore[arg-type]
        self.found.append((len(rows), len(event)))
        return rows, measured


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()
    monkeypatch.setattr(shared_gaps, "shared_gap_chains", told)
    return told


@st.composite
def streams(draw: st.DrawFn, most: int, widest: int, farthest: int) -> tuple[str, list[Event]]:
    """A query for three of one type, and events in any order, some with holes in their masses."""
    events = []
    for number in range(draw(st.integers(3, most))):
        lower, width = draw(st.integers(0, farthest)), draw(st.integers(0, widest))
        middle, hole = lower + width // 3, draw(st.integers(0, width // 3))
        if draw(st.booleans()) and middle + hole < lower + width:
            buckets = (lower, middle, 0.25), (middle + hole + 1, lower + width, 0.75)
            events.append(histogram(f"e{number}", draw(st.sampled_from("AAAB")), *buckets))
        else:
            events.append(Event(f"e{number}", draw(st.sampled_from("AAAB")), lower, lower + width))
    window = draw(st.integers(3, 2 * farthest))
    return f"{THREE} WITHIN {window} ticks STRATEGY {draw(st.sampled_from(STRATEGIES))}", events


def test_the_judge_agrees_on_narrow_intervals() -> None:
    def agree(drawn: tuple[str, list[Event]]) -> None:
        plan, table = plan_of(drawn[0]), event_table(drawn[1])
        assert_same_rows(match_table(plan, table), match_events(plan, table))

    check(streams(4, 3, 5), agree, FEW_EXAMPLES)


def test_nested_sums_agree_on_wide_intervals() -> None:
    def agree(drawn: tuple[str, list[Event]]) -> None:
        plan, table = plan_of(drawn[0]), event_table(drawn[1])
        found = match_events(plan, table)
        with pytest.MonkeyPatch.context() as patch:
            measure_nothing(patch, "sum over both ends")
            assert_same_rows(match_events(plan, table), found)

    check(streams(5, MILLION, MILLION), agree, FEW_EXAMPLES)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_of_many_events_in_any_order_three_are_neighbours(told: Told, strategy: str) -> None:
    """Of n events in random order, three given ones follow one another with probability 1/(n(n-1))."""
    table = event_table(Event(f"e{number}", "A", 0, MILLION - 1) for number in range(12))
    found = match_events(plan_of(f"{THREE} STRATEGY {strategy}"), table)
    assert found.num_rows == 12 * 11 * 10
    assert found.column("confidence").to_pylist() == pytest.approx([1 / (12 * 11)] * found.num_rows, abs=1e-6)
    # They are all alike: one is measured, for all.
    assert told.found == [(1, 1)]


def test_a_window_of_a_few_ticks_between_wide_intervals(told: Told) -> None:
    """Three ticks in a row leave the rival any of 100; with a fourth between them it has 99."""
    events = [Event(name, "A", 0, 99) for name in "abcx"]
    found = match_events(plan_of(f"{THREE} WITHIN 4 ticks STRATEGY strict_contiguity"), event_table(events))
    worlds = 98 * 100 + 97 * 2 * 99
    assert found.column("confidence").to_pylist() == pytest.approx([worlds / 100**4] * 24, rel=1e-12)
    assert told.found == [(1, 1)]


def test_a_rival_of_one_gap_alone_that_may_lie_in_the_other_is_left_to_nested_sums(told: Told) -> None:
    """Of two rivals, one fits b and not c."""
    events = [Event("a", "A", 0, 3), Event("b", "A", 1, 4, x=1), Event("c", "A", 3, 6, x=2)]
    events += [Event("r", "A", 1, 5, x=1), Event("s", "A", 1, 5, x=3)]
    plan = plan_of(f"{THREE} WHERE c.x > 1 STRATEGY skip_till_next_match")
    found = match_events(plan, event_table(events))
    assert_same_rows(match_table(plan, event_table(events)), found)
    assert any(taken < matches for taken, matches in told.found)


def test_a_middle_tick_in_the_hole_of_a_rival_is_left_to_nested_sums(told: Told) -> None:
    events = [Event("a", "A", 0, 1), Event("b", "A", 4, 5), Event("c", "A", 8, 9)]
    events.append(histogram("r", "A", (2, 3, 0.5), (6, 7, 0.5)))
    plan = plan_of(f"{THREE} STRATEGY skip_till_next_match")
    found = match_events(plan, event_table(events))
    assert_same_rows(match_table(plan, event_table(events)), found)
    assert [["a"], ["b"], ["c"]] not in found.column("signature").to_pylist()
