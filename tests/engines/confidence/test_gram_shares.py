"""Values and sums of polynomials from their values at the nodes of a cell: against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cepctl.engines.confidence.gauss_nodes import (
    expand,
    shares_of_sums,
    shares_of_sums_to_end,
    shares_of_values,
    zeros_of_gram,
)
from cepctl.numeric.arrays import Reals


def chosen(ticks: float, degree: int) -> Fraction:
    """As many ways as there are to choose `degree` of so many ticks; their sums are of the same kind."""
    value = Fraction(1)
    for i in range(degree):
        value *= (Fraction(ticks) - i) / (i + 1)
    return value


def scaled(ticks: float, degree: int, scale: int) -> float:
    return float(chosen(ticks, degree) / Fraction(scale) ** degree)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("ticks", [25, 1_000, 10**6, 10**12])
def test_polynomials_and_their_sums_are_told_at_any_place(ticks: int, count: int) -> None:
    nodes, weights = np.zeros(count), np.zeros(count)
    zeros_of_gram(float(ticks), count, nodes, weights)
    across, basis = np.zeros(count), np.zeros((count, count))
    expand(float(ticks), nodes, weights, across, basis)
    places = np.array([0.0, 1.0, ticks / 3.25, ticks / 2, ticks - 2.5, ticks - 1])

    def shares_by(kernel: object) -> Reals:
        working, shares = np.empty((count, len(places))), np.empty((count, len(places)))
        assert callable(kernel)
        kernel(float(ticks), across, basis, places, working, shares)
        return shares

    kernels = (shares_of_values, shares_of_sums, shares_of_sums_to_end)
    values, before, rest = (shares_by(kernel) for kernel in kernels)
    for degree in range(count):
        given = np.array([scaled(x, degree, ticks) for x in nodes])
        until = np.array([scaled(x, degree + 1, ticks) for x in places])
        assert given @ values == pytest.approx([scaled(x, degree, ticks) for x in places], rel=0, abs=5e-14)
        assert given @ before / ticks == pytest.approx(until, rel=0, abs=1e-15)
        everything = scaled(ticks, degree + 1, ticks)
        assert given @ rest / ticks == pytest.approx(everything - until, rel=0, abs=1e-15)


def test_nothing_is_before_the_first_tick_and_after_the_last() -> None:
    nodes, weights = np.zeros(6), np.zeros(6)
    zeros_of_gram(500.0, 6, nodes, weights)
    across, basis, working, shares = np.zeros(6), np.zeros((6, 6)), np.empty((6, 2)), np.empty((6, 2))
    expand(500.0, nodes, weights, across, basis)
    ends = np.array([0.0, 500.0])
    shares_of_sums(500.0, across, basis, ends, working, shares)
    assert shares[:, 0].tolist() == [0.0] * 6
    assert shares[:, 1].tolist() == pytest.approx(weights.tolist())
    shares_of_sums_to_end(500.0, across, basis, ends, working, shares)
    assert shares[:, 1].tolist() == [0.0] * 6
    assert shares[:, 0].tolist() == pytest.approx(weights.tolist())
