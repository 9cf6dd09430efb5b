"""GIVEN beside interval events that share clocks: the judge's rows, keys and contradictions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.occurrence import ends
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.clock_cases import OFFSETS, ClockCase
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.random_intervals import negations, queries
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups
from tests.plans import Event, event_table, lasting, on, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@st.composite
def cases(draw: st.DrawFn) -> ClockCase:
    """Two to four events, many of which last, on a clock or two or none; something is given of them."""
    clocks: Clocks = {"n": draw(st.sampled_from(OFFSETS))}
    if draw(st.booleans()):
        clocks = {**clocks, "m": ((0, 1, 1.0),)}
    asked = draw(st.sampled_from([queries(), negations()]))
    kinds = ("ACB", "ACCB", "ACAB", "AAB") if draw(st.booleans()) else ("AB", "ABC", "ABCA")
    events = []
    for event in draw(tied_streams(kinds)):
        few = 0 if draw(st.integers(0, 3)) else 1
        own = replace(event, upper=event.lower + few, pmf=None)
        if own.end_lower is not None:
            own = replace(own, end_upper=own.end_lower + draw(st.integers(0, 1)))
        name = draw(st.sampled_from([*clocks, "n", None]))
        events.append(own if name is None else on(name, clocks, own))
    key = draw(st.sampled_from(["", "", " GROUP BY ()", " GROUP BY a.k"]))
    return ClockCase(f"{draw(asked)}{key}{draw(GIVENS)}", tuple(events), clocks)


def agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks, lasting=True)
    if plan.never is not None:
        return
    try:
        if plan.group_by is not None:
            expected = group_table(plan, case.table)
        else:
            judged = exact_matches(plan, case.table)
    except QueryTooLargeError:
        return
    except ContradictionError:
        with pytest.raises(ContradictionError):
            match_events(plan, case.table)
        return
    rows = match_events(plan, case.table)
    if plan.group_by is not None:
        assert_same_groups(plan, expected, rows)
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in rows.to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9, abs=1e-12)


@settings(max_examples=8, deadline=None, suppress_health_check=_QUIET)
@given(case=cases())
def test_rows_and_keys_are_those_of_the_judge(case: ClockCase) -> None:
    agrees(case)


@pytest.mark.slow
@settings(max_examples=800, deadline=None, suppress_health_check=_QUIET)
@given(case=cases())
def test_rows_and_keys_are_those_of_the_judge_many_times_over(case: ClockCase) -> None:
    agrees(case)


CLOCKS: Clocks = {"n": ((-4, 4, 1.0),), "holes": ((-4, -4, 0.5), (4, 4, 0.5))}
DESK = (
    on("n", CLOCKS, lasting("s", "S", (5, 5), (10, 10))),
    on("n", CLOCKS, lasting("a", "A", (15, 15), (20, 20))),
    lasting("r", "R", (11, 11), (13, 13)),
    Event("b", "B", 19, 19),
)
SENT = " GIVEN SEQ(S s, R r) IF TRUE"


def confidences(query: str, events: tuple[Event, ...] = DESK) -> list[float]:
    found = match_events(plan_of(query, CLOCKS, lasting=True), event_table(events))
    return [row["confidence"] for row in found.to_pylist()]


def test_what_is_given_of_one_event_tells_where_the_clock_of_another_is() -> None:
    """Where the offset is at most 0, in 5 of 9 worlds, s ends before r; in 3 of these a ends before b."""
    assert confidences("PATTERN SEQ(A a, B b)") == pytest.approx([3 / 9], rel=1e-12)
    assert confidences(f"PATTERN SEQ(A a, B b){SENT}") == pytest.approx([3 / 5], rel=1e-12)


def test_masses_that_leave_no_world_between_their_ends_are_a_contradiction() -> None:
    """Own tick and offset make x happen at 4, 8, 12 or 16, and never after 4 and before 8."""
    x = on("holes", CLOCKS, Event("x", "X", 8, 12, pmf=((8, 8, 0.5), (12, 12, 0.5))))
    events = (x, Event("q", "Q", 4, 4), lasting("r", "R", (8, 8), (9, 9)))
    between = " GIVEN SEQ(Q q, X x) IF TRUE GIVEN SEQ(X x, R r) IF TRUE"
    with pytest.raises(ContradictionError, match=r"x in 4\.\.8, r in 8\.\.8"):
        confidences(f"PATTERN SEQ(X x, R r){between}", events)


def test_the_range_of_what_is_certain_leaves_out_holes() -> None:
    """The event c ends at 5, 6 or 9 of its clock, and within 9 ticks after a starts: at 6, moved by 4."""
    ended = lasting("c", "C", (4, 4), (5, 9))
    c = on("n", CLOCKS, replace(ended, end_pmf=((5, 6, 0.5), (9, 9, 0.5))))
    events = (on("n", CLOCKS, lasting("a", "A", (0, 0), (1, 1))), c)
    clauses = " GIVEN AND(A p, C q) WITHIN 9 ticks IF TRUE"
    agrees(ClockCase(f"PATTERN SEQ(A a, C c){clauses}", events, CLOCKS))
    (row,) = match_events(
        plan_of(f"PATTERN SEQ(A a, C c){clauses}", CLOCKS, lasting=True), event_table(events)
    ).to_pylist()
    assert (row["confidence"], row["start"], row["end"]) == (1.0, -4, 10)


def test_a_range_told_by_the_ends_of_masses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    written = ends._written
    monkeypatch.setattr(
        ends, "_written", lambda clauses, nodes, edges, holes: written(clauses, nodes, edges, holes[:0])
    )
    with pytest.raises(AssertionError):
        test_the_range_of_what_is_certain_leaves_out_holes()
