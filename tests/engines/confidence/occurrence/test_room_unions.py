"""Some of several rooms has enough members: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.laws import even_laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.occurrence.room_unions import GroupPlaces, RoomKeys, Rooms, united_rooms
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

Interval = tuple[int, int]
ANY = UNBOUNDED
IN_BETWEEN = GroupPlaces(np.array([[0, ANY], [ANY, 0]]), np.array([ANY, -1]), np.array([-1, ANY]))
"""A member is after the first neighbour and before the second."""


def united(ends: list[Interval], members: list[Interval], own: list[float]) -> list[float]:
    """P(some room holds a member), of rooms with such certain neighbours, and how many shared events there.

    `members`: a pair for each room is one for all of them where there is one only.  `own`: the probability of
    each room by itself.
    """
    rooms, shared = len(ends), len(members) == 1
    ticks = [(tick, tick) for pair in ends for tick in pair]
    lower, upper = (np.array(each, dtype=np.int64) for each in zip(*ticks, *members, strict=True))
    masses = Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / (upper - lower + 1))
    first = 2 * rooms
    member = np.full(rooms, first) if shared else first + np.arange(rooms)
    found = united_rooms(
        even_laws(masses.buckets),
        IN_BETWEEN,
        Rooms(np.arange(first).reshape(rooms, 2), np.arange(rooms + 1), member, np.zeros(rooms, np.bool_)),
        RoomKeys(np.array([0, rooms]), np.array(own), np.ones(rooms, dtype=np.int64)),
        np.arange(len(lower)),
    )
    return [float(found[0][0]), float(found[1][0])]


def test_rooms_that_share_no_event_are_independent() -> None:
    """0 to 3 is in (-1, 2) with 1/2, 0 to 2 in (1, 3) with 1/3: 1 - 1/2 * 2/3."""
    found = united([(-1, 2), (1, 3)], [(0, 3), (0, 2)], [1 / 2, 1 / 3])
    assert found == pytest.approx([2 / 3, 0], rel=1e-14)


def test_rooms_that_share_an_event() -> None:
    """0 to 3 is in (-1, 2) or in (0, 3) at 0, 1 and 2."""
    assert united([(-1, 2), (0, 3)], [(0, 3)], [1 / 2, 1 / 2]) == pytest.approx([3 / 4, 2], rel=1e-14)


def test_three_rooms_that_share_an_event() -> None:
    """0 to 7 is in (-1, 2), (0, 3) or (4, 6) at 0, 1, 2 and 5."""
    found = united([(-1, 2), (0, 3), (4, 6)], [(0, 7)], [1 / 4, 1 / 4, 1 / 8])
    assert found == pytest.approx([4 / 8, 3], rel=1e-14)


def test_a_room_within_another_adds_nothing() -> None:
    """0 to 3 is in (-1, 3) with 3/4; whatever is in (-1, 2) is there, too."""
    assert united([(-1, 2), (-1, 3)], [(0, 3)], [1 / 2, 3 / 4]) == pytest.approx([3 / 4, 0], rel=1e-14)
