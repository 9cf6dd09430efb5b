"""No text, however odd, makes parser or analyzer raise anything but the documented errors."""

from __future__ import annotations

import contextlib
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.errors import QuerySemanticError, QuerySyntaxError, QueryTooLargeError, UnsupportedQueryError
from cepctl.language.ast import Query
from cepctl.language.parser import parse, parse_expression
from cepctl.language.printer import to_text
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.explain import to_json
from cepctl.plan.explain import to_text as explained
from cepctl.plan.plan import Plan
from cepctl.schema import TimeUnit
from tests.language.query_grammar import QUERIES, SCRAP_TEXTS, query_texts

DOCUMENTED = (QuerySyntaxError, QuerySemanticError, UnsupportedQueryError, QueryTooLargeError)
SCHEMA = EventSchema(
    {"x": pa.int64(), "y": pa.float64(), "s": pa.string(), "k": pa.bool_(), "l": pa.list_(pa.int64())},
    TimeUnit(1_000),
    {"A": 3, "B": 4},
)
TEXTS = st.one_of(query_texts(), SCRAP_TEXTS, st.text(max_size=60), QUERIES.map(to_text))


def survives(text: str) -> Plan | None:
    with contextlib.suppress(QuerySyntaxError):
        parse_expression(text)
    try:
        query = parse(text)
    except DOCUMENTED as problem:
        assert str(problem)
        return None
    plan = None
    for schema in (SCHEMA, None):
        try:
            plan = analyze(query, schema)
        except DOCUMENTED as problem:
            assert str(problem)
        else:
            explained(plan, {"A": 3})
            to_json(plan)
            assert pickle.loads(pickle.dumps(plan)) == plan
    return plan


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_nothing_but_documented_errors_escapes(text: str) -> None:
    survives(text)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(TEXTS)
def test_nothing_but_documented_errors_escapes_ten_thousand_times(text: str) -> None:
    survives(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "PATTERN " + "SEQ(" * 20_000,
        "PATTERN A a WHERE " + "(" * 20_000 + "1",
        "PATTERN A a WHERE " + "NOT " * 20_000 + "a.x",
        "PATTERN A a WHERE " + "- " * 20_000 + "a.x > 1",
        "PATTERN A a WHERE " + "coalesce(" * 10_000,
        "PATTERN A a WHERE " + " + ".join(["a.x"] * 8_000) + " > 1",
        "PATTERN A a WHERE " + "a.x IN (" * 10_000,
        "PATTERN A a WHERE a.x " + "< a.x " * 10_000,
        "PATTERN A a RETURN " + ", ".join(["a.x"] * 8_000),
        "PATTERN SEQ(" + ", ".join(["A"] * 10_000) + ")",
        "PATTERN SEQ(" + ", ".join(f"OR(A a{i}, B b{i})" for i in range(1_500)) + ")",
        "PATTERN A a WHERE " + " OR ".join(["a.x = 1"] * 2_500),
        "PATTERN A a WHERE " + " AND ".join(["a.x = 1", "b.time > 1"] * 1_500),
        "`" * 99_999,
        "'" * 99_999,
        "\n" * 99_999 + "x",
        "PATTERN A a WITHIN " + "9" * 50_000 + " s",
        "PATTERN A a WHERE a.x > " + "9" * 50_000,
        "PATTERN A a WHERE a.x > 0." + "9" * 50_000,
        "PATTERN A a WHERE a.x LIKE '" + "%" * 90_000 + "'",
        "PATTERN A a WHERE regexp_like(a.s, '" + "(" * 900 + "')",
        "PATTERN A a WHERE regexp_like(a.s, '" + "(a" * 40 + ")" * 40 + "')",
    ],
    ids=lambda text: text[:40],
)
def test_extreme_queries_are_answered_soon(text: str) -> None:
    survives(text)


def test_a_query_of_a_megabyte_is_refused_with_its_size() -> None:
    with pytest.raises(
        QuerySyntaxError, match=r"the query has 1,000,014 characters; at most 100,000 are read"
    ):
        parse("PATTERN SEQ(A " + "a" * 1_000_000)


def test_the_strategies_reach_plans_and_every_kind_of_error() -> None:
    outcomes: set[type] = set()
    many = "PATTERN SEQ(" + ", ".join(f"OR(A a{i}, B b{i})" for i in range(9)) + ")"

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(st.one_of(TEXTS, st.just(many), st.just("PATTERN AND(A a, B b)+")))
    def collect(text: str) -> None:
        try:
            query: Query = parse(text)
            outcomes.add(type(analyze(query, SCHEMA)))
        except DOCUMENTED as problem:
            outcomes.add(type(problem))

    collect()
    assert outcomes == {Plan, *DOCUMENTED}
