"""Intervals narrowed by differences: each end that is left is reached in some world, none beyond it is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.stages import only
from cepctl.engines.pattern import difference_constraints
from cepctl.engines.pattern.difference_constraints import narrowed, ticks_left
from cepctl.numeric.arrays import Ticks
from tests.engines.agreement import EXAMPLES, check

Edges = list[tuple[int, int, int]]
TICKS = st.sets(st.integers(0, 7), min_size=1)
PLACES = st.integers(0, 2)
CASES = st.tuples(
    st.lists(TICKS, min_size=3, max_size=3),
    st.lists(st.tuples(PLACES, PLACES, st.integers(-3, 4)), max_size=5),
)


def masses_on(ticks: list[set[int]]) -> Masses:
    """Of each event a bucket for each of its ticks."""
    lo = np.array([tick for each in ticks for tick in sorted(each)], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(each) for each in ticks])]).astype(np.int64)
    return Masses(lo[starts[:-1]], lo[starts[1:] - 1], starts, lo, lo, np.ones(len(lo)))


def worlds(ticks: list[set[int]], edges: Edges) -> Ticks:
    """All that edges allow, a row for each."""
    found = [each for each in product(*ticks) if all(each[i] - each[j] <= c for i, j, c in edges)]
    return np.array(found, dtype=np.int64).reshape(-1, len(ticks))


def table(edges: Edges) -> Ticks:
    return np.array(edges, dtype=np.int64).reshape(-1, 3)


def agrees_with_all_worlds(case: tuple[list[set[int]], Edges]) -> None:
    ticks, edges = case
    lower, upper, possible = ticks_left(masses_on(ticks), np.array([[0, 1, 2]]), table(edges))
    every = worlds(ticks, edges)
    assert possible.tolist() == [len(every) > 0]
    if len(every):
        assert lower.tolist() == [every.min(axis=0).tolist()]
        assert upper.tolist() == [every.max(axis=0).tolist()]


def test_ends_that_are_left_are_those_of_all_worlds() -> None:
    check(CASES, agrees_with_all_worlds, 2 * EXAMPLES)


def test_ends_in_holes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: Any) -> bool:
        return False

    monkeypatch.setattr(difference_constraints, "_onto_masses", nothing)
    # Compiled code holds the functions it was compiled with.
    with only("interpreted"), pytest.raises(AssertionError):
        check(CASES, agrees_with_all_worlds, 8 * EXAMPLES, shrink=False)


def test_rows_of_different_sizes_are_narrowed_each_by_its_own_edges() -> None:
    """One row of two events in order, one that contradicts itself, one of a single event."""
    lower, upper = np.array([3, 0, 0, 0, 5]), np.array([9, 4, 9, 9, 6])
    edges = np.array([[0, 1, -1], [0, 1, -1], [1, 0, -1]])
    narrow = narrowed(lower, upper, np.array([0, 2, 4, 5]), edges, np.array([0, 1, 3, 3]))
    assert narrow[2].tolist() == [True, False, True]
    assert narrow[0][[0, 1, 4]].tolist() == [3, 4, 5]
    assert narrow[1][[0, 1, 4]].tolist() == [3, 4, 6]
    assert lower.tolist() == [3, 0, 0, 0, 5]


def left(masses: Masses, *edges: tuple[int, int, int]) -> list[list[int]] | None:
    """First and last ticks of all events, which one row has; None where no world allows it."""
    lower, upper, possible = ticks_left(masses, np.arange(len(masses.lower))[np.newaxis], table(list(edges)))
    return [lower[0].tolist(), upper[0].tolist()] if possible[0] else None


def test_ends_are_tightened_along_a_chain() -> None:
    """Each event of 0 to 9 is 2 ticks or more before the next: 0 to 5, 2 to 7 and 4 to 9."""
    wide = masses_on([set(range(10))] * 3)
    assert left(wide, (1, 2, -2), (0, 1, -2)) == [[0, 2, 4], [5, 7, 9]]
    assert left(wide, (0, 1, -2), (1, 2, -2), (2, 0, 5)) == [[0, 2, 4], [5, 7, 9]]
    assert left(wide, (0, 1, -2), (1, 2, -2), (2, 0, 3)) is None  # 4 ticks apart at least, 3 at most
    assert left(wide, (0, 1, -5), (1, 2, -5)) is None  # 0, 5, and then 10


def test_ends_move_onto_ticks_that_have_mass() -> None:
    """0, 4 or 9, two ticks before 1, 5 or 9: of the first 9 is too late, of the second 1 is too early."""
    masses = masses_on([{0, 4, 9}, {1, 5, 9}])
    assert left(masses, (0, 1, -2)) == [[0, 5], [4, 9]]
    # At most one tick before: 0 and 1, 4 and 5, 9 and 9.  Both later than 0 and before 9, it is the middle.
    assert left(masses, (1, 0, 1)) == [[0, 1], [9, 9]]
    between = masses_on([{0, 4, 9}, {1, 5, 9}, {1}, {8}])
    assert left(between, (1, 0, 1), (2, 0, 0), (0, 3, 0)) == [[4, 1, 1, 8], [4, 5, 1, 8]]
    # After 1 it is 4, and what is not before it begins there, too.
    after = masses_on([{0, 4}, {1}, set(range(7))])
    assert left(after, (1, 0, 0), (0, 2, 0)) == [[4, 1, 4], [4, 1, 6]]


def test_no_tick_with_mass_is_left() -> None:
    """0 or 9 is neither after 1 and before 8, nor on it."""
    assert left(masses_on([{0, 9}, {1}, {8}]), (1, 0, 0), (0, 2, 0)) is None
