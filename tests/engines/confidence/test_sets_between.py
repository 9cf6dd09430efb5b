"""Sets between two events: against the judge, whole fractions, nested sums and sums by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import masses_of
from cepctl.engines.confidence import sets_between as between
from cepctl.engines.confidence.points import confidences
from cepctl.engines.event.match import match_events
from cepctl.engines.pattern.shapes import shape_of
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import (
    EXAMPLES,
    FEW_EXAMPLES,
    assert_equal_rows,
    assert_same_rows,
    check,
    rows_by_signature,
)
from tests.engines.changed_methods import measure_nothing
from tests.plans import Event, event_table, histogram, plan_of

MILLION = 10**6
GROUP = "PATTERN SEQ(A a, B+ b[], C c)"
PATTERNS = (GROUP, "PATTERN SEQ(A a, AND(B b, D d), C c)")


@st.composite
def streams(draw: st.DrawFn, types: str, widest: int, farthest: int, *, holes: bool) -> list[Event]:
    """An event of each type; some have two buckets, and where `holes` are wanted a gap between them."""
    events = []
    for number, kind in enumerate(types):
        lower, width = draw(st.integers(0, farthest)), draw(st.integers(0, widest))
        middle, hole = lower + width // 3, draw(st.integers(0, width // 3)) if holes else 0
        if draw(st.booleans()) and middle + hole < lower + width:
            buckets = (lower, middle, 0.25), (middle + hole + 1, lower + width, 0.75)
            events.append(histogram(f"e{number}", kind, *buckets))
        else:
            events.append(Event(f"e{number}", kind, lower, lower + width))
    return events


def queries(farthest: int) -> st.SearchStrategy[str]:
    """A set between two events, in a window or none."""
    windows = st.one_of(st.just(""), st.integers(1, 2 * farthest).map(lambda ticks: f" WITHIN {ticks} ticks"))
    return st.builds(str.__add__, st.sampled_from(PATTERNS), windows)


def test_the_judge_agrees_on_narrow_intervals() -> None:
    def agree(drawn: tuple[str, list[Event]]) -> None:
        plan, table = plan_of(drawn[0]), event_table(drawn[1])
        assert_same_rows(match_table(plan, table), match_events(plan, table))

    check(st.tuples(queries(8), streams("ABBDC", 4, 6, holes=True)), agree, EXAMPLES)


def law(event: Event) -> dict[int, Fraction]:
    """The probability of each tick."""
    buckets = event.pmf or ((event.lower, event.upper, 1.0),)
    return {tick: Fraction(share) / (hi - lo + 1) for lo, hi, share in buckets for tick in range(lo, hi + 1)}


def exactly_between(before: Event, members: list[Event], after: Event, window: int) -> Fraction:
    """P(all members lie between the two, which are less than `window` apart)."""
    total, laws = Fraction(0), [law(member) for member in members]
    for s, p in law(before).items():
        for t, q in law(after).items():
            product = p * q if s < t < s + window else Fraction(0)
            for each in laws:
                if product:
                    product *= sum((share for tick, share in each.items() if s < tick < t), Fraction(0))
            total += product
    return total


def test_confidences_are_those_of_fractions_to_thirteen_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sets without holes none is left to nested sums, which may err more."""

    def refuse(*_: object) -> None:
        raise AssertionError("a set was left to nested sums")

    monkeypatch.setattr(confidences, "coupled_confidences", refuse)

    def agree(drawn: tuple[list[Event], int]) -> None:
        events, window = drawn
        plan = plan_of(f"{GROUP} WITHIN {window} ticks")
        found = rows_by_signature(match_events(plan, event_table(events)))
        for chosen in range(1, 8):
            members = [events[1 + i] for i in range(3) if chosen >> i & 1]
            exact = exactly_between(events[0], members, events[4], window)
            row = found.get((("e0",), tuple(each.event_id for each in members), ("e4",)))
            assert (row is None) == (exact == 0)
            if row is not None:
                assert abs(Fraction(row["confidence"]) - exact) <= exact * Fraction(1, 10**13)

    cases = st.tuples(streams("ABBBC", 40, 30, holes=False), st.integers(2, 120))
    check(cases, agree, FEW_EXAMPLES)


def test_nested_sums_agree_on_wide_intervals() -> None:
    def agree(drawn: tuple[str, list[Event]]) -> None:
        plan, table = plan_of(drawn[0]), event_table(drawn[1])
        found = match_events(plan, table)
        with pytest.MonkeyPatch.context() as patch:
            measure_nothing(patch, "sum over both ends of a set")
            assert_same_rows(match_events(plan, table), found)

    cases = st.tuples(queries(MILLION), streams("ABBBDC", MILLION, MILLION, holes=True))
    check(cases, agree, FEW_EXAMPLES)


@pytest.mark.parametrize("members", [1, 5, 30])
def test_all_of_many_alike_events_lie_between_the_first_and_the_last(members: int) -> None:
    """Of n events in random order, given ones are the first and the last with probability 1/(n(n-1))."""
    events = [
        Event("a", "A", 0, 10**12),
        *(Event(f"b{number:02}", "B", 0, 10**12) for number in range(members)),
        Event("c", "C", 0, 10**12),
    ]
    plan = plan_of(GROUP)
    groups = [
        Group(np.array([0, len(bound)]), np.array(bound))
        for bound in ([0], range(1, members + 1), [members + 1])
    ]
    masses = masses_of(event_table(events))
    rows, found = between.sets_between(shape_of(plan, plan.alternatives[0]), masses, groups)
    assert rows.tolist() == [0]
    assert found.confidence.tolist() == pytest.approx([1 / ((members + 2) * (members + 1))], rel=1e-9)


def test_far_ticks_change_nothing() -> None:
    """Ticks of nanoseconds since 1970 are more than floats hold."""
    events = [
        Event("a", "A", 0, 60),
        Event("b", "B", 20, 90),
        Event("d", "B", 5, 70),
        Event("c", "C", 50, 120),
    ]
    far = 1_700_000_000 * 10**9
    moved = [Event(each.event_id, each.event_type, each.lower + far, each.upper + far) for each in events]
    plan = plan_of(f"{GROUP} WITHIN 80 ticks")
    found = match_events(plan, event_table(events)).drop_columns(["start", "end"])
    assert_equal_rows(match_events(plan, event_table(moved)).drop_columns(["start", "end"]), found)


def test_a_set_that_takes_too_much_is_left_to_nested_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [
        Event("a", "A", 0, 60),
        Event("b", "B", 20, 90),
        Event("d", "B", 5, 70),
        Event("c", "C", 50, 120),
    ]
    plan, table = plan_of(GROUP), event_table(events)
    found = match_events(plan, table)
    monkeypatch.setattr(between, "WORK_BOUND", 10)
    assert_same_rows(match_events(plan, table), found)
