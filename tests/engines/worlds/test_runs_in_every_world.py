"""Runs and sequences in the judge: every worked number, and rules seen one at a time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.worlds.engine import exact_matches
from tests.plans import Event, event_table, plan_of
from tests.worked_events import PAGE, WORKED_EVENTS

Q = "PATTERN SEQ(A a, B+ b[], C c) WHERE {} STRATEGY {}"
NEXT, STRICT, ANY = "skip_till_next_match", "strict_contiguity", "skip_till_any_match"
RISING = "b[i].x >= b[i-1].x"


def confidences(query: str, *events: Event) -> dict[str, Fraction]:
    """The matches: signature as text -> confidence."""
    return {
        " ".join("+".join(ids) for ids in signature): match.confidence
        for signature, match in exact_matches(plan_of(query), event_table(events)).items()
    }


@pytest.mark.parametrize(
    ("where", "strategy", "count", "rows"),
    [
        (RISING, NEXT, 14, {"b2 c1": "38/81", "b1+b2 c1": "10/27", "b1+b3+b2 c1": "1/27"}),
        (RISING, STRICT, None, {"b1+b2 c1": "20/81"}),
        (RISING, ANY, None, {"b1+b2 c2": "1/2"}),
        ("c.x < max(b[].x)", NEXT, 2, {"b1+b2+b3 c2": "5/6", "b2+b3 c2": "1/6"}),
        ("c.x < max(b[..i].x)", NEXT, 8, {"b2+b3 c2": "1/3"}),
        ("sum(b[1..i].x) <= 2", NEXT, None, {"b2 c1": "38/81", "b1+b3 c1": "11/27"}),
        ("b[last].x > avg(b[].x)", NEXT, None, {"b1+b2 c1": "20/81"}),
    ],
)
def test_worked_numbers(where: str, strategy: str, count: int | None, rows: dict[str, str]) -> None:
    found = confidences(Q.format(where, strategy), *WORKED_EVENTS)
    assert count is None or len(found) == count
    assert {row: found[f"a1 {row}"] for row in rows} == {row: Fraction(text) for row, text in rows.items()}


def test_the_first_of_the_worked_rows_starts_and_ends_where_it_can() -> None:
    (match,) = (
        match
        for signature, match in exact_matches(plan_of(Q.format(RISING, NEXT)), PAGE).items()
        if signature == (("a1",), ("b2",), ("c1",))
    )
    assert (match.start, match.end, match.confidence) == (0, 6, Fraction(38, 81))


def test_the_five_values_of_zdi14() -> None:
    values = (10, 20, 15, 19, 25)
    events = [Event(f"b{i}", "B", i, i, x=value) for i, value in enumerate(values, start=1)]
    query = "PATTERN SEQ(B+ b[]) WHERE b[i].x >= b[i-1].x STRATEGY {} WITHIN 9 ticks"
    found = confidences(query.format(NEXT), *events)
    assert {row for row in found if row.startswith("b1")} == {"b1+b2+b5"}
    assert len(confidences(query.format(ANY), *events)) == 19


CERTAIN = "PATTERN SEQ(A a, B+ b[], C c) WHERE {} STRATEGY skip_till_next_match"


def at(text: str, **values: int) -> list[Event]:
    """Certain events from `a@1 b1@2`; the type is the letter of the id, `x` its value or 0."""
    words = [word.split("@") for word in text.split()]
    return [Event(name, name[0].upper(), int(t), int(t), x=values.get(name, 0)) for name, t in words]


def rows(where: str, *events: Event, pattern: str = CERTAIN) -> set[str]:
    found = confidences(pattern.format(where), *events)
    assert set(found.values()) <= {1}
    return set(found)


def test_what_does_not_fit_next_is_passed_over() -> None:
    found = rows(RISING, *at("a@1 b1@2 b2@3 b3@4 c@5", b1=2, b2=1, b3=3))
    assert found == {"a b1+b3 c"}


def test_the_component_behind_takes_before_the_group() -> None:
    assert rows(RISING, *at("a@1 b1@2 b2@3 c@3")) == {"a b1 c"}


def test_events_at_one_tick_make_runs_of_their_own() -> None:
    assert rows(RISING, *at("a@1 b1@2 b2@2 c@3")) == {"a b1 c", "a b2 c"}


def test_a_member_is_not_taken_before_one_is_there() -> None:
    assert rows("b[i].x >= b[i-2].x", *at("a@1 c1@2 b1@3 c2@4")) == {"a b1 c2"}


def test_two_back_asks_nothing_of_the_first_two() -> None:
    found = rows("b[i].x > b[i-2].x", *at("a@1 b1@2 b2@3 b3@4 b4@5 c@6", b1=5, b2=1, b3=5, b4=2))
    assert found == {"a b1+b2 c"}


def test_a_filter_that_fails_when_the_group_is_left_ends_the_run() -> None:
    assert rows("b[last].x > 1", *at("a@1 b1@2 c1@3 b2@4 c2@5", b1=1, b2=2)) == set()


def test_a_trailing_group_takes_until_the_window_ends() -> None:
    pattern = "PATTERN SEQ(A a, B+ b[]) WHERE {} STRATEGY skip_till_next_match WITHIN 4 ticks"
    assert rows(RISING, *at("a@1 b1@2 b2@4 b3@5"), pattern=pattern) == {"a b1+b2"}


def test_contiguity_leaves_nothing_between_members() -> None:
    pattern = "PATTERN SEQ(A a, B+ b[], C c) WHERE {} STRATEGY strict_contiguity"
    assert rows(RISING, *at("a@1 b1@2 b2@3 c@4", b1=1, b2=2), pattern=pattern) == {"a b1+b2 c"}
    assert rows(RISING, *at("a@1 b1@2 x@3 b2@4 c@5", b1=1, b2=2), pattern=pattern) == set()
