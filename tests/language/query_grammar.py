"""Hypothesis strategies for queries: values of the AST as the parser makes them, and texts like queries."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from cepctl.language.aggregates import AGGREGATES
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
    GivenClause,
    In,
    IsNull,
    Like,
    MatchField,
    Pattern,
    Quantifier,
    Query,
    ReturnItem,
    StrategyClause,
    Unary,
    Variable,
)
from cepctl.language.keywords import ALLEN_RELATIONS
from cepctl.language.strategies import STRATEGIES

NAMES = st.sampled_from(
    [
        *("a", "b", "Case", "x1", "_u", "é", "Á b", "org:resource", "it's", "a`b", "percent%", "s", "ticks"),
        *("time", "Start", "AND", "not", "seq", "interval", "within", "before", "count", "abs", "null"),
    ]
)
TEXTS = st.one_of(st.sampled_from(["", "it's", '"', "%_", "\\", "--", "95%", "é\n"]), st.text(max_size=6))
NUMBERS = st.one_of(
    st.integers(0, 2**63 - 1),
    st.floats(0, 1e300, allow_nan=False).map(abs),
    st.sampled_from([95, 0, 0.5, 1e22]),
)
DURATIONS = st.one_of(
    st.integers(0, 10**6).map(lambda ticks: Duration(None, ticks)),
    st.builds(
        lambda amount, unit: Duration(Fraction(amount) * unit),
        st.decimals(0, 10**6, places=3),
        st.sampled_from([1, 1_000, 1_000_000, 60_000_000, 86_400_000_000]),
    ),
)
MEMBERS = st.sampled_from([None, "each", "previous", "first", "last"])
LEAVES: st.SearchStrategy[Expression] = st.one_of(
    st.builds(Constant, st.one_of(NUMBERS, TEXTS, st.booleans(), st.none())),
    DURATIONS,
    st.builds(Attribute, NAMES, NAMES, MEMBERS),
    st.builds(EventTime, NAMES, st.sampled_from(["time", "lower", "upper", "start", "end"]), MEMBERS),
    st.builds(
        lambda name, attribute, back: Attribute(name, attribute, "previous", back=back),
        *(NAMES, NAMES, st.integers(1, 10**6)),
    ),
    st.builds(lambda name, attribute: Aggregate("max", name, attribute, before=True, own=True), NAMES, NAMES),
    st.builds(Variable, NAMES),
    st.builds(MatchField, st.sampled_from(["start", "end", "confidence"])),
    st.builds(Aggregate, st.sampled_from(list(AGGREGATES)), NAMES, NAMES, st.booleans()),
    st.builds(lambda name, before: Aggregate("count", name, None, before), NAMES, st.booleans()),
    st.builds(
        Allen,
        st.lists(st.sampled_from(ALLEN_RELATIONS), min_size=1, max_size=3, unique=True).map(tuple),
        *(NAMES, NAMES, st.one_of(st.none(), DURATIONS)),
    ),
    st.builds(Allen, st.just(("intersects",)), NAMES, NAMES, st.none(), st.one_of(st.none(), DURATIONS)),
)


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    choices = st.lists(inner, min_size=1, max_size=3).map(tuple)
    operators = st.sampled_from(["AND", "OR", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "%"])
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "+", "NOT"]), inner),
        st.builds(Binary, operators, inner, inner),
        st.builds(Binary, operators, inner, inner),
        st.builds(In, inner, choices, st.booleans()),
        st.builds(Between, inner, inner, inner, st.booleans()),
        st.builds(Like, inner, TEXTS, st.booleans()),
        st.builds(IsNull, inner, st.booleans()),
        st.builds(Call, st.sampled_from(["abs", "lower", "coalesce", "regexp_like"]), choices),
    )


EXPRESSIONS = st.recursive(LEAVES, _larger, max_leaves=8)


def _with_repetitions(pattern: Composite) -> Composite:
    """Of a repeated SEQ the single components bind an event in each repetition."""
    if pattern.operator != "SEQ" or pattern.negated or not pattern.kleene:
        return pattern
    parts = (
        replace(each, kleene=True, repeated=True)
        if isinstance(each, ComponentPattern) and not (each.negated or each.kleene or each.quantifier)
        else each
        for each in pattern.parts
    )
    return replace(pattern, parts=tuple(parts))


COMPONENTS = st.builds(
    ComponentPattern,
    st.lists(NAMES, max_size=2).map(tuple),
    st.one_of(st.none(), NAMES),
    st.booleans(),
    st.booleans(),
).flatmap(
    lambda component: st.sampled_from(
        [
            component,
            replace(component, kleene=True, running=True),
            replace(component, kleene=False, quantifier=Quantifier(0, 1)),
            replace(component, kleene=True, quantifier=Quantifier(0, None)),
            replace(component, kleene=True, quantifier=Quantifier(2, 2, braces=True)),
            replace(component, kleene=True, quantifier=Quantifier(0, 3, braces=True)),
            replace(component, kleene=True, quantifier=Quantifier(2, None, braces=True)),
        ]
    )
)
PATTERNS: st.SearchStrategy[Pattern] = st.recursive(
    COMPONENTS,
    lambda inner: st.builds(
        Composite,
        st.sampled_from(["SEQ", "AND", "OR", "ISEQ"]),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.booleans(),
        st.booleans(),
    ).map(_with_repetitions),
    max_leaves=6,
)
QUERIES = st.builds(
    Query,
    PATTERNS,
    st.one_of(st.none(), EXPRESSIONS),
    st.lists(NAMES, max_size=2, unique=True).map(tuple),
    st.one_of(
        st.none(),
        st.builds(
            StrategyClause, st.sampled_from(list(STRATEGIES.values())), st.lists(NAMES, max_size=2).map(tuple)
        ),
    ),
    st.one_of(st.none(), DURATIONS),
    st.one_of(st.none(), st.floats(0, 1).map(abs)),
    st.one_of(st.none(), st.lists(st.builds(ReturnItem, EXPRESSIONS), max_size=2).map(tuple)),
    st.lists(st.builds(ReturnItem, EXPRESSIONS, st.one_of(st.none(), NAMES)), max_size=3).map(tuple),
    st.lists(
        st.builds(
            GivenClause,
            st.builds(
                Composite,
                st.sampled_from(["SEQ", "AND"]),
                st.lists(COMPONENTS, min_size=1, max_size=2).map(tuple),
            ),
            EXPRESSIONS,
            st.one_of(st.none(), DURATIONS),
        ),
        max_size=2,
    ).map(tuple),
)

# Words and signs that queries are made of, to be strung together without sense.
# fmt: off
_SCRAPS = st.sampled_from([
    "PATTERN", "EVENT", "WHERE", "PARTITION", "BY", "STRATEGY", "WITHIN", "CONFIDENCE", "GROUP", "RETURN",
    "GIVEN", "IF",
    "SEQ(", "AND(", "OR(", "ISEQ(", "ISEQ[", "AND", "OR", "NOT", "IN", "(", ")", "[", "]", "[]", "[i]",
    "[i-1]", "[1..i-1]", "[first]", "[b.LEN]", ",", ".", "..", ";", "|", "!", "~", "*", "+", "-", "/", "%",
    "=", "==", "!=", "<>", "<", "<=", ">", ">=", "×", "∧", "∨", "¬", "≥", "≤", "≠", "A", "B+", "C", "a", "b",
    "B?", "B*", "B{", "2", "}", "c", "a.x", "b[i].x", "a.time", "b.time", "a.lower", "b.start",
    "avg(b[].x)", "count(b[])", "5", "0.5",
    "1e5", "1e999", "99999999999999999999", "5s", "15", "seconds", "ticks", "INTERVAL", "'15'", "'x'",
    '"y"', "`", "`z`", "'unclosed", "NULL", "TRUE", "LIKE", "BETWEEN", "IS", "AS", "skip_till_any_match",
    "overlaps", "a.(x,y)", "partition_contiguity", "regexp_like(a.x,'[')", "coalesce(", "abs()", "--", "//",
    "\\", "😀", "\x00", "\ud800", "\t", "\n",
])
# fmt: on
SCRAP_TEXTS = st.lists(_SCRAPS, max_size=40).map(" ".join)


@st.composite
def query_texts(draw: st.DrawFn) -> str:
    """A query that mostly makes sense: a few variables, used in conditions that may or may not fit."""
    variables = draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True))
    parts = []
    for variable in variables:
        kind = draw(st.sampled_from(["", "", "", "!", "+", "or", "and", "?", "*", "{2}"]))
        name = draw(st.sampled_from(["A", "B", "C|D", "*", "'E F'"]))
        parts.append(
            {
                "!": f"!{name} {variable}",
                "+": f"{name}+ {variable}[]",
                "?": f"{name}? {variable}",
                "*": f"{name}* {variable}[]",
                "{2}": f"{name}{{2}} {variable}[]",
                "or": f"OR({name} {variable}, G {variable}2)",
                "and": f"AND({name} {variable}, H {variable}3)",
            }.get(kind, f"{name} {variable}")
        )
    readings = [".x", ".y", ".s", "[i].x", "[i-1].x", "[last].x", ".time", "[i].time", ".lower", ".end"]
    constants = ["5", "'text'", "2.5", "NULL", "5 s", "'2020-01-01'", f"max({variables[-1]}[].x)"]
    operators = ["=", "<", ">=", "<>", "+ 1 >", "- b.time <=", "% 2 =", "LIKE", "IS NOT NULL AND 5 <", "IN ("]
    named = st.sampled_from([*variables, variables[0], "q"])
    read = st.tuples(named, st.sampled_from(readings)).map("".join)
    operand = read | st.sampled_from(constants)
    condition = st.tuples(operand, st.sampled_from(operators), operand).map(" ".join)
    keys = st.lists(st.sampled_from(["[x]", "[k]"]), max_size=1)
    conditions = [*draw(st.lists(condition, max_size=4)), *draw(keys)]
    clauses = [f"PATTERN SEQ({', '.join(parts)})"]
    if conditions:
        clauses.append("WHERE " + draw(st.sampled_from([" AND ", " AND ", " OR "])).join(conditions))
    clauses += draw(st.lists(st.sampled_from(["WITHIN 5 s", "WITHIN 0 ticks", "WITHIN 0.1 ms"]), max_size=1))
    clauses += draw(st.lists(st.sampled_from([f"STRATEGY {word}" for word in STRATEGIES]), max_size=1))
    clauses += draw(st.lists(operand.map(lambda value: f"RETURN {value} AS r, {value}"), max_size=1))
    return " ".join(draw(st.permutations(clauses)))
