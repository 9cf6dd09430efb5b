"""The list of aggregates: what stands in it is computed, bounded and judged; what the judge lacks fails."""

from __future__ import annotations

import re

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table as judge
from cepctl.errors import QuerySyntaxError, UnsupportedQueryError
from cepctl.language.aggregates import AGGREGATES, AggregateFunction
from tests.engines.agreement import assert_same_rows
from tests.plans import Event, event_table, plan_of

EVENTS = event_table(
    [
        Event("a", "A", 1, 2),
        Event("b1", "B", 2, 3, x=5),
        Event("b2", "B", 3, 6, x=-1),
        Event("b3", "B", 3, 6, x=None),
        Event("b4", "B", 5, 7, x=4),
        Event("c", "C", 8, 9, x=3),
    ]
)
PRODUCT = AggregateFunction("product", lambda values: values.product(), lambda values: values.cum_prod())


def asked(word: str, members: str, limit: float = 1, sign: str = ">=") -> str:
    function, _, distinct = word.partition(" ")
    return (
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE {function}({distinct} b[{members}].x) {sign} {limit} "
        f"WITHIN 20 ticks RETURN {function}({distinct} b[].x) AS found"
    )


@pytest.mark.parametrize("members", ["", "1..i-1"])
@pytest.mark.parametrize("sign", [">=", "<="])
@pytest.mark.parametrize("word", AGGREGATES)
def test_the_judge_knows_every_aggregate_of_the_list(word: str, sign: str, members: str) -> None:
    """With a value below 0 among them: how an aggregate grows is told for each sign."""
    plan = plan_of(asked(word, members, sign=sign))
    expected = judge(plan, EVENTS)
    assert expected.num_rows > 1
    assert_same_rows(expected, match_events(plan, EVENTS))


def test_an_aggregate_that_is_added_to_the_list_runs_and_fails_loudly_in_the_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(AGGREGATES, "product", PRODUCT)
    plan = plan_of(asked("product", "", -20))
    found = {tuple(row["signature"][1]): row["found"] for row in match_events(plan, EVENTS).to_pylist()}
    assert found[("b1", "b2", "b3", "b4")] == -20
    assert found[("b1", "b2")] == -5
    with pytest.raises(UnsupportedQueryError, match="does not know 'product'"):
        judge(plan, EVENTS)


def test_a_word_outside_of_the_list_is_no_word_of_the_language() -> None:
    with pytest.raises(QuerySyntaxError, match="product"):
        plan_of(asked("product", ""))


def test_values_of_a_group() -> None:
    plan = plan_of(
        "PATTERN SEQ(A a, B+ b[], C c) WITHIN 20 ticks "
        "RETURN median(b[].x) AS middle, stddev(b[].x) AS spread, count(distinct b[].x) AS different"
    )
    found = {
        "+".join(row["signature"][1]): (row["middle"], row["spread"], row["different"])
        for row in match_events(plan, EVENTS).to_pylist()
    }
    assert found["b1+b2"] == (2.0, pytest.approx(18**0.5), 2)
    assert found["b1+b2+b3+b4"] == (4.0, pytest.approx((31 / 3) ** 0.5), 3)
    assert found["b1+b3"] == (5.0, None, 1)
    assert found["b3"] == (None, None, 0)


def test_first_and_last_are_the_members_in_order() -> None:
    asked_as_functions = plan_of(
        "PATTERN SEQ(A a, B+ b[], C c) WHERE last(b[].x) > first(b[].x) RETURN first(b[].x) AS one"
    )
    asked_by_index = plan_of(
        "PATTERN SEQ(A a, B+ b[], C c) WHERE b[last].x > b[first].x RETURN b[first].x AS one"
    )
    found = match_events(asked_as_functions, EVENTS)
    assert found.num_rows > 1
    assert found.equals(match_events(asked_by_index, EVENTS))
    assert_same_rows(judge(asked_as_functions, EVENTS), found)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("sum(distinct b[].x) > 1", "only count takes distinct values"),
        ("count(distinct b[]) > 1", r"count\(distinct \.\.\.\) needs an attribute"),
        ("count(distinct a.x) > 1", r"count takes all members: write a\[\]\.x or a\[1\.\.i-1\]\.x"),
        ("count(distinct b[].x, b[].y) > 1", "an aggregate is of one attribute"),
        ("first(b[1..i-1].x) > 1", r"first takes all members: write b\[\]\.x$"),
        ("last(b[]) > 1", r"last needs an attribute, as in b\[\]\.x"),
        ("median(b[]) > 1", "median needs an attribute"),
        ("mode(b[].x) > 1", "stddev, count, first, last"),
    ],
)
def test_what_an_aggregate_cannot_be_of_is_one_error(condition: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=re.compile(message, re.MULTILINE)):
        plan_of(f"PATTERN SEQ(A a, B+ b[], C c) WHERE {condition}")
