"""Few ticks that sum a polynomial over many, against sums in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from cepctl.engines.confidence.quadrature import CERTAIN, most_nodes, place_certain_nodes, place_nodes


def nodes_of(ticks: int, degree: int) -> tuple[list[int], list[float]]:
    room = most_nodes(ticks, degree) + 1
    nodes, weights = np.empty(room, np.int64), np.empty(room)
    count = place_certain_nodes(ticks, degree, nodes, weights)
    return nodes[:count].tolist(), weights[:count].tolist()


def summed(ticks: int, degree: int, rank: int) -> float:
    """The sum over ticks of how probable it is that the record of a rank is there: 1."""
    nodes, weights = nodes_of(ticks, degree)
    every = comb(ticks, degree + 1)
    ways = (comb(x, rank) * comb(ticks - 1 - x, degree - rank) for x in nodes)
    return sum(weight * float(Fraction(way, every)) for weight, way in zip(weights, ways, strict=True))


@pytest.mark.parametrize(
    ("ticks", "degree"), [(6_000, 100), (1_000_000, 200), (1_000_000, 400), (1_000, 0), (1_000, 1)]
)
def test_the_record_of_each_rank_is_somewhere(ticks: int, degree: int) -> None:
    for rank in {0, degree // 3, degree}:
        assert summed(ticks, degree, rank) == pytest.approx(1.0, abs=2 * CERTAIN)


def test_of_a_high_degree_a_third_of_its_nodes_do() -> None:
    assert len(nodes_of(1_000_000, 600)[0]) < 600 / 3


def test_on_few_ticks_each_is_a_node() -> None:
    assert nodes_of(700, 300) == (list(range(700)), [1.0] * 700)


@pytest.mark.parametrize("degree", [0, 1, 2, 30, 41, 64, 95, 96, 97, 130])
def test_powers_of_every_degree_are_summed(degree: int) -> None:
    nodes, weights = nodes_of(20_000, degree)
    assert len(nodes) == degree + 1 or degree >= 96
    right = sum(Fraction(tick, 20_000) ** degree for tick in range(20_000))
    found = sum(weight * (tick / 20_000) ** degree for tick, weight in zip(nodes, weights, strict=True))
    assert found == pytest.approx(float(right), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_products_of_what_lies_before_and_behind_are_summed(seed: int) -> None:
    ticks, drawn = 1_000_000, np.random.default_rng(seed)
    begins, ends = drawn.integers(0, ticks // 3, 40), ticks + drawn.integers(0, ticks // 3, 70)

    def at(tick: int) -> float:
        return float(np.prod((tick + begins) / ticks) * np.prod((ends - tick) / ticks))

    nodes, weights = nodes_of(ticks, 110)
    all_nodes, all_weights = np.empty(200, np.int64), np.empty(200)
    count = place_nodes(ticks, 110, all_nodes, all_weights)
    right = sum(weight * at(x) for x, weight in zip(all_nodes[:count], all_weights[:count], strict=True))
    assert sum(weight * at(x) for x, weight in zip(nodes, weights, strict=True)) == pytest.approx(
        right, rel=1e-12
    )
    assert len(nodes) < count
