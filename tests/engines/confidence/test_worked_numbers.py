"""What compiled sums give for events of a few ticks, against numbers counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import difference_probability
from cepctl.engines.confidence.clocks.offset_masses import shares_of_sum
from cepctl.engines.confidence.gaps.carried_chains import carried_confidence
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, Gaps, range_of_places
from cepctl.engines.confidence.gaps.several_gaps import Places, several_gap_chains
from cepctl.engines.confidence.given.one_distance import distance_probability
from cepctl.engines.pattern.difference_constraints import closure


def uniform(*intervals: tuple[int, int]) -> Masses:
    """Events that are anywhere in their intervals."""
    lower, upper = (np.array(each, dtype=np.int64) for each in zip(*intervals, strict=True))
    return Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / (upper - lower + 1))


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_two_events_so_far_apart() -> None:
    """Of 16 pairs of ticks from 0 to 3, three are one tick apart and two are two."""
    pair, first, last = np.array([[0, 1]]), np.array([[0, 0]]), np.array([[3, 3]])
    masses, apart = uniform((0, 3), (0, 3)), (numbers(1), numbers(2))
    assert difference_probability(masses, pair, first, last, *apart) == pytest.approx([5 / 16], rel=1e-15)
    # With the first event at 0 or 1: 0 and 1, 1 and 2, 0 and 2, 1 and 3.
    cut = np.array([[1, 3]])
    assert difference_probability(masses, pair, first, cut, *apart) == pytest.approx([4 / 16], rel=1e-15)


def test_a_tick_of_its_own_and_an_offset() -> None:
    """0 or 1, moved by -1, 0 or 1: two of six ways give each of 0 and 1, one of them -1 or 2."""
    own, offset, shares = uniform((0, 1)), uniform((-1, 1)), np.empty(3)
    asked = numbers(0, 2, -1), numbers(1, 9, -1)
    shares_of_sum(own.buckets, 0, offset.buckets, 0, *asked, shares)
    assert shares == pytest.approx([4 / 6, 1 / 6, 1 / 6], rel=1e-15)


def one_rival(masses: Masses) -> GapChains:
    """Events 0 and 1, and event 2 that must not lie between them."""
    event = np.array([[0, 1]])
    gaps = Gaps(numbers(0), numbers(1), numbers(0, 1), numbers(2))
    return GapChains(event, masses.lower[event], masses.upper[event], np.array([[0]]), gaps)


def test_a_rival_kept_out_of_a_gap() -> None:
    """From 0 to b, of 1 to 4, and a rival at 1, 2 or 3: it is out of (0, b) in 3, 2, 1 and 0 of 3 cases."""
    masses = uniform((0, 0), (1, 4), (1, 3))
    chains = one_rival(masses)
    assert carried_confidence(masses, chains, None, 1e6, 1 << 20) == pytest.approx([6 / 12], rel=1e-14)
    first, last, possible = range_of_places(masses, chains, None, 0, 1)
    assert (first.tolist(), last.tolist(), possible.tolist()) == ([0], [3], [True])


def test_a_rival_kept_out_of_two_gaps() -> None:
    """Between 0 and 5 it may be where the event between is alone: at 2 or 3, of 1 to 4."""
    masses = uniform((0, 0), (2, 3), (5, 5), (1, 4))
    event = np.array([[0, 1, 2]])
    system = closure(3, [(0, 1, -1), (1, 2, -1)])
    places = Places(numbers(0, 1), numbers(3), numbers(0b11), numbers(0))
    ends = masses.lower[event], masses.upper[event]
    solved, found = several_gap_chains(masses, event, *ends, system, places, None)
    assert solved.tolist() == [0]
    assert found.confidence == pytest.approx([1 / 4], rel=1e-14)
    assert (found.start.tolist(), found.end.tolist()) == ([0], [5])


def test_two_records_of_a_unit_so_far_apart() -> None:
    """Two records on three ticks are on the first two, the last two, or both ends."""
    unit = numbers(2, 2), numbers(3, 3), numbers(1, 1), numbers(1, 1)
    found = distance_probability(*unit, np.array([False, True]))
    assert found == pytest.approx([2 / 3, 1 / 3], rel=1e-14)
