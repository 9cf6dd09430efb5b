"""Patterns as difference constraints: the closure, and the valid intervals it gives."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closed_system, possible, valid_bounds

Intervals = list[tuple[int, int]]
Edges = list[tuple[int, int, int]]


def bounds(intervals: Intervals, blocks: list[int], window: int | None, edges: Edges = []) -> list[list[int]]:  # noqa: B006
    """Valid intervals of one candidate as [[lower, upper], ...]."""
    lower = np.array([[lo for lo, _ in intervals]], dtype=np.int64)
    upper = np.array([[hi for _, hi in intervals]], dtype=np.int64)
    valid = valid_bounds(lower, upper, closed_system(blocks, window, edges))
    return [list(pair) for pair in zip(valid[0][0].tolist(), valid[1][0].tolist(), strict=True)]


def test_the_order_alone_moves_bounds_by_one_tick_per_step() -> None:
    assert bounds([(1, 5), (3, 5), (3, 5)], [0, 1, 2], None) == [[1, 3], [3, 4], [4, 5]]


def test_the_window_raises_the_first_event_too() -> None:
    """Three passes that lower upper bounds alone would leave [1, 8] for the first event."""
    assert bounds([(1, 10), (8, 9)], [0, 1], 3) == [[6, 8], [8, 9]]


def test_a_candidate_dies_when_an_interval_is_empty() -> None:
    lower, upper = np.array([[1, 2, 6], [1, 2, 4]]), np.array([[2, 3, 7], [2, 3, 7]])
    assert possible(*valid_bounds(lower, upper, closed_system([0, 1, 2], 4))).tolist() == [False, True]


def test_events_of_one_block_are_unordered_but_share_the_window() -> None:
    assert closed_system([0, 0], 3).tolist() == [[0, 2], [2, 0]]
    assert bounds([(5, 9), (1, 4)], [0, 0], 2) == [[5, 5], [4, 4]]


def test_a_window_of_one_tick_leaves_room_for_ties_only() -> None:
    assert closed_system([0, 0], 1).tolist() == [[0, 0], [0, 0]]
    assert closed_system([0, 1], 1)[0, 0] < 0


def test_without_window_later_events_are_not_bounded_from_above() -> None:
    assert closed_system([0, 1], None).tolist() == [[0, -1], [UNBOUNDED, 0]]


def test_one_more_edge_is_a_timing_constraint() -> None:
    """`b.time - a.time <= 2`."""
    assert bounds([(0, 9), (5, 20)], [0, 1], None, [(1, 0, 2)]) == [[3, 9], [5, 11]]


def test_shifting_saturates_at_both_ends() -> None:
    ticks = np.array([-(2**63), -5, 0, 2**63 - 1])
    assert shifted(ticks, 7).tolist() == [-(2**63) + 7, 2, 7, 2**63 - 1]
    assert shifted(ticks, -7).tolist() == [-(2**63), -12, -7, 2**63 - 8]


@st.composite
def candidates(draw: st.DrawFn) -> tuple[Intervals, list[int], int | None, Edges]:
    count = draw(st.integers(1, 4))
    intervals = [
        (lo, lo + draw(st.integers(0, 4)))
        for lo in draw(st.lists(st.integers(0, 7), min_size=count, max_size=count))
    ]
    steps = draw(st.lists(st.integers(0, 1), min_size=count - 1, max_size=count - 1))
    blocks = [sum(steps[:i]) for i in range(count)]
    edges = []
    if count > 1:
        pairs = st.sampled_from([(i, j) for i in range(count) for j in range(count) if i != j])
        edges = [(i, j, draw(st.integers(-3, 3))) for i, j in draw(st.lists(pairs, max_size=2))]
    return intervals, blocks, draw(st.none() | st.integers(1, 7)), edges


@given(candidates())
@example(([(1, 10), (8, 9)], [0, 1], 3, []))
def test_valid_intervals_are_what_some_world_uses(
    candidate: tuple[Intervals, list[int], int | None, Edges],
) -> None:
    intervals, blocks, window, edges = candidate
    held = [
        world
        for world in product(*(range(lo, hi + 1) for lo, hi in intervals))
        if all(
            world[i] < world[j] for i in range(len(world)) for j in range(len(world)) if blocks[i] < blocks[j]
        )
        and (window is None or max(world) - min(world) < window)
        and all(world[i] - world[j] <= limit for i, j, limit in edges)
    ]
    found = bounds(intervals, blocks, window, edges)
    if held:
        assert found == [[min(ticks), max(ticks)] for ticks in zip(*held, strict=True)]
    elif closed_system(blocks, window, edges).diagonal().min() >= 0:
        assert any(lower > upper for lower, upper in found)
