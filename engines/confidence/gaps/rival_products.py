"""Products over rivals: the probability that none of them lies between a tick and each of a row of ticks.

Rivals are taken some at a time: the loops are so short that each costs more to begin than to run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.kernels.kernel import inner

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
def exclude(row, masses, chosen, count, begin, end):
    """Multiply a row by what each of `count` rivals leaves, also in the places from `begin` to `end` - 1.

    Rival r leaves 1 - |masses[r, k] - at|, both being P(t_r <= some tick).
    """
    rival, at, begins, ends = chosen
    i = 0
    while i + AT_ONCE <= count:
        r0, r1, r2, r3 = rival[i], rival[i + 1], rival[i + 2], rival[i + 3]
        at0, at1, at2, at3 = at[i], at[i + 1], at[i + 2], at[i + 3]
        first = min(begins[i], begins[i + 1], begins[i + 2], begins[i + 3])
        stop = max(ends[i], ends[i + 1], ends[i + 2], ends[i + 3])
        for part in range(2):
            since, until = (first, max(first, stop)) if part == 0 else (begin, end)
            for k in range(INDEX(since), INDEX(until)):
                # One after the other: those that leave everything then change no bit, wherever they stand.
                row[k] = (
                    row[k]
                    * (1.0 - abs(masses[r0, k] - at0)) * (1.0 - abs(masses[r1, k] - at1))
                    * (1.0 - abs(masses[r2, k] - at2)) * (1.0 - abs(masses[r3, k] - at3))
                )  # fmt: skip
        i += AT_ONCE
    while i < count:
        r0, at0 = rival[i], at[i]
        for part in range(2):
            since, until = (begins[i], max(begins[i], ends[i])) if part == 0 else (begin, end)
            for k in range(INDEX(since), INDEX(until)):
                row[k] *= 1.0 - abs(masses[r0, k] - at0)
        i += 1
