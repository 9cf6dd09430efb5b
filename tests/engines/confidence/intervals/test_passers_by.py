"""Under contiguity an event that lasts stands between by its start, with the law that lengths leave to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.columns import endpoints
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.one_world import own_mass
from cepctl.errors import ContradictionError, QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, assert_same_rows, check, rows_by_signature
from tests.engines.clock_cases import OFFSETS
from tests.engines.confidence.intervals.random_intervals import lasting_events
from tests.engines.confidence.occurrence.groups_agree import grouped, groups_agree
from tests.plans import Event, event_table, lasting, on, plan_of
from tests.random_patterns import NEXT, PARTITION, STRICT
from tests.strategies import (
    Case,
    chain_cases,
    contiguity_cases,
    kleene_cases,
    negation_cases,
    next_match_cases,
    or_cases,
    timing_cases,
    twin_cases,
)

WORLDS = 1_500
Cases = st.SearchStrategy[Case]
Engine = Callable[[Plan, pa.Table], pa.Table]


def passers_by() -> st.SearchStrategy[Event]:
    """Events that last, of a type that no pattern names; some of them cannot happen at all."""

    def event(lasts: Event, key: str, group: str, possible: bool) -> Event:
        keyed = replace(lasts, k=key, g=group)
        before = lasts.lower - 1
        return keyed if possible else replace(keyed, end_lower=before, end_upper=before, end_pmf=None)

    return st.builds(
        event,
        lasting_events("p", "P").filter(lambda event: event.end_lower is not None),
        st.sampled_from(["p", "p", "q"]),
        st.sampled_from(["u", "u", "v"]),
        st.sampled_from([True, True, True, False]),
    )


@st.composite
def passed(draw: st.DrawFn, cases: Cases) -> Case:
    """A case beside which one or two events that last pass by; of few worlds, so that the judge can visit."""
    case = draw(cases)
    alternatives = plan_of(case.query).alternatives
    assume(all(component.event_types for each in alternatives for component in each.components))
    passing = [replace(draw(passers_by()), event_id=f"p{i}") for i in range(draw(st.sampled_from([1, 1, 2])))]
    worlds, events = prod(_support(event) for event in passing), []
    for event in case.events:
        sharp = worlds * _support(event) > WORLDS
        events.append(replace(event, upper=event.lower, pmf=None) if sharp else event)
        worlds *= _support(events[-1])
    return Case(case.query, (*events, *passing))


def _support(event: Event) -> int:
    return (
        event.upper - event.lower + 1 if event.end_lower is None else max(len(own_mass(_row(event), {})), 1)
    )


def _row(event: Event) -> dict[str, Any]:
    row: dict[str, Any] = event_table([event]).to_pylist()[0]
    return row


# --- the law of a start ------------------------------------------------------------------------


def starts_have_the_law_of_the_judge(event: Event) -> None:
    law: dict[int, int] = defaultdict(int)
    for (start, _), weight in own_mass(_row(event), {}):
        law[start] += weight
    events = events_of(event_table([event]))
    assert events.happening.tolist() == ([0] if law else [])
    if not law:
        return
    found = events.by_start.masses
    assert (found.lower[0], found.upper[0]) == (min(law), max(law))
    density = {
        tick: each
        for lo, hi, each in zip(found.lo, found.hi, found.density, strict=True)
        for tick in range(lo, hi + 1)
    }
    assert density == pytest.approx(
        {s: float(Fraction(w, sum(law.values()))) for s, w in law.items()}, abs=1e-15
    )


def test_starts_have_the_law_of_the_judge() -> None:
    check(passers_by(), starts_have_the_law_of_the_judge, max(EXAMPLES, 200))


def test_a_start_whose_lengths_decide_nothing_keeps_its_mass() -> None:
    always = lasting("p", "P", (0, 9), (10, 20))
    known = lasting("q", "P", (0, 9), (5, 14), length=(5, 5))
    found = events_of(event_table([always, known])).by_start.masses
    assert (found.lo.tolist(), found.hi.tolist()) == ([0, 0], [9, 9])
    assert found.density.tolist() == pytest.approx([0.1, 0.1], rel=1e-15)


def test_the_ticks_at_which_lengths_decide_are_counted() -> None:
    events = events_of(event_table([lasting("p", "P", (0, 10**9), (0, 10**9))]))
    with pytest.raises(QueryTooLargeError, match="coarser time unit"):
        events.by_start  # noqa: B018 - a property that raises


# --- matches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [match_table, match_events, match_points])
@pytest.mark.parametrize("strategy", [STRICT, PARTITION])
@pytest.mark.parametrize(
    ("passer", "confidence"),
    [
        (lasting("d", "D", (1, 2), (1, 1)), 0.25),
        (lasting("d", "D", (1, 2), (0, 0)), 0.75),  # cannot happen at all
        (lasting("d", "D", (1, 2), (5, 9)), 0.375),
        (lasting("d", "D", (0, 2), (1, 2), length=(1, 1)), 0.5),
    ],
)
def test_a_passer_by_is_where_its_lengths_let_it_be(
    engine: Engine, strategy: str, passer: Event, confidence: float
) -> None:
    events = (Event("a", "A", 0, 0, k="p"), Event("c", "C", 0, 3, k="p"), replace(passer, k="p"))
    plan = plan_of(f"PATTERN SEQ(A a, C c) WHERE [k] STRATEGY {strategy} WITHIN 9 ticks")
    (row,) = rows_by_signature(engine(plan, event_table(events))).values()
    assert row["confidence"] == pytest.approx(confidence, abs=1e-12)


def agrees(case: Case) -> None:
    plan, table = plan_of(case.query), event_table(case.events)
    expected = match_table(plan, table)
    assert_same_rows(expected, match_events(plan, table))
    if not engine_refusals(plan, "point"):
        assert_same_rows(expected, match_points(plan, table))


CONTIGUITY = (STRICT, PARTITION)
LEVELS: dict[str, Cases] = {
    "chains": contiguity_cases(),
    "groups": kleene_cases(*CONTIGUITY),
    "negation": negation_cases(*CONTIGUITY),
    "OR": or_cases(*CONTIGUITY) | twin_cases(*CONTIGUITY),
    "timing": timing_cases(*CONTIGUITY),
}
OTHERS: dict[str, Cases] = {
    "any match": chain_cases() | negation_cases(),
    "next match": next_match_cases() | negation_cases(NEXT) | kleene_cases(NEXT),
}


@pytest.mark.parametrize("level", [*LEVELS, *OTHERS])
def test_matches_are_those_of_the_judge(level: str) -> None:
    check(passed({**LEVELS, **OTHERS}[level]), agrees, EXAMPLES if level in LEVELS else FEW_EXAMPLES)


def test_keys_are_those_of_the_judge() -> None:
    check(grouped(passed(LEVELS["chains"] | LEVELS["OR"])), groups_agree, FEW_EXAMPLES)


GIVENS = (
    "SEQ(A p, B q) IF p.lower <= q.lower",
    "AND(A p, B q) WITHIN 5 ticks IF p.lower <> q.lower",
    "SEQ(A|B p, P q) IF p.lower + 2 <= q.lower",
    "SEQ(P p, A|B|C q) IF p.upper + 2 <= q.lower",
)


def agrees_given(case: tuple[Case, str]) -> None:
    passing, given = case
    plan, table = plan_of(f"{passing.query} GIVEN {given}"), event_table(passing.events)
    try:
        expected = match_table(plan, table)
    except ContradictionError:
        return
    try:
        found = match_events(plan, table)
    except UnsupportedQueryError:
        return
    assert_same_rows(expected, found)


def test_matches_in_the_worlds_left_are_those_of_the_judge() -> None:
    cases = st.tuples(passed(LEVELS["chains"] | LEVELS["OR"]), st.sampled_from(GIVENS))
    check(cases, agrees_given, EXAMPLES)


@st.composite
def on_clocks(draw: st.DrawFn, cases: Cases) -> tuple[Case, dict[str, Any]]:
    """A case some of whose events, those that pass by among them, are on one of two clocks."""
    case = draw(passed(cases))
    clocks = {name: draw(st.sampled_from(OFFSETS)) for name in ("m", "n")}
    names = [draw(st.sampled_from([None, "m", "m", "n"])) for _ in case.events]
    events = tuple(
        event if name is None else on(name, clocks, _sharper(event))
        for event, name in zip(case.events, names, strict=True)
    )
    return Case(case.query, events), {name: each for name, each in clocks.items() if name in names}


def _sharper(event: Event) -> Event:
    return event if event.end_lower is not None else replace(event, upper=event.lower, pmf=None)


def agrees_on_clocks(case: tuple[Case, dict[str, Any]]) -> None:
    passing, clocks = case
    plan, table = plan_of(passing.query, clocks), event_table(passing.events)
    expected = match_table(plan, table)
    assert_same_rows(expected, match_events(plan, table))
    if not engine_refusals(plan, "point"):
        assert_same_rows(expected, match_points(plan, table))


def test_matches_on_clocks_are_those_of_the_judge() -> None:
    check(on_clocks(LEVELS["chains"] | LEVELS["OR"]), agrees_on_clocks, FEW_EXAMPLES)


# --- beside what is given --------------------------------------------------------------------


def test_what_is_given_of_points_leaves_the_law_of_what_passes_by() -> None:
    """e2 lasts 2 ticks or more and ends at 5: it starts at 3, between e0 at 2 and e1 at 4 alone."""
    query = (
        "PATTERN SEQ(B a, C b) STRATEGY strict_contiguity "
        "GIVEN SEQ(B p, C q) WITHIN 6 ticks IF p.event_id < q.event_id"
    )
    events = [
        Event("e0", "B", 2, 3),
        Event("e1", "C", 3, 4),
        lasting("e2", "Z", (3, 4), (5, 5), length=(2, None)),
    ]
    plan, table = plan_of(query), event_table(events)
    assert_same_rows(match_table(plan, table), match_events(plan, table))
    assert match_events(plan, table).column("confidence").to_pylist() == pytest.approx([2 / 3], abs=1e-12)


# --- faults ----------------------------------------------------------------------------------


def _at_their_own_law(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(endpoints, "masses_of_starts", lambda _, starts: starts)


def _even_if_they_cannot_happen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Events, "happening", property(lambda self: np.arange(len(self))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "fault"),
    [
        ("chains", _at_their_own_law),
        ("chains", _even_if_they_cannot_happen),
        ("groups", _at_their_own_law),
        ("OR", _at_their_own_law),
    ],
)
def test_a_fault_in_where_passers_by_are_is_found(
    level: str, fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check(passed(LEVELS[level]), agrees, 600, shrink=False)
