"""Logarithms with more digits than floats have: what is multiplied by adding them comes out to the last bit.

A processor with wider instructions takes other logarithms of floats, so that a confidence of 0.4 was
0.3999999999999998 on some machines.  Those with longer floats than 64 bits now agree; elsewhere a last digit
may still differ.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cepctl.numeric.arrays import Numbers, Reals

Logarithms: TypeAlias = NDArray[np.longdouble]


def logarithms(values: Reals | Numbers) -> Logarithms:
    """The natural logarithms of numbers, of the same shape; minus infinity for 0, without a warning."""
    with np.errstate(divide="ignore"):
        found: Any = np.log(values.astype(np.longdouble))
    return np.asarray(found, dtype=np.longdouble)


def raised(powers: Logarithms) -> Reals:
    """The numbers of which these are the logarithms."""
    return np.exp(powers).astype(np.float64)
