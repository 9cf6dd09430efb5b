"""Printing a query and parsing it again gives the same query."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cepctl.language.ast import Attribute, Binary, Constant, Expression, MatchField, Query, Unary
from cepctl.language.parser import parse, parse_expression
from cepctl.language.printer import expression_to_text, to_text
from tests.language.query_grammar import QUERIES


@settings(max_examples=40, deadline=None)
@given(QUERIES)
def test_printed_query_parses_to_an_equal_one(query: Query) -> None:
    assert parse(to_text(query)) == query


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(QUERIES)
def test_printed_query_parses_to_an_equal_one_ten_thousand_times(query: Query) -> None:
    assert parse(to_text(query)) == query


def x(name: str) -> Expression:
    return Attribute("", name)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Binary("*", Binary("+", x("a"), x("b")), x("c")), "(a + b) * c"),
        (Binary("-", x("a"), Binary("-", x("b"), x("c"))), "a - (b - c)"),
        (Binary("-", Binary("-", x("a"), x("b")), x("c")), "a - b - c"),
        (Unary("-", Unary("-", x("a"))), "-(-a)"),
        (Unary("NOT", Binary("AND", x("a"), x("b"))), "NOT (a AND b)"),
        (Binary("OR", x("a"), Binary("AND", x("b"), x("c"))), "a OR b AND c"),
        (Binary("AND", x("a"), Binary("OR", x("b"), x("c"))), "a AND (b OR c)"),
        (Binary("=", Binary("<", x("a"), x("b")), Constant(True)), "(a < b) = TRUE"),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(expression: Expression, text: str) -> None:
    assert expression_to_text(expression) == text
    assert parse_expression(text) == expression


def test_a_percent_sign_before_confidence_stays_a_remainder() -> None:
    query = parse("PATTERN A a RETURN 95 % (confidence) AS c")
    assert query.returns[0].expression == Binary("%", Constant(95), MatchField("confidence"))
    assert parse(to_text(query)) == query


@pytest.mark.parametrize("count", [32, 33, 100, 1_000])
@pytest.mark.parametrize("word", ["AND", "OR"])
def test_long_chains_survive(word: str, count: int) -> None:
    query = parse("PATTERN A a WHERE " + f" {word} ".join(f"a.x = {i}" for i in range(count)))
    assert parse(to_text(query)) == query
