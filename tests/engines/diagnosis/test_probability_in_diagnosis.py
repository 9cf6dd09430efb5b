"""`prob(...)` in what is said after a match: by the laws of all worlds, as in the rows, also beside GIVEN."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.diagnosis.why_not import why_not
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import ContradictionError
from tests.plans import Event, event_table, plan_of

# Of all worlds n is at 4 in one of four, and in none of the others is that as late; after v it is later.
LATER = " GIVEN SEQ(V p, N q) IF p.k = q.k"
EVENTS = (
    Event("a", "A", 0, 0, k="p"),
    Event("n", "N", 1, 4, k="p"),
    Event("v", "V", 2, 6, k="p"),
    Event("b", "B", 5, 9, k="p"),
)
ABSENT = "PATTERN SEQ(A a, !N n, B b) WHERE prob(n.time - a.time >= 4 ticks) >= {}"


def possible(query: str, events: tuple[Event, ...] = EVENTS) -> int:
    (explained,) = why_not(plan_of(query), event_table(events)).alternatives
    return explained.completion.possible if explained.completion else 0


@pytest.mark.parametrize(("threshold", "rows"), [(0.25, 0), (0.3, 1)])
def test_who_must_be_absent_is_told_by_the_laws_of_all_worlds(threshold: float, rows: int) -> None:
    query = ABSENT.format(threshold) + LATER
    assert match_table(plan_of(query), event_table(EVENTS)).num_rows == rows
    assert possible(query) == rows
    assert bool(one_match(plan_of(query), event_table(EVENTS), ids_of("a b")).reasons) == (not rows)


def test_a_match_with_a_probability_in_where_is_shown() -> None:
    query = "PATTERN SEQ(V v, B b) WHERE prob(v.time < b.time) >= 0.5"
    match = one_match(plan_of(query), event_table(EVENTS), ids_of("v b"))
    assert match.reasons == ()
    assert match.confidence == pytest.approx(22 / 25)


def test_a_probability_that_a_match_misses_is_its_reason() -> None:
    query = "PATTERN SEQ(V v, B b) WHERE prob(v.time < b.time) >= 0.99"
    match = one_match(plan_of(query), event_table(EVENTS), ids_of("v b"))
    assert [each.condition.kind for each in match.reasons] == ["link"]


@st.composite
def streams(draw: st.DrawFn) -> tuple[Event, ...]:
    kinds = "ANVB" + draw(st.sampled_from(["", "N", "V", "B"]))
    spans = [(draw(st.integers(0, 5)), draw(st.integers(0, 3))) for _ in kinds]
    return tuple(
        Event(f"{kind.lower()}{i}", kind, low, low + width, k="p")
        for i, (kind, (low, width)) in enumerate(zip(kinds, spans, strict=True))
    )


@settings(max_examples=25, deadline=None)
@given(
    events=streams(),
    asked=st.sampled_from(["n.time > a.time", "n.time - a.time >= 2 ticks", "n.time < b.time"]),
    least=st.sampled_from([0.3, 0.5, 0.8]),
    clause=st.sampled_from([LATER, " GIVEN SEQ(N p, V q) IF p.k = q.k", " GIVEN SEQ(A p, N q) IF p.k = q.k"]),
)
def test_what_is_said_to_be_possible_is_what_the_judge_finds(
    events: tuple[Event, ...], asked: str, least: float, clause: str
) -> None:
    query = f"PATTERN SEQ(A a, !N n, B b) WHERE prob({asked}) >= {least}{clause}"
    with suppress(ContradictionError):
        assert possible(query, events) == match_table(plan_of(query), event_table(events)).num_rows
