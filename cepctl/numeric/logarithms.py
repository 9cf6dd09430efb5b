"""Logarithms with more digits than floats have: what is multiplied by adding them comes out to the last bit.

By logarithms of floats nine products of ten miss the nearest float (0.4 is 0.3999999999999998), and not on
every processor by as much.  A machine without floats of more than 64 bits has no better ones.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepctl.numeric.arrays import Numbers, Reals

Logarithms: TypeAlias = NDArray[np.longdouble]


def logarithms(values: Reals | Numbers) -> Logarithms:
    """The natural logarithms of numbers, of the same shape; minus infinity for 0, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(values.astype(np.longdouble))


def raised(powers: Logarithms) -> Reals:
    """The numbers of which these are the logarithms."""
    return np.exp(powers).astype(np.float64)
