"""Which orders of the events of a key are open, and what surrounds them."""

from __future__ import annotations

import pytest

from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.errors import EventSchemaError
from cepctl.laws.law import OrderLaw
from tests.plans import Event, event_table

LAW = OrderLaw("k", following={("A", "B"): 4.0})


def events(*drawn: Event) -> Events:
    return events_of(event_table(drawn))


def clusters(orders: KeyOrders | None, of: Events) -> list[list[str]]:
    assert orders is not None
    return [of.ids.gather(orders.events_of(i)).to_list() for i in range(len(orders))]


def test_events_of_one_key_that_touch_make_a_cluster() -> None:
    drawn = events(
        Event("a", "A", 0, 5, k="1"),
        Event("b", "B", 5, 9, k="1"),
        Event("c", "C", 10, 12, k="1"),
        Event("d", "A", 20, 25, k="1"),
        Event("e", "B", 22, 23, k="1"),
        Event("f", "A", 3, 30, k="2"),
        Event("g", "A", 3, 30),
    )
    orders = key_orders((LAW,), drawn.frame, drawn.masses)
    assert clusters(orders, drawn) == [["a", "b"], ["d", "e"]]


def test_runs_with_no_certain_event_between_them_are_one_cluster() -> None:
    drawn = events(
        Event("a", "A", 0, 5, k="1"),
        Event("b", "B", 3, 6, k="1"),
        Event("c", "A", 7, 9, k="1"),
        Event("d", "B", 8, 9, k="1"),
    )
    assert clusters(key_orders((LAW,), drawn.frame, drawn.masses), drawn) == [["a", "b", "c", "d"]]


def test_a_cluster_knows_what_comes_right_before_and_after_it() -> None:
    drawn = events(Event("a", "A", 0, 5, k="1"), Event("b", "B", 3, 6, k="1"), Event("z", "A", 9, 9, k="1"))
    orders = key_orders((LAW,), drawn.frame, drawn.masses)
    assert orders is not None
    codes = orders.codes_of(0)
    assert (orders.before.tolist(), orders.after.tolist()) == ([codes["^"]], [codes["A"]])
    assert orders.name_of(0) == "k = 1"


def test_of_one_event_after_the_other_no_order_is_open() -> None:
    drawn = events(Event("a", "A", 0, 2, k="1"), Event("b", "B", 3, 5, k="1"), Event("c", "B", 0, 9, k="2"))
    assert key_orders((LAW,), drawn.frame, drawn.masses) is None


@pytest.mark.parametrize(("law", "silent"), [(LAW, False), (OrderLaw("k", before={("A", "C"): 2.0}), True)])
def test_factors_of_steps_that_are_not_there_say_nothing(law: OrderLaw, silent: bool) -> None:
    drawn = events(Event("a", "A", 0, 5, k="1"), Event("b", "B", 3, 6, k="1"))
    orders = key_orders((law,), drawn.frame, drawn.masses)
    assert orders is not None
    assert orders.speaks.tolist() == [not silent]


def test_an_event_under_two_laws_is_named() -> None:
    drawn = events(Event("a", "A", 0, 5, k="1"), Event("b", "B", 3, 6, k="1", g="u"))
    with pytest.raises(
        EventSchemaError, match="event 'b' has a k and a g, and is under the laws of order of both"
    ):
        key_orders((LAW, OrderLaw("g", before={("A", "B"): 2.0})), drawn.frame, drawn.masses)


def test_a_step_that_means_the_end_of_a_key_is_named() -> None:
    drawn = events(Event("a", "$", 0, 5, k="1"), Event("b", "B", 3, 6, k="1"))
    with pytest.raises(EventSchemaError, match=r"event 'a' has the step '\$'"):
        key_orders((LAW,), drawn.frame, drawn.masses)
