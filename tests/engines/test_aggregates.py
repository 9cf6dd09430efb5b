"""The list of aggregates: what stands in it is computed, bounded and judged; what the judge lacks fails."""

from __future__ import annotations

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
        Event("b1", "B", 2, 4, x=5),
        Event("b2", "B", 3, 6, x=-1),
        Event("b3", "B", 3, 7, x=None),
        Event("b4", "B", 5, 8, x=4),
        Event("c", "C", 8, 9, x=3),
    ]
)
MEDIAN = AggregateFunction("median", lambda values: values.median(), lambda values: values, gives="number")


def asked(word: str, members: str) -> str:
    return (
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE {word}(b[{members}].x) >= 1 WITHIN 20 ticks "
        f"RETURN {word}(b[].x) AS found"
    )


@pytest.mark.parametrize("members", ["", "1..i-1"])
@pytest.mark.parametrize("word", AGGREGATES)
def test_the_judge_knows_every_aggregate_of_the_list(word: str, members: str) -> None:
    plan = plan_of(asked(word, members))
    expected = judge(plan, EVENTS)
    assert expected.num_rows > 1
    assert_same_rows(expected, match_events(plan, EVENTS))


def test_an_aggregate_that_is_added_to_the_list_runs_and_fails_loudly_in_the_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(AGGREGATES, "median", MEDIAN)
    plan = plan_of(asked("median", ""))
    found = {tuple(row["signature"][1]): row["found"] for row in match_events(plan, EVENTS).to_pylist()}
    assert found[("b1", "b2", "b3", "b4")] == 4.0
    assert found[("b1", "b2")] == 2.0
    with pytest.raises(UnsupportedQueryError, match="does not know 'median'"):
        judge(plan, EVENTS)


def test_a_word_outside_of_the_list_is_no_word_of_the_language() -> None:
    with pytest.raises(QuerySyntaxError, match="median"):
        plan_of(asked("median", ""))
