"""Raw events gathered into Arrow batches of bounded size.

A reader adds its events one by one; attributes become columns in the order in which they first
occur in the batch, each in its natural type (int64, float64, string, bool):

    values seen                      column
    integers, within 64 bits         int64
    numbers, some of them float      float64
    any other mix, larger integers   string
    nothing but nulls                null

An attribute named like a column of the event table or of raw events gets the prefix `attr:`.  Beyond
the first attributes of a file (attribute_limit.py) there are no more columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.io.contract.attribute_limit import REST, AttributeNames
from cepctl.io.contract.reader import END_COLUMNS, RAW_COLUMNS, ReadOptions
from cepctl.io.contract.times import LogTime
from cepctl.schema import ATTRIBUTE_PREFIX, CLOCK, CLOCK_OFFSET, FIXED_COLUMNS, TICK_MAX, TICK_MIN

Value = bool | int | float | str | None

KINDS = b"cepctl.kinds"
INFERRED = {b"cepctl.infer": b"type"}
"""Marks a column of text whose type follows from all values of the dataset."""
_KINDS = {bool: "bool", int: "int", float: "float", str: "string", type(None): ""}

BATCH_EVENTS = 50_000
BATCH_CELLS = 5_000_000
_NOTHING: Mapping[str, Value] = {}
_TAKEN = RAW_COLUMNS.keys() | END_COLUMNS.keys() | FIXED_COLUMNS.keys() | {CLOCK, CLOCK_OFFSET}


@dataclass(frozen=True)
class End:
    """When an interval event ended: microseconds since the epoch, then as for its start."""

    micros: int
    zone_seconds: int = 0
    before: int = 0
    after: int = 0


@dataclass
class EventBatches:
    """The events of one file that wait for their batch; numbers them from 1 as they come.

    `types` fixes the columns of attributes whose type the format itself prescribes.
    """

    options: ReadOptions
    size: int = BATCH_EVENTS
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    _numbered: int = 0
    _fixed: list[list[Any]] = field(init=False)
    _ends: list[End | None] = field(default_factory=list)
    _attributes: list[Mapping[str, Value]] = field(default_factory=list)
    _shared: list[Mapping[str, Value]] = field(default_factory=list)
    _sharing: list[int] = field(default_factory=list)
    _names: AttributeNames = field(default_factory=AttributeNames)
    _crowded: bool = False

    def __post_init__(self) -> None:
        self._fixed = [[] for _ in RAW_COLUMNS]

    def __len__(self) -> int:
        """How many events wait."""
        return len(self._attributes)

    @property
    def full(self) -> bool:
        return len(self) >= self.size or len(self) * len(self._names) >= BATCH_CELLS

    def add(
        self,
        event_type: str,
        micros: int | None,
        attributes: Mapping[str, Value],
        *,
        zone_seconds: int = 0,
        before: int = 0,
        after: int = 0,
        end: End | None = None,
        number: int | None = None,
    ) -> None:
        """Append one event at `micros` since the epoch (None: unusable).

        With an `end` it is an interval event, and `micros` its start.  `number` is that of its record,
        None for one more than that of the event before it.
        """
        self._numbered = self._numbered + 1 if number is None else number
        numbers, ids, names, times, zones, befores, afters = self._fixed
        numbers.append(self._numbered)
        ids.append(None)
        names.append(event_type)
        times.append(micros)
        zones.append(zone_seconds)
        befores.append(before)
        afters.append(after)
        self._ends.append(end)
        self._attributes.append(attributes)
        if self._shared and self._shared[-1] is _NOTHING:
            self._sharing[-1] += 1
        else:
            self._shared.append(_NOTHING)
            self._sharing.append(1)
        self._crowded |= not self._names.admit_record(attributes)

    def add_groups(
        self,
        numbers: Sequence[int],
        event_types: Sequence[str],
        times: Sequence[LogTime],
        attributes: Sequence[dict[str, Value]],
        groups: Sequence[tuple[Mapping[str, Value], int]],
        ends: Sequence[End | None] = (),
    ) -> None:
        """Append events in groups: what each has in common beside `attributes`, and how many it has.

        There are as many `ends` as events, or none.
        """
        micros, zones, spreads, _, _ = zip(*times, strict=True)
        count = len(numbers)
        # With a type: mypy finds another one for a mixture in every run.
        fixed: tuple[Iterable[object], ...]
        fixed = (numbers, repeat(None, count), event_types, micros, zones, repeat(0, count), spreads)
        for column, values in zip(self._fixed, fixed, strict=True):
            column.extend(values)
        self._ends.extend(ends or repeat(None, count))
        self._attributes.extend(attributes)
        shared, sizes = zip(*groups, strict=True)
        self._shared.extend(shared)
        self._sharing.extend(sizes)
        if not self._names.has_all(shared) or not self._names.has_all(attributes):
            rest = iter(attributes)
            for common, size in groups:
                for record in chain([common], islice(rest, size)):
                    self._crowded |= not self._names.admit_record(record)

    def take(self) -> pa.RecordBatch:
        """All waiting events as one batch; afterwards none waits."""
        columns = {
            name: pa.array(values, type)
            for (name, type), values in zip(RAW_COLUMNS.items(), self._fixed, strict=True)
        }
        if any(self._ends):
            columns |= _end_columns(self._ends)
        mixed: dict[str, str | None] = {}
        for name, values, places in self._columns():
            column = column_name(name)
            array = None if name in self.types else _pure_text(values)
            if array is None:
                kinds = set(map(type, values))
                array = pa.array(values, self.types[name]) if name in self.types else _array(values, kinds)
                mixed[column] = _mixture(values, array, kinds)
            columns[column] = array if places is None else array.take(places)
        if self._crowded:
            columns[REST] = natural_array(list(map(self._names.rest, self._rows())))
        self._fixed, self._ends, self._crowded = [[] for _ in RAW_COLUMNS], [], False
        self._attributes, self._shared, self._sharing = [], [], []
        return with_mixtures(pa.RecordBatch.from_pydict(columns), mixed)

    def _columns(self) -> Iterator[tuple[str, list[Value], pa.Array | None]]:
        """Each attribute in the order of its first occurrence: name, values, and which event has which.

        Without places, every event has a value of its own.
        """
        own = set(chain.from_iterable(self._attributes))
        shared = set(chain.from_iterable(self._shared))
        rest = iter(self._attributes)
        records = (
            chain([common], islice(rest, size))
            for common, size in zip(self._shared, self._sharing, strict=True)
        )
        order = dict.fromkeys(chain.from_iterable(chain.from_iterable(records)))
        places = pa.array(np.repeat(np.arange(len(self._shared)), self._sharing))
        for name in self._names.among(order):
            if name not in shared:
                yield name, [row.get(name) for row in self._attributes], None
            elif name not in own:
                yield name, [common.get(name) for common in self._shared], places
            else:
                yield name, [row.get(name) for row in self._rows()], None

    def _rows(self) -> Iterator[Mapping[str, Value]]:
        """All attributes of every event."""
        shared = chain.from_iterable(map(repeat, self._shared, self._sharing))
        for common, attributes in zip(shared, self._attributes, strict=True):
            yield {**common, **attributes}


def _end_columns(ends: Sequence[End | None]) -> dict[str, pa.Array]:
    parts = ("micros", "zone_seconds", "before", "after")
    return {
        name: pa.array([None if end is None else getattr(end, part) for end in ends], type)
        for (name, type), part in zip(END_COLUMNS.items(), parts, strict=True)
    }


def column_name(attribute: str) -> str:
    """The column of an attribute: its own name, or a prefixed one where that is taken.

    Half a surrogate pair, which JSON can write, is not a character; it becomes a question mark.

    Examples
    --------
    >>> column_name("org:resource"), column_name("time")
    ('org:resource', 'attr:time')
    """
    name = attribute if attribute.isascii() else attribute.encode("utf-8", "replace").decode()
    return f"{ATTRIBUTE_PREFIX}{name}" if name in _TAKEN else name


def natural_array(values: Sequence[Value]) -> pa.Array:
    """The values as one column of the narrowest type that holds them all.

    Examples
    --------
    >>> [str(natural_array(v).type) for v in ([1, None], [1, 0.5], [True, None], [1, "x"], [2**63])]
    ['int64', 'double', 'bool', 'string', 'string']
    """
    return _array(values, set(map(type, values)))


def _pure_text(values: Sequence[Value]) -> pa.Array | None:
    """A column of text, which Arrow tells faster than a look at every type; None for any other."""
    try:
        array = pa.array(values, pa.string())
    except (pa.ArrowTypeError, UnicodeEncodeError):
        return None
    return None if array.null_count == len(array) else array


def _array(values: Sequence[Value], types: set[type]) -> pa.Array:
    kinds = types - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {str}:
        return _text_array(values)
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(value is None or TICK_MIN <= int(value) <= TICK_MAX for value in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        numbers = [_as_float(value) for value in values]
        if float in kinds and None not in {n for n, v in zip(numbers, values, strict=True) if v is not None}:
            return pa.array(numbers, pa.float64())
    return _text_array([None if value is None else as_text(value) for value in values])


def mixture(values: Sequence[Value], array: pa.Array) -> str | None:
    """The kinds of values that a text column holds, joined by commas; None where that is text alone.

    Examples
    --------
    >>> [mixture(v, natural_array(v)) for v in ([1, "x", None], ["x"], [1, 2.5], [2**63])]
    ['int,string', None, None, 'int,integers beyond 64 bits']
    """
    return _mixture(values, array, set(map(type, values)))


def _mixture(values: Sequence[Value], array: pa.Array, types: set[type]) -> str | None:
    kinds = {_KINDS[kind] for kind in types} - {""}
    if kinds <= {"string"} or not pa.types.is_string(array.type):
        return None
    if any(type(value) is int and not TICK_MIN <= value <= TICK_MAX for value in values):
        kinds.add("integers beyond 64 bits")
    return ",".join(sorted(kinds))


def with_mixtures(batch: pa.RecordBatch, mixed: Mapping[str, str | None]) -> pa.RecordBatch:
    """The batch with the kinds of values of mixed columns in their metadata, under KINDS."""
    if not any(mixed.values()):
        return batch
    fields = [
        field.with_metadata({KINDS: kinds.encode()}) if (kinds := mixed.get(field.name)) else field
        for field in batch.schema
    ]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def _text_array(texts: Sequence[Value]) -> pa.Array:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # JSON can write half of a surrogate pair, which is not a character and has no UTF-8.
        encoded = (None if text is None else str(text).encode("utf-8", "replace") for text in texts)
        return pa.array([None if text is None else text.decode() for text in encoded], pa.string())


def as_text(value: bool | int | float | str) -> str:
    """A value as it reads in a column of text; numbers as Arrow's cast to string writes them.

    Examples
    --------
    >>> as_text(True), as_text(12), as_text(5.0), as_text("x")
    ('true', '12', '5', 'x')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(pa.scalar(value).cast(pa.string()).as_py())
    return str(value)


def _as_float(value: Value) -> float | None:
    """As a float64; None for null and for an integer that is too large even for that."""
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return None
