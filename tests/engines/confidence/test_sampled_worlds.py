"""Worlds that are drawn for clauses: of independent, clocked and tied events, from one seed the same."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies, event_ties
from cepctl.engines.confidence.coupled.problem import Clauses, gathered, present
from cepctl.engines.confidence.coupled.sampling import (
    CLOCKS_CONTRADICT,
    REMAIN,
    TOO_FEW_REMAIN,
    count_hits,
    worlds_of,
)
from cepctl.engines.pattern.offset_bounds import stamps_of
from cepctl.numeric.arrays import Indexes

WORLDS = 20_000
NEAR = 0.02


def even(*ends: tuple[int, int]) -> Masses:
    lower, upper = (np.array(each, dtype=np.int64) for each in zip(*ends, strict=True))
    return Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / ticks_between(lower, upper))


def asking(left: int, right: int, bound: int) -> Clauses:
    one = (np.array([each], dtype=np.int64) for each in (0, left, right, bound))
    return gathered([present(*one)], np.zeros(1, dtype=np.int64), 1)


def given(count: int, *ties: tuple[int, int, int]) -> EventTies:
    columns = np.array(ties, dtype=np.int64).reshape(-1, 3).T
    return event_ties(count, columns[0], columns[1], columns[2])


def shares(clauses: Clauses, clocks: EventClocks, ties: EventTies) -> tuple[int, float, Indexes]:
    worlds = worlds_of(clauses, clocks, ties, np.arange(1, len(clocks.clock) + 1))
    hits, failed = np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64)
    seeds = np.array([5], dtype=np.uint64)
    told = count_hits(worlds, stamps_of(clocks), seeds, WORLDS, hits, failed)
    return int(told), float(hits[0]) / WORLDS, failed


def test_what_is_given_leaves_out_worlds() -> None:
    """Of two events on four ticks the second is right after the first in 3 of 16 worlds, 6 have it after."""
    events = EventClocks.none(even((0, 3), (0, 3)))
    right_after = asking(1, 0, 1)
    told, share, _ = shares(right_after, events, given(2, (0, 1, -1)))
    assert told == REMAIN
    assert share == pytest.approx(3 / 6, abs=NEAR)
    told, share, _ = shares(right_after, events, given(2))
    assert told == REMAIN
    assert share == pytest.approx(13 / 16, abs=NEAR)


def test_what_is_tied_to_events_is_drawn_though_nothing_is_asked_of_it() -> None:
    """A third event has to lie between the two, which the clauses alone compare."""
    events = EventClocks.none(even((0, 3), (0, 3), (0, 3)))
    between = given(3, (0, 2, -1), (2, 1, -1))
    told, share, _ = shares(asking(1, 0, 2), events, between)
    assert told == REMAIN
    assert share == pytest.approx(2 / 4, abs=NEAR)


def test_an_offset_is_drawn_once_for_all_events_of_its_clock() -> None:
    own, offsets = even((0, 0), (1, 1)), even((-5, 5))
    clocks = EventClocks(np.array([0, 0]), own, offsets, np.array([NO_TIE]), ("n",))
    assert shares(asking(0, 1, -1), clocks, given(2))[1] == 1.0
    alone = EventClocks(np.array([0, NO_CLOCK]), own, offsets, np.array([NO_TIE]), ("n",))
    assert shares(asking(0, 1, -1), alone, given(2))[1] == pytest.approx(6 / 11, abs=NEAR)


def test_too_few_worlds_are_told_with_what_leaves_them_out() -> None:
    events = EventClocks.none(even((0, 3), (0, 3)))
    told, _, (group, kept, drawn) = shares(asking(1, 0, 1), events, given(2, (0, 1, -9)))
    assert (told, group, kept, drawn) == (TOO_FEW_REMAIN, 0, 0, WORLDS)
    own, offsets = even((0, 0), (1, 1)), even((0, 999), (5_000, 5_999))
    clocks = EventClocks(np.array([0, 1]), own, offsets, np.array([NO_TIE, 3]), ("n", "m"))
    assert shares(asking(0, 1, -1), clocks, given(2))[0] == CLOCKS_CONTRADICT
