"""What type an attribute has, when every file, batch and text cell may say something else.

kinds seen           column
int                  int64
float, int           float64
bool                 bool
string               string
any other mix        string, with a warning
an integer beyond 64 bits (big)      string, with a warning

Values of Arrow types that no attribute has, as text: different values stay different.

value                      text
a date, a time             ISO 8601, with as many digits as it needs
a duration                 as Python writes it: 1 day, 0:00:05
a list, a struct, a map    JSON
bytes                      UTF-8, and an escape for each byte that is not
beyond the calendar        a number and its unit
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import timedelta
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.natural_columns import FIRST_WITH_EXPONENT, KINDS
from cepctl.schema import TICK_MAX, TICK_MIN

_TO_MICROSECONDS = len("2024-05-01T10:00:00.000000")


def value_texts(column: pa.ChunkedArray) -> list[str | None]:
    """The values as text, None for null."""
    kind = column.type
    if getattr(kind, "unit", None) == "ns":
        return _nanosecond_texts(column)
    if pa.types.is_nested(kind):
        column = column.cast(_with_texts(kind))
    try:
        return [_text(value) for value in column.to_pylist()]
    except (OverflowError, ValueError):
        return [_text_of(scalar) for scalar in column]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | dict | tuple):
        return json.dumps(value, default=_text, ensure_ascii=False)
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat else str(value)


def _text_of(scalar: pa.Scalar) -> str | None:
    """One value of a column in which some lie beyond what Python's calendar has."""
    try:
        return _text(scalar.as_py())
    except (OverflowError, ValueError):
        days = pa.types.is_date32(scalar.type)
        number = scalar.cast(pa.int32() if days else pa.int64()).as_py()
        return f"{number} {'days' if days else getattr(scalar.type, 'unit', 'ms')}"


def _nanosecond_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Times and durations of which Python has the microseconds alone, unless pandas is installed."""
    numbers: Iterable[int | None] = column.cast(pa.int64()).to_pylist()
    split = [(None, 0) if number is None else divmod(number, 1000) for number in numbers]
    micros = pa.array([micro for micro, _ in split], pa.int64()).cast(_in_microseconds(column.type))
    pairs = zip(micros.to_pylist(), (rest for _, rest in split), strict=True)
    return [_finer_text(value, rest) if rest else _text(value) for value, rest in pairs]


def _finer_text(value: object, nanoseconds: int) -> str:
    """A time or duration with nanoseconds beside its microseconds."""
    if isinstance(value, timedelta):
        text = str(value) if value.microseconds else f"{value}.000000"
        return f"{text}{nanoseconds:03}"
    text = value.isoformat(timespec="microseconds")  # type: ignore[attr-defined]
    return f"{text[:_TO_MICROSECONDS]}{nanoseconds:03}{text[_TO_MICROSECONDS:]}"


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


def _with_texts(kind: pa.DataType) -> pa.DataType:
    """A nested type with text for the times in it, which Python may not have."""
    if pa.types.is_map(kind):
        return pa.map_(_with_texts(kind.key_type), _with_texts(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_texts(field.type)) for field in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_with_texts(kind.value_type), kind.list_size)
    if hasattr(kind, "value_field"):  # lists of every other layout
        return pa.large_list(_with_texts(kind.value_type))
    return pa.string() if pa.types.is_temporal(kind) else kind


_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_FLOAT = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^(?i:nan|-?inf|-?infinity)$"
_INTEGER_TEXT = re.compile(_INTEGER, re.ASCII)
_PADDED = r"^-?0[0-9]"
_BOOLEAN = r"^(?i:true|false)$"
_FEW = 64
_FEWEST_DIGITS = 16
_LONG_INTEGER = r"^-?[1-9][0-9]{15,}$"
_LONGEST_TICK = len(str(TICK_MIN))
_EXACT = 1 << 53
_BEYOND = 2.0**63


class Kind(Enum):
    """What the values of one attribute are."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    BIG = "integers beyond 64 bits"
    STRING = "string"


# In the order in which they are asked: 007 is a name, not a number, as which it would not come back.
_FITS = (
    (re.compile(_INTEGER).fullmatch, Kind.INT),
    (re.compile(_PADDED).match, Kind.STRING),
    (re.compile(_FLOAT).fullmatch, Kind.FLOAT),
    (re.compile(_BOOLEAN).fullmatch, Kind.BOOL),
)
ARROW_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.STRING: pa.string(),
}


