"""Keys that are too much work: refused by name, or computed without the law, which their rows then say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.laws.law import OrderLaw
from tests.plans import Event, event_table, lasting, plan_of

LAW = OrderLaw("k", following={("A", "B"): 4.0})
THREE = (Event("a", "A", 1, 4, k="1"), Event("b1", "B", 2, 3, k="1"), Event("b2", "B", 3, 5, k="1"))
SMALL = (Event("c", "A", 1, 4, k="2"), Event("d", "B", 2, 3, k="2"))
TOLD = MatchOptions(lawless=True, beyond="lawless", law_limit=4)


def plan(query: str = "PATTERN SEQ(A a, B b) WHERE [k]", law: OrderLaw = LAW):  # type: ignore[no-untyped-def]
    return replace(plan_of(query), laws=(law,))


def test_a_key_beyond_the_limit_is_named_with_what_can_be_done() -> None:
    with pytest.raises(
        QueryTooLargeError, match=r"k = 1: 8 sets .* --law-limit.*--beyond lawless.*--no-laws"
    ):
        match_events(plan(), event_table(THREE), MatchOptions(law_limit=7))
    assert match_events(plan(), event_table(THREE), MatchOptions(law_limit=8)).num_rows == 2


def test_beyond_the_limit_a_row_is_without_the_law_and_says_so() -> None:
    rows = match_events(plan(), event_table((*THREE, *SMALL)), TOLD).to_pylist()
    told = {row["signature"][1][0]: (row["confidence"] == row["lawless"], row["law"]) for row in rows}
    assert told == {"b1": (True, False), "b2": (True, False), "d": (False, True)}


def test_so_do_keys_of_group_by() -> None:
    grouped = plan("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY a.k")
    rows = {row["a.k"]: row for row in match_events(grouped, event_table((*THREE, *SMALL)), TOLD).to_pylist()}
    assert (rows["1"]["law"], rows["2"]["law"]) == (False, True)
    assert rows["1"]["occurrence"] == rows["1"]["lawless"] == pytest.approx(3 / 4)
    assert rows["2"]["occurrence"] > rows["2"]["lawless"]


@pytest.mark.parametrize(
    "query", ["SEQ(A a, B b)", "SEQ(A a, B b) GROUP BY ()", "SEQ(A a, B b) GROUP BY a.k"]
)
def test_beside_a_key_beyond_the_limit_the_law_weighs_all_others(query: str) -> None:
    """As if that key were in no law: here only events of the other key have a `g`."""
    told = event_table((*THREE, *(replace(each, g="u") for each in SMALL)))
    beyond = match_events(plan(f"PATTERN {query}"), told, TOLD)
    apart = plan(f"PATTERN {query}", replace(LAW, by="g"))
    judged = (group_table if "GROUP" in query else match_table)(apart, told)
    columns = ["confidence"] if "GROUP" not in query else ["confidence", "occurrence", "expected"]
    for name in columns:
        assert sorted(beyond.column(name).to_pylist()) == pytest.approx(
            sorted(judged.column(name).to_pylist())
        )
    assert not any(row["law"] for row in beyond.to_pylist() if "b1" in str(row["signature"]))


def test_a_run_of_events_is_beyond_and_not_what_else_its_key_has() -> None:
    later = (Event("z", "Z", 7, 7, k="1"), Event("x", "A", 8, 9, k="1"), Event("y", "B", 8, 9, k="1"))
    rows = match_events(plan("PATTERN SEQ(A a, B b) WITHIN 2 ticks"), event_table((*THREE, *later)), TOLD)
    told = {row["signature"][1][0]: row["law"] for row in rows.to_pylist()}
    assert told == {"b1": False, "b2": False, "y": True}


def test_a_row_says_what_it_is_without_the_law() -> None:
    rows = match_events(plan(), event_table(THREE), MatchOptions(lawless=True)).to_pylist()
    assert [row["confidence"] for row in rows] == pytest.approx([72 / 169, 144 / 169])
    assert [row["lawless"] for row in rows] == [3 / 8, 3 / 4]


def test_a_key_of_which_too_many_events_touch_is_beyond_however_few_are_alive() -> None:
    chain = [Event(f"e{i:04}", "AB"[i % 2], 2 * i, 2 * i + 2, k="1") for i in range(1_001)]
    with pytest.raises(QueryTooLargeError, match="1,001 of its events"):
        match_events(plan("PATTERN SEQ(A a, B b) WITHIN 2 ticks"), event_table(chain))


def test_an_event_that_lasts_is_refused_where_its_order_is_open() -> None:
    events = event_table(
        [*THREE, lasting("z", "Z", (2, 3), (4, 5)), replace(lasting("y", "Z", (2, 3), (4, 5)), k="1")]
    )
    with pytest.raises(UnsupportedQueryError, match="interval events under the law of order of each k"):
        match_events(plan(), events)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B+ b[])",
        "PATTERN AND(A a, B b)",
        "PATTERN OR(SEQ(A a, B b), SEQ(B b2, A a2))",
        "PATTERN SEQ(A a, B b) STRATEGY strict_contiguity",
        "PATTERN SEQ(A a, B b) WHERE b.time - a.time <= 2 ticks",
        "PATTERN SEQ(A a, B b) GIVEN SEQ(A p, B q) IF p.x = q.x",
    ],
)
def test_what_runs_later_is_refused_with_the_way_out(query: str) -> None:
    with pytest.raises(UnsupportedQueryError, match=r"law of order of each k .*--engine worlds.*--no-laws"):
        match_events(plan(query), event_table(THREE))


@pytest.mark.parametrize("factor", [1e155, 1e308])
def test_endless_products_of_factors_lead_to_no_place_of_sets(factor: float) -> None:
    """Nor is 0 times one of them taken for a way to go on."""
    law = OrderLaw("k", before={("A", "B"): factor, ("A", "C"): factor, ("B", "C"): factor})
    events = (*(Event(f"e{i}", "ABC"[i % 3], i, i + 9, k="1") for i in range(9)),)
    with pytest.raises(
        QueryTooLargeError, match=r"the factors of a law .* bring them between 1e-30 and 1e30"
    ):
        match_events(plan("PATTERN SEQ(A a, B b, C c)", law), event_table(events))


def test_factors_whose_products_are_no_numbers_are_said_to_be_that() -> None:
    """Not that there are too many orders."""
    law = OrderLaw("k", following={("A", "B"): 1e155, ("B", "C"): 1e155, ("C", "D"): 1e155})
    events = (*(Event(each, each.upper(), 1, 6, k="1") for each in "abcd"),)
    with pytest.raises(
        QueryTooLargeError, match=r"the factors of a law .* bring them between 1e-30 and 1e30"
    ):
        match_events(plan("PATTERN SEQ(A a, B b, C c, D d)", law), event_table(events))
