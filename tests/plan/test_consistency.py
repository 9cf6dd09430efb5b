"""Consistency of Kleene predicates (ZDI14, section 5.2), as listed and as tried out on growing groups."""

from __future__ import annotations

from itertools import combinations

import pytest

from cepctl.engines.worlds.expressions import Scene, evaluate, holds
from cepctl.language.ast import Expression
from cepctl.language.parser import parse
from cepctl.plan.consistency import Consistency, consistency


def predicate(text: str) -> Expression:
    condition = parse(f"PATTERN SEQ(A a, B+ b[]) WHERE {text}").where
    assert condition is not None
    return condition


PREDICATES = {
    "max(b[].x) > 5": Consistency.TRUE,
    "max(b[].x) < 5": Consistency.FALSE,
    "min(b[].x) > 5": Consistency.FALSE,
    "min(b[].x) <= 5": Consistency.TRUE,
    "count(b[]) >= 2": Consistency.TRUE,
    "count(b[]) < 3": Consistency.FALSE,
    "5 < max(b[].x)": Consistency.TRUE,
    "max(b[].x) - min(b[].x) > 2": Consistency.TRUE,
    "max(b[].x) - min(b[].x) <= a.x": Consistency.FALSE,
    "2 * max(b[].x) + 1 > a.x": Consistency.TRUE,
    "-max(b[].x) > -5": Consistency.FALSE,
    "max(b[].x) BETWEEN 3 AND 5": Consistency.NEITHER,
    "avg(b[].x) > 5": Consistency.NEITHER,
    "sum(b[].x) > 5": Consistency.NEITHER,
    "max(b[].x) = 5": Consistency.NEITHER,
    "max(b[].x) > count(b[])": Consistency.NEITHER,
    "max(b[].x) > 5 AND count(b[]) > 1": Consistency.TRUE,
    "max(b[].x) > 5 AND min(b[].x) > 1": Consistency.NEITHER,
    "NOT max(b[].x) > 5": Consistency.FALSE,
    "b[i].x > 5": Consistency.FALSE,
    "b[i].x > a.x": Consistency.FALSE,
    "b[i].x >= b[i-1].x": Consistency.FALSE,
    "b[i].x <> b[i-1].x": Consistency.NEITHER,
    "b[i].x >= max(b[1..i-1].x)": Consistency.FALSE,
    "b[i].x <= max(b[1..i-1].x)": Consistency.NEITHER,
    "b[i].x > avg(b[1..i-1].x)": Consistency.NEITHER,
    "b[last].x > 5": Consistency.NEITHER,
    "a.x > 5": Consistency.BOTH,
}


@pytest.mark.parametrize("text", PREDICATES)
def test_each_predicate_has_its_consistency(text: str) -> None:
    assert consistency(predicate(text)) is PREDICATES[text]


@pytest.mark.parametrize("text", PREDICATES)
def test_a_final_truth_value_stays_when_members_are_added_anywhere(text: str) -> None:
    condition, found = predicate(text), PREDICATES[text]
    per_member = "b[i]" in text
    values = [4, 7, 2, 6]
    judged = {}
    for size in range(1, 5):
        for chosen in combinations(range(4), size):
            members = {"a": ({"x": 3},), "b": tuple({"x": values[i]} for i in chosen)}
            judged[chosen] = holds(condition, members) if per_member else evaluate(condition, Scene(members))
    for small, large in combinations(judged, 2):
        if set(small) < set(large):
            if found in (Consistency.TRUE, Consistency.BOTH):
                assert judged[small] is not True or judged[large] is True
            if found in (Consistency.FALSE, Consistency.BOTH):
                assert judged[small] is not False or judged[large] is False
