"""`reached(c)` where something must not happen as a whole: at an edge, or in parts of an OR of one row."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.absent_parts import AbsentTogether
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import QueryTooLargeError
from tests.absent_together_cases import absent_in_parts_of_or, absent_together_cases
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.reached_cases import asking, is_decided_as_judged
from tests.plans import Event, event_table, on, plan_of
from tests.strategies import Case

FEW = max(EXAMPLES // 8, 1)
X, Y = Event("x", "X", 0, 1), Event("y", "Y", 0, 1)
CLOCKS = {"n": ((-1, 1, 1.0),)}
IN_PARTS = asking(absent_in_parts_of_or())
WHEREVER = {
    "alone": IN_PARTS,
    "at an edge": asking(absent_together_cases()),
    "on shared clocks": clock_cases(IN_PARTS),
    "beside GIVEN": with_given(IN_PARTS),
    "beside both": clock_cases(with_given(IN_PARTS)),
}


def decided(query: str, *events: Event) -> list[object]:
    """When the one row is decided with these probabilities, by the judge, too."""
    plan = plan_of(f"PATTERN {query}")
    found = match_events(plan, event_table(events))
    assert_same_rows(match_table(plan, event_table(events)), found)
    (row,) = found.to_pylist()
    return [row[each.name] for each in plan.returns]


def test_a_world_decides_a_row_as_the_first_of_its_parts_does() -> None:
    """The first part holds but in 1 of 4 worlds, where x and then y happen, and is decided at 4.

    The second waits for the end of its window at 5, and for b not to be there: 1 of 2 worlds of the rest.
    """
    both = "OR(SEQ(A a, !SEQ(X x, Y y), C c), SEQ(A d, C e, !B n)) WITHIN 6 ticks"
    events = Event("a", "A", 0, 0), Event("c", "C", 4, 4), Event("b", "B", 5, 6)
    gap = Event("x", "X", 1, 2), Event("y", "Y", 1, 2)
    asked = "reached(0.75), reached(0.76), reached(0.875), reached(0.88)"
    assert decided(f"{both} RETURN {asked}", *events, *gap) == [4, 5, 5, None]


def test_what_a_window_decides_waits_from_the_first_event_that_is_shown() -> None:
    """In 1 of 4 worlds x and then y are before a, and the window ends 5 ticks after a, which is at 2 or 3."""
    query = "SEQ(!SEQ(X x, Y y), A a, !B n) WITHIN 6 ticks"
    asked = "reached(0.375), reached(0.38), reached(0.75), reached(0.76)"
    assert decided(f"{query} RETURN {asked}", Event("a", "A", 2, 3), X, Y) == [7, 8, 8, None]


@pytest.mark.parametrize("order", [1, -1])
def test_parts_bind_a_group_together_or_one_event_after_the_other(order: int) -> None:
    """Next match takes the members of b[], which a condition orders, one by one, those of e[] as a set."""
    parts = ["SEQ(A a, B+ b[], !SEQ(X x, Y y), C c)", "SEQ(A d, B+ e[], C f, !D n)"][::order]
    query = f"OR({', '.join(parts)}) WHERE b[i].x >= b[i-1].x STRATEGY skip_till_next_match WITHIN 9 ticks"
    events = [Event("a", "A", 0, 0), Event("c", "C", 6, 6), Event("d", "D", 7, 9)]
    events += [Event(f"b{i}", "B", i, i, x=i) for i in (1, 2)]
    gap = Event("x", "X", 3, 4), Event("y", "Y", 3, 4)
    asked = "reached(0.75), reached(0.76), reached(0.8), reached(0.9)"
    assert decided(f"{query} RETURN {asked}", *events, *gap) == [6, 8, 8, None]


@pytest.mark.parametrize("where", ["alone", "at an edge"])
def test_rows_are_decided_as_the_judge_says(where: str) -> None:
    check(WHEREVER[where], is_decided_as_judged, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("cases", WHEREVER.values(), ids=WHEREVER)
def test_rows_are_decided_as_the_judge_says_in_many_cases(cases: st.SearchStrategy[Case | ClockCase]) -> None:
    check(cases, is_decided_as_judged, MANY_EXAMPLES // 4)


@pytest.mark.parametrize(
    ("clocks", "given"),
    [(None, ""), (CLOCKS, ""), (None, " GIVEN SEQ(X p, Y q) IF p.lower <= q.lower")],
)
def test_an_estimate_is_as_near_as_its_error_and_has_the_range_of_what_is_shown(
    clocks: dict[str, tuple[tuple[int, int, float], ...]] | None, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [X, Y, Event("a", "A", 1, 3), Event("b", "B", 6, 9)]
    if clocks is not None:
        events = [on("n", clocks, each) if each.event_id in "xa" else each for each in events]
    query = f"PATTERN SEQ(!SEQ(X x, Y y), A a, !B n) WITHIN 6 ticks RETURN reached(0.2){given}"
    plan, table = plan_of(query, clocks), event_table(events)
    (exact,) = match_events(plan, table).to_pylist()

    def refused(*_asked: object) -> None:
        raise QueryTooLargeError("too much")

    monkeypatch.setattr(AbsentTogether, "_exactly", refused)
    (found,) = match_events(plan, table, MatchOptions(approximate=0.05)).to_pylist()
    assert found["confidence_error"] == 0.05
    assert abs(found["confidence"] - exact["confidence"]) <= 0.05
    assert {name: found[name] for name in ("start", "end", "reached(0.2)")} == {
        name: exact[name] for name in ("start", "end", "reached(0.2)")
    }