def unified(kinds: Iterable[Kind]) -> Kind:
    """The one kind that holds all; STRING when there is none.

    Examples
    --------
    >>> unified({Kind.INT, Kind.FLOAT}), unified({Kind.INT, Kind.BOOL})
    (<Kind.FLOAT: 'float'>, <Kind.STRING: 'string'>)
    """
    seen = set(kinds)
    if seen == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    if len(seen) == 1 and Kind.BIG not in seen:
        return seen.pop()
    return Kind.STRING


def is_inferred(field: pa.Field) -> bool:
    """Whether a text column stands for values whose type is not known yet."""
    return bool(field.metadata) and INFERRED.items() <= dict(field.metadata).items()


def kinds_of(field: pa.Field, column: pa.ChunkedArray) -> frozenset[Kind]:
    """The kinds of the values of a simple column (see `simple`); empty when all are null."""
    if column.null_count == len(column):
        return frozenset()
    if is_inferred(field):
        return frozenset({kind_of_texts(kinds_in_text(column))})
    return kinds_of_field(field)


def kinds_of_field(field: pa.Field) -> frozenset[Kind]:
    """The kinds of the values that a simple column was made of; empty where there is nothing to tell them."""
    if pa.types.is_null(field.type) or is_inferred(field):
        return frozenset()
    if pa.types.is_boolean(field.type):
        return frozenset({Kind.BOOL})
    if pa.types.is_integer(field.type):
        return frozenset({Kind.INT})
    if pa.types.is_floating(field.type):
        return frozenset({Kind.FLOAT})
    mixed = (field.metadata or {}).get(KINDS)
    return frozenset(map(Kind, mixed.decode().split(","))) if mixed else frozenset({Kind.STRING})


def with_kinds(field: pa.Field, kinds: frozenset[Kind]) -> pa.Field:
    """The field of a text column, with the kinds of its values where they are mixed."""
    if is_inferred(field) or len(kinds) < 2 or not pa.types.is_string(field.type):
        return field
    return field.with_metadata({KINDS: ",".join(sorted(kind.value for kind in kinds)).encode()})


def kinds_in_text(column: pa.ChunkedArray) -> frozenset[Kind]:
    """What single texts of a column whose type is not known yet look like; of several columns, the union."""
    if _are_plain_integers(column):
        return frozenset({Kind.INT})
    texts = pc.unique(column).drop_null()
    if len(texts) <= _FEW and all(map(str.isascii, few := texts.to_pylist())):
        return frozenset(map(_kind_of_text, few))
    kinds: set[Kind] = set()

    def take(pattern: str) -> pa.Array:
        nonlocal texts
        found = pc.match_substring_regex(texts, pattern)
        taken, texts = texts.filter(found), texts.filter(pc.invert(found))
        return taken

    if len(whole := take(_INTEGER)):
        kinds |= _within_64_bits(whole)
    # 007 is a name, not a number: as a number it would not come back.
    for pattern, kind in ((_PADDED, Kind.STRING), (_FLOAT, Kind.FLOAT), (_BOOLEAN, Kind.BOOL)):
        if len(take(pattern)):
            kinds.add(kind)
    return frozenset(kinds | {Kind.STRING} if len(texts) else kinds)


def _are_plain_integers(column: pa.ChunkedArray) -> bool:
    """Whether some texts are there, and all are integers of 64 bits: told faster of all at once."""
    first = next((value for value in column.slice(0, _FEW).to_pylist() if value is not None), "")
    if not _INTEGER_TEXT.fullmatch(first):
        return False
    try:
        numbers = column.cast(pa.int64()).drop_null().to_numpy()
    except pa.ArrowInvalid:
        return False
    digits = len(numbers) + np.count_nonzero(numbers < 0)
    size = np.abs(np.maximum(numbers, -TICK_MAX))
    for power in range(1, len(str(size.max()))):
        digits += np.count_nonzero(size >= 10**power)
    # A text with more signs than its number has zeros before it; Arrow would also read 0x1F.
    held = [chunk.buffers()[2] for chunk in column.chunks]
    has_letters = any(bool((np.frombuffer(each, np.uint8) > ord("9")).any()) for each in held if each)
    return not has_letters and digits == pc.sum(pc.binary_length(column)).as_py()


def _kind_of_text(text: str) -> Kind:
    """What one text of ASCII looks like: RE2 would make four expressions ready for each column of a file."""
    for fits, kind in _FITS:
        if fits(text):
            return Kind.BIG if kind is Kind.INT and not _is_within_64_bits(text) else kind
    return Kind.STRING


