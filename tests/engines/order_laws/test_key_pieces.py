"""Keys in pieces: each is measured as it is in its key, and is beyond a limit where `match` says so."""

from __future__ import annotations

from dataclasses import replace
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.orders.key_orders import KeyOrders, key_orders
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws.keys import Keys, pieces_of
from cepctl.engines.order_laws.table import OrderPairs, measure_keys
from cepctl.laws.law import OrderLaw
from tests.engines.order_laws.law_keys import STEPS, factors_of, habits, keys_of, uniform
from tests.engines.order_laws.order_worlds import Habits, Stamped
from tests.plans import Event, event_table, plan_of

CLOSE = 1e-12
EDGE = len(STEPS)


def pieces(keys: Keys) -> tuple[Keys, list[int]]:
    """The pieces of keys, and the events of each."""
    found, event = pieces_of(keys, np.full(len(keys.step), EDGE))
    return found, event.tolist()


def around(keys: Keys) -> list[tuple[str, str]]:
    """The steps that surround each piece, the ends of a key as `|`."""
    assert keys.around is not None
    names = [*STEPS, "|"]
    return [(names[before], names[after]) for before, after in zip(*keys.around, strict=True)]


@st.composite
def sparse_keys(draw: st.DrawFn) -> tuple[Stamped, ...]:
    """Events that make runs, open ones and others, with certain events between them."""
    events = [
        uniform(draw(st.sampled_from("ABC")), tick, tick + draw(st.integers(0, 2)))
        for tick in draw(st.lists(st.integers(0, 14), min_size=2, max_size=7))
    ]
    return tuple(events)


def strict(pairs: OrderPairs | None) -> dict[tuple[int, int], float]:
    assert pairs is not None
    found = zip(pairs.first, pairs.second, pairs.earlier, pairs.later, strict=True)
    return {key: value for i, j, one, other in found for key, value in {(i, j): one, (j, i): other}.items()}


@given(st.lists(sparse_keys(), min_size=1, max_size=2), habits())
def test_pairs_of_a_piece_are_as_probable_as_in_their_key(
    drawn: list[tuple[Stamped, ...]], law: Habits
) -> None:
    keys, factors = keys_of(*drawn), factors_of(law)
    cut, event = pieces(keys)
    with only("interpreted"):
        whole = strict(measure_keys(keys, factors, pairs=True).pairs)
        parts = strict(measure_keys(cut, factors, pairs=True).pairs)
    parts = {(event[i], event[j]): value for (i, j), value in parts.items()}
    open_pairs = {(i, j) for i, j in whole if keys.step[i] != keys.step[j]}
    assert open_pairs <= set(parts) <= set(whole)
    assert all(isclose(whole[pair], value, abs_tol=CLOSE) for pair, value in parts.items())


def test_a_piece_knows_what_stands_right_before_and_after_it() -> None:
    events = [uniform("C", 0, 0), *(uniform(step, 2, 4) for step in "AB"), uniform("", 6, 6)]
    cut, event = pieces(keys_of(events, events[1:3], events[:1]))
    assert event == [1, 2, 4, 5]
    assert cut.starts.tolist() == [0, 2, 4]
    assert around(cut) == [("C", ""), ("|", "|")]


def test_a_run_of_one_step_is_in_certain_order_and_ends_a_piece() -> None:
    events = [
        uniform(step, tick, tick + 2) for step, tick in [*zip("ABAACB", (0, 1, 4, 5, 8, 9), strict=True)]
    ]
    cut, event = pieces(keys_of(events))
    assert cut.starts.tolist() == [0, 2, 4]
    assert event == [0, 1, 4, 5]
    assert around(cut) == [("|", "A"), ("A", "|")]


def orders_of(events: list[Event], law: OrderLaw) -> tuple[KeyOrders, list[str]]:
    """The orders of events, and the id of each."""
    columns = events_of(event_table(events))
    found = key_orders((law,), columns.frame, columns.masses)
    assert found is not None
    return found, columns.ids.to_list()


@pytest.mark.parametrize(
    ("following", "beyond"),
    [
        ({("A", "B"): 2.0}, True),
        ({("^", "A"): 2.0}, False),
        ({("C", "A"): 2.0}, True),
        ({("A", "$"): 2.0}, True),
        ({("C", "^"): 2.0, ("A", "C"): 2.0}, False),
    ],
)
def test_a_piece_of_which_the_law_says_nothing_is_not_beyond(
    following: dict[tuple[str, str], float], beyond: bool
) -> None:
    events = [Event("c", "C", 0, 0, k="1")]
    events += [Event(f"e{tick}", step, tick, 9, k="1") for tick, step in enumerate("ABABA", start=2)]
    orders, _ = orders_of(events, OrderLaw("k", following=following))
    assert orders.wide(31).tolist() == [beyond]
    assert orders.wide(32).tolist() == [False]


def random_key(random: np.random.Generator) -> list[Stamped]:
    """Events that touch one another in a few runs."""
    lower = np.sort(random.integers(0, 16, 7))
    upper, step = lower + random.integers(0, 3, 7), random.integers(0, 3, 7)
    return [uniform("ABC"[s], int(lo), int(hi)) for s, lo, hi in zip(step, lower, upper, strict=True)]


@pytest.mark.parametrize(
    "law",
    [
        OrderLaw("k", following={("A", "B"): 4.0}),
        OrderLaw("k", before={("B", "A"): 3.0}),
        OrderLaw("k", following={("A", "$"): 2.0, ("^", "B"): 2.0}),
    ],
)
def test_what_is_beyond_is_what_match_says_is_beyond(law: OrderLaw) -> None:
    """A pair of an A and a B that share a tick is computed without the law where its piece is beyond."""
    random = np.random.default_rng(5)
    drawn = [random_key(random) for _ in range(60)]
    events = [
        Event(f"{key}-{place}", each.step, each.parts[0][0], each.parts[0][1], k=str(key))
        for key, one in enumerate(drawn)
        for place, each in enumerate(one)
    ]
    orders, ids = orders_of(events, law)
    beyond, piece = orders.wide(4), orders.cluster
    plan = replace(plan_of("PATTERN SEQ(A a, B b) WHERE [k]"), laws=(law,))
    asked = MatchOptions(lawless=True, beyond="lawless", law_limit=4)
    with only("interpreted"):
        rows = match_events(plan, event_table(events), asked).to_pylist()
    number = {event_id: place for place, event_id in enumerate(ids)}
    by_id = {each.event_id: each for each in events}
    told = {}
    for row in rows:
        first, second = (bound[0] for bound in row["signature"])
        i, j = number[first], number[second]
        if by_id[first].upper >= by_id[second].lower:
            told[i, j] = (piece[i] == piece[j] and bool(beyond[piece[i]]), not row["law"])
    assert all(here == there for here, there in told.values())
    assert {here for here, _ in told.values()} == {False, True}
