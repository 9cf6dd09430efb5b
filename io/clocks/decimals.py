"""Decimal texts of seconds as whole nanoseconds, without a binary fraction in between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Flags, Numbers

LARGEST = 2**57
"""Nanoseconds; a clock that errs by more, four years, is not believed."""
LAST_INSTANT = 7_200_000_000 * 10**9
"""Nanoseconds since 1970; later times, from 2198 on, are not believed, so that no sum exceeds 64 bits."""
_NANO = 9
# Digits after the point: so many for short times, and where they are too many for 64 bits, for instants.
_SCALES = (18, _NANO)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 1_000
"""Characters of a number; Python reads no more than some thousand digits."""


@dataclass(frozen=True)
class Nanoseconds:
    """Values in nanoseconds.

    Attributes
    ----------
    floors
        The largest whole number that is not above the value; 0 where there is none.
    halves
        Whether the value is nearer to the next number, or as near.
    exact
        Whether it is this whole number.
    known
        Whether the text is a number, and one that is believed.
    """

    floors: Numbers
    halves: Flags
    exact: Flags
    known: Flags

    @property
    def nearest(self) -> Numbers:
        """The nearest whole numbers."""
        return self.floors + self.halves

    @property
    def up(self) -> Numbers:
        """The least whole numbers that are not below the values."""
        return self.floors + ~self.exact


def nanoseconds(texts: pl.Series | Sequence[str]) -> Nanoseconds:
    """Numbers of seconds, such as `-1.240e-02`, in nanoseconds.

    Examples
    --------
    >>> found = nanoseconds(["1.240e-02", "-1e-10", "nan", "4.3"])
    >>> found.nearest.tolist(), found.up.tolist(), found.known.tolist()
    ([12400000, 0, 0, 4300000000], [12400000, 0, 0, 4300000000], [True, True, False, True])
    """
    series = texts if isinstance(texts, pl.Series) else pl.Series(texts, dtype=pl.String)
    column = series.cast(pl.String).to_arrow().cast(pa.string())
    # Arrow dies of some of them.
    far = pc.any(pc.match_substring_regex(column, r"[eE][+-]?\d{4}")).as_py()
    for scale in () if far else _SCALES:
        found = _of_scale(column, scale)
        if found is not None:
            return found
    return _one_by_one(series.to_list())


def _of_scale(texts: pa.Array, scale: int) -> Nanoseconds | None:
    """Numbers with so many digits after the point at most, scaled; None where some is not one."""
    try:
        values = pc.cast(texts, pa.decimal128(38, scale))
    except pa.ArrowInvalid:
        return None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    known = np.asarray(pc.is_valid(values)).astype(np.bool_)
    data = values.buffers()[1]
    halves = np.frombuffer(data, np.int64)[2 * values.offset : 2 * (values.offset + len(values))].reshape(
        -1, 2
    )
    low, high = halves[:, 0], halves[:, 1]
    if (high[known] != low[known] >> 63).any():
        return None
    step = 10 ** (scale - _NANO)
    floors, rest = np.divmod(np.where(known, low, 0), step)
    return Nanoseconds(floors, (rest > 0) & (2 * rest >= step), rest == 0, known)


def _one_by_one(texts: Sequence[str | None]) -> Nanoseconds:
    """Texts that are not all numbers of 18 digits after the point at most, in nanoseconds."""
    count = len(texts)
    floors, halves, exact = np.zeros(count, np.int64), np.zeros(count, np.bool_), np.ones(count, np.bool_)
    known = np.zeros(count, np.bool_)
    for at, text in enumerate(texts):
        if text is None or len(text) > _LONGEST or _NUMBER.fullmatch(text) is None:
            continue
        value = Fraction(text) * 10**9
        if abs(value) >= 2**63 - 1:
            continue
        whole = floor(value)
        floors[at], halves[at], exact[at], known[at] = whole, 2 * (value - whole) >= 1, value == whole, True
    return Nanoseconds(floors, halves, exact, known)
