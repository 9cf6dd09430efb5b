"""Masses of offsets that are weighed by the clocks tied to theirs: numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.confidence.clocks.chain_weights import WeighedMasses, WeightCells, _add_up, weights_at

STEADY, FALLING, SQUARES = (0, [1.0, 0.0, 0.0]), (1, [1.0, 0.5, 0.0]), (2, [0.0, 0.25, 1.0])
CELLS = WeightCells(
    np.array([0, 2, 4]),
    np.array([1, 3, 6]),
    np.array([degree for degree, _ in (STEADY, FALLING, SQUARES)]),
    np.array([[0, 0, 0], [0, 1, 0], [0, 1, 2]]),
    np.array([values for _, values in (STEADY, FALLING, SQUARES)]),
)
"""Weights of 1 on 0 and 1, of 1 and 1/2 on 2 and 3, of 0, 1/4 and 1 on 4, 5 and 6."""
SLOPE = WeightCells(
    np.array([0]), np.array([9]), np.array([1]), np.array([[0, 9, 0]]), np.array([[0.25, 1.0, 0.0]])
)
"""From 1/4 on 0 to 1 on 9, told by both ends."""


def weighed(weight: WeightCells, density: float) -> WeighedMasses:
    """A mass that is as dense on all ticks that have a weight."""
    cells = np.arange(len(weight.begin))
    return WeighedMasses(
        np.array([0, len(cells)]), weight.begin, weight.end, np.full(len(cells), density), cells,
        np.zeros(len(cells)), weight.degree[-1:], weight,
    )  # fmt: skip


def test_weights_are_values_or_polynomials_through_them() -> None:
    assert weights_at(CELLS, np.array([1, 2, 3, 5])).tolist() == [1.0, 1.0, 0.5, 0.25]
    assert weights_at(SLOPE, np.array([3, 6])) == pytest.approx([1 / 2, 3 / 4], rel=1e-15)


def test_sums_of_weighed_cells() -> None:
    """With 1/8 on each tick: 2/8, then (1 + 1/2) / 8 more, then (0 + 1/4 + 1) / 8 more."""
    mass = weighed(CELLS, 1 / 8)
    _add_up(mass)
    assert mass.upto == pytest.approx([8 / 32, 14 / 32, 19 / 32], rel=1e-15)


def test_the_sum_of_a_cell_that_is_told_by_its_ends() -> None:
    """Ten ticks of 5/8 on average, with 1/10 on each."""
    mass = weighed(SLOPE, 1 / 10)
    _add_up(mass)
    assert mass.upto == pytest.approx([5 / 8], rel=1e-15)
