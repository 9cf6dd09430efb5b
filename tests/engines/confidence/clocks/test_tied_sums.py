"""The mass of offsets that differ by no more than they may: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.confidence.clocks.chain_weights import WeighedMasses, _weighed, joined
from cepctl.engines.confidence.clocks.tied_sums import fill_tied_sums


def uniform(first: int, last: int) -> WeighedMasses:
    """The mass of an offset that is as probable on each of some ticks."""
    ends = np.array([first]), np.array([last])
    return _weighed(*ends, np.array([1.0 / (last - first + 1)]), None)


ALIKE = joined([uniform(-1, 1)] * 4)


def summed(limit: list[list[int]], masses: WeighedMasses = ALIKE) -> float:
    """The sum of one match with an offset for each row but the first."""
    found, levels = np.empty(1), len(limit) - 1
    which = np.array([[0, *range(levels)]])
    fill_tied_sums(np.array([limit]), np.array([levels]), which, masses, 1 << 20, found)
    return float(found[0])


@pytest.mark.parametrize(("ahead", "share"), [(2, 9 / 9), (1, 8 / 9), (0, 6 / 9), (-1, 3 / 9), (-2, 1 / 9)])
def test_one_offset_may_be_so_much_ahead_of_another(ahead: int, share: float) -> None:
    """Of nine pairs of -1, 0 and 1 so many have a first that is ahead of the second by that much at most."""
    limit = [[0, 1, 1], [1, 0, ahead], [1, 2, 0]]
    assert summed(limit) == pytest.approx(share, rel=1e-14)
    turned = [[0, 1, 1], [1, 0, 2], [1, ahead, 0]]
    assert summed(turned) == pytest.approx(share, rel=1e-14)


def test_one_offset_has_the_mass_between_its_bounds() -> None:
    assert summed([[0, 0], [1, 0]]) == pytest.approx(2 / 3, rel=1e-14)


def test_three_offsets_in_order() -> None:
    """Of 27 triples of -1, 0 and 1 ten ascend: three on one tick, six on two, one on three."""
    limit = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 2, 0, 0], [1, 2, 2, 0]]
    assert summed(limit) == pytest.approx(10 / 27, rel=1e-14)


def test_four_offsets_in_order() -> None:
    """Of 81 quadruples of -1, 0 and 1 as many ascend as four things can be put into three places: C(6, 4)."""
    limit = [[0, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 2, 0, 0, 0], [1, 2, 2, 0, 0], [1, 2, 2, 2, 0]]
    assert summed(limit) == pytest.approx(15 / 81, rel=1e-14)


def test_four_offsets_in_turned_order() -> None:
    limit = [[0, 1, 1, 1, 1], [1, 0, 2, 2, 2], [1, 0, 0, 2, 2], [1, 0, 0, 0, 2], [1, 0, 0, 0, 0]]
    assert summed(limit) == pytest.approx(15 / 81, rel=1e-14)
