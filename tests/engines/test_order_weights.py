"""The judge under laws of order: what orders a world stands for, how repeats count, which events tell."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pyarrow as pa
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.worlds.engine import exact_matches
from cepctl.engines.worlds.one_world import Times
from cepctl.engines.worlds.order_weights import keys_under_laws, root
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.laws.law import OrderLaw
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import MILLISECOND

Event = tuple[str, str, int, int, str | None]


def table(*events: Event, clock: Mapping[str, str] | None = None) -> pa.Table:
    ids = [each[1] for each in events]
    columns = {
        "event_id": pa.array(ids),
        "event_type": pa.array([each[0] for each in events]),
        "lower": pa.array([each[2] for each in events], pa.int64()),
        "upper": pa.array([each[3] for each in events], pa.int64()),
        "pmf": pa.nulls(len(events), pa.list_(pa.float64())),
        "k": pa.array([each[4] for each in events], pa.string()),
    }
    if clock is not None:
        columns["clock"] = pa.array([clock.get(each) for each in ids], pa.string())
    return pa.table(columns)


def confidence(
    query: str,
    events: pa.Table,
    law: OrderLaw,
    clocks: Clocks | None = None,
) -> Fraction:
    schema = EventSchema({"k": pa.string()}, MILLISECOND, clocks=clocks or {}, laws=(law,))
    (found,) = exact_matches(analyze(parse(f"PATTERN {query}"), schema), events).values()
    return found.confidence


def rows(*events: Event) -> list[dict[str, object]]:
    found: list[dict[str, object]] = table(*events).to_pylist()
    return found


A_THEN_B = OrderLaw("k", following={("A", "B"): 4.0})
A_BEFORE_B = OrderLaw("k", before={("A", "B"): 8.0})


def test_a_tie_weighs_the_mean_of_its_orders() -> None:
    (key,) = keys_under_laws([A_THEN_B], rows(("A", "a", 1, 2, "x"), ("B", "b", 1, 2, "x")))
    assert key.weight(Times((1, 2))) == 4
    assert key.weight(Times((2, 1))) == 1
    assert key.weight(Times((1, 1))) == Fraction(5, 2)


def test_the_first_and_the_last_event_follow_the_begin_and_precede_the_end() -> None:
    law = OrderLaw("k", following={("^", "A"): 2.0, ("B", "$"): 3.0, ("A", "$"): 5.0})
    (key,) = keys_under_laws([law], rows(("A", "a", 1, 2, "x"), ("B", "b", 1, 2, "x")))
    assert key.weight(Times((1, 2))) == 6
    assert key.weight(Times((2, 1))) == 5


@pytest.mark.parametrize(
    ("others", "m"),
    [
        ([], 1),
        ([("B", "b2", 4, 5, "x")], 2),
        ([("B", "b2", 4, 5, "x"), ("B", "b3", 3, 3, "x")], 3),
        ([("A", "a2", 1, 4, "x"), ("A", "a3", 0, 4, "x")], 3),  # those that share a tick with b count as well
        ([("B", "b2", 6, 6, "x")], 1),  # which shares no tick with a
        ([("B", "b2", 4, 5, "y"), ("C", "c", 4, 5, "x")], 1),  # of another key, of another step
    ],
)
def test_repeats_that_share_a_tick_count_as_one_habit(others: list[Event], m: int) -> None:
    (key, *_) = keys_under_laws([A_BEFORE_B], rows(("A", "a", 1, 5, "x"), ("B", "b", 2, 5, "x"), *others))
    assert key._before(0, 1) == root(8.0, m)


def test_intervals_share_a_tick_whatever_the_masses_inside() -> None:
    events = rows(("A", "a", 1, 9, "x"), ("B", "b", 1, 9, "x"), ("B", "b2", 5, 5, "x"))
    events[0]["pmf"] = [(1, 2, 0.5), (8, 9, 0.5)]
    (key,) = keys_under_laws([A_BEFORE_B], events)
    assert key._before(0, 1) == root(8.0, 2)


def test_of_events_that_share_no_tick_each_counts_itself() -> None:
    (key,) = keys_under_laws([A_BEFORE_B], rows(("A", "a", 1, 2, "x"), ("B", "b", 4, 5, "x")))
    assert key._before(0, 1) == 8


def test_roots_are_exact_where_they_can_be() -> None:
    assert root(8.0, 3) == 2
    assert root(0.25, 2) == Fraction(1, 2)
    assert root(0.3, 1) == Fraction(0.3)
    assert abs(root(2.0, 2) ** 2 - 2) < Fraction(1, 10**50)


def test_steps_are_the_texts_of_attributes_with_plus_between() -> None:
    events = rows(("A", "a", 1, 2, "x"), ("B", "b", 1, 2, "x"))
    events[0] |= {"n": 3, "done": True}
    events[1] |= {"n": None, "done": False}
    law = OrderLaw("k", ("event_type", "n", "done"), {("A+3+true", "B++false"): 4.0})
    (key,) = keys_under_laws([law], events)
    assert key.weight(Times((1, 2))) == 4


def test_events_of_other_keys_and_without_one_are_under_no_law() -> None:
    for key in ("y", None):
        assert confidence(
            "SEQ(A a, B b)", table(("A", "a", 1, 4, "x"), ("B", "b", 1, 4, key)), A_THEN_B
        ) == Fraction(3, 8)


def test_an_event_that_no_component_asks_for_weighs_worlds_too() -> None:
    events = table(("A", "a", 1, 2, "x"), ("C", "c", 1, 2, "x"), ("B", "b", 3, 3, "x"))
    # a c b 1, c a b 4, a tie 5/2 in each of two worlds: the last event before b is an A rather than a C.
    assert confidence("SEQ(C c, A a)", events, A_THEN_B) == Fraction(4, 10)


def test_a_key_in_certain_order_changes_nothing() -> None:
    events = table(("A", "a", 1, 1, "x"), ("B", "b", 2, 2, "x"), ("C", "c", 1, 4, None))
    assert confidence("SEQ(A a, C c)", events, A_THEN_B) == Fraction(3, 4)


def test_worlds_that_contradict_what_is_given_weigh_nothing() -> None:
    events = table(("A", "a", 1, 2, "x"), ("B", "b", 1, 2, "x"), ("C", "c", 2, 2, "x"))
    query = "SEQ(A a, B b) GIVEN AND(A a, C c) WITHIN 1 tick IF a.k = c.k"  # a at 2
    assert not exact_matches(
        analyze(parse(f"PATTERN {query}"), EventSchema({"k": pa.string()}, MILLISECOND, laws=(A_THEN_B,))),
        events,
    )
    query = "SEQ(B b, A a) GIVEN AND(A a, C c) WITHIN 1 tick IF a.k = c.k"
    # b 1: b, then a and c in either order: 1.  b 2: a tie of six orders, two with b right after a: 2.
    assert confidence(query, events, A_THEN_B) == Fraction(1, 3)


def test_a_law_of_one_key_tells_of_another_through_their_clock() -> None:
    clock = {"a": "n", "c": "n"}
    events = table(
        ("A", "a", -1, 3, "x"),
        ("B", "b", 1, 1, "x"),
        ("C", "c", 9, 13, None),
        ("D", "d", 11, 11, None),
        clock=clock,
    )
    clocks = {"n": ((-1, 3, 1.0),)}
    # a and c are early together: offsets -1, 0 weigh 4, offset 1 ties a and b: 5/2, later ones 1.
    assert confidence("SEQ(C c, D d)", events, A_THEN_B, clocks) == Fraction(8, 8 + Fraction(5, 2) + 2)


def test_partitions_are_apart_only_where_no_law_joins_them() -> None:
    events = table(("A", "a", 1, 4, "x"), ("B", "b", 1, 4, "x"))
    assert confidence("SEQ(A a, B b) WHERE [k]", events, A_THEN_B) == Fraction(3, 5)
    events = events.append_column("m", pa.array(["u", "v"]))
    law = OrderLaw("m", following={("A", "B"): 4.0})
    schema = EventSchema({"k": pa.string(), "m": pa.string()}, MILLISECOND, laws=(law, A_THEN_B))
    with pytest.raises(
        EventSchemaError, match="event 'a' has a m and a k, and is under the laws of order of both"
    ):
        exact_matches(analyze(parse("PATTERN SEQ(A a, B b) WHERE [k]"), schema), events)


@pytest.mark.parametrize("step", ["^", "$"])
def test_a_step_that_means_an_end_of_a_key_is_refused(step: str) -> None:
    with pytest.raises(EventSchemaError, match=r"event 'a' has the step '\S', by which a law of order means"):
        keys_under_laws([A_THEN_B], rows((step, "a", 1, 2, "x")))
    assert keys_under_laws([A_THEN_B], rows((step, "a", 1, 2, None))) == ()


def test_more_orders_than_can_be_summed_are_refused() -> None:
    events = rows(*(("A", f"a{i}", 1, 1, "x") for i in range(10)))
    (key,) = keys_under_laws([A_THEN_B], events)
    with pytest.raises(QueryTooLargeError, match="3,628,800 orders of the events of k = x agree"):
        key.weight(Times((1,) * 10))
