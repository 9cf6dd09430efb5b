"""Numbers in a column of times: ticks, or a time since 1970 in a unit that their size tells.

From the year 1971 to 2199 the counts of the four usual units have sizes that never overlap:

    unit    number of
    ticks   fewer than 31,536,000: too few even for seconds
    s       seconds, at least 31,536,000 (1971) and below 7,258,118,400 (2200)
    ms      milliseconds, a thousand times as many
    us      microseconds, a million times as many
    ns      nanoseconds, a thousand million times as many

The first number of a column tells the unit of all in its file; a number of another size is not a time there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Flags, Numbers, Reals

UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
TICKS = "ticks"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_FIRST_SECOND = 31_536_000
_LAST_SECOND = 7_258_118_400
_NUMBER = r"^\s*(?P<sign>[+-]?)0*(?P<whole>\d+?)(?:\.(?P<fraction>\d*))?\s*$"
_WITH_POWER = r"^\s*[+-]?\d{1,20}(\.\d{0,20})?[eE][+-]?\d{1,2}\s*$"
_NANOS = 10**9
_MOST = 2**63 - 1
_WIDEST = 2.0**60
_LOOKED_AT_FIRST = 64
_OF_CLOCKS = ":"
"""Stands in times of day, and in no number."""
# Digits that read as a date: how many there are, and the form that --time-format then has.
_DATES = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class EpochNumbers:
    """Numbers of a column: `sign` times (`whole` + `nanos` / 10**9), where they are `known`.

    What 64 bits do not hold is the largest number that they do.  `decimals`: those that have some, be they 0;
    `longer`: those with digits beyond `nanos`.  `spacing`: of floats, how far the next float is, and of
    numbers such as 1.70e9 what their last digit stands for; None where no number is so.
    """

    sign: Numbers
    whole: Numbers
    nanos: Numbers
    known: Flags
    decimals: Flags
    longer: Flags
    spacing: Reals | None = None


def counts(column: pa.Array) -> EpochNumbers:
    """The numbers in a column of integers, floats, decimals or text; other columns have none."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if pa.types.is_integer(column.type):
        return _of_integers(column)
    if pa.types.is_floating(column.type):
        return _of_floats(column)
    if pa.types.is_string(column.type):
        return _of_texts(column)
    zeros, none = np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    return EpochNumbers(zeros, zeros, zeros, none, none, none)


def _of_integers(column: pa.Array) -> EpochNumbers:
    if column.type == pa.uint64():
        column = pc.min_element_wise(column, pa.scalar(_MOST, pa.uint64()), skip_nulls=False)
    whole = _filled(column.cast(pa.int64()))
    size = np.abs(np.maximum(whole, -_MOST))
    known, zeros = _flags(column.is_valid()), np.zeros(len(whole), np.int64)
    none = np.zeros(len(whole), np.bool_)
    return EpochNumbers(np.where(whole < 0, -1, 1), size, zeros, known, none, none)


def _of_floats(column: pa.Array) -> EpochNumbers:
    own = pc.fill_null(column, pa.scalar(np.nan, column.type)).to_numpy(zero_copy_only=False)
    values = own.astype(np.float64)
    known = np.isfinite(values)
    inside = known & (np.abs(values) < 2.0**63)
    size = np.where(inside, np.abs(values), 0.0)
    whole = np.floor(size)
    nanos = np.rint((size - whole) * _NANOS).astype(np.int64)
    whole = np.where(known & ~inside, _MOST, whole.astype(np.int64))
    none = np.zeros(len(whole), np.bool_)
    spacing = np.spacing(np.where(known, np.abs(own), 0)).astype(np.float64)
    return EpochNumbers(np.where(values < 0, -1, 1), whole, nanos, known, known, none, np.nan_to_num(spacing))


def _of_texts(column: pa.Array) -> EpochNumbers:
    integers = integers_of_texts(column)
    if integers is not None:
        return _of_integers(integers)
    zeros, none = np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    if pc.all(pc.match_substring(column, _OF_CLOCKS)).as_py():
        return EpochNumbers(zeros, zeros, zeros, none, none, none)
    known = _flags(pc.fill_null(pc.match_substring_regex(column, _NUMBER), False))
    if (powers := _flags(pc.fill_null(pc.match_substring_regex(column, _WITH_POWER), False))).any():
        return _of_powers(column, powers)
    if not known.any():
        return EpochNumbers(zeros, zeros, zeros, none, none, none)
    found = pc.extract_regex(column, _NUMBER)
    sign, whole, fraction = (pc.struct_field(found, name) for name in ("sign", "whole", "fraction"))
    digits, most = pc.utf8_length(whole), str(_MOST)
    larger = pc.or_(
        pc.greater(digits, len(most)), pc.and_(pc.equal(digits, len(most)), pc.greater(whole, most))
    )
    nanos = pc.utf8_rpad(pc.utf8_slice_codeunits(fraction, 0, 9), 9, "0")
    return EpochNumbers(
        np.where(_flags(pc.fill_null(pc.equal(sign, "-"), False)), -1, 1),
        _filled(pc.if_else(larger, most, whole).cast(pa.int64())),
        _filled(nanos.cast(pa.int64())),
        known,
        _flags(pc.fill_null(pc.greater(pc.utf8_length(fraction), 0), False)),
        _flags(pc.fill_null(pc.match_substring_regex(fraction, "^.{9}.*[1-9]"), False)),
    )


