"""Expressions of the worlds engine: SQL's three-valued logic, one value at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cepctl.engines.worlds.expressions import Members, Scene, evaluate, holds
from cepctl.engines.worlds.one_world import Stream, Work
from cepctl.engines.worlds.search import WorldSearch
from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    Binary,
    Call,
    Constant,
    Duration,
    EventTime,
    Expression,
    IsNull,
    MatchField,
    Unary,
)
from cepctl.language.parser import parse
from cepctl.language.strategies import SKIP_TILL_NEXT_MATCH
from tests.plans import plan_of

ROW = {
    "event_id": "e1",
    "i": 7,
    "j": -7,
    "f": 2.5,
    "s": "node_1",
    "yes": True,
    "no": None,
    "zero": 0,
    "lower": 3,
}


def where(text: str) -> Expression:
    condition = parse(f"PATTERN SEQ(A a, B+ b[]) WHERE {text}").where
    assert condition is not None
    return condition


def value(text: str) -> object:
    condition = where(f"({text}) IS NULL")
    assert isinstance(condition, IsNull)
    return evaluate(condition.operand, Scene({"a": (ROW,)}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.i / 2", 3.5),
        ("a.i / a.zero", None),
        ("a.i % a.zero", None),
        ("a.i % 3", 1),
        ("a.j % 3", -1),
        ("a.i % -3", 1),
        ("a.f % 2", 0.5),
        ("a.i + a.no", None),
        ("-a.i", -7),
        ("a.lower + 1", 4),
        ("abs(a.j)", 7),
        ("upper(a.s)", "NODE_1"),
        ("length(a.s)", 6),
        ("length(a.no)", None),
        ("coalesce(a.no, a.i)", 7),
        ("a", "e1"),
    ],
)
def test_values(text: str, expected: object) -> None:
    result = value(text)
    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.no = a.no", None),
        ("a.no = 1 OR a.i = 7", True),
        ("a.no = 1 OR a.i = 8", None),
        ("a.no = 1 AND a.i = 8", False),
        ("a.no = 1 AND a.i = 7", None),
        ("NOT (a.no = 1)", None),
        ("NOT (a.i = 8)", True),
        ("a.i IN (1, 7)", True),
        ("a.i IN (1, a.no)", None),
        ("a.i IN (7, a.no)", True),
        ("a.i NOT IN (1, a.no)", None),
        ("a.i NOT IN (1, 2)", True),
        ("a.no IN (1)", None),
        ("a.i BETWEEN 7 AND 7", True),
        ("a.i BETWEEN 8 AND a.no", False),
        ("a.i BETWEEN 6 AND a.no", None),
        ("a.i NOT BETWEEN 8 AND a.no", True),
        ("a.s LIKE 'node%'", True),
        ("a.s LIKE 'node_'", False),
        ("a.s LIKE 'node__'", True),
        (r"a.s LIKE 'node\__'", True),
        (r"a.s LIKE 'nod\__1'", False),
        ("a.s NOT LIKE 'x%'", True),
        ("a.no LIKE '%'", None),
        ("a.no IS NULL", True),
        ("a.i IS NULL", False),
        ("a.no IS NOT NULL", False),
        ("regexp_like(a.s, 'e_[0-9]')", True),
        ("a.i <> 7", False),
        ("a.i >= 7.0", True),
        ("'B' < 'a'", True),
    ],
)
def test_conditions(text: str, expected: bool | None) -> None:
    assert evaluate(where(text), Scene({"a": (ROW,)})) is expected


def group(*values: int | None) -> Members:
    return {"a": ({"x": 2},), "b": tuple({"x": v, "event_id": f"e{n}"} for n, v in enumerate(values))}


@pytest.mark.parametrize(
    ("text", "members", "expected"),
    [
        ("b[i].x >= a.x", group(2, 3), True),
        ("b[i].x >= a.x", group(2, 1), False),
        ("b[i].x >= a.x", group(2, None), False),
        ("b[i].x > b[i-1].x", group(5), True),
        ("b[i].x > b[i-1].x", group(1, 2, 3), True),
        ("b[i].x > b[i-1].x", group(1, 3, 2), False),
        ("b[i].x >= max(b[1..i-1].x)", group(3, 1), False),
        ("b[i].x >= max(b[1..i-1].x)", group(1, 3, 3), True),
        ("b[i].x > b[1].x", group(1, 2), False),
        ("b[last].x > avg(b[].x)", group(1, 2), True),
        ("b[b.LEN].x > avg(b[].x)", group(2, 1), False),
        ("b[first].x = 2", group(2, 1), True),
        ("count(b[]) = 2", group(2, None), True),
        ("count(b[].x) = 1", group(2, None), True),
        ("sum(b[].x) = 2", group(2, None), True),
        ("sum(b[].x) = 0", group(None), False),
        ("min(b[].x) = 1 AND max(b[].x) = 3", group(3, 1), True),
    ],
)
def test_groups(text: str, members: Members, expected: bool) -> None:
    assert holds(where(text), members) is expected


def test_what_has_no_value_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedQueryError, match="Duration"):
        evaluate(Duration(None, ticks=5), Scene({"a": (ROW,)}))


A = Attribute("a", "i")


@pytest.mark.parametrize(
    "expression",
    [
        Aggregate("product", "b", "i"),
        Aggregate("product", "b", "no"),
        Aggregate("product", "b", None),
        Aggregate("sum", "b", None),
        Call("sqrt", (A,)),
        Call("sqrt", (Constant(None),)),
        Unary("~", A),  # type: ignore[arg-type]
        Unary("~", Constant(None)),  # type: ignore[arg-type]
        Binary("^", A, A),  # type: ignore[arg-type]
        Binary("XOR", A, Constant(None)),  # type: ignore[arg-type]
        Binary("==", A, A),  # type: ignore[arg-type]
        Attribute("b", "i", "next"),  # type: ignore[arg-type]
        EventTime("a", "middle"),  # type: ignore[arg-type]
        EventTime("a", "event_id"),  # type: ignore[arg-type]
        MatchField("score"),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_a_word_that_the_judge_does_not_know_fails(expression: Expression) -> None:
    """Also where what it is asked of is null; nothing falls through to another word."""
    with pytest.raises(UnsupportedQueryError, match="does not know"):
        evaluate(expression, Scene({"a": (ROW,), "b": (ROW, ROW)}))


def test_a_strategy_or_a_scope_that_the_judge_does_not_know_fails() -> None:
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE a.x = b.x")
    (alternative,) = plan.alternatives
    other = replace(alternative, links=(replace(alternative.links[0], scope="later"),))  # type: ignore[arg-type]
    unknown = replace(SKIP_TILL_NEXT_MATCH, word="skip_till_last_match")
    for strange, pattern in ((replace(plan, strategy=unknown), alternative), (plan, other)):
        with pytest.raises(UnsupportedQueryError, match="does not know"):
            WorldSearch(strange, pattern, Stream.of([], ()), Work())
