"""Hundreds of events of a key on one day: products of factors leave the floats, and no probability does."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest

from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import sets
from cepctl.engines.order_laws.keys import Factors
from cepctl.engines.order_laws.table import measure_keys
from tests.engines.order_laws.test_wide_tables import DAY, one_key, random_keys


def sums(ones: int, others: int, follows: list[list[Fraction]]) -> tuple[Fraction, Fraction]:
    """The summed factors of all words of so many 0 and 1, and the same times the number of pairs 00."""
    total: dict[tuple[int, int, int], tuple[Fraction, Fraction]] = {}
    zero = (Fraction(0), Fraction(0))
    for i in range(ones + 1):
        for j in range(others + 1):
            for last in (0, 1):
                before = (i - 1, j) if last == 0 else (i, j - 1)
                if min(before) < 0:
                    continue
                if before == (0, 0):
                    total[i, j, last] = (Fraction(1), Fraction(0))
                    continue
                value, pairs = Fraction(0), Fraction(0)
                for other in (0, 1):
                    known, counted = total.get((*before, other), zero)
                    factor = follows[other][last]
                    value += known * factor
                    pairs += (counted + (known if (other, last) == (0, 0) else 0)) * factor
                total[i, j, last] = (value, pairs)
    ends = [total.get((ones, others, last), zero) for last in (0, 1)]
    return ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]


@pytest.mark.parametrize("factor", [Fraction(300), Fraction(1, 300)])
def test_the_sum_over_all_orders_of_many_repeats_is_exact(factor: Fraction) -> None:
    ones, others = 130, 30
    follows = [[factor, Fraction(1)], [Fraction(1), factor]]
    whole, pairs = sums(ones, others, follows)
    factors = np.ones((3, 3))
    factors[:2, :2] = [[float(each) for each in row] for row in follows]
    keys = one_key([0] * (ones + others), [DAY] * (ones + others), [0] * ones + [1] * others)
    found = measure_keys(keys, Factors(factors, np.ones((2, 2))), expected=True)
    expected = whole / comb(ones + others, ones)
    assert found.log_z[0] == pytest.approx(log(expected.numerator) - log(expected.denominator), rel=1e-12)
    assert found.following is not None
    assert found.following[0, 0, 0] == pytest.approx(float(pairs / whole), rel=1e-9)


def test_dividing_each_set_by_a_power_of_two_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, factors = random_keys()
    with only("interpreted"):
        plain = measure_keys(keys, factors, expected=True, pairs=True)
        monkeypatch.setattr(sets, "_MOST_EXPONENT", -1)
        divided = measure_keys(keys, factors, expected=True, pairs=True)
    assert divided.log_z == pytest.approx(plain.log_z, rel=1e-14)
    assert divided.following == pytest.approx(plain.following, rel=1e-12)
    assert divided.before == pytest.approx(plain.before, rel=1e-12)
    assert divided.pairs is not None and plain.pairs is not None
    for name in ("in_order", "earlier", "later"):
        assert getattr(divided.pairs, name) == pytest.approx(getattr(plain.pairs, name), rel=1e-11)
