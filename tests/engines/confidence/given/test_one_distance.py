"""One difference beside the order of records, counted by paths: as every choice of ticks says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.confidence.given.one_distance import OneDistance, apart_as_asked
from cepctl.engines.confidence.given.units import Interleaved
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, check

Record = tuple[int, int]
"""A writer, and which of its records."""


@dataclass(frozen=True)
class Unit:
    """Writers of so many `records` on `ticks`; a rival must not be between two others."""

    records: tuple[int, ...]
    ticks: int
    rival: tuple[Record, Record, Record] | None = None

    def worlds(self) -> list[dict[Record, int]]:
        """The tick of each record, in each way to choose them, if what is asked holds there."""
        chosen = [combinations(range(self.ticks), count) for count in self.records]
        every = [
            {(w, i): tick for w, ticks in enumerate(world) for i, tick in enumerate(ticks)}
            for world in product(*chosen)
        ]
        if self.rival is None:
            return every
        absent, one, other = self.rival
        return [at for at in every if not at[one] < at[absent] < at[other]]

    @property
    def count(self) -> int:
        return len(Unit(self.records, self.ticks).worlds())


@dataclass(frozen=True)
class Case:
    """Two records, of one unit or of two, the left one at most `bound` ticks after the right one."""

    units: tuple[Unit, ...]
    records: tuple[Record, Record]
    first: tuple[int, int]
    bound: int

    def probability(self) -> Fraction:
        left, right = self.records
        moved = self.first[0] - self.first[1]
        if len(self.units) == 1:
            (unit,) = self.units
            found = sum(at[left] - at[right] <= self.bound for at in unit.worlds())
            return Fraction(found, unit.count)
        one, other = self.units
        ticks = [
            Counter(at[each] for at in unit.worlds())
            for unit, each in zip(self.units, self.records, strict=True)
        ]
        pairs = product(*(each.items() for each in ticks))
        found = sum(m * n for (a, m), (b, n) in pairs if a - b + moved <= self.bound)
        return Fraction(found, one.count * other.count)

    def measured(self) -> float:
        asked = interleaved(self.units)
        question = np.array([[0, len(self.units) - 1]])
        writer, rank = (np.array([[each[i] for each in self.records]]) for i in (0, 1))
        distance = OneDistance(np.array([self.bound]), question, writer, rank, np.array([self.first]))
        (found,) = apart_as_asked(asked, distance).tolist()
        assert isinstance(found, float)
        return found


def interleaved(units: tuple[Unit, ...]) -> Interleaved:
    records = [count for unit in units for count in unit.records]
    begins = np.cumsum([0, *records])
    offsets = np.cumsum([0, *(len(unit.records) for unit in units)])
    rivals = {}
    for unit, begin in zip(units, offsets.tolist(), strict=False):
        if unit.rival is not None:
            (writer, rank), *others = unit.rival
            rivals[int(begins[begin + writer]) + rank] = others
    numbers = sorted(rivals)
    others = [each for number in numbers for each in rivals[number]]
    return Interleaved(
        offsets,
        np.array([unit.ticks for unit in units]),
        np.array([sum(unit.records) - max(unit.records) for unit in units]),
        np.array(records),
        begins,
        np.searchsorted(numbers, np.arange(begins[-1] + 1)),
        np.ones(len(numbers), dtype=bool),
        np.arange(0, 2 * len(numbers) + 1, 2),
        np.array([writer for writer, _ in others], dtype=np.int64),
        np.array([rank for _, rank in others], dtype=np.int64),
        # The one is before the rival, which is before the other.
        np.array([-1, 1] * len(numbers), dtype=np.int64),
        np.full(2 * len(numbers), -1),
    )


@st.composite
def units(draw: st.DrawFn) -> Unit:
    records = tuple(draw(st.sampled_from([(1,), (3,), (1, 1), (2, 1), (1, 3), (2, 2), (2, 3), (1, 1, 2)])))
    ticks = draw(st.integers(sum(records), 6))
    if len(records) == 1 or not draw(st.booleans()):
        return Unit(records, ticks)
    absent = draw(st.integers(0, len(records) - 1))
    others = st.sampled_from([w for w in range(len(records)) if w != absent])
    rival, one, other = (
        (writer, draw(st.integers(0, records[writer] - 1))) for writer in (absent, draw(others), draw(others))
    )
    return Unit(records, ticks, (rival, one, other))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    found = draw(st.lists(units(), min_size=1, max_size=2))
    chosen = []
    for unit in (found[0], found[-1]):
        writer = draw(st.integers(0, len(unit.records) - 1))
        chosen.append((writer, draw(st.integers(0, unit.records[writer] - 1))))
    assume(len(found) == 2 or chosen[0] != chosen[1])
    first = (0, 0) if len(found) == 1 else (draw(st.integers(0, 9)), draw(st.integers(0, 9)))
    return Case(tuple(found), (chosen[0], chosen[1]), first, draw(st.integers(-8, 8)))


def counted_as_enumerated(case: Case) -> None:
    assert case.measured() == pytest.approx(float(case.probability()), abs=1e-12)


def test_a_worked_number() -> None:
    """Two writers of two records each on four ticks: v's first is at most one after w's in 33 of 36."""
    case = Case((Unit((2, 2), 4),), ((1, 0), (0, 0)), (0, 0), 1)
    assert case.probability() == Fraction(33, 36)
    counted_as_enumerated(case)


def test_the_number_that_the_page_works_out() -> None:
    """w: a and two more, v: b and one more, on six ticks: b at most one tick after a, and not before it."""
    unit = Unit((3, 2), 6)
    near, at_once_or_before = (Case((unit,), ((1, 0), (0, 0)), (0, 0), bound) for bound in (1, 0))
    assert near.probability() - at_once_or_before.probability() == Fraction(13, 60)
    counted_as_enumerated(near)
    counted_as_enumerated(at_once_or_before)


def test_paths_count_as_choices_of_ticks() -> None:
    check(cases(), counted_as_enumerated, EXAMPLES)


@pytest.mark.slow
def test_paths_count_as_choices_of_ticks_in_many_cases() -> None:
    check(cases(), counted_as_enumerated, MANY_EXAMPLES)
