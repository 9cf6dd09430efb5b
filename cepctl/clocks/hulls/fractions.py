"""Whole numbers times slopes, exactly: products that 64 bits do not hold are made of parts that they do.

A slope is how fast a difference of clocks changes, a fraction of whole nanoseconds.
"""

from __future__ import annotations

import numpy as np

from cepctl.numeric.arrays import Numbers, Ticks

_BITS = 61


def along(numerator: Numbers, denominator: Numbers, length: Ticks) -> tuple[Numbers, Numbers]:
    """What slopes make of lengths, rounded down to whole numbers, and the remainders.

    Arrays of one shape: numerator * length = whole * denominator + rest, 0 <= rest < denominator.  The
    denominators are above 0 and below 2**57, as are the lengths, which are not below 0; the numerators are
    below 2**60, and what is returned is below 2**62.

    Examples
    --------
    >>> whole, rest = along(np.array([-1, 2**50]), np.array([5_000, 2**50]), np.array([12_000, 2**56]))
    >>> whole.tolist(), rest.tolist()
    ([-3, 72057594037927936], [3000, 0])
    """
    whole, rest = np.zeros(len(length), np.int64), np.zeros(len(length), np.int64)
    if not len(length):
        return whole, rest
    largest = max(int(denominator.max()), int(np.abs(numerator).max()))
    step = _BITS - largest.bit_length()
    places = range(0, max(int(length.max()).bit_length(), 1), step)
    for place in reversed(places):
        digit = (length >> place) & ((1 << step) - 1)
        more, rest = np.divmod((rest << step) + numerator * digit, denominator)
        whole = (whole << step) + more
    return whole, rest
