"""No engine asks which strategy it is: one of another name that says the same gives the same rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table as judge
from cepctl.errors import UnsupportedQueryError
from cepctl.language.strategies import STRATEGIES
from cepctl.plan.explain import to_text
from cepctl.plan.plan import Plan
from tests.engines.agreement import assert_equal_rows, check
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT, Level
from tests.strategies import Case, cases

EVERY = (ANY, NEXT, STRICT, PARTITION)
EVENTS = event_table([Event("a", "A", 1, 3, k="n"), Event("b", "B", 2, 4, k="n")])


def renamed(plan: Plan) -> Plan:
    return replace(plan, strategy=replace(plan.strategy, word="of_another_name"))


def test_the_event_engine_asks_what_a_strategy_says() -> None:
    def named_or_not(case: Case) -> None:
        plan = plan_of(case.query)
        assert_equal_rows(match_events(plan, case.table), match_events(renamed(plan), case.table))

    check(cases(Level(strategies=EVERY, negation=True, kleene=True)), named_or_not)


def test_the_point_engine_asks_what_a_strategy_says() -> None:
    def named_or_not(case: Case) -> None:
        plan = plan_of(case.query)
        assert_equal_rows(match_points(plan, case.table), match_points(renamed(plan), case.table))

    check(cases(Level(strategies=EVERY, negation=True)), named_or_not)


@pytest.mark.parametrize("word", STRATEGIES)
def test_the_judge_knows_every_strategy_of_the_list_and_no_other(word: str) -> None:
    plan = plan_of(f"PATTERN SEQ(A a, B b) WHERE [k] STRATEGY {word}")
    assert judge(plan, EVENTS).num_rows == 1
    with pytest.raises(UnsupportedQueryError, match="does not know 'of_another_name'"):
        judge(renamed(plan), EVENTS)


def test_a_strategy_that_is_added_to_the_list_is_a_word_of_the_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy = replace(STRATEGIES[STRICT], word="toy_contiguity", meaning="nothing between")
    monkeypatch.setitem(STRATEGIES, toy.word, toy)
    plan = plan_of("PATTERN SEQ(A a, B b) STRATEGY toy_contiguity")
    assert "Strategy    toy_contiguity: nothing between" in to_text(plan)
    assert match_events(plan, EVENTS).num_rows == 1
