"""One match under a law of order: both confidences, the orders in it, and the factors that matter most."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from cepctl.engines.diagnosis.one_match import one_match
from cepctl.engines.diagnosis.shown import OneMatch
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import QueryTooLargeError
from cepctl.event_table import PMF_TYPE
from cepctl.language.parser import parse
from cepctl.laws.law import OrderLaw
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import MILLISECOND

L3 = OrderLaw("k", following={("A", "B"): 4.0, ("^", "A"): 2.0, ("X", "A"): 9.0}, before={("B", "C"): 3.0})
EVENTS = pa.table(
    {
        "event_id": ["a", "b", "c", "d"],
        "event_type": ["A", "B", "C", "D"],
        "lower": [1, 1, 3, 20],
        "upper": [4, 4, 6, 20],
        "pmf": pa.nulls(4, PMF_TYPE),
        "k": ["x", "x", "x", "y"],
    }
)


def planned(query: str, law: OrderLaw) -> Plan:
    return analyze(parse(f"PATTERN {query}"), EventSchema({"k": pa.string()}, MILLISECOND, laws=(law,)))


def shown(query: str, ids: str, law: OrderLaw = L3, limit: int = 100) -> OneMatch:
    return one_match(planned(query, law), EVENTS, tuple((each,) for each in ids), law_limit=limit)


def judged(query: str, law: OrderLaw) -> float:
    (found,) = exact_matches(planned(query, law), EVENTS).values()
    return float(found.confidence)


def test_a_match_has_both_confidences_and_the_orders_of_its_neighbours() -> None:
    match = shown("SEQ(A a, B b, C c)", "abc")
    assert match.law is not None
    assert match.confidence == match.law.confidence == pytest.approx(float(Fraction(144, 269)))
    assert match.law.without == pytest.approx(0.25)
    told = match.law.neighbours
    assert [(each.first, each.second) for each in told] == [("a", "b"), ("b", "c")]
    assert [each.without for each in told] == pytest.approx([3 / 8, 13 / 16])
    assert [each.under for each in told] == pytest.approx([171 / 269, judged("SEQ(B b, C c)", L3)])


@pytest.mark.parametrize(
    ("query", "ids"),
    [("SEQ(A a, B b, C c)", "abc"), ("SEQ(A a, !B n, C c)", "ac"), ("SEQ(B b, A a) WITHIN 3 ticks", "ba")],
)
def test_factors_come_with_what_the_confidence_were_without_them(query: str, ids: str) -> None:
    match = shown(query, ids)
    assert match.law is not None
    assert match.law.confidence == pytest.approx(judged(query, L3))
    found = {(each.kind, each.first, each.second): each.otherwise for each in match.law.factors}
    less = {
        ("next", "A", "B"): replace(L3, following={("^", "A"): 2.0}),
        ("next", "^", "A"): replace(L3, following={("A", "B"): 4.0}),
        ("before", "B", "C"): replace(L3, before={}),
    }
    assert found == {steps: pytest.approx(judged(query, law)) for steps, law in less.items()}
    changes = [abs(each.otherwise - match.confidence) for each in match.law.factors]
    assert changes[0] == max(changes)


def test_a_law_that_says_nothing_of_the_events_is_not_shown() -> None:
    assert shown("SEQ(A a, D d)", "ad", OrderLaw("k", following={("X", "Y"): 2.0})).law is None
    match = shown("SEQ(C c, D d)", "cd", OrderLaw("k", before={("D", "D"): 2.0}))
    assert match.law is None
    assert match.confidence == 1.0


def test_a_key_that_is_too_much_work_is_refused_with_the_way_out() -> None:
    with pytest.raises(QueryTooLargeError, match="raise --law-limit"):
        shown("SEQ(A a, B b, C c)", "abc", limit=2)
