"""The orders of what AND leaves open, and what rules of absence become in each of them."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.pattern.blocks import Region, Shape
from cepctl.engines.pattern.shapes import shape_of
from cepctl.engines.pattern.total_orders import has_total_orders, total_orders
from cepctl.engines.worlds.engine import match_table as judge
from tests.engines.agreement import assert_same_rows
from tests.engines.changed_methods import measure_nothing
from tests.plans import Event, event_table, histogram, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT


def shape(query: str) -> Shape:
    plan = plan_of(f"PATTERN {query}")
    return shape_of(plan, plan.alternatives[0])


def gaps(regions: tuple[Region, ...]) -> list[tuple[int, ...]]:
    """The numbers of the events at both ends of each region."""
    return [tuple(end.point.block for end in region if end.point) for region in regions]


def test_events_of_and_come_one_after_the_other_or_at_one_tick() -> None:
    found = [each.steps for each in total_orders(shape(f"SEQ(A a, AND(B b, C c)) STRATEGY {STRICT}"))]
    assert found == [((0,), (1,), (2,)), ((0,), (2,), (1,)), ((0,), (1, 2))]
    three = shape(f"AND(A a, B b, C c) STRATEGY {STRICT}")
    assert len(list(total_orders(three))) == 13
    branch = shape(f"AND(A a, SEQ(B b, C c)) STRATEGY {STRICT}")
    assert [each.steps for each in total_orders(branch)] == [
        ((0,), (1,), (2,)),
        ((1,), (0,), (2,)),
        ((1,), (2,), (0,)),
        ((0, 1), (2,)),
        ((1,), (0, 2)),
    ]


def test_contiguity_speaks_of_each_gap_of_an_order_and_spares_its_ticks() -> None:
    for order in total_orders(shape(f"SEQ(A a, AND(B b, C c, A d)) STRATEGY {STRICT}")):
        (rule,) = order.chain.rules
        count = len(order.steps)
        assert gaps(rule.regions) == [(number, number + 1) for number in range(count - 1)]


def test_next_match_keeps_rivals_out_from_the_event_before_the_group_on() -> None:
    first, second, tied = total_orders(shape(f"SEQ(A a, AND(B b, C c)) STRATEGY {NEXT}"))
    assert [gaps(rule.regions) for rule in first.chain.rules] == [[(0, 1)], [(0, 2)]]
    assert [gaps(rule.regions) for rule in second.chain.rules] == [[(0, 2)], [(0, 1)]]
    assert [gaps(rule.regions) for rule in tied.chain.rules] == [[(0, 1)]]


@pytest.mark.parametrize(
    "query",
    [
        f"SEQ(A a, B b) STRATEGY {NEXT}",
        f"AND(A a, B b) STRATEGY {ANY}",
        f"AND(A a, B b, C c, A d, B e) STRATEGY {NEXT}",
        f"AND(A a, B b) WHERE b.time - a.time <= 3 ticks STRATEGY {NEXT}",
        f"SEQ(AND(A a, B b), C+ c[]) STRATEGY {STRICT}",
    ],
)
def test_other_shapes_are_left_to_other_methods(query: str) -> None:
    assert not has_total_orders(shape(query))


@pytest.mark.parametrize("strategy", [NEXT, STRICT, PARTITION])
def test_wide_intervals_give_what_nested_sums_give(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [
        Event(f"e{i}", "ABCBACBCA"[i], 9_000 * i, 9_000 * i + 20_000 + 1_000 * (i % 4), k="p")
        for i in range(6)
    ]
    events[4] = Event("e4", "B", 30_000, 52_000, ((30_000, 40_000, 0.25), (45_000, 52_000, 0.75)), k="p")
    plan = plan_of(f"PATTERN SEQ(A a, AND(B b, C c)) WHERE [k] STRATEGY {strategy} WITHIN 60000 ticks")
    found = match_events(plan, event_table(events))
    assert found.num_rows
    with monkeypatch.context() as patch:
        measure_nothing(patch, "sum over the orders of AND")
        assert_same_rows(match_events(plan, event_table(events)), found)


def test_intervals_that_overlap_need_share_no_tick() -> None:
    """Between d1 and a1 lies tick 2 alone, where c1 can be and b1 cannot."""
    events = event_table(
        [
            Event("d1", "D", 1, 1),
            histogram("c1", "C", (2, 2, 0.5), (5, 5, 0.5)),
            histogram("b1", "B", (1, 1, 0.5), (4, 4, 0.5)),
            Event("a1", "A", 3, 3),
        ]
    )
    plan = plan_of(f"PATTERN SEQ(D d, AND(C c, B b), A a) STRATEGY {STRICT}")
    assert not judge(plan, events).num_rows
    assert not match_events(plan, events).num_rows
