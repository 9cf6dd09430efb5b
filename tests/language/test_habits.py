"""What users of SQL, EQL, KQL and Flink write is one error with one remedy; queries of ours stay."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.errors import CepctlError
from cepctl.language.habits import ParserPlace, habit
from cepctl.language.parser import parse, parse_expression
from cepctl.language.tokens import tokenize
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import TimeUnit

SCHEMA = EventSchema({"node": pa.string(), "task_id": pa.string(), "value": pa.int64()}, TimeUnit(1_000))
AB = "PATTERN SEQ(A a, B b)"
MISTAKES = [
    (f"{AB} WHERE a.value = 1 && b.value = 2", "found '&&': conditions are joined by AND"),
    (f"{AB} WHERE a.value = 1 & b.value = 2", "found '&': conditions are joined by AND"),
    (f"{AB} WHERE a.value = 1 || b.value = 2", "found '||': alternatives are joined by OR"),
    (f"{AB} WHERE !(a.value = 1)", "as in NOT a.x = 1, or a.x <> 1"),
    (f"{AB} WHERE a.value === 1", "equality is written ="),
    (f"{AB} WHERE a.value => 1", "at least is written >="),
    (f"{AB} WHERE a.value =< 1", "at most is written <="),
    (f"{AB} WHERE a->value = 1", "an attribute is written a.x"),
    (f"{AB} WHERE $a.value = 1", "a name has no $"),
    (f"{AB} WHERE a.node : 'n*'", "a.x LIKE 'begin%'"),
    (f"{AB} WHERE a.node =~ 'n.*'", "regexp_like(a.x, 'expression')"),
    (f"{AB} WHERE a.node CONTAINS 'n'", "a.x LIKE 'begin%'"),
    (f"{AB} WHERE a.node STARTSWITH 'n'", "a.x LIKE 'begin%'"),
    (f"{AB} WHERE a.value = 1, b.value = 2", "conditions stand in WHERE, joined by AND"),
    (f"{AB} AND a.value = 1", "conditions stand in WHERE, joined by AND"),
    (f"{AB} WHERE confidence >= 0.5", "a clause of its own keeps likely matches: CONFIDENCE >= 0.6"),
    (f"{AB} WHERE node = 'n1'", "an attribute is read of a variable, as in a.node"),
    (f"{AB} WHERE a.node = n1", "a text is written in quotes, 'n1'"),
    (f"{AB} WHERE b.value < 80%*a.value", "80% is not a factor: it would be 80; write 0.8 * a.value"),
    (f"{AB} WHERE b.value < (2.5%) * a.value", "write 0.025 * a.value"),
    (f"{AB} WHERE b.value < a.value * 80%", "write ... * 0.8"),
    (f"{AB} WHERE b.value < 80%/2", "write 0.8 / ..."),
    (f"{AB} GROUP BY task_id", "as in GROUP BY a.task_id"),
    (f"{AB} GROUP BY [task_id]", "as in GROUP BY a.task_id"),
    (f"{AB} PARTITION BY a.node", "as in PARTITION BY node"),
    (f"{AB} RETURN task_id", "or RETURN a.task_id"),
    (f"{AB} GROUP BY *", "GROUP BY names its keys, as in GROUP BY a.x"),
    (f"{AB} RETURN COUNT(*)", "counted by GROUP BY a.x"),
    (f"{AB} RETURN a.node ORDER BY confidence", "rows come in the order of their confidence"),
    (f"{AB} ORDER BY a.time DESC LIMIT 10", "--top-k N keeps the first N"),
    (
        f"{AB} LIMIT 10",
        "--top-k N keeps the N most probable, --limit N writes N, --max-matches N refuses more",
    ),
    (f"{AB} WITHIN 5 s HAVING count(b) > 1", "left out by CONFIDENCE >= 0.6"),
    (f"{AB} within=5s", "WITHIN is followed by the duration alone, as in WITHIN 5 s"),
    (f"{AB} WITHIN '5 s'", "WITHIN is followed by the duration alone"),
    (f"{AB} with maxspan=5s", "the window is written WITHIN 5 s"),
    (f"{AB} AFTER MATCH SKIP TO NEXT ROW", "says which events are skipped"),
    (f"{AB} | where a.value = 1", "there are no pipes"),
    (f"{AB};", "a query ends without ';'"),
    (f"{AB} # why", "a comment begins with --"),
    (f"{AB} /* why */", "a comment begins with --"),
    ("PATTERN A a -> B b", "events in sequence are written PATTERN SEQ(A a, B b)"),
    ("PATTERN SEQ(A a -> B b)", "events in sequence are written PATTERN SEQ(A a, B b)"),
    ("PATTERN A a FOLLOWED BY B b", "events in sequence are written PATTERN SEQ(A a, B b)"),
    ("PATTERN A a, B b", "several components stand in SEQ(...), AND(...) or OR(...)"),
    ("PATTERN (A a, B b)", "a pattern begins with SEQ, AND or OR"),
    ("PATTERN (a b+ c) DEFINE a AS value > 1", "a pattern begins with SEQ, AND or OR"),
    ("PATTERN SEQ(A a; B b)", "components are separated by ','"),
    ("PATTERN SEQ(A AS a, B AS b)", "follows its type without AS"),
    ("PATTERN SEQ(a:A, b:B)", "the type comes first and its variable after it"),
    ("PATTERN SEQ(A a, B b*, C c)", "how many stands once, after the type, as in B? b, B* b[]"),
    ("PATTERN SEQ(A a, B b?, C c)", "how many stands once, after the type"),
    ("PATTERN SEQ(A a, B+{2} b, C c)", "how many stands once, after the type"),
    ("PATTERN SEQ(Request For Payment r, B b)", "in quotes, as in 'Request For Payment' r"),
    ("PATTERN SEQ(Task Start a, B b)", "in quotes, as in 'Task Start' a"),
    ("sequence by node [A where true]", "this is EQL"),
    ("SELECT * FROM events", "this is SQL"),
]


@pytest.mark.parametrize(("query", "remedy"), MISTAKES, ids=[query for query, _ in MISTAKES])
def test_a_habit_is_one_error_with_its_remedy(query: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as raised:
        analyze(parse(query), SCHEMA)
    said = str(raised.value)
    assert remedy in said
    assert len([line for line in said.splitlines() if line.startswith("line ")]) == 1


@pytest.mark.parametrize(
    "query",
    [
        f"{AB} WHERE a.value == 1 AND b.value != 2",
        f"{AB} WHERE a.value > 95% AND b.value % 2 = 1",
        f"{AB} WHERE a.value > 80% + b.value * 2",
        "PATTERN SEQ(Limit order, Next then) WHERE order.value = then.value",
        "PATTERN SEQ(A next, !B order, A limit) WITHIN 5 s",
        f"{AB} WHERE a.node IN ('ORDER', '&&') -- LIMIT && ORDER BY",
    ],
)
def test_words_and_signs_of_other_languages_keep_their_place_in_ours(query: str) -> None:
    assert analyze(parse(query), SCHEMA)


def test_signs_that_no_rule_takes_are_refused_wherever_they_stand() -> None:
    """They are tokens so that they can be explained; no query may be read as if they were not there."""
    words = ["PATTERN", "SEQ", "(", "A", "a", ",", "B", "b", ")", "WHERE", "a", ".", "value", "=", "1",
             "WITHIN", "5", "s", "RETURN", "a", ".", "node"]  # fmt: skip
    parse(" ".join(words))
    for sign in ("&&", "&", "||", "===", "=>", "=<", "=~", "->", "/*", "?", "{", "}", ":", "#", "$", "@"):
        for place in range(len(words) + 1):
            if sign == "?" and words[place - 1] in ("A", "B"):
                continue
            with pytest.raises(CepctlError):
                parse(" ".join([*words[:place], sign, *words[place:]]))


def test_what_is_no_habit_has_no_remedy() -> None:
    (token, _), _ = tokenize("frobnicate")
    assert habit(token, ParserPlace("WHERE")) is None


def test_a_share_at_the_begin_of_a_condition_is_looked_at_once() -> None:
    assert parse_expression("((-95%) < node)")
    with pytest.raises(CepctlError, match=r"write 0\.95 \* \.\.\."):
        parse_expression("(-(95%)) * node > 1")
