"""Keys under a law of order that are too large to enumerate: closed forms, both ways of running, and work."""

from __future__ import annotations

from math import comb, factorial, log, prod

import numpy as np
import pytest

from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.table import LawAnswers, measure_keys
from cepctl.laws.law import OrderLaw

DAY = 86_400_000


def one_key(lower: list[int], upper: list[int], step: list[int]) -> Keys:
    """Uniform events of a single key."""
    lo, hi = np.array(lower), np.array(upper)
    masses = Masses(lo, hi, np.arange(len(lo) + 1), lo, hi, 1.0 / (hi - lo + 1))
    return Keys(masses, np.array([0, len(lo)]), np.array(step))


def random_keys() -> tuple[Keys, Factors]:
    """Keys of up to five events alive, with repeats and certain ones, and a law of all factors."""
    random = np.random.default_rng(7)
    lower = np.sort(random.integers(0, 24, 24))
    upper = lower + random.integers(0, 7, 24)
    masses = Masses(lower, upper, np.arange(25), lower, upper, 1.0 / (upper - lower + 1))
    factors = Factors(np.exp(random.normal(size=(5, 5))), np.exp(random.normal(size=(4, 4))))
    return Keys(masses, np.array([0, 7, 7, 18, 24]), random.integers(0, 4, 24)), factors


def bits(measured: LawAnswers) -> list[bytes]:
    assert measured.following is not None and measured.before is not None and measured.pairs is not None
    pairs = measured.pairs
    arrays = [
        measured.log_z, measured.following, measured.before, pairs.in_order, pairs.earlier, pairs.later
    ]  # fmt: skip
    return [array.tobytes() for array in arrays]


def test_compiled_and_interpreted_tables_have_the_same_bits() -> None:
    keys, factors = random_keys()
    told = []
    for mode in ("interpreted", "compiled"):
        with only("compiled" if mode == "compiled" else "interpreted"):
            told.append(bits(measure_keys(keys, factors, expected=True, pairs=True)))
    assert told[0] == told[1]


def test_gradients_are_those_of_ln_z() -> None:
    keys, factors = random_keys()
    measured = measure_keys(keys, factors, expected=True)
    assert measured.following is not None and measured.before is not None
    step = 1e-6

    def change(following: bool, x: int, y: int) -> float:
        """The derivative of the summed ln Z by ln of a factor, from both sides."""
        ends = []
        for sign in (1, -1):
            arrays = [factors.following.copy(), factors.before.copy()]
            arrays[0 if following else 1][x, y] *= np.exp(sign * step)
            ends.append(measure_keys(keys, Factors(*arrays)).log_z.sum())
        return float(ends[0] - ends[1]) / (2 * step)

    for x, y in [(0, 1), (2, 2), (4, 3), (1, 4)]:
        assert measured.following[0, x, y] == pytest.approx(change(True, x, y), abs=1e-6)
    for x, y in [(0, 1), (3, 2)]:
        assert measured.before[0, x, y] == pytest.approx(change(False, x, y), abs=1e-6)


def test_events_that_are_alike_are_counted() -> None:
    """Sixty repeats and forty others on one day: 2^100 sets told apart, 2501 counted."""
    keys = one_key([0] * 100, [DAY - 1] * 100, [0] * 60 + [1] * 40)
    measured = measure_keys(keys, Factors.of_law(OrderLaw("k", following={("^", "A"): 3.0}), "AB"))
    assert measured.sets.tolist() == [61 * 41]
    # One of A comes first in 3 of 5 orders.
    assert measured.log_z.tolist() == [pytest.approx(log(1 + 2 * 0.6), abs=1e-12)]


def test_a_chain_of_alternating_repeats_has_its_closed_form() -> None:
    """Of the orders of c As and c Bs only those that alternate have 3 at each of their 2 c - 1 changes."""
    count = 4
    keys = one_key([0] * 2 * count, [999] * 2 * count, [0] * count + [1] * count)
    law = OrderLaw("k", following={("A", "B"): 3.0, ("B", "A"): 3.0})
    measured = measure_keys(keys, Factors.of_law(law, "AB"), expected=True)

    def arrangements(changes: int) -> int:
        """How many ways there are to write c As and c Bs with so many changes."""
        runs = changes + 1
        return 2 * comb(count - 1, (runs + 1) // 2 - 1) * comb(count - 1, runs // 2 - 1)

    weights = {k: 3.0**k * arrangements(k) for k in range(1, 2 * count)}
    z = sum(weights.values()) / comb(2 * count, count)
    assert measured.log_z.tolist() == [pytest.approx(log(z), abs=1e-12)]
    assert measured.following is not None
    changes = sum(k * weight for k, weight in weights.items()) / sum(weights.values())
    assert measured.following[0, 0, 1] + measured.following[0, 1, 0] == pytest.approx(changes, abs=1e-11)


@pytest.mark.parametrize("ticks", [1, 2, 3, 7, 64, 1000, DAY, 1 << 61])
def test_without_factors_strict_orders_are_those_of_uniform_ticks(ticks: int) -> None:
    keys = one_key([0] * 5, [ticks - 1] * 5, [0, 1, 2, 3, 3])
    pairs = measure_keys(keys, Factors(np.ones((5, 5)), np.ones((4, 4))), pairs=True).pairs
    assert pairs is not None
    assert pairs.in_order == pytest.approx(np.full(10, 0.5), abs=1e-14)
    for found in (pairs.earlier, pairs.later):
        assert found == pytest.approx(np.full(10, (1 - 1 / ticks) / 2), abs=1e-14)


def test_no_weight_is_too_small_or_too_large_for_a_float() -> None:
    """Two thousand certain events, each next after the last by a factor of 1e-3 and 1e3."""
    lower = list(range(2000))
    for factor in (1e-3, 1e3):
        law = OrderLaw("k", following={("A", "A"): factor})
        measured = measure_keys(one_key(lower, lower, [0] * 2000), Factors.of_law(law, "A"))
        assert measured.log_z.tolist() == [pytest.approx(1999 * log(factor), rel=1e-13)]


def test_two_distant_orders_of_many_events_are_weighed_exactly() -> None:
    """Ten events on one tick: of 10! orders one is alone with all of its nine factors."""
    law = OrderLaw("k", following={(str(i), str(i + 1)): 1e6 for i in range(9)})
    steps = [str(i) for i in range(10)]
    measured = measure_keys(
        one_key([5] * 10, [5] * 10, list(range(10))), Factors.of_law(law, steps), pairs=True
    )
    # Orders with k of the nine adjacencies are products of 10 - k blocks in one order each.
    blocks = [comb(9, k) * factorial(10 - k) * (1e6 - 1) ** k for k in range(10)]
    assert measured.log_z.tolist() == [pytest.approx(log(sum(blocks)) - log(prod(range(1, 11))), rel=1e-13)]
    assert measured.pairs is not None
    assert not measured.pairs.earlier.any()
