"""Which rivals gaps of chains hold, and which gaps are one: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.confidence.gaps.distinct_gaps import (
    Gaps,
    _count,
    _GapBounds,
    _list,
    _settle,
    _tell_apart,
    rivals_of_gaps,
)

OPEN, CLOSED = 0, 1


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


# A chain of events 0 and 1, on ticks 0 to 2 and 10 to 12, and four rivals.
EVENTS = numbers(0, 10, 3, -3, 12, 10), numbers(2, 12, 5, 0, 15, 11)
BETWEEN, BEFORE, AT_THE_END, LATE = 2, 3, 4, 5
OF_CHAIN = np.array([[0, 10]]), np.array([[2, 12]])
ROWS, RIVALS = numbers(0, 0, 0, 0), numbers(BETWEEN, BEFORE, AT_THE_END, LATE)


@pytest.mark.parametrize(("closed", "room"), [(OPEN, 2), (CLOSED, 3)])
def test_room_is_made_for_rivals_that_reach_into_a_gap(closed: int, room: int) -> None:
    """3 to 5 and 10 to 11 reach into (0, 12), -3 to 0 does not; 12 to 15 does where the gap holds its end."""
    sizes = np.zeros(1, dtype=np.int64)
    _count(ROWS, RIVALS, 0, 0, closed, *EVENTS, *OF_CHAIN, sizes)
    assert sizes.tolist() == [room]


@pytest.mark.parametrize(
    ("closed", "listed"),
    [
        (OPEN, [4 * BETWEEN + 1, 4 * LATE]),
        (CLOSED, [4 * BETWEEN + 2 + 1, 4 * AT_THE_END + 2, 4 * LATE + 2 + 1]),
    ],
)
def test_a_rival_is_listed_with_whether_it_can_lie_in_the_gap(closed: int, listed: list[int]) -> None:
    """Where 2 and 10 alone are left to the chain: 10 to 11 is in (2, 10] only, 12 to 15 reaches there raw."""
    left = np.array([[2, 10]]), np.array([[2, 10]])
    bounds = _GapBounds(*EVENTS, *OF_CHAIN, *left, np.array([[True]]))
    ends, events = np.zeros(1, dtype=np.int64), np.zeros(4, dtype=np.int64)
    _list(ROWS, RIVALS, 0, 0, closed, bounds, ends, events)
    assert events[: ends[0]].tolist() == listed


def test_no_rival_can_lie_in_a_gap_without_room() -> None:
    bounds = _GapBounds(*EVENTS, *OF_CHAIN, *OF_CHAIN, np.array([[False]]))
    ends, events = np.zeros(1, dtype=np.int64), np.zeros(4, dtype=np.int64)
    _list(ROWS, RIVALS, 0, 0, OPEN, bounds, ends, events)
    assert events[: ends[0]].tolist() == [4 * BETWEEN, 4 * LATE]


@pytest.mark.parametrize(("inside", "entangled"), [(0, False), (1, True)])
def test_rivals_stand_once_in_order_and_none_in_two_gaps(inside: int, entangled: bool) -> None:
    """One gap lists events 3, 2 and 2 again, one event 3, perhaps inside, and one event 2."""
    offsets = numbers(0, 3, 4, 5)
    events = numbers(4 * 3 + 1, 4 * 2, 4 * 2 + 1, 4 * 3 + inside, 4 * 2)
    sizes, digests, meets = numbers(3, 1, 1), np.zeros(3, dtype=np.uint64), np.zeros(1, dtype=np.bool_)
    _settle(offsets, events, sizes, digests, meets)
    assert sizes.tolist() == [2, 1, 1]
    assert events[:2].tolist() == [4 * 2 + 1, 4 * 3 + 1]
    assert meets.tolist() == [entangled]
    # Digests are sums over the events, whether these can lie there or not.
    both, three, two = map(int, digests)
    assert both == (three + two) % 2**64
    assert two != three


def test_lists_of_equal_digests_are_told_apart_by_their_events() -> None:
    """In this order the second has the event of the first, inside or not; the third is closed for it."""
    begins, sizes, fresh = numbers(2, 0, 1), numbers(1, 1, 1), np.array([True, False, False])
    _tell_apart(numbers(1, 2, 0), begins, sizes, numbers(4 * 2, 4 * 2 + 1, 4 * 2 + 2), fresh)
    assert fresh.tolist() == [True, False, True]


def test_rivals_of_some_gaps_stand_side_by_side() -> None:
    """Gap 0 has rivals 7 and 8, gap 1 none, gap 2 has rival 9: of gaps 2 and 0 these are 9, 7 and 8."""
    gaps = Gaps(numbers(0, 1, 2), numbers(1, 2, 3), numbers(0, 2, 2, 3), numbers(7, 8, 9))
    offsets, listed = rivals_of_gaps(gaps, numbers(2, 0))
    assert (offsets.tolist(), listed.tolist()) == ([0, 1, 3], [9, 7, 8])
