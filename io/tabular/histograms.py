"""The `pmf` column of a plain event file: histograms over an uncertainty interval.

A histogram is written `lo:hi:p|lo:hi:p` in ticks, both ends included, or as the list of structs that
a dataset holds.  Its masses must sum to 1 within MASS_TOLERANCE and are renormalised.  Buckets of mass 0 are
dropped; `lower` and `upper` may count them or not, and become the extremes of what remains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.event_table import PMF_TYPE
from cepctl.numeric.arrays import Causes, Flags, Numbers
from cepctl.numeric.precision import MASS_TOLERANCE
from cepctl.schema import TICK_MAX, TICK_MIN

Histogram = list[dict[str, float]]


@dataclass(frozen=True)
class Histograms:
    """The pmf column of n rows: `buckets`, normalised and sorted, None where a row gives none.

    `widest` holds the first and last tick of all that a row writes, buckets of mass 0 included; `broken`,
    shape (n,), the rows whose pmf is not a histogram.
    """

    buckets: list[Histogram | None]
    widest: list[tuple[int, int] | None]
    broken: Flags

    @cached_property
    def is_empty(self) -> bool:
        """Whether no row gives one."""
        return not any(self.buckets)

    def column(self) -> pa.Array:
        """The histograms as a column of events."""
        return pa.nulls(len(self.buckets), PMF_TYPE) if self.is_empty else pa.array(self.buckets, PMF_TYPE)


def histograms(column: pa.Array | None, count: int) -> Histograms:
    """Read the pmf column of a block of `count` rows."""
    found = Histograms([None] * count, [None] * count, np.zeros(count, np.bool_))
    if column is None or pa.types.is_null(column.type):
        return found
    for row, value in enumerate(column.to_pylist()):
        if value is None or value == "":
            continue
        buckets = _parsed_histogram(value) if isinstance(value, str) else _listed_histogram(value)
        found.buckets[row] = _checked_histogram(buckets)
        found.broken[row] = found.buckets[row] is None
        if buckets:
            found.widest[row] = min(lo for lo, _, _ in buckets), max(hi for _, hi, _ in buckets)
    return found


def _parsed_histogram(text: str) -> list[tuple[int, int, float]] | None:
    try:
        parts = [bucket.split(":") for bucket in text.split("|")]
        return [(int(lo), int(hi), float(p)) for lo, hi, p in parts]
    except ValueError:
        return None


def _listed_histogram(value: Any) -> list[tuple[int, int, float]] | None:
    try:
        return [(int(b["lo"]), int(b["hi"]), float(b["p"])) for b in value]
    except (KeyError, TypeError, ValueError):
        return None


def _checked_histogram(buckets: list[tuple[int, int, float]] | None) -> Histogram | None:
    """Sorted buckets of positive mass that sum to 1; None unless they are a histogram.

    Ticks saturate at 64 bits: they are refused for where they lie, later.
    """
    if not buckets or any(lo > hi or not 0 <= p <= 1 + MASS_TOLERANCE for lo, hi, p in buckets):
        return None
    kept = sorted(bucket for bucket in buckets if bucket[2] > 0)
    total = math.fsum(p for _, _, p in kept)
    overlapping = any(left[1] >= right[0] for left, right in pairwise(kept))
    if abs(total - 1) > MASS_TOLERANCE or overlapping:
        return None
    return [{"lo": _held(lo), "hi": _held(hi), "p": p / total} for lo, hi, p in kept]


def _held(tick: int) -> int:
    """A tick held to 64 bits; beyond the ends of time it stays beyond."""
    return max(TICK_MIN, min(TICK_MAX, tick))


def spanned_by(
    pmf: Histograms,
    lower: Numbers,
    upper: Numbers,
    has_lower: Flags,
    has_upper: Flags,
    causes: Causes,
    names: tuple[str, str, str] = ("lower", "upper", "pmf"),
) -> tuple[Numbers, Numbers, Flags, Flags]:
    """Intervals taken from histograms where the row gives none; where it does they must agree.

    `names` are what the columns of both ends and of the histogram are called.
    """
    lower, upper, has_lower, has_upper = lower.copy(), upper.copy(), has_lower.copy(), has_upper.copy()
    if pmf.is_empty:
        return lower, upper, has_lower, has_upper
    for row, (buckets, widest) in enumerate(zip(pmf.buckets, pmf.widest, strict=True)):
        if buckets is None or widest is None:
            continue
        first, last = int(buckets[0]["lo"]), int(buckets[-1]["hi"])
        begins = not has_lower[row] or lower[row] in (first, widest[0])
        ends = not has_upper[row] or upper[row] in (last, widest[1])
        if not (begins and ends):
            causes[row] = causes[row] or "{} and {} are not the extremes of {}".format(*names)
        lower[row], upper[row], has_lower[row], has_upper[row] = first, last, True, True
    return lower, upper, has_lower, has_upper
