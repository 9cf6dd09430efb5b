"""Queries resolved against events: names, types, predicates sorted by what engines do with them."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from cepctl.errors import QuerySemanticError, QueryTooLargeError
from cepctl.event_table import TIME_TYPE
from cepctl.language.ast import Attribute, Binary, Constant
from cepctl.language.parser import parse
from cepctl.language.printer import expression_to_text
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Alternative, Equality, Link, Plan, Scope
from cepctl.schema import TimeUnit

SCHEMA = EventSchema(
    {"x": pa.int64(), "y": pa.float64(), "s": pa.string(), "task_id": pa.string(), "ok": pa.bool_(),
     "org:resource": pa.string(), "nothing": pa.null()},
    TimeUnit(1_000),
    {"TaskStart": 5, "TaskFinish": 4, "CPU": 100},
)  # fmt: skip


def plan_of(query: str, schema: EventSchema | None = SCHEMA) -> Plan:
    return analyze(parse(f"PATTERN {query}"), schema)


def only(query: str) -> Alternative:
    (alternative,) = plan_of(query, None).alternatives
    return alternative


def complaints(query: str, schema: EventSchema | None = SCHEMA) -> str:
    with pytest.raises(QuerySemanticError) as problem:
        plan_of(query, schema)
    return str(problem.value)


# --- patterns -----------------------------------------------------------------------------


def test_variables_are_found_without_regard_to_case_and_lowered() -> None:
    alternative = only("SEQ(A Aa, B) WHERE AA.x > b.x AND B.y = 1")
    assert [each.variable for each in alternative.components] == ["aa", "B"]
    assert expression_to_text(alternative.links[0].expression) == "aa.x > B.x"


def test_sequences_in_sequences_and_groups_in_groups_are_flattened() -> None:
    alternative = only("SEQ(A a, SEQ(B b, AND(C c, AND(D d, E e))), !N n) WITHIN 5 s")
    assert alternative.blocks == ((0,), (1,), (2, 3, 4), (5,))
    assert [each.variable for each in alternative.components] == ["a", "b", "c", "d", "e", "n"]


def test_or_distributes_over_sequence_and_group() -> None:
    plan = plan_of("SEQ(A a, OR(B b, SEQ(C c, D d)), AND(E e, OR(F f, G g)))", None)
    names = [[each.variable for each in alternative.components] for alternative in plan.alternatives]
    assert names == [
        ["a", "b", "e", "f"],
        ["a", "b", "e", "g"],
        ["a", "c", "d", "e", "f"],
        ["a", "c", "d", "e", "g"],
    ]


def test_either_type_is_one_component() -> None:
    (one,) = only("OR(P|Q)").components
    assert (one.variable, one.event_types) == ("P|Q", ("P", "Q"))
    assert only("* x").components[0].event_types == ()


def test_a_predicate_does_not_apply_to_a_reading_without_its_variable() -> None:
    plan = plan_of("SEQ(A a, OR(B b, C c)) WHERE a.x > b.x AND c.x > 5", None)
    first, second = plan.alternatives
    assert [expression_to_text(link.expression) for link in first.links] == ["a.x > b.x"]
    assert second.links == ()
    assert [len(each.filters) for each in second.components] == [0, 1]


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("SEQ(A a, B A)", "a second component called 'a'"),
        ("SEQ(A, A)", "a second unnamed 'A': name both"),
        ("SEQ(A a, B b) WHERE c.x = 1", "no variable 'c' in the pattern; the pattern has a, b"),
        ("SEQ(A first, B b) WHERE frist.x = 1", "did you mean 'first'?"),
        ("OR(A a, B+ a[])", "bound differently in another part of the OR"),
        ("SEQ(A a, !M m, B b, !N n, C c) WHERE m.x = n.x", "may name only one negated component"),
        ("SEQ(A a, B b) WHERE skip_till_any_match(a, z)", "no variable 'z'"),
    ],
)
def test_variables_that_do_not_fit(pattern: str, complaint: str) -> None:
    assert complaint in complaints(pattern, None)


def test_or_that_multiplies_too_far_is_too_large() -> None:
    with pytest.raises(QueryTooLargeError, match="more than 64 combinations"):
        plan_of("SEQ(" + ", ".join(f"OR(A a{i}, B b{i})" for i in range(7)) + ")")


# --- predicates ---------------------------------------------------------------------------


def test_predicates_are_sorted_by_what_they_read() -> None:
    alternative = only(
        "SEQ(A a, B+ b[], !N n, C c) WHERE a.x > 5 AND b[i].x < 3 AND b[i].k = a.k AND c.x > a.x "
        "AND n.x = c.x AND avg(b[].x) > 1 AND b[i].x >= b[i-1].x AND (a.x = 1 OR c.x = 2)"
    )
    texts = [[expression_to_text(each) for each in c.filters] for c in alternative.components]
    assert texts == [["a.x > 5"], ["b[i].x < 3"], [], []]
    links = {expression_to_text(link.expression): link for link in alternative.links}
    found = {text: (link.components, link.decides, link.scope) for text, link in links.items()}
    assert found == {
        "b[i].k = a.k": ((0, 1), 1, Scope.EVENT),
        "c.x > a.x": ((0, 3), 3, Scope.EVENT),
        "n.x = c.x": ((2, 3), 2, Scope.EVENT),
        "avg(b[].x) > 1": ((1,), 1, Scope.GROUP),
        "b[i].x >= b[i-1].x": ((1,), 1, Scope.ORDER),
        "a.x = 1 OR c.x = 2": ((0, 3), 3, Scope.EVENT),
    }
    assert alternative.equalities == (Equality(1, "k", 0, "k"), Equality(2, "x", 3, "x"))


@pytest.mark.parametrize(
    "reader", ["WHERE b[first].x = 1", "WHERE b[i].x > max(b[1..i-1].x)", "RETURN b[last].x"]
)
def test_a_group_that_is_read_in_order_is_a_sequence(reader: str) -> None:
    assert only(f"SEQ(A a, B+ b[]) {reader}").components[1].ordered


def test_a_group_that_nothing_reads_in_order_is_a_set() -> None:
    assert not only("SEQ(A a, B+ b[]) WHERE avg(b[].x) > 1 AND b[i].x = a.x").components[1].ordered


def test_columns_of_different_types_are_compared_but_no_join_key() -> None:
    (alternative,) = plan_of("SEQ(CPU a, CPU b) WHERE a.x = b.y AND a.s = b.s").alternatives
    assert len(alternative.links) == 2
    assert alternative.equalities == (Equality(0, "s", 1, "s"),)


def test_a_condition_that_reads_no_event_is_carried_by_the_first_component() -> None:
    assert only("SEQ(!N n, A a, B b) WHERE 1 = 1 WITHIN 5 s").components[1].filters == (
        Binary("=", Constant(1), Constant(1)),
    )


def test_a_duration_beside_the_ends_of_the_interval_is_ticks() -> None:
    (condition,) = only("A a WHERE a.upper - a.lower >= 2 s").components[0].filters
    assert expression_to_text(condition) == "a.upper - a.lower >= 2000"


# --- types --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ("a.taskid = 't'", "no event has an attribute 'taskid' (read as a.taskid); did you mean 'task_id'?"),
        ("a.zzz = 1", "no event has an attribute 'zzz' (read as a.zzz); they have nothing, ok, org:resource"),
        ("[taks_id]", "did you mean 'task_id'?"),
        ("a.s > 5", "a.s is a string and 5 an integer: they cannot be compared"),
        ("a.x IN (1, 'b')", "a.x is an integer and 'b' a string"),
        ("a.x BETWEEN 'a' AND 2", "they cannot be compared"),
        ("a.ok > TRUE", "has no order; use = or <>"),
        ("a.s + 1 = 2", "'+' takes numbers, a.s is a string"),
        ("a.x", "a.x is not a condition"),
        ("NOT a.y", "a.y is not a condition"),
        ("a.x LIKE 'b'", "LIKE takes a string, a.x is an integer"),
        ("a.s LIKE 'b\\x'", "stands before %, _ or"),
        ("lower(a.x) = 'b'", "lower takes a string"),
        ("abs(a.s) = 1", "'abs' takes numbers"),
        ("abs(a.x, 1) = 1", "abs takes one argument, here are 2"),
        ("coalesce(a.x, a.s) = 1", "the arguments of coalesce have different types"),
        ("regexp_like(a.s, a.s)", "must be a text in quotes"),
        ("regexp_like(a.s, '(?i)x')", "look-around, named groups or flags"),
        ("a = b", "'a' is an event, not a value"),
        ("confidence > 0.5", "can be read in RETURN only"),
        ("b[i].x = 1", "'b' is one event, without [ ]"),
        ("avg(b[].x) = 1", "'b' is one event, avg takes a group"),
        ("a.x > 5 s", "a time may only be compared with another time"),
    ],
)
def test_types_and_names_that_do_not_fit(condition: str, complaint: str) -> None:
    assert complaint in complaints(f"SEQ(CPU a, CPU b) WHERE {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "a.x > 1.5 AND a.y = 2",
        "a.nothing = 5 AND a.nothing = 'x'",
        "a.ok AND NOT b.ok",
        "coalesce(a.x, a.y, NULL) > 1",
        "a.`org:resource` = a.event_id AND a.event_type LIKE 'C%'",
        "a.lower + a.x > b.upper",
        "(a.x > 1) = b.ok",
    ],
)
def test_types_that_fit(condition: str) -> None:
    plan_of(f"SEQ(CPU a, CPU b) WHERE {condition}")


def test_without_events_names_of_attributes_are_not_checked() -> None:
    plan = plan_of("SEQ(A a, B b) WHERE a.anything > 'x' AND [whatever]", None)
    assert plan.attributes == ("anything", "whatever")


def test_all_problems_come_at_once() -> None:
    message = complaints("SEQ(CPU a, CPU b) WHERE a.taks_id = 1 AND c.x = 2 WITHIN 10 us RETURN d")
    assert message.count("line 1, column") == 4


def test_a_type_that_no_event_has_is_a_warning() -> None:
    plan = plan_of("SEQ(TaskStrat a, CPU|GPU b, TaskFinish c)")
    assert plan.warnings == (
        "line 1, column 13: no event has the type 'TaskStrat'; the nearest type is TaskStart",
        "line 1, column 26: no event has the type 'GPU'; the nearest type is CPU",
    )


def test_an_attribute_that_a_time_hides_is_a_warning() -> None:
    schema = EventSchema({"timestamp": pa.string()}, TimeUnit(1_000))
    (warning,) = plan_of("A a RETURN a.timestamp", schema).warnings
    assert warning == (
        "line 1, column 20: a.timestamp is the time of the event; the attribute of that name is a.`timestamp`"
    )
    assert plan_of("A a RETURN a.`timestamp`, a.time", schema).warnings == ()


def test_an_attribute_called_like_where_events_came_from_is_a_warning_once() -> None:
    schema = EventSchema({"attr:source": pa.string(), "port": pa.int64()}, TimeUnit(1_000))
    (warning,) = plan_of(
        "A a WHERE a.source = 'fw' AND a.record > 1 RETURN a.source, a.port", schema
    ).warnings
    assert warning == (
        "line 1, column 19: a.source is the file that the event came from; "
        "the attribute of that name is a.`attr:source`"
    )
    assert plan_of("A a RETURN a.`attr:source`", schema).warnings == ()


# --- window and columns -------------------------------------------------------------------


def test_the_window_is_counted_in_ticks_of_the_dataset() -> None:
    schema = EventSchema({}, TimeUnit(15_000_000))
    assert plan_of("A a WITHIN 1 min", schema).window == 4
    assert "20 s is not a whole number of ticks: one tick is 15 s" in complaints("A a WITHIN 20 s", schema)
    for window in ("0 ticks", "0 s", "0.0 ms", "INTERVAL '0' SECOND"):
        assert "WITHIN needs at least one tick, which is 15 s" in complaints(f"A a WITHIN {window}", schema)
    assert "WITHIN needs" in complaints("SEQ(A a, !N n) WITHIN 0 days", schema)


def test_returned_columns_have_names_and_arrow_types() -> None:
    plan = plan_of(
        "SEQ(CPU a, CPU+ b[]) RETURN a.x, a.s AS word, a.x / 2, avg(b[].x), count(b[]), max(b[].y), a.time, "
        "a.lower, a, b, confidence AS sure, confidence, end - start AS span, a.x > 1, upper(a.s), a.nothing"
    )
    assert {column.name: column.type for column in plan.returns} == {
        "a.x": pa.int64(),
        "word": pa.string(),
        "a.x / 2": pa.float64(),
        "avg(b[].x)": pa.float64(),
        "count(b[])": pa.int64(),
        "max(b[].y)": pa.float64(),
        "a.time": TIME_TYPE,
        "a.lower": pa.int64(),
        "a": pa.string(),
        "b": pa.string(),
        "sure": pa.float64(),
        "span": pa.int64(),
        "a.x > 1": pa.bool_(),
        "upper(a.s)": pa.string(),
        "a.nothing": pa.null(),
    }


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ("a.x, a.x", "a second column 'a.x': give it another name with AS"),
        ("a.x AS match", "a second column 'match'"),
        ("b[i].x", "b[i] stands for many values"),
        ("n.x", "'n' is negated: a match binds no event to it"),
        ("5 s", "a duration stands in conditions; RETURN duration(a, b)"),
        ("a.time - a.time", "RETURN duration(a, b) gives how long it took"),
        ("max(b[1..i-1].x)", "allowed in WHERE only"),
    ],
)
def test_what_cannot_be_returned(items: str, complaint: str) -> None:
    assert complaint in complaints(f"SEQ(CPU a, !CPU n, CPU+ b[]) RETURN {items}")


def test_a_plan_travels_between_processes() -> None:
    plan = plan_of("SEQ(CPU a, CPU+ b[], OR(CPU c, CPU d)) WHERE a.x > avg(b[].x) WITHIN 5 s RETURN a.x")
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_links_know_their_attributes() -> None:
    link = only("SEQ(A a, B b) WHERE a.x < b.x").links[0]
    assert link == Link(Binary("<", Attribute("a", "x"), Attribute("b", "x")), (0, 1), 1)
