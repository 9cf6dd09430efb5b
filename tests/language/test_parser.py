"""What each construct of the language parses to."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.errors import QuerySyntaxError
from cepctl.language.ast import (
    Aggregate,
    Allen,
    Attribute,
    Between,
    Binary,
    Call,
    ComponentPattern,
    Composite,
    Constant,
    Duration,
    EventTime,
    Expression,
    In,
    IsNull,
    Like,
    MatchField,
    Pattern,
    Quantifier,
    Span,
    StrategyClause,
    Unary,
    Variable,
)
from cepctl.language.parser import parse, parse_expression
from cepctl.language.strategies import SKIP_TILL_NEXT_MATCH


def where(text: str) -> Expression | None:
    return parse(f"PATTERN SEQ(A a, B+ b[]) WHERE {text}").where


def returned(text: str) -> list[Expression]:
    return [item.expression for item in parse(f"PATTERN SEQ(A a, B+ b[]) RETURN {text}").returns]


X = Attribute("a", "x")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A", ComponentPattern(("A",))),
        ("A a", ComponentPattern(("A",), "a")),
        ("A|B x", ComponentPattern(("A", "B"), "x")),
        ("* x", ComponentPattern((), "x")),
        ("B+ b[ ]", ComponentPattern(("B",), "b", kleene=True)),
        ("B+", ComponentPattern(("B",), kleene=True)),
        ("!A a", ComponentPattern(("A",), "a", negated=True)),
        ("~A a", ComponentPattern(("A",), "a", negated=True)),
        ("NOT A a", ComponentPattern(("A",), "a", negated=True)),
        ("¬A a", ComponentPattern(("A",), "a", negated=True)),
        ("'Request For Payment' r", ComponentPattern(("Request For Payment",), "r")),
        ("'it''s' r", ComponentPattern(("it's",), "r")),
        ("within `return`", ComponentPattern(("within",), "return")),
        ("seq(A,And(B,C))", Composite("SEQ", (ComponentPattern(("A",)), Composite("AND", (
            ComponentPattern(("B",)), ComponentPattern(("C",))))))),
        ("OR(P|Q)", Composite("OR", (ComponentPattern(("P", "Q")),))),
        ("!SEQ(A, B)", Composite("SEQ", (ComponentPattern(("A",)), ComponentPattern(("B",))), negated=True)),
        ("A a ∪ B b", Composite("OR", (ComponentPattern(("A",), "a"), ComponentPattern(("B",), "b")))),
        ("SEQ(A, B ∪ C)", Composite("SEQ", (ComponentPattern(("A",)), Composite("OR", (
            ComponentPattern(("B",)), ComponentPattern(("C",))))))),
        ("SEQ(A, ~(B b), C)", Composite("SEQ", (ComponentPattern(("A",)), ComponentPattern(
            ("B",), "b", negated=True), ComponentPattern(("C",))))),
        ("SEQ(A, NOT(B, D), C)", Composite("SEQ", (
            ComponentPattern(("A",)), ComponentPattern(("B",), negated=True),
            ComponentPattern(("D",), negated=True), ComponentPattern(("C",))))),
        ("B? b", ComponentPattern(("B",), "b", quantifier=Quantifier(0, 1))),
        ("B*", ComponentPattern(("B",), kleene=True, quantifier=Quantifier(0, None))),
        ("** b[]", ComponentPattern((), "b", kleene=True, quantifier=Quantifier(0, None))),
        ("A|B{2} b[]", ComponentPattern(("A", "B"), "b", True, quantifier=Quantifier(2, 2, braces=True))),
        ("B{2, 3} b", ComponentPattern(("B",), "b", kleene=True, quantifier=Quantifier(2, 3, braces=True))),
        ("B{0,}", ComponentPattern(("B",), kleene=True, quantifier=Quantifier(0, None, braces=True))),
        ("SEQ(A, B b[])+", Composite("SEQ", (
            ComponentPattern(("A",), kleene=True, repeated=True),
            ComponentPattern(("B",), "b", kleene=True, repeated=True)), kleene=True)),
        ("RUNNING B{2,} b[]",
         ComponentPattern(("B",), "b", True, quantifier=Quantifier(2, None, braces=True), running=True)),
    ],
)  # fmt: skip
def test_patterns(text: str, pattern: Pattern) -> None:
    assert parse(f"PATTERN {text}").pattern == pattern


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("a.x = 5", Binary("=", X, Constant(5))),
        ("a.x == 5", Binary("=", X, Constant(5))),
        ("a.x != 5", Binary("<>", X, Constant(5))),
        ("a.x ≥ .5e2", Binary(">=", X, Constant(50.0))),
        ("a.x > 95%", Binary(">", X, Constant(95))),
        ("a.x > 95% AND a.x < 1", Binary("AND", Binary(">", X, Constant(95)), Binary("<", X, Constant(1)))),
        ("a.x > 95 % 10", Binary(">", X, Binary("%", Constant(95), Constant(10)))),
        ("a.x % 2 = 0", Binary("=", Binary("%", X, Constant(2)), Constant(0))),
        ("1 + 2 * 3 > a.x", Binary(">", Binary("+", Constant(1), Binary("*", Constant(2), Constant(3))), X)),
        ("NOT a.x = 1 AND a.x = 2", Binary("AND", Unary("NOT", Binary("=", X, Constant(1))),
                                          Binary("=", X, Constant(2)))),
        ("a.x BETWEEN 1 AND 2 AND a.x = 1", Binary("AND", Between(X, Constant(1), Constant(2)),
                                                  Binary("=", X, Constant(1)))),
        ("a.x NOT IN (1, 'b', NULL)", In(X, (Constant(1), Constant("b"), Constant(None)), negated=True)),
        ("a.x LIKE '50\\%'", Like(X, "50\\%")),
        ("a.x IS NOT NULL", IsNull(X, negated=True)),
        ("coalesce(a.x, -1) = TRUE", Binary("=", Call("coalesce", (X, Unary("-", Constant(1)))),
                                            Constant(True))),
        ("a.`org:resource` = \"n\"", Binary("=", Attribute("a", "org:resource"), Constant("n"))),
        ("b[1].x = b[first].x", Binary("=", Attribute("b", "x", "first"), Attribute("b", "x", "first"))),
        ("b[B.LEN].x > b[i-1].x", Binary(">", Attribute("b", "x", "last"), Attribute("b", "x", "previous"))),
        ("b[i].x > max(b[1..i-1].x)", Binary(">", Attribute("b", "x", "each"),
                                             Aggregate("max", "b", "x", True))),
        ("b[i].x > max(b[..i-1].x)", Binary(">", Attribute("b", "x", "each"),
                                            Aggregate("max", "b", "x", True))),
        ("b[i].x > b[i-12].x", Binary(">", Attribute("b", "x", "each"),
                                      Attribute("b", "x", "previous", back=12))),
        ("b[i].x < max(b[1..i].x)", Binary("<", Attribute("b", "x", "each"),
                                           Aggregate("max", "b", "x", True, own=True))),
        ("b[i].x < max(b[..i].x)", Binary("<", Attribute("b", "x", "each"),
                                          Aggregate("max", "b", "x", True, own=True))),
        ("count(b[]) > 2", Binary(">", Aggregate("count", "b", None), Constant(2))),
        ("b[i].time - a.time <= 5 seconds", Binary("<=", Binary("-", EventTime("b", "time", "each"),
            EventTime("a", "time")), Duration(Fraction(5_000_000)))),
        ("a.te > a.lower", Binary(">", EventTime("a", "end"), EventTime("a", "lower"))),
        ("a.`time` = 1", Binary("=", Attribute("a", "time"), Constant(1))),
        ("a MET_BY b", Allen(("met_by",), "a", "b")),
    ],
)  # fmt: skip
def test_conditions(text: str, expression: Expression) -> None:
    assert where(text) == expression


@pytest.mark.parametrize(
    "text",
    [
        "skip_till_next_match(a, b[]) { [k] ∧ a.x = 5 }",
        "skip_till_next_match(a, b) {[k]} AND a.x = 5",
        "a.x = 5 AND skip_till_next_match(a, b[]) { [k] }",
    ],
)
def test_conditions_may_stand_in_the_braces_of_a_strategy(text: str) -> None:
    query = parse(f"PATTERN SEQ(A a, B+ b[]) WHERE {text}")
    assert query.where == Binary("=", X, Constant(5))
    assert query.partition_by == ("k",)
    assert query.strategy == StrategyClause(SKIP_TILL_NEXT_MATCH, ("a", "b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b) { a.x = 5", "expected '}', AND, OR"),
        ("PATTERN SEQ(A a, B b) WHERE { a.x = 5 }", "braces stand after a strategy"),
        ("PATTERN SEQ(A a, !(!B b), C c)", "this is absent already"),
        ("PATTERN SEQ(A a, NOT(B b, ¬D d), C c)", "this is absent already"),
        ("PATTERN SEQ(A a, NOT(), C c)", "expected an event type"),
        ("PATTERN SEQ(A a, B b ∪ , C c)", "expected an event type"),
        (
            "PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > max(b[..i-2].x)",
            r"inside an aggregate b[], b[1..i-1] and",
        ),
        ("PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > b[i-0].x", "the members of a Kleene variable b are"),
    ],
)
def test_what_the_papers_write_is_refused_where_it_is_not_whole(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        parse(text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("15 seconds", Duration(Fraction(15_000_000))),
        ("15s", Duration(Fraction(15_000_000))),
        ("0.5 us", Duration(Fraction(1, 2))),
        ("INTERVAL '15' SECOND", Duration(Fraction(15_000_000))),
        ("1 day", Duration(Fraction(86_400_000_000))),
        ("2 weeks", Duration(Fraction(14 * 86_400_000_000))),
        ("2001 ticks", Duration(None, 2001)),
    ],
)
def test_windows(text: str, duration: Duration) -> None:
    assert parse(f"PATTERN A a WITHIN {text}").within == duration


@pytest.mark.parametrize("text", ["0.29", "29%", "29.0 %"])
def test_a_confidence_may_be_a_percentage(text: str) -> None:
    assert parse(f"PATTERN A a CONFIDENCE >= {text}").confidence == 0.29


def test_keys_and_strategy_inside_where_leave_the_condition() -> None:
    query = parse("PATTERN SEQ(A a, B b) WHERE [k, `l m`] AND a.x = 5 AND skip_till_next_match(a, b) AND [k]")
    assert query.where == Binary("=", X, Constant(5))
    assert query.partition_by == ("k", "l m")
    assert query.strategy == StrategyClause(SKIP_TILL_NEXT_MATCH, ("a", "b"))


def test_keys_alone_leave_no_condition() -> None:
    assert parse("PATTERN SEQ(A a, B b) WHERE [k]").where is None


def test_clauses_stand_in_any_order_and_case() -> None:
    one = parse(
        "return a.x within 5 ticks confidence >= .5 where a.x = 5 strategy strict_contiguity event A a"
    )
    other = parse(
        "EVENT A a WHERE a.x = 5 STRATEGY STRICT_CONTIGUITY WITHIN 5 ticks CONFIDENCE >= 0.5 RETURN a.x"
    )
    assert one == other


def test_return_names_columns() -> None:
    query = parse("PATTERN A a RETURN a.(x, `y z`, time), a.x  *\n 2, confidence AS sure, a")
    assert [(item.alias, item.text) for item in query.returns] == [
        (None, "a.x"),
        (None, "a.`y z`"),
        (None, "a.time"),
        (None, "a.x * 2"),
        ("sure", "confidence"),
        (None, "a"),
    ]
    assert [item.expression for item in query.returns[-2:]] == [MatchField("confidence"), Variable("a")]


def test_comments_and_white_space_mean_nothing() -> None:
    assert parse("PATTERN -- why\n A // what\n a") == parse("PATTERN A a")


def test_values_know_where_they_stand() -> None:
    condition = where("a.x = 5")
    assert isinstance(condition, Binary)
    start = len("PATTERN SEQ(A a, B+ b[]) WHERE ")
    assert (condition.span, condition.right.span) == (Span(start, start + 7), Span(start + 6, start + 7))


def test_a_condition_without_variables_reads_the_event_at_hand() -> None:
    assert parse_expression("`org:resource` = 'n7' AND event_type LIKE 'CPU%'") == Binary(
        "AND",
        Binary("=", Attribute("", "org:resource"), Constant("n7")),
        Like(Attribute("", "event_type"), "CPU%"),
    )


MISTAKES = {
    "": "a query needs a pattern",
    "WHERE a.x = 1": "a query needs a pattern",
    "SELECT * FROM x": "this is SQL; here it is written PATTERN SEQ(A a, B b)",
    "sequence by host [A where true] [B where true]": "this is EQL; here it is written",
    "CHOOSE a": "found 'CHOOSE', expected PATTERN",
    "PATTERN": "found the end of the query, expected an event type",
    "PATTERN SEQ(A a": "expected ',' or ')'",
    "PATTERN SEQ(A-B c)": "a type that is not a plain word is written in quotes",
    "PATTERN SEQQ(A a)": "did you mean 'SEQ'?",
    "PATTERN SEQ(A and, B b)": "found 'and', expected ',' or ')'",
    "PATTERN SEQ(A end, B b)": "'end' means a column of the match",
    "PATTERN SEQ(A a, B b[])": "needs a + after its type: Type+ b[]",
    "PATTERN A a WHERE": "found the end of the query, expected a value",
    "PATTERN A a WHERE a": None,
    "PATTERN A a WHERE a.x >": "expected a value",
    "PATTERN A a WHERE a.x < 1 < 2": "comparisons do not chain",
    "PATTERN A a WHERE a.x = 1 a.y = 2": "found 'a', expected the next clause",
    "PATTERN A a WHERE a.x = 'b": "this string has no closing '",
    "PATTERN A a WHERE a.x = “b”": "strings are written in ' or \"",
    "PATTERN A a WHERE a.x LIKE b.y": "expected a pattern in quotes",
    "PATTERN A a WHERE a.x IN 5": "'(' and the choices",
    "PATTERN A a WHERE lenght(a.x) > 1": "did you mean 'length'?",
    "PATTERN A a WHERE a.x > 9223372036854775808": "does not fit 64 bits",
    "PATTERN A a WHERE b[2].x > 1": "the members of a Kleene variable b are",
    "PATTERN A a WHERE b[i+1].x > 1": "write b[i] for the later one, b[i-1] for the earlier",
    "PATTERN B{3,2} b[]": "write the smaller one first, {2,3}",
    "PATTERN B{0} b[]": "write !B b for one that must not be there, B? b for one that may be",
    "PATTERN B{0,0} b[]": "write !B b for one that must not be there",
    "PATTERN B{,3} b[]": "braces hold a number of events, as in B{2}, B{2,3}, B{2,} or B{0,3}",
    "PATTERN B{1.5} b[]": "braces hold a number of events",
    "PATTERN B{2 b[]": "expected '}'",
    "PATTERN SEQ(A a, B? b[])": "needs a * after its type: Type* b[]",
    "PATTERN SEQ(A a, B b{2})": "how many stands once, after the type",
    "PATTERN SEQ(A a, B+? b)": "how many stands once, after the type",
    "PATTERN A a WHERE b[].x > 1": "put it into avg, sum, min, max or count",
    "PATTERN A a WHERE sum(b[]) > 1": "sum needs an attribute",
    "PATTERN A a WHERE [a.x]": "attribute without a variable",
    "PATTERN A a WHERE a.x = 1 WHERE a.y = 2": "a second WHERE clause",
    "PATTERN A a WHERE skip_till_any_match(a) STRATEGY strict_contiguity": "a second strategy",
    "PATTERN A a STRATEGY skip_till_nxt_match": "did you mean 'skip_till_next_match'?",
    "PATTERN A a WITHIN 5 parsecs": "'parsecs' is not a unit of time",
    "PATTERN A a WITHIN 5m": "did you mean 'min'?",
    "PATTERN A a WITHIN 5 msec": "did you mean 'ms'?",
    "PATTERN A a WITHIN 5 hrs": "did you mean 'hours'?",
    "PATTERN A a WITHIN 1.5 ticks": "a number of ticks must be whole",
    "PATTERN A a WITHIN INTERVAL 'x' SECOND": "expected a number",
    "PATTERN A a CONFIDENCE >= 60": "expected a confidence from 0 to 1",
    "PATTERN A a CONFIDENCE >= 101%": "expected a confidence from 0 to 1",
    "PATTERN A a RETURN": "expected a value",
    "PATTERN A a RETURN a.x AS 5": "a column name after AS",
    "PATTERN A a LIMIT 5": "found 'LIMIT': the command line says how many rows",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_say_what_was_expected(text: str) -> None:
    expected = MISTAKES[text]
    if expected is None:
        parse(text)
        return
    with pytest.raises(QuerySyntaxError) as problem:
        parse(text)
    assert expected in str(problem.value)


def test_every_clause_reports_its_problem_and_the_caret_stands_under_it() -> None:
    with pytest.raises(QuerySyntaxError) as problem:
        parse("PATTERN SEQ(A a B b)\nWHERE a.x >\nWITHIN five")
    assert str(problem.value) == (
        "line 1, column 17: found 'B', expected ',' or ')'; a type of several words is written in quotes, "
        "as in 'A a B' b\n"
        "  PATTERN SEQ(A a B b)\n"
        "                  ^\n"
        "line 3, column 1: found 'WITHIN', expected a value, such as a.value, 95 or 'text'\n"
        "  WITHIN five\n"
        "  ^^^^^^\n"
        "line 3, column 8: found 'five', expected a duration, such as 15 seconds\n"
        "  WITHIN five\n"
        "         ^^^^"
    )


def test_long_lines_are_cut_around_the_caret() -> None:
    with pytest.raises(QuerySyntaxError) as problem:
        parse("PATTERN A a WHERE " + " OR ".join(["a.x = 1"] * 500) + " OR a.x ; 2 AND a.x = 5")
    head, excerpt, caret = str(problem.value).splitlines()
    assert head.startswith("line 1, column 5")
    assert len(excerpt) < 110
    assert excerpt[caret.index("^")] == ";"
