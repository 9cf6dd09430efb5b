"""The directly-follows graph: least, expected and greatest, judged by enumerating possible worlds."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import groupby, pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.inspection.follows import expected
from cepctl.inspection.follows.clusters import ClusterMembers, clusters_of
from cepctl.inspection.follows.expected import averages
from cepctl.inspection.follows.graph import FollowsGraph, follows_graph
from cepctl.inspection.follows.orders import MOST_ORDERED

Event = tuple[int, str, list[tuple[int, int, int]]]
"""Case, type, and buckets (lo, hi, weight)."""


def masses(events: list[Event]) -> Masses:
    buckets = [each for _, _, of in events for each in of]
    total = [sum(weight for _, _, weight in of) for _, _, of in events for _ in of]
    lo, hi = np.array([b[0] for b in buckets], np.int64), np.array([b[1] for b in buckets], np.int64)
    share = np.array([b[2] / each for b, each in zip(buckets, total, strict=True)])
    starts = np.cumsum([0, *(len(of) for _, _, of in events)])
    return Masses(lo[starts[:-1]], hi[starts[1:] - 1], starts, lo, hi, share / (hi - lo + 1))


def graph_of(events: list[Event]) -> FollowsGraph:
    names = sorted({kind for _, kind, _ in events})
    case = np.array([each[0] for each in events])
    kind = np.array([names.index(each[1]) for each in events])
    return follows_graph(case, kind, names, masses(events))


def told(found: FollowsGraph) -> dict[tuple[str, str], tuple[int, float, int]]:
    return {
        (row["a"], row["b"]): (row["least"], row["expected"], row["greatest"])
        for row in found.rows.to_dicts()
    }


def ticks_of(buckets: list[tuple[int, int, int]]) -> list[tuple[int, Fraction]]:
    total = sum(weight for _, _, weight in buckets)
    return [(t, Fraction(w, total * (hi - lo + 1))) for lo, hi, w in buckets for t in range(lo, hi + 1)]


def pairs_in_world(events: list[tuple[int, str]]) -> Counter[tuple[str, str]]:
    """Of one case: how often each type is at the tick directly before that of another."""
    levels = [[kind for _, kind in level] for _, level in groupby(sorted(events), key=lambda each: each[0])]
    return Counter(pair for before, after in pairwise(levels) for pair in product(before, after))


def by_enumeration(events: list[Event]) -> dict[tuple[str, str], tuple[int, Fraction, int]]:
    kinds = {kind for _, kind, _ in events}
    totals: dict[tuple[str, str], tuple[int, Fraction, int]] = {
        pair: (0, Fraction(0), 0) for pair in product(kinds, kinds)
    }
    for case in {each[0] for each in events}:
        own = [each for each in events if each[0] == case]
        least: dict[tuple[str, str], int] = {}
        greatest: Counter[tuple[str, str]] = Counter()
        average: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
        for world in product(*(ticks_of(of) for _, _, of in own)):
            found = pairs_in_world([(t, kind) for (t, _), (_, kind, _) in zip(world, own, strict=True)])
            probability = prod((p for _, p in world), start=Fraction(1))
            for pair in totals:
                least[pair] = min(found[pair], least.get(pair, found[pair]))
                greatest[pair] = max(found[pair], greatest[pair])
                average[pair] += probability * found[pair]
        for pair, (low, mean, high) in totals.items():
            totals[pair] = (low + least[pair], mean + average[pair], high + greatest[pair])
    return {pair: sums for pair, sums in totals.items() if sums[2]}


@st.composite
def buckets(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    lo = draw(st.integers(0, 9))
    hi = lo + draw(st.integers(0, 3))
    found = [(lo, hi, draw(st.integers(1, 3)))]
    if draw(st.booleans()) and hi - lo < 2:
        again = hi + 1 + draw(st.integers(0, 2))
        found.append((again, again + draw(st.integers(0, 1)), draw(st.integers(1, 3))))
    return found


@st.composite
def some_events(draw: st.DrawFn) -> list[Event]:
    count = draw(st.integers(1, 5))
    return [(draw(st.integers(0, 1)), draw(st.sampled_from("ABC")), draw(buckets())) for _ in range(count)]


@given(some_events())
def test_the_graph_is_that_of_all_worlds(events: list[Event]) -> None:
    found, judged = told(graph_of(events)), by_enumeration(events)
    assert found.keys() == judged.keys()
    for pair, (least, average, greatest) in judged.items():
        assert (found[pair][0], found[pair][2]) == (least, greatest), pair
        assert found[pair][1] == pytest.approx(float(average), abs=1e-12, rel=1e-12), pair


def day(case: int, kind: str, ticks: int = 86_400_000) -> Event:
    return (case, kind, [(0, ticks - 1, 1)])


def test_two_events_of_one_day_follow_each_other_either_way() -> None:
    found = told(graph_of([day(0, "A"), day(0, "B")]))
    either_way = (1 - 1 / 86_400_000) / 2
    assert found.keys() == {("A", "B"), ("B", "A")}
    for least, average, greatest in found.values():
        assert (least, greatest) == (0, 1)
        assert average == pytest.approx(either_way, rel=1e-12)


def test_exact_stamps_give_one_number() -> None:
    events: list[Event] = [(0, kind, [(at, at, 1)]) for at, kind in enumerate("ABAB")]
    found = graph_of(events)
    assert told(found) == {("A", "B"): (2, 2.0, 2), ("B", "A"): (1, 1.0, 1)}
    assert (found.cases, found.events, found.overlapping, found.estimated) == (1, 4, 0, 0)
    assert not found.rows["bounds"].any()


def test_events_at_one_tick_follow_none_of_each_other() -> None:
    events: list[Event] = [(0, kind, [(at, at, 1)]) for at, kind in [(1, "A"), (2, "B"), (2, "B"), (3, "A")]]
    assert told(graph_of(events)) == {("A", "B"): (2, 2.0, 2), ("B", "A"): (2, 2.0, 2)}


def test_a_day_of_many_events_is_summed_exactly() -> None:
    """Among n events of one day of one day, ties aside, a pair is neighbours in n - 1 of n (n - 1) places."""
    count = 10_000
    found = graph_of([day(0, "AB"[at % 2]) for at in range(count)])
    rows = {(row["a"], row["b"]): row for row in found.rows.to_dicts()}
    half = count / 2
    assert rows["A", "B"]["expected"] == pytest.approx(half * half / count, rel=1e-3)
    assert rows["A", "A"]["expected"] == pytest.approx(half * (half - 1) / count, rel=1e-3)
    assert rows["A", "B"]["expected_error"] == 0.0
    assert rows["A", "B"]["bounds"]
    assert (rows["A", "B"]["least"], rows["A", "B"]["greatest"]) == (0, 25_000_000)


def staggered(count: int, length: int, step: int) -> list[Event]:
    return [(0, "ABC"[at % 3], [(at * step, at * step + length, 1)]) for at in range(count)]


def test_what_is_too_much_work_is_estimated_within_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    events = staggered(40, 5_000, 97)
    exact = graph_of(events)
    monkeypatch.setattr(expected, "MOST_WORK", 0)
    estimated = graph_of(events)
    assert (exact.estimated, estimated.estimated) == (0, 1)
    for row in estimated.rows.to_dicts():
        (true,) = exact.rows.filter((exact.rows["a"] == row["a"]) & (exact.rows["b"] == row["b"]))["expected"]
        assert abs(row["expected"] - true) <= row["expected_error"]
        assert 0 < row["expected_error"] < 1
    assert told(graph_of(events)) == told(estimated)


def test_bounds_hold_what_the_orders_of_few_give(monkeypatch: pytest.MonkeyPatch) -> None:
    events = staggered(MOST_ORDERED, 30, 11)
    exact = told(graph_of(events))
    monkeypatch.setattr("cepctl.inspection.follows.orders.MOST_ORDERED", 1)
    bounded = graph_of(events)
    assert bounded.rows["bounds"].all()
    assert exact.keys() <= told(bounded).keys()
    for pair, (least, average, greatest) in exact.items():
        lower, same, upper = told(bounded)[pair]
        assert lower <= least
        assert upper >= greatest
        assert same == average


@pytest.mark.parametrize("count", [2, 7, 30, pytest.param(60, marks=pytest.mark.slow)])
def test_all_events_but_the_last_have_one_that_follows(count: int) -> None:
    """Ties aside: what is summed is one less than there are events, whatever their intervals."""
    found = graph_of(staggered(count, 10**9, 10**7))
    assert found.rows["expected"].sum() == pytest.approx(count - 1, rel=1e-5)
    assert averages_hold(found)


def averages_hold(found: FollowsGraph) -> bool:
    rows = found.rows
    return bool(
        ((rows["least"] <= rows["expected"] + 1e-9) & (rows["expected"] <= rows["greatest"] + 1e-9)).all()
    )


def test_first_and_last_places_are_certain_to_be_taken() -> None:
    members = ClusterMembers((0, 1, 2), (1, 1, 1), (((0, 99, 1.0),), ((20, 150, 1.0),), ((140, 200, 1.0),)))
    found = averages(members)
    assert found is not None
    assert found.first.sum() == pytest.approx(1, abs=0.02)
    assert found.first[2] == 0
    assert found.last[0] == 0


def test_clusters_are_cut_where_order_is_certain() -> None:
    events: list[Event] = [
        (0, "A", [(0, 5, 1)]), (0, "B", [(3, 9, 1)]), (0, "C", [(10, 12, 1)]), (1, "A", [(4, 4, 1)])
    ]  # fmt: skip
    found = clusters_of(np.array([each[0] for each in events]), masses(events))
    assert found.starts.tolist() == [0, 2, 3, 4]
    assert found.plain.tolist() == [False, True, True]
    assert found.case.tolist() == [0, 0, 1]


def test_without_events_there_is_no_pair() -> None:
    none = np.zeros(0, dtype=np.int64)
    empty = Masses(none, none, np.zeros(1, dtype=np.int64), none, none, np.zeros(0))
    found = follows_graph(none, none, [], empty)
    assert (len(found.rows), found.cases, found.events) == (0, 0, 0)
