"""Rows of numbers, one for each of many ticks: products over rivals, and sums, some at a time.

The loops are so short that each costs more to begin than to run.  A product over rivals is the probability
that none of them lies between a tick and each of a row of ticks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals

AT_ONCE = 4
"""Rivals that one loop takes."""

INDEX = np.uintp
"""Loops over unsigned indexes need no look at negative ones, so that they are vectorised."""


class Chosen(NamedTuple):
    """Room for the rivals that matter to a row.

    Which they are, their mass up to the tick that is given, and the places from `begin` to `end` - 1
    outside of which each leaves everything.
    """

    rival: Indexes
    at: Reals
    begin: Indexes
    end: Indexes


@inner
def room_for(rivals):
    """Room for this many rivals."""
    most = max(rivals, 1)
    return Chosen(
        np.empty(most, dtype=np.int64), np.empty(most), np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
    )  # fmt: skip


@inner
def exclude(row, masses, chosen, count):
    """Multiply a row by what each of `count` rivals leaves.

    Rival r leaves 1 - |masses[r, k] - at|, both being P(t_r <= some tick).
    """
    rival, at, begins, ends = chosen
    i = 0
    while i + AT_ONCE <= count:
        r0, r1, r2, r3 = rival[i], rival[i + 1], rival[i + 2], rival[i + 3]
        at0, at1, at2, at3 = at[i], at[i + 1], at[i + 2], at[i + 3]
        first = min(begins[i], begins[i + 1], begins[i + 2], begins[i + 3])
        stop = max(ends[i], ends[i + 1], ends[i + 2], ends[i + 3])
        for k in range(INDEX(first), INDEX(max(first, stop))):
            # One after the other: those that leave everything then change no bit, wherever they stand.
            row[k] = (
                row[k]
                * (1.0 - abs(masses[r0, k] - at0)) * (1.0 - abs(masses[r1, k] - at1))
                * (1.0 - abs(masses[r2, k] - at2)) * (1.0 - abs(masses[r3, k] - at3))
            )  # fmt: skip
        i += AT_ONCE
    while i < count:
        r0, at0 = rival[i], at[i]
        for k in range(INDEX(begins[i]), INDEX(max(begins[i], ends[i]))):
            row[k] *= 1.0 - abs(masses[r0, k] - at0)
        i += 1


ONE, TWO, THREE = INDEX(1), INDEX(2), INDEX(3)


@inner
def add_rows(target, rows, factors, width, since):
    """Add factors[i] times the i-th row of this width, from its place `since` on; some rows at a time."""
    size, i = len(factors), 0
    while i + AT_ONCE <= size:
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        at = i * width + since
        one, two, three, four = rows[at:], rows[at + width :], rows[at + 2 * width :], rows[at + 3 * width :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k] + f1 * two[k] + f2 * three[k] + f3 * four[k]
        i += AT_ONCE
    while i < size:
        f0, one = factors[i], rows[i * width + since :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k]
        i += 1


@inner
def inner_product(one, other):
    """Sum of products, in four sums that are added up at the end: none waits for the one before it."""
    size = len(one)
    whole = size - size % AT_ONCE
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(0), INDEX(whole), INDEX(AT_ONCE)):
        s0 += one[k] * other[k]
        s1 += one[k + ONE] * other[k + ONE]
        s2 += one[k + TWO] * other[k + TWO]
        s3 += one[k + THREE] * other[k + THREE]
    for k in range(INDEX(whole), INDEX(size)):
        s0 += one[k] * other[k]
    return (s0 + s1) + (s2 + s3)