def _of_powers(column: pa.Array, rows: Flags) -> EpochNumbers:
    """Texts some of which, in these rows, are such as 1.70e9."""
    texts = column.filter(pa.array(rows)).dictionary_encode()
    numbers = [Decimal(text.strip()) for text in texts.dictionary.to_pylist()]
    written = pa.array([f"{number:.9f}" for number in numbers], pa.string()).take(texts.indices)
    places = np.cumsum(rows) - 1
    plain = pc.if_else(pa.array(rows), written.take(pa.array(np.where(rows, places, 0))), column)
    spacing = np.zeros(len(column))
    units = [10.0 ** int(number.as_tuple().exponent) for number in numbers]
    spacing[rows] = np.array(units)[texts.indices.to_numpy()]
    return replace(_of_texts(plain), spacing=spacing)


def integers_of_texts(column: pa.Array) -> pa.Array | None:
    """Texts as integers where all of them are, which takes a tenth of a look at each by a pattern."""
    try:
        # Of a column that has others Arrow says of each what is wrong with it: mostly one of the first is.
        column.slice(0, _LOOKED_AT_FIRST).cast(pa.int64())
        integers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    # Arrow would also read 0x1F.
    held = column.buffers()[-1]
    has_letters = held is not None and bool((np.frombuffer(held, np.uint8) > ord("9")).any())
    return None if has_letters else integers


def unit_of(numbers: EpochNumbers, row: int) -> str | None:
    """What the size of one number says: one of UNITS, TICKS, or None where it says nothing."""
    whole = int(numbers.whole[row])
    for unit, scale in _PER_SECOND.items():
        if numbers.sign[row] > 0 and _FIRST_SECOND * scale <= whole < _LAST_SECOND * scale:
            return unit
    return TICKS if whole < _FIRST_SECOND and numbers.nanos[row] == 0 else None


def fitting(numbers: EpochNumbers, unit: str) -> Flags:
    """Which numbers are of the size of a unit."""
    if unit == TICKS:
        return np.asarray(numbers.known & (numbers.whole < _FIRST_SECOND) & (numbers.nanos == 0))
    scale = _PER_SECOND[unit]
    low, high = _FIRST_SECOND * scale, _LAST_SECOND * scale
    return np.asarray(numbers.known & (numbers.sign > 0) & (numbers.whole >= low) & (numbers.whole < high))


@dataclass(frozen=True)
class Since1970:
    """Microseconds and the nanoseconds beyond, where times are `known`; `cut`: those with digits below.

    `width`: nanoseconds around each of which any may be the time, 0 for those that are exact.
    """

    micros: Numbers
    nanos: Numbers
    known: Flags
    cut: Flags
    width: Numbers


def since_1970(numbers: EpochNumbers, unit: str) -> Since1970:
    """The numbers, counts of a unit of UNITS, as times since 1970.

    Floats that are less than a microsecond apart are rounded to microseconds, but for nanoseconds, from
    which the spacing of floats takes digits.
    """
    per_unit = _NANOS // _PER_SECOND[unit]
    scale = max(per_unit // 1_000, 1)
    most = _MOST // scale
    known = numbers.known & ((numbers.whole < most) | ((numbers.whole == most) & (numbers.nanos == 0)))
    whole = np.where(known, numbers.whole, 0)
    finer, rest = np.divmod(numbers.nanos, _NANOS // per_unit)
    micros = whole * scale
    if unit == "ns":
        micros, finer = whole // 1_000, whole % 1_000
    cut = known & ((rest != 0) | numbers.longer)
    width = np.zeros(len(known), np.int64)
    if numbers.spacing is not None:
        width = np.minimum(np.ceil(numbers.spacing * per_unit), _WIDEST).astype(np.int64)
        width[(width <= 1) | ((width < 1_000) & (unit != "ns")) | ~known] = 0
        rounded = (numbers.spacing > 0) & (width == 0) & (unit != "ns")
        finer, cut = np.where(rounded, (finer + 500) // 1_000 * 1_000, finer), cut & (numbers.spacing == 0)
    # Downwards, also before 1970.
    finer = numbers.sign * finer
    return Since1970(numbers.sign * micros + finer // 1_000, finer % 1_000, known, cut, width)


def digits_of_a_date(numbers: EpochNumbers, row: int) -> str | None:
    """The form that a number has when it is a date without separators, such as %Y%m%d; None for others."""
    digits = str(int(numbers.whole[row]))
    form = _DATES.get(len(digits))
    if form is None or numbers.sign[row] < 0 or numbers.nanos[row] or not "1900" <= digits[:4] < "2200":
        return None
    try:
        datetime.strptime(digits, form)
    except ValueError:
        return None
    return form


def _filled(column: Any) -> Numbers:
    values: Numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def _flags(column: Any) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found
