"""Products that are taken through logarithms come out to the last bit, whatever the processor."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from cepctl.numeric.logarithms import logarithms, raised

longer_floats = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant <= np.finfo(np.float64).nmant, reason="floats are no longer than 64 bits"
)


@longer_floats
def test_shares_of_choices_are_the_nearest_floats() -> None:
    """C(n, k) of C(m, k) choices, for all of up to 30 ticks; of logarithms with 64 bits 92 in 100 miss it."""
    count = missed = 0
    for ticks in range(2, 31):
        for chosen in range(1, ticks):
            for fewer in range(chosen, ticks):
                parts = [np.arange(many - chosen + 1, many + 1) for many in (fewer, ticks)]
                above, below = (logarithms(each).sum() for each in parts)
                share = float(Fraction(comb(fewer, chosen), comb(ticks, chosen)))
                found = raised(above - below)
                assert abs(found - share) <= np.spacing(share)
                count, missed = count + 1, missed + int(found != share)
    assert missed < count / 100


def test_nothing_is_minus_infinity_and_comes_back_as_nothing() -> None:
    found = logarithms(np.array([0.0, 1.0]))
    assert found.tolist() == [-np.inf, 0.0]
    assert raised(found).tolist() == [0.0, 1.0]
