"""What a pattern leaves to the offsets of clocks, and these to the ticks: numbers by hand.

Event a reads 10 on a clock that is off by -1 to 1; b is recorded at 13 or 14 on one that is off by 0 to 2.  b
comes 1 or 2 ticks after a.  So its offset is at least one less than that of a, which leaves 1 to a and 0 to
b: a happened at 11, b at 13.
"""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import (
    _NO_CLOCK,
    ClockStamps,
    _least_apart,
    _possible,
    _valid,
    close_offsets,
    slots,
)

A, B, A_LATER, ALONE, B_LATE = range(5)
AFTER = closure(2, [(0, 1, -1), (1, 0, 2)])
"""The second event is 1 or 2 ticks after the first."""


def anywhere(*intervals: tuple[int, int]) -> Masses:
    lower, upper = (np.array(each, dtype=np.int64) for each in zip(*intervals, strict=True))
    return Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / (upper - lower + 1))


def stamped(*, tied: bool = False) -> ClockStamps:
    """A and a later event on clock 0, two of B on clock 1, one on none; perhaps the clocks are tied."""
    own = anywhere((10, 10), (13, 14), (13, 13), (11, 11), (14, 14))
    clock = np.array([0, 1, 0, _NO_CLOCK, 1])
    chain = np.array([0, 0 if tied else 1])
    along = np.array([4, 5])
    offsets = anywhere((-1, 1), (0, 2)).buckets
    return ClockStamps(clock, own.buckets, offsets, chain, along, np.array([tied, tied]))


def closed(match: list[int], stamps: ClockStamps) -> tuple[bool, list[list[int]]]:
    slot, clocks = np.empty(2, dtype=np.int64), np.empty(3, dtype=np.int64)
    bound, events = np.empty((3, 3), dtype=np.int64), np.array(match)
    count = slots(stamps, events, slot, clocks)
    possible = close_offsets(stamps, AFTER, events, slot, clocks, count, bound)
    return bool(possible), bound[: count + 1, : count + 1].tolist()


def test_events_of_one_clock_have_one_slot() -> None:
    slot, clocks = np.empty(4, dtype=np.int64), np.empty(5, dtype=np.int64)
    assert slots(stamped(), np.array([B, ALONE, A, A_LATER]), slot, clocks) == 2
    assert slot.tolist() == [1, 0, 2, 2]
    assert clocks[:3].tolist() == [_NO_CLOCK, 1, 0]


def test_offsets_bound_each_other() -> None:
    """That of a is 1 and that of b 0, so that the first is ahead by 1, neither more nor less."""
    nobody, a, b = [0, -1, 0], [1, 0, 1], [0, -1, 0]
    assert closed([A, B], stamped()) == (True, [nobody, a, b])


def test_recorded_times_bound_offsets() -> None:
    """Between 13 and 13 or 14, 1 or 2 ticks apart: b's offset is that of a or up to 2 more."""
    nobody, a, b = [0, 1, 0], [1, 0, 0], [2, 2, 0]
    assert closed([A_LATER, B], stamped()) == (True, [nobody, a, b])


def test_a_tie_bounds_the_difference_of_offsets() -> None:
    """Along their chain the clocks differ by at most 1: together with an order alone, b's is 2 no more."""
    slot, clocks, bound = np.empty(2, dtype=np.int64), np.empty(3, dtype=np.int64), np.empty((3, 3), np.int64)
    order, events = closure(2, [(0, 1, -1)]), np.array([A, B])
    found = []
    for tied in (False, True):
        count = slots(stamped(tied=tied), events, slot, clocks)
        assert close_offsets(stamped(tied=tied), order, events, slot, clocks, count, bound)
        found.append(bound[2, 1])
    assert found == [3, 1]  # 2 - -1 from the masses; 1 from the tie


@pytest.mark.parametrize("match", [[A, B_LATE], [A, A_LATER], [B, A]])
def test_what_no_offsets_allow(match: list[int]) -> None:
    """From 10 to 14 the offsets would have to differ by 2, of 1 at most; one clock shows 3 ticks as 3."""
    allowed = np.ones(2, dtype=np.bool_)
    _possible(stamped(), AFTER, np.array([match, [A, B]]), allowed)
    assert allowed.tolist() == [False, True]


def test_the_ticks_that_are_left() -> None:
    """Event a happened at 11 and b at 13; the intervals of a row that cannot be stay empty."""
    lower, upper = np.ones((2, 2), dtype=np.int64), np.zeros((2, 2), dtype=np.int64)
    _valid(stamped(), AFTER, np.array([[A, B], [A, B_LATE]]), lower, upper)
    assert lower.tolist() == [[11, 13], [1, 1]]
    assert upper.tolist() == [[11, 13], [0, 0]]


def test_an_event_is_bounded_by_others_and_its_own_offset() -> None:
    """Behind an event at 11, by 1 or 2 ticks, b is at 13; as it is recorded at 13 or 14, its offset is 0."""
    lower, upper = np.ones((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
    _valid(stamped(), AFTER, np.array([[ALONE, B]]), lower, upper)
    assert (lower.tolist(), upper.tolist()) == ([[11, 13]], [[11, 13]])


def test_an_event_before_another_has_what_its_clock_leaves() -> None:
    """Before an event at 11, by 1 or 2 ticks: what reads 10 happened at 9 or 10."""
    lower, upper = np.ones((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
    _valid(stamped(), AFTER, np.array([[A, ALONE]]), lower, upper)
    assert (lower.tolist(), upper.tolist()) == ([[9, 11]], [[10, 11]])


def test_how_far_one_event_is_after_another_at_least() -> None:
    """The order asks for 1 tick; of 10 and 13 with offsets that differ by 1 at most there are 2 between."""
    least = np.empty(1, dtype=np.int64)
    _least_apart(stamped(), AFTER, np.array([[A, B]]), 1, 0, least)
    assert least.tolist() == [2]
    _least_apart(stamped(), np.array([[0, -1], [UNBOUNDED, 0]]), np.array([[A, B]]), 0, 1, least)
    assert least.tolist() == [-7]  # a at 9, b at 16
