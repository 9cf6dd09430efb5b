"""The order of binding, and the reason that goes with it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.evaluation_order import (
    ORDERS,
    EvaluationOrder,
    OrderName,
    estimated_count,
    evaluation_order,
)
from cepctl.plan.plan import Alternative

COUNTS = {"A": 1_000, "B": 500, "C": 2, "D": 900}


def reading(text: str) -> Alternative:
    return analyze(parse(f"PATTERN {text}")).alternatives[0]


def chosen(
    text: str, counts: Mapping[str, int] | None = COUNTS, wanted: OrderName = "auto"
) -> EvaluationOrder:
    return evaluation_order(reading(text), counts, wanted)


def test_auto_keeps_the_query_order_without_counts() -> None:
    found = chosen("SEQ(A a, B b)", None)
    assert (found.name, found.components) == ("sort", (0, 1))
    assert "counts per event type are not known" in found.reason


def test_auto_keeps_the_query_order_where_little_is_gained() -> None:
    found = chosen("SEQ(A a, B b)")
    assert (found.name, found.components) == ("sort", (0, 1))
    assert found.reason == "the order of the query: its first component has 1,000 events, the rarest 500"


def test_auto_starts_with_a_component_that_is_much_rarer() -> None:
    found = chosen("SEQ(A a, B b, C c)")
    assert (found.name, found.components) == ("selectivity", (2, 1, 0))
    assert "c has the fewest events (2)" in found.reason


def test_join_keys_draw_a_component_nearer_than_neighbours_in_time() -> None:
    assert chosen("SEQ(A a, B b, C c) WHERE a.k = c.k").components == (2, 0, 1)


def test_selectivity_goes_by_counts_alone() -> None:
    assert chosen("SEQ(A a, B b, C c, D d)", wanted="selectivity").components == (2, 1, 3, 0)


def test_groups_and_absent_events_are_not_in_the_order() -> None:
    assert chosen("SEQ(A a, B+ b[], !C n, D d)").components == (0, 3)


@pytest.mark.parametrize("wanted", ORDERS)
@pytest.mark.parametrize("counts", [None, COUNTS, {}])
def test_every_order_binds_every_component_once(wanted: OrderName, counts: Mapping[str, int] | None) -> None:
    found = chosen("SEQ(A a, AND(B b, * x), C c)", counts, wanted)
    assert sorted(found.components) == [0, 1, 2, 3]
    assert found.reason


def test_counts_of_either_and_any_type() -> None:
    alternative = reading("SEQ(A|C x, * y, Unknown z)")
    assert [estimated_count(alternative, i, COUNTS) for i in range(3)] == [1_002, 2_402, 0]
    assert estimated_count(alternative, 0, None) is None