def kind_of_texts(kinds: frozenset[Kind]) -> Kind:
    """The kind of a column of text that holds such texts; unlike other values, a mixture is simply text.

    Examples
    --------
    >>> kind_of_texts(frozenset({Kind.INT, Kind.FLOAT})), kind_of_texts(frozenset({Kind.INT, Kind.BOOL}))
    (<Kind.FLOAT: 'float'>, <Kind.STRING: 'string'>)
    """
    if kinds == {Kind.INT, Kind.BIG}:
        return Kind.BIG
    if len(kinds) == 1:
        return next(iter(kinds))
    return Kind.FLOAT if kinds and kinds <= {Kind.INT, Kind.BIG, Kind.FLOAT} else Kind.STRING


def _within_64_bits(texts: pa.Array) -> set[Kind]:
    """INT, BIG or both, for texts that are integers."""
    try:
        texts.cast(pa.int64())
    except pa.ArrowInvalid:
        small = any(map(_is_within_64_bits, texts.to_pylist()))
        return {Kind.BIG, Kind.INT} if small else {Kind.BIG}
    return {Kind.INT}


def _is_within_64_bits(text: str) -> bool:
    """Whether an integer is; Python refuses to read one of thousands of digits."""
    return len(text) <= _LONGEST_TICK and TICK_MIN <= int(text) <= TICK_MAX


def converted(column: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    """A simple column as the Arrow type of a kind that holds its values."""
    target = ARROW_TYPES[kind]
    if column.type == target:
        return column
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), target)])
    if pa.types.is_string(column.type) and kind is Kind.BOOL:
        return pc.equal(pc.utf8_lower(column), "true")
    # Integers that no float64 holds become the nearest one, as where both stand in one block of a file.
    return column.cast(target, safe=not pa.types.is_integer(column.type))


def reads_otherwise_as_float(column: pa.ChunkedArray) -> bool:
    """Whether a simple column of numbers has one whose text a float64 would change, or keeps it as text."""
    if not pa.types.is_integer(column.type):
        return bool(pa.types.is_string(column.type))
    ends = pc.min_max(column).as_py().values()
    return any(abs(end) >= FIRST_WITH_EXPONENT for end in ends if end is not None)


def beyond_floats(column: pa.ChunkedArray) -> int:
    """How many values of a simple column are integers, or texts of them, that no float64 holds exactly."""
    if pa.types.is_integer(column.type):
        ends = [end for end in pc.min_max(column).as_py().values() if end is not None]
        if all(abs(end) <= _EXACT for end in ends):
            return 0
        numbers = column.drop_null()
    elif pa.types.is_string(column.type):
        if (pc.max(pc.binary_length(column)).as_py() or 0) < _FEWEST_DIGITS:
            return 0
        numbers = column.filter(pc.match_substring_regex(column, _LONG_INTEGER))
    else:
        return 0
    try:
        whole = numbers.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:  # Some are beyond 64 bits.
        pairs = zip(numbers.to_pylist(), numbers.cast(pa.float64()).to_pylist(), strict=True)
        return sum(math.isinf(rounded) or int(number) != rounded for number, rounded in pairs)
    rounded = whole.astype(np.float64)
    # What rounds to 2^63 is less than that, as every integer of 64 bits.
    back = np.where(rounded < _BEYOND, rounded, 0).astype(np.int64)
    return int(np.count_nonzero((back != whole) | (rounded == _BEYOND)))


def simple(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Any Arrow column as null, bool, int64, float64 or string; nested values as JSON text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return simple(column.cast(kind.value_type))
    if kind in (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()):
        return column
    if kind == pa.uint64() and (pc.max(column).as_py() or 0) > TICK_MAX:
        return column.cast(pa.string())
    if pa.types.is_decimal(kind) and kind.scale == 0:
        ends = [end for end in pc.min_max(column).as_py().values() if end is not None]
        return column.cast(pa.int64() if all(TICK_MIN <= end <= TICK_MAX for end in ends) else pa.string())
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_decimal(kind):
        # By its text: Arrow itself makes 1.2000000000000002 of 1.2.
        return column.cast(pa.string()).cast(pa.float64())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return pa.chunked_array([pa.array(value_texts(column), pa.string())])


def simple_field(name: str, field: pa.Field, values: pa.Array) -> pa.Field:
    """The field of what a reader's column became; that integers do not fit 64 bits stands in its metadata."""
    whole = field.type == pa.uint64() or (pa.types.is_decimal(field.type) and field.type.scale == 0)
    if whole and pa.types.is_string(values.type):
        return pa.field(name, values.type, metadata={KINDS: Kind.BIG.value.encode()})
    return pa.field(name, values.type, metadata=field.metadata)
