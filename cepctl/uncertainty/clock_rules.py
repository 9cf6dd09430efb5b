"""The `clock` key of a model rule: which clock stamped an event, and how far that clock may be off.

    clock = { by = "node", offset = "500 ms" }                              one clock per value
    clock = { name = "master", offset = { before = "1 s", after = "0 s" } }
    clock = { by = "node", offset = { normal = { sigma = "200 ms" } }, period = "1 h" }
    clock = { by = "source", offset = { histogram = [["-1 s", "0 s", 0.2], ["0 s", "1 s", 0.8]] } }

The offset is what must be added to a logged time.  Lengths of time are microseconds here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cepctl.clocks import MASS_TOLERANCE
from cepctl.errors import UncertaintyModelError
from cepctl.schema import parse_duration

_FORM = 'write clock = { by = "node", offset = "500 ms" }, or { name = "master", offset = ... }'
_OFFSET_FORM = (
    'write offset = "500 ms", { before = "1 s", after = "0 s" }, { normal = { sigma = "200 ms" } } or '
    '{ histogram = [["-1 s", "0 s", 0.2], ["0 s", "1 s", 0.8]] }'
)


@dataclass(frozen=True)
class OffsetRange:
    """Any offset from -before to +after, all alike; `written` are the durations as the model has them."""

    before: Fraction
    after: Fraction
    written: tuple[str, ...]


@dataclass(frozen=True)
class OffsetNormal:
    """A normal distribution around 0, cut at ± cut * sigma."""

    sigma: Fraction
    cut: Fraction


@dataclass(frozen=True)
class OffsetHistogram:
    """Buckets (from, to, mass), `to` excluded, in order, disjoint; `written` are their ends in the model."""

    buckets: tuple[tuple[Fraction, Fraction, float], ...]
    written: tuple[str, ...]


OffsetShape = OffsetRange | OffsetNormal | OffsetHistogram


@dataclass(frozen=True)
class ClockRule:
    """Which clock stamped an event: one per value of the column `by`, or the one called `name`.

    `offset` is that of each clock; with a `period`, in microseconds, each has a clock of its own in every
    period of the logged times.
    """

    offset: OffsetShape
    by: str | None = None
    name: str | None = None
    period: int | None = None


def read_clock(value: object) -> ClockRule:
    """Read the key; raises UncertaintyModelError saying what to write.

    Examples
    --------
    >>> read_clock({"by": "node", "offset": "500 ms"}).offset
    OffsetRange(before=Fraction(500000, 1), after=Fraction(500000, 1), written=('500 ms',))
    """
    if not isinstance(value, dict) or not value.keys() <= {"by", "name", "offset", "period"}:
        raise UncertaintyModelError(_FORM)
    by, name = (_optional_text(value, key) for key in ("by", "name"))
    if (by is None) == (name is None):
        raise UncertaintyModelError(f"a clock has `by` or `name`, one of them; {_FORM}")
    if "offset" not in value:
        raise UncertaintyModelError(f"a clock has an offset; {_OFFSET_FORM}")
    period = _period(value["period"]) if "period" in value else None
    return ClockRule(_offset(value["offset"]), by, name, period)


def _optional_text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not (isinstance(value, str) and value):
        raise UncertaintyModelError(f"clock: {key} must be text in quotes, not {value!r}")
    return value


def _period(value: object) -> int:
    length = _duration(value)
    if length <= 0 or length.denominator != 1:
        raise UncertaintyModelError("clock: period must be a whole number of microseconds above 0")
    return int(length)


def _duration(value: object) -> Fraction:
    if not isinstance(value, str):
        raise UncertaintyModelError(f"clock: {value!r} is not a duration in quotes; {_OFFSET_FORM}")
    return parse_duration(value)


def _offset(value: object) -> OffsetShape:
    if isinstance(value, str):
        length = _duration(value)
        if length < 0:
            raise UncertaintyModelError(f"clock: offset '{value}' means ± that much; write it without a sign")
        return OffsetRange(length, length, (value,))
    if not isinstance(value, dict) or not value:
        raise UncertaintyModelError(_OFFSET_FORM)
    if value.keys() <= {"before", "after"}:
        before, after = (value.get(key, "0 s") for key in ("before", "after"))
        found = OffsetRange(_duration(before), _duration(after), (before, after))
        if found.before + found.after < 0:
            raise UncertaintyModelError("clock: the offset is empty: before and after together are below 0")
        return found
    if value.keys() == {"normal"}:
        return _normal(value["normal"])
    if value.keys() == {"histogram"}:
        return _histogram(value["histogram"])
    raise UncertaintyModelError(_OFFSET_FORM)


def _normal(value: object) -> OffsetNormal:
    if not isinstance(value, dict) or "sigma" not in value or not value.keys() <= {"sigma", "cut"}:
        raise UncertaintyModelError('clock: write offset = { normal = { sigma = "200 ms", cut = 3 } }')
    sigma, cut = _duration(value["sigma"]), _number(value.get("cut", 3))
    if sigma <= 0 or cut <= 0:
        raise UncertaintyModelError("clock: sigma and cut must be above 0")
    return OffsetNormal(sigma, Fraction(cut).limit_denominator(10**6))


def _histogram(value: object) -> OffsetHistogram:
    if not isinstance(value, list) or not value:
        raise UncertaintyModelError(_OFFSET_FORM)
    buckets = []
    for bucket in value:
        if not isinstance(bucket, list) or len(bucket) != 3:
            raise UncertaintyModelError(_OFFSET_FORM)
        start, end, mass = _duration(bucket[0]), _duration(bucket[1]), _number(bucket[2])
        if start >= end:
            raise UncertaintyModelError(
                f"clock: the bucket from '{bucket[0]}' to '{bucket[1]}' is empty: 'to' is excluded"
            )
        buckets.append((start, end, mass))
    buckets.sort()
    if any(left[1] > right[0] for left, right in itertools.pairwise(buckets)):
        raise UncertaintyModelError("clock: two buckets overlap; end one before the next begins")
    if any(mass < 0 for _, _, mass in buckets):
        raise UncertaintyModelError("clock: a probability is below 0")
    total = math.fsum(mass for _, _, mass in buckets)
    if abs(total - 1) > MASS_TOLERANCE:
        raise UncertaintyModelError(f"clock: the probabilities of the offset sum to {total:.9g}, not to 1")
    kept = tuple((start, end, mass / total) for start, end, mass in buckets if mass > 0)
    return OffsetHistogram(kept, tuple(text for bucket in value for text in bucket[:2]))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise UncertaintyModelError(f"clock: {value!r} must be a number")
    return float(value)
