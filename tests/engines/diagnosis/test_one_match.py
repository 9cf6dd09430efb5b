"""One match explained: valid intervals, factors, rivals, and why other events are none."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.diagnosis.shown import OneMatch
from cepctl.engines.event.match import match_events
from cepctl.errors import UsageError
from cepctl.render.one_match import print_match
from tests.engines.agreement import FEW_EXAMPLES, check, rows_by_signature
from tests.plans import Event, event_table, plan_of
from tests.strategies import (
    Case,
    alone_or_group_cases,
    and_cases,
    chain_cases,
    contiguity_cases,
    kleene_cases,
    left_out_cases,
    negation_cases,
    next_match_cases,
    or_cases,
    sequence_cases,
    timing_cases,
    twin_cases,
)

FIGURE = (Event("a1", "A", 1, 5), Event("c2", "C", 3, 5), Event("b3", "B", 3, 5), Event("c4", "C", 4, 8))
ABC = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks"


def shown(query: str, ids: str, *events: Event, bins: int = 8) -> OneMatch:
    return one_match(plan_of(query), event_table(events), ids_of(ids), bins)


def factors(match: OneMatch) -> dict[str, float]:
    return {each.condition.text: each.probability for each in match.factors}


def reasons(match: OneMatch) -> dict[str, int | None]:
    return {each.condition.text: each.excess for each in match.reasons}


def usable(match: OneMatch) -> list[tuple[int, int]]:
    return [(each.valid_lower, each.valid_upper) for each in match.members]


def test_the_figure_of_zdi10_has_its_range_confidence_and_valid_bounds() -> None:
    match = shown(ABC, "a1 b3 c2", *FIGURE)
    assert (match.start, match.end) == (1, 5)
    assert match.confidence == pytest.approx(25 / 225)
    assert usable(match) == [(1, 3), (3, 4), (4, 5)]
    # In order: (t_b, t_c) is (3,4), (3,5) or (4,5), after 2, 2 and 3 ticks of a1, of 75 worlds.
    assert factors(match)["the order of the pattern"] == pytest.approx(7 / 45)
    assert factors(match)["WITHIN 4 ticks"] == match.confidence


def test_bins_tell_where_an_event_lies_given_the_match() -> None:
    match = shown("PATTERN SEQ(A a, B b)", "a1 b3", *FIGURE, bins=5)
    (a, b) = match.members
    # Worlds (a, b) in order: b = 3 after 1, 2; b = 4 after 1 to 3; b = 5 after 1 to 4.
    assert a.posterior is not None and b.posterior is not None
    assert a.posterior.tolist() == pytest.approx([3 / 9, 3 / 9, 2 / 9, 1 / 9, 0])
    assert b.posterior.tolist() == pytest.approx([0, 0, 2 / 9, 3 / 9, 4 / 9])
    assert a.event.prior.tolist() == pytest.approx([0.2] * 5)


def test_a_rival_says_how_probably_it_lies_in_its_gap() -> None:
    match = shown(f"{ABC} STRATEGY skip_till_next_match", "a1 b3 c4", *FIGURE)
    assert match.confidence == pytest.approx(25 / 225)
    assert factors(match)["WITHIN 4 ticks"] == pytest.approx(27 / 225)
    (rival,) = match.rivals
    assert rival.event.event_id == "c2"
    assert rival.probability == pytest.approx(2 / 27)


def test_each_member_of_a_group_has_its_own_valid_interval() -> None:
    match = shown("PATTERN SEQ(A a, B+ b[], C c)", "a1 b3+b2 c4", *FIGURE, Event("b2", "B", 2, 6))
    assert [each.event.event_id for each in match.members] == ["a1", "b2", "b3", "c4"]
    assert usable(match) == [(1, 4), (2, 6), (3, 5), (4, 8)]


def test_a_window_that_is_too_short_says_by_how_much() -> None:
    match = shown(ABC, "a1 b3 c9", *FIGURE, Event("c9", "C", 12, 13))
    # b3 is after a1, so a1 is at most at 4: c9 is 8 ticks later, where 3 are allowed.
    assert reasons(match) == {"WITHIN 4 ticks": 5}
    assert any(low > high for low, high in usable(match))


def test_events_in_the_wrong_order_say_which_and_by_how_much() -> None:
    match = shown("PATTERN SEQ(C c, A a)", "c4 a0", *FIGURE, Event("a0", "A", 0, 2))
    assert reasons(match) == {"c before a": 3}


def test_predicates_keys_and_types_that_fail_are_named_with_what_they_read() -> None:
    events = (Event("a1", "A", 1, 1, x=1, k="p"), Event("b1", "B", 2, 2, x=3, k="q"))
    match = shown("PATTERN SEQ(A a, B b) WHERE [k] AND b.x > 5 AND a.x = b.x", "a1 b1", *events)
    read = {each.condition.text: dict(each.values) for each in match.reasons}
    assert read == {
        "b.x > 5": {"b.x": 3},
        "[k]": {"a.k": "p", "b.k": "q"},
        "a.x = b.x": {"a.x": 1, "b.x": 3},
    }
    assert list(reasons(shown("PATTERN SEQ(A a, B b)", "b1 a1", *events))) == [
        "a is A",
        "b is B",
        "a before b",
    ]


def test_a_rival_that_breaks_the_match_for_certain_is_the_reason() -> None:
    match = shown("PATTERN SEQ(A a, !N n, C c) WITHIN 9 ticks", "a1 c2",
                  Event("a1", "A", 1, 1), Event("n1", "N", 2, 2), Event("c2", "C", 3, 3))  # fmt: skip
    (reason,) = match.reasons
    assert (reason.condition.text, [match.events.ids[event] for event in reason.events]) == ("no n", ["n1"])


def test_an_unknown_id_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(UsageError, match="no event has the id 'b33'; the nearest is 'b3'"):
        shown(ABC, "a1 b33 c2", *FIGURE)


def test_another_number_of_components_is_refused_with_the_form_of_the_pattern() -> None:
    with pytest.raises(UsageError, match=r"names 2 components.* form of the pattern: a b c"):
        shown(ABC, "a1 b3", *FIGURE)


def test_ids_are_read_as_the_output_writes_them() -> None:
    assert ids_of("a%201 b%2B1+b2 c%25") == (("a 1",), ("b+1", "b2"), ("c%",))


def test_a_match_of_two_readings_has_the_row_of_both() -> None:
    """The b is after a, or at least 3 ticks before it: in 6 and in 1 of 16 worlds."""
    events = (Event("a", "A", 2, 5), Event("b", "B", 2, 5))
    query = "PATTERN OR(AND(A a, B b), AND(A c, B d)) WHERE a.time < b.time AND c.time - d.time >= 3 ticks"
    match = one_match(plan_of(query), event_table(events), ids_of("a b"))
    assert match.other_readings == 1
    assert match.confidence == pytest.approx(6 / 16)
    assert match.whole is not None
    assert (match.whole.start, match.whole.end) == (2, 5)
    assert match.whole.confidence == pytest.approx(7 / 16)
    said = io.StringIO()
    print_match(match, "ticks", said)
    assert said.getvalue().startswith("confidence 0.4375, from 2 to 5")
    assert "which has 0.375" in " ".join(said.getvalue().split())


def agrees_with_the_rows(case: Case) -> None:
    """Every row of a query, shown, has its range and confidence; its factors fall, its bins sum to 1."""
    plan = replace(plan_of(case.query), minimum_confidence=None)
    rows = rows_by_signature(match_events(plan, case.table))
    for signature in sorted(rows)[:3]:
        match, row = one_match(plan, case.table, signature, bins=6), rows[signature]
        assert match.reasons == ()
        assert row["start"] <= match.start <= match.end <= row["end"]
        assert (match.other_readings == 0) == (match.whole is None)
        whole = match.whole or match
        assert (whole.start, whole.end) == (row["start"], row["end"])
        assert whole.confidence == pytest.approx(row["confidence"], abs=1e-9)
        chances = [each.probability for each in match.factors]
        assert chances == sorted(chances, reverse=True) or max(abs(a - b) for a, b in
            zip(chances, sorted(chances, reverse=True), strict=True)) < 1e-9  # fmt: skip
        for member in match.members:
            if member.posterior is not None and match.confidence > 1e-6:
                assert member.posterior.sum() == pytest.approx(1.0)


def test_what_is_shown_is_what_matches() -> None:
    check(
        st.one_of(chain_cases(), negation_cases(), next_match_cases(), contiguity_cases(), timing_cases(),
                  kleene_cases(), and_cases(), sequence_cases(), or_cases(), twin_cases(),
                  alone_or_group_cases(), left_out_cases()),
        agrees_with_the_rows, FEW_EXAMPLES,
    )  # fmt: skip


def test_a_row_of_two_runs_is_shown_as_what_both_give() -> None:
    events = (
        Event("a1", "A", 0, 2, x=1),
        Event("b1", "B", 1, 3, x=1),
        Event("b2", "B", 3, 5, x=2),
        Event("b3", "B", 3, 6, x=1),
    )
    runs = "SEQ(A a, B+ b[]), SEQ(A c, B+ d[])) WHERE b[i].x >= b[i-1].x AND d[i].x <= d[i-1].x"
    agrees_with_the_rows(Case(f"PATTERN OR({runs} STRATEGY skip_till_next_match WITHIN 7 ticks", events))
