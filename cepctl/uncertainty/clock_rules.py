"""The `clock` key of a model rule: which clock stamped an event, and how far that clock may be off.

    clock = { by = "node", offset = "500 ms" }                              one clock per value
    clock = { name = "master", offset = { before = "1 s", after = "0 s" } }
    clock = { by = "node", offset = { normal = { sigma = "200 ms" } }, period = "1 h" }
    clock = { by = "source", offset = { histogram = [["-1 s", "0 s", 0.2], ["0 s", "1 s", 0.8]] } }
    clock = { by = "node", from = "clocks.parquet", residual = "epoch" }    as the hosts recorded it

The offset is what must be added to a logged time.  Lengths of time are microseconds here.  A file is named
relative to the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from cepctl.clocks.shared import MASS_TOLERANCE
from cepctl.errors import UncertaintyModelError
from cepctl.schema import TimeUnit, parse_duration
from cepctl.uncertainty.clock_records import read_records
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.shapes import Bucket, Normal, finite_number, ticks_up

_FORM = 'write clock = { by = "node", offset = "500 ms" }, or { name = "master", offset = ... }'
_OFFSET_FORM = (
    'write offset = "500 ms", { before = "1 s", after = "0 s" }, { normal = { sigma = "200 ms" } } or '
    '{ histogram = [["-1 s", "0 s", 0.2], ["0 s", "1 s", 0.8]] }'
)


class OffsetShape(Protocol):
    """The offset of clocks that all have the same."""

    @property
    def lengths(self) -> Sequence[Fraction]:
        """The lengths of time in it that ticks have to hold as they are."""

    def buckets(self, unit: TimeUnit) -> Sequence[Bucket]:
        """Its mass; raises UncertaintyModelError where it is not a whole number of ticks."""


@dataclass(frozen=True)
class OffsetRange:
    """Any offset from -before to +after, all alike; `written` are the durations as the model has them."""

    before: Fraction
    after: Fraction
    written: tuple[str, ...]

    @property
    def lengths(self) -> Sequence[Fraction]:
        return self.before, self.after

    def buckets(self, unit: TimeUnit) -> Sequence[Bucket]:
        _require_whole(self.written, unit)
        return [Bucket(-ticks_up(self.before, unit), ticks_up(self.after, unit), 1.0)]


@dataclass(frozen=True)
class OffsetHistogram:
    """Buckets (from, to, mass), `to` excluded, in order, disjoint; `written` are their ends in the model."""

    masses: tuple[tuple[Fraction, Fraction, float], ...]
    written: tuple[str, ...]

    @property
    def lengths(self) -> Sequence[Fraction]:
        return [parse_duration(text) for text in self.written]

    def buckets(self, unit: TimeUnit) -> Sequence[Bucket]:
        _require_whole(self.written, unit)
        return [Bucket(ticks_up(lo, unit), ticks_up(hi, unit) - 1, mass) for lo, hi, mass in self.masses]


def _require_whole(written: Sequence[str], unit: TimeUnit) -> None:
    for text in written:
        if (parse_duration(text) / unit.microseconds).denominator != 1:
            raise UncertaintyModelError(
                f"clock: the offset '{text}' is not a whole number of ticks of {unit}; write one that is, or "
                "name a finer time_unit"
            )


_RECORDED_FORM = 'write clock = { by = "node", from = "clocks.parquet", residual = "epoch" }'


@dataclass(frozen=True)
class ClockRule:
    """Which clock stamped an event: one per value of the column `by`, or the one called `name`.

    `offset` is that of each clock; with a `period`, in microseconds, each has a clock of its own in every
    period of the logged times.  Where it was recorded, the values of `by` are hosts.
    """

    offset: OffsetShape | RecordedOffset
    by: str | None = None
    name: str | None = None
    period: int | None = None


def read_clock(value: object, folder: Path = Path()) -> ClockRule:
    """Read the key; raises UncertaintyModelError saying what to write.

    `folder`: that of the model.

    Examples
    --------
    >>> read_clock({"by": "node", "offset": "500 ms"}).offset
    OffsetRange(before=Fraction(500000, 1), after=Fraction(500000, 1), written=('500 ms',))
    """
    if isinstance(value, dict) and "from" in value:
        return _recorded(value, folder)
    if not isinstance(value, dict) or not value.keys() <= {"by", "name", "offset", "period"}:
        raise UncertaintyModelError(_FORM)
    by, name = (_optional_text(value, key) for key in ("by", "name"))
    if (by is None) == (name is None):
        raise UncertaintyModelError(f"a clock has `by` or `name`, one of them; {_FORM}")
    if "offset" not in value:
        raise UncertaintyModelError(f"a clock has an offset; {_OFFSET_FORM}")
    period = _period(value["period"]) if "period" in value else None
    return ClockRule(_offset(value["offset"]), by, name, period)


def _recorded(table: Mapping[str, Any], folder: Path) -> ClockRule:
    for key in ("offset", "period", "name"):
        if key in table:
            raise UncertaintyModelError(f"clock: `from` and `{key}` exclude each other; keep one of them")
    if not table.keys() <= {"by", "from", "residual", "inside"} or "by" not in table:
        raise UncertaintyModelError(f"clock: {_RECORDED_FORM}")
    by, file = (_optional_text(table, key) for key in ("by", "from"))
    for key, known in (("residual", "epoch"), ("inside", "uniform")):
        if table.get(key, known) != known:
            raise UncertaintyModelError(f'clock: {key} is "{known}", or left out, not {table[key]!r}')
    records = read_records(folder / (file or ""))
    return ClockRule(RecordedOffset(records, "residual" in table, "inside" in table), by)


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


def _normal(value: object) -> Normal:
    try:
        return Normal.read(value)
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"clock: offset: {problem}") from problem


def _histogram(value: object) -> OffsetHistogram:
    if not isinstance(value, list) or not value:
        raise UncertaintyModelError(_OFFSET_FORM)
    buckets = []
    for bucket in value:
        if not isinstance(bucket, list) or len(bucket) != 3:
            raise UncertaintyModelError(_OFFSET_FORM)
        start, end = _duration(bucket[0]), _duration(bucket[1])
        mass = finite_number(bucket[2], "clock: a probability")
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
