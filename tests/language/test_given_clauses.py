"""What the language says of GIVEN: its form, and errors that name what is missing or refused."""

from __future__ import annotations

import pytest

from cepctl.errors import CepctlError, QuerySemanticError, QuerySyntaxError, UnsupportedQueryError
from cepctl.language.parser import parse, parse_given
from cepctl.plan.analyze import analyze

_FORM = r"expected SEQ\(...\) or AND\(...\) after GIVEN"


@pytest.mark.parametrize(
    ("clause", "error", "message"),
    [
        ("SEQ(A a, B b)", QuerySyntaxError, "expected IF and the events for which it holds"),
        ("SEQ(A a, B b) WITHIN 5 s", QuerySyntaxError, "expected IF"),
        ("A a IF a.x = 1", QuerySyntaxError, _FORM),
        ("SEQ(A a) IF a.x = 1", QuerySemanticError, "ties two or more events"),
        ("AND(A a, B b) IF a.x = b.x", QuerySemanticError, "AND without WITHIN says nothing"),
        ("SEQ(A a, B b) WITHIN 0 ticks IF a.x = b.x", QuerySemanticError, "at least one tick"),
        ("SEQ(A a, B b) IF a.time < b.time", QuerySemanticError, "reads no times"),
        ("SEQ(A a, B b) IF c.x = 1", QuerySemanticError, "no variable 'c'"),
        ("SEQ(A a, B+ b[]) IF a.x = 1", UnsupportedQueryError, "Kleene plus in GIVEN"),
        ("SEQ(A a, !B b) IF a.x = 1", UnsupportedQueryError, "negation in GIVEN"),
        ("SEQ(A a, AND(B b, C c)) IF a.x = 1", UnsupportedQueryError, "AND inside GIVEN"),
        ("OR(A a, B b) IF a.x = 1", UnsupportedQueryError, "anything but SEQ"),
    ],
)
def test_what_is_wrong_is_named(clause: str, error: type[CepctlError], message: str) -> None:
    with pytest.raises(error, match=message):
        analyze(parse(f"PATTERN A a GIVEN {clause}"))


def test_clauses_may_be_many_and_stand_anywhere() -> None:
    query = parse(
        "GIVEN SEQ(A a, B b) IF a.k = b.k PATTERN A x GIVEN AND(A a, C c) WITHIN 1 s IF a.k = c.k WITHIN 5 s"
    )
    assert [each.text for each in query.given] == [
        "SEQ(A a, B b) IF a.k = b.k",
        "AND(A a, C c) WITHIN 1 s IF a.k = c.k",
    ]
    assert analyze(query).window == 5_000


def test_a_variable_may_be_called_given() -> None:
    assert analyze(parse("PATTERN SEQ(A given, B b) WHERE given.x = b.x")).given == ()


def test_what_a_model_says_is_the_clause_without_its_word() -> None:
    text = "SEQ(A a, B b) WITHIN 1 h IF a.k = b.k"
    assert parse_given(text) == parse(f"PATTERN A x GIVEN {text}").given[0]


def test_what_it_reads_is_read() -> None:
    plan = analyze(parse("PATTERN A x GIVEN SEQ(A a, B b) IF a.task = b.task AND a.lower < b.lower"))
    assert plan.attributes == ("task",)
    assert [len(each.alternative.equalities) for each in plan.given] == [1]
