"""Kleene groups that cannot come true, or cannot be probable enough, stop growing."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import QueryTooLargeError
from tests.plans import Event, event_table, plan_of

MEMBERS = [Event(f"b{i:02}", "B", 1 + i, 1 + i, x=i % 10) for i in range(18)]
STREAM = event_table([Event("a", "A", 0, 0), *MEMBERS, Event("c", "C", 30, 30)])
FEW = MatchOptions(max_matches=2_000)


def groups(condition: str) -> int:
    """How many groups of the 18 events there are; 2^18 would exceed the cap by far."""
    query = f"PATTERN SEQ(A a, B+ b[], C c) WHERE {condition}"
    return int(match_events(plan_of(query), STREAM, FEW).num_rows)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("max(b[].x) < 3", 2**6 - 1),
        ("count(b[]) <= 2", 18 + 18 * 17 // 2),
        ("min(b[].x) > 7", 2**2 - 1),
        ("sum(b[].x) <= 1", (2**2 - 1) + 2 * 2**2),
        ("b[i].x > b[i-1].x + 3 AND count(b[]) <= 2", 18 + 41),
    ],
)
def test_groups_whose_predicate_is_false_for_good_are_not_grown(condition: str, expected: int) -> None:
    assert groups(condition) == expected


def test_a_predicate_that_another_member_may_mend_is_postponed() -> None:
    with pytest.raises(QueryTooLargeError):
        groups("avg(b[].x) > 8")
    with pytest.raises(QueryTooLargeError):
        groups("max(b[].x) > 8")


def test_an_unknown_value_is_not_false() -> None:
    """The maximum of nulls is unknown: another member makes the predicate true."""
    events = event_table(
        [Event("a", "A", 0, 0), Event("b1", "B", 1, 1), Event("b2", "B", 2, 2, x=1), Event("c", "C", 9, 9)]
    )
    found = match_events(plan_of("PATTERN SEQ(A a, B+ b[], C c) WHERE max(b[].x) < 3"), events)
    assert sorted(found.column("signature").to_pylist()) == [
        [["a"], ["b1", "b2"], ["c"]],
        [["a"], ["b2"], ["c"]],
    ]


def test_a_threshold_ends_groups_that_are_too_improbable() -> None:
    """Each member lies before c with probability 1/2: three of them with 1/8."""
    halves = [Event(f"b{i:02}", "B", 9, 10) for i in range(18)]
    events = event_table([Event("a", "A", 0, 0), *halves, Event("c", "C", 10, 10)])
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c) CONFIDENCE >= 0.125")
    some = MatchOptions(max_matches=5_000)
    assert match_events(plan, events, some).num_rows == 18 + 18 * 17 // 2 + 18 * 17 * 16 // 6


def test_the_refusal_names_the_group_the_number_and_the_remedies() -> None:
    with pytest.raises(QueryTooLargeError) as refusal:
        match_events(plan_of("PATTERN SEQ(A a, B+ b[], C c)"), STREAM, FEW)
    for said in (
        "groups b[]",
        "2,000 are allowed",
        "18 events",
        "WITHIN",
        "--kleene summary",
        "--max-matches",
    ):
        assert said in str(refusal.value)
