"""The range join against a double loop: keys, mixed widths, ties, batches."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.columns.joins import PAIRS_AT_ONCE, candidates_of, interval_index, overlapping
from cepctl.numeric.arrays import Indexes, Ticks

Rows = list[tuple[int, int, int]]
"""(key, first tick, last tick) of each row."""


def columns(rows: Rows) -> tuple[Indexes, Ticks, Ticks]:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def joined(events: Rows, queries: Rows, at_once: int = PAIRS_AT_ONCE) -> list[tuple[int, int]]:
    """Pairs (query, event) in the order in which the join yields them; event i has row number 100 + i."""
    index = interval_index(np.arange(100, 100 + len(events)), *columns(events))
    found = []
    for row, event in overlapping(index, *columns(queries), at_once):
        assert len(row) == len(event)
        found += list(zip(row.tolist(), (event - 100).tolist(), strict=True))
    return found


def brute_force(events: Rows, queries: Rows) -> list[tuple[int, int]]:
    return [
        (i, j)
        for i, (key, first, last) in enumerate(queries)
        for j, (other, lower, upper) in enumerate(events)
        if key == other and lower <= last and upper >= first
    ]


keys = st.integers(0, 3)
ticks = st.integers(-20, 20) | st.sampled_from([-(2**62), -(10**15), 10**15, 2**62])
widths = st.sampled_from([0, 0, 1, 3, 10, 40, 10**12])


@st.composite
def events(draw: st.DrawFn) -> Rows:
    rows = draw(st.lists(st.tuples(keys, ticks, widths), max_size=12))
    return [(key, lower, lower + width) for key, lower, width in rows]


@st.composite
def queries(draw: st.DrawFn) -> Rows:
    """Also keys that no event has, and -1, which joins nothing."""
    rows = draw(st.lists(st.tuples(st.integers(-1, 5), ticks, widths), max_size=12))
    return [(key, first, first + width) for key, first, width in rows]


@settings(deadline=None)  # the first call compiles
@given(events(), queries(), st.sampled_from([1, 2, 5, 1 << 20]))
def test_every_pair_that_overlaps_once(events: Rows, queries: Rows, at_once: int) -> None:
    found = joined(events, queries, at_once)
    assert sorted(found) == sorted(brute_force(events, queries))
    assert [row for row, _ in found] == sorted(row for row, _ in found)


def test_touching_ends_overlap() -> None:
    assert joined([(0, 1, 5)], [(0, 5, 9), (0, 6, 9), (0, -3, 1), (0, -3, 0)]) == [(0, 0), (2, 0)]


def test_one_wide_event_before_many_narrow_ones_is_not_lost() -> None:
    """The running maximum of `upper` reaches past the narrow ones; what it lets in is checked."""
    narrow = [(0, tick, tick) for tick in range(1, 50)]
    assert joined([(0, 0, 1_000), *narrow], [(0, 500, 600)]) == [(0, 0)]


def test_a_wide_event_of_one_key_does_not_reach_into_the_next() -> None:
    assert joined([(0, 0, 1_000), (1, 5, 5)], [(1, 500, 600), (1, 5, 6)]) == [(1, 1)]


def test_batches_are_bounded() -> None:
    index = interval_index(np.arange(6), *columns([(0, 0, 9)] * 6))
    sizes = [len(row) for row, _ in overlapping(index, *columns([(0, 0, 9)] * 5), at_once=10)]
    assert sum(sizes) == 30
    assert max(sizes) <= 10


def test_nothing_joins_nothing() -> None:
    assert joined([], [(0, 1, 2)]) == []
    assert joined([(0, 1, 2)], []) == []


def test_few_more_are_looked_at_than_overlap() -> None:
    """Key 0: 0 to 9, 1 to 2, 3 to 4 and 5 to 5, of which all reach 9; key 1: 4 to 6 and 5 to 5, both reach 6.

    Of 4 to 5 all of key 0 are looked at, as none begins too late, and three overlap; of 2 to 2 in that key
    the first two; of 10 to 12 none reaches so far; of 6 to 9 in key 1 both, and one overlaps.
    """
    index = interval_index(
        np.arange(6), *columns([(0, 0, 9), (0, 1, 2), (0, 3, 4), (0, 5, 5), (1, 4, 6), (1, 5, 5)])
    )
    queries = columns([(0, 4, 5), (0, 2, 2), (0, 10, 12), (1, 6, 9), (2, 4, 5), (-1, 4, 5)])
    assert index.reach.tolist() == [9, 9, 9, 9, 6, 6]
    found = candidates_of(index, *queries)
    assert found.begin.tolist() == [0, 0, 4, 4, 0, 0]
    assert found.counts.tolist() == [4, 2, 0, 2, 0, 0]
    rows, events = next(overlapping(index, *queries))
    assert (rows.tolist(), events.tolist()) == ([0, 0, 0, 1, 1, 3], [0, 2, 3, 0, 1, 4])
