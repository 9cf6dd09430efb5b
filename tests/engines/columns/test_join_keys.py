"""Equalities as join keys: equal codes where the values are equal, -1 where one is null."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of, value_codes
from cepctl.engines.columns.joins import join_key, partition_codes
from tests.plans import Event, event_table, plan_of


def rows(*values: tuple[str, str | None, str | None, int | None]) -> list[Event]:
    """Events from (type, k, g, x)."""
    return [Event(str(i), kind, i, i, k=k, g=g, x=x) for i, (kind, k, g, x) in enumerate(values)]


def joined(events: list[Event], query: str) -> set[tuple[int, int]]:
    """Pairs (A event, B event) whose codes agree when B is joined to a bound A."""
    table = events_of(event_table(events))
    plan = plan_of(query)
    candidates = [
        np.array([i for i, event in enumerate(events) if event.event_type == kind], dtype=np.int64)
        for kind in "AB"
    ]
    key = join_key(plan.alternatives[0], plan.partition_by, table, 1, {0}, candidates[1])
    bound = key.codes_of(candidates[0][:, None], [0])
    return {
        (int(a), int(b))
        for a, left in zip(candidates[0], bound, strict=True)
        for b, right in zip(candidates[1], key.candidate_codes, strict=True)
        if left == right and left >= 0
    }


ONE_OF_EACH = rows(
    ("A", "p", "u", 1), ("B", "p", "u", 1), ("B", "p", "v", 2), ("B", "q", "u", None), ("B", None, "u", 1)
)


def test_without_equalities_everything_joins() -> None:
    assert joined(ONE_OF_EACH, "PATTERN SEQ(A a, B b)") == {(0, 1), (0, 2), (0, 3), (0, 4)}


def test_one_shared_attribute() -> None:
    assert joined(ONE_OF_EACH, "PATTERN SEQ(A a, B b) WHERE [k]") == {(0, 1), (0, 2)}


def test_two_shared_attributes_must_both_agree() -> None:
    assert joined(ONE_OF_EACH, "PATTERN SEQ(A a, B b) WHERE [k, g]") == {(0, 1)}


def test_an_equality_between_two_attributes_in_either_order() -> None:
    events = rows(("A", "p", "q", 0), ("B", "x", "p", 0), ("B", "p", "q", 0))
    for condition in ("a.k = b.g", "b.g = a.k"):
        assert joined(events, f"PATTERN SEQ(A a, B b) WHERE {condition}") == {(0, 1)}


def test_few_candidates_are_joined_among_many_keys() -> None:
    many = [("A", f"k{at}", None, at) for at in range(30)]
    found = joined(
        rows(*many, ("B", "k7", None, 1), ("B", "k29", None, 1)), "PATTERN SEQ(A a, B b) WHERE [k]"
    )
    assert found == {(7, 30), (29, 31)}


def test_null_equals_nothing_not_even_null() -> None:
    events = rows(("A", None, None, 0), ("A", "p", "u", 0), ("B", None, None, 0), ("B", "p", "p", 0))
    assert joined(events, "PATTERN SEQ(A a, B b) WHERE [k]") == {(1, 3)}
    assert joined(events, "PATTERN SEQ(A a, B b) WHERE a.k = b.g") == {(1, 3)}


values = st.sampled_from([None, "p", "q", "r"])


@given(
    st.lists(st.tuples(st.sampled_from("AB"), values, values, st.sampled_from([None, 1, 2])), max_size=10),
    st.lists(st.sampled_from(["[k]", "[g]", "a.k = b.g", "a.x = b.x"]), min_size=1, max_size=3, unique=True),
)
def test_codes_agree_exactly_where_all_equalities_hold(
    drawn: list[tuple[str, str | None, str | None, int | None]], conditions: list[str]
) -> None:
    events = rows(*drawn)
    sides = {"[k]": ("k", "k"), "[g]": ("g", "g"), "a.k = b.g": ("k", "g"), "a.x = b.x": ("x", "x")}

    def equal(a: Event, b: Event) -> bool:
        pairs = [(getattr(a, left), getattr(b, right)) for left, right in (sides[c] for c in conditions)]
        return all(left is not None and left == right for left, right in pairs)

    wanted = {
        (i, j)
        for i, a in enumerate(events)
        for j, b in enumerate(events)
        if a.event_type == "A" and b.event_type == "B" and equal(a, b)
    }
    assert joined(events, f"PATTERN SEQ(A a, B b) WHERE {' AND '.join(conditions)}") == wanted


def test_partitions_are_numbered_by_all_their_attributes_together() -> None:
    events = rows(
        ("A", "p", "u", 0), ("B", "p", "v", 0), ("C", "p", "u", 0), ("A", None, "u", 0), ("A", "q", "u", 0)
    )
    codes = partition_codes(["k", "g"], events_of(event_table(events))).tolist()
    assert codes[0] == codes[2]
    assert codes[3] == -1
    assert len({codes[0], codes[1], codes[4]}) == 3


def test_integers_and_floats_are_compared_as_numbers() -> None:
    left, right = value_codes(pl.Series([1, 2, None]), pl.Series([2.0, 1.5, None]))
    assert left[1] == right[0]
    assert len({int(left[0]), int(left[1]), int(right[1])}) == 3
    assert (left[2], right[2]) == (-1, -1)
