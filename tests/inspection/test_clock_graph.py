"""Clocks of nodes and masters together: cycles that contradict, masters that cannot agree."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from cepctl.inspection.clock_graph import (
    ClockGraph,
    Contradiction,
    MastersApart,
    clock_graph,
    host_contradictions,
)

Pair = tuple[str, str, int, int]


def graph(*pairs: Pair) -> ClockGraph:
    schema = {"node": pl.String, "master": pl.String, "lowest": pl.Int64, "highest": pl.Int64}
    return clock_graph(pl.DataFrame(pairs, schema, orient="row"))


def test_a_clock_that_was_set_meanwhile_contradicts_its_master() -> None:
    found = graph(("n1", "a", -5, -3), ("n1", "a", 1, 4), ("n2", "a", -1, 1))
    assert found == ClockGraph((Contradiction(("master of a", "node n1"), 4),))


def test_masters_that_differ_make_no_node_wrong() -> None:
    found = graph(("n1", "a", -5, -3), ("n1", "b", 1, 4), ("n1", "b", 0, 6))
    assert found.contradictions == ()
    # b has most pairs: n1 is 1 to 4 ahead of it, and 3 to 5 behind a.
    assert found.apart == (MastersApart("a", "b", 4, 9),)


def test_two_nodes_can_contradict_each_other_about_two_masters() -> None:
    pairs = (("n1", "a", 0, 1), ("n1", "b", 0, 1), ("n2", "a", 5, 6), ("n2", "b", 0, 1))
    found = graph(*pairs)
    # By n1 the masters are at most 1 apart, by n2 at least 4.
    assert found.contradictions == (Contradiction(("master of a", "node n1", "master of b", "node n2"), 3),)
    assert graph(*pairs[:2], ("n2", "a", 1, 2), pairs[3]).contradictions == ()


def test_shortest_paths_go_over_several_nodes() -> None:
    most = 3 * (("n1", "a", 10, 11),)
    found = graph(*most, ("n1", "b", 0, 1), ("n2", "b", 10, 12), ("n2", "c", 0, 1))
    assert found.contradictions == ()
    assert found.apart == (
        MastersApart("b", "a", 9, 11),
        MastersApart("c", "a", 18, 23),
    )


def test_no_pairs_say_nothing() -> None:
    assert graph() == ClockGraph()


@given(
    st.lists(st.integers(-50, 50), min_size=5, max_size=5),
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(2, 4), st.integers(0, 9), st.integers(0, 9)), max_size=9
    ),
)
def test_planted_offsets_never_contradict_and_lie_within_the_paths(
    offsets: list[int], runs: list[tuple[int, int, int, int]]
) -> None:
    pairs = [
        (
            f"n{node}",
            f"m{master}",
            offsets[node] - offsets[master] - low,
            offsets[node] - offsets[master] + high,
        )
        for master, node, low, high in runs
    ]
    found = graph(*pairs)
    assert found.contradictions == ()
    for each in found.apart:
        ahead = offsets[int(each.master[1])] - offsets[int(each.other[1])]
        assert each.lowest_microseconds <= ahead <= each.highest_microseconds


def test_hosts_contradict_each_other_without_a_master() -> None:
    schema = {"host": pl.String, "other": pl.String, "lowest": pl.Int64, "highest": pl.Int64}
    rows = [("b", "a", 60, 30), ("d", "c", None, 5), ("d", "a", 1, None)]
    found = host_contradictions(pl.DataFrame(rows, schema, orient="row"))
    assert found == (Contradiction(("node a", "node b"), 30),)
