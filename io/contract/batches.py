"""Raw events gathered into Arrow batches of bounded size.

A reader adds its events one by one; attributes become columns in the order in which they first
occur in the batch, each in its natural type (natural_columns.py).

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

from cepctl.event_table import FIXED_COLUMNS, LENGTH_COLUMNS, ORIGIN_COLUMNS
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES, REST, AttributeNames
from cepctl.io.contract.natural_columns import (
    Value,
    array_of,
    mixture_of,
    natural_array,
    pure_text,
    with_mixtures,
)
from cepctl.io.contract.reader import (
    END_COLUMNS,
    END_FOLD,
    END_GRAIN,
    END_NANOS,
    END_SPAN,
    FOLD,
    GRAIN,
    NANOS,
    RAW_COLUMNS,
    SPAN,
    ReadOptions,
)
from cepctl.io.contract.times import LogTime
from cepctl.schema import ATTRIBUTE_PREFIX, CLOCK, CLOCK_OFFSET

INFERRED = {b"cepctl.infer": b"type"}
"""Marks a column of text whose type follows from all values of the dataset."""

BATCH_EVENTS = 50_000
BATCH_CELLS = 5_000_000
_NOTHING: Mapping[str, Value] = {}
_TAKEN = (
    RAW_COLUMNS.keys()
    | END_COLUMNS.keys()
    | FIXED_COLUMNS.keys()
    | LENGTH_COLUMNS.keys()
    | ORIGIN_COLUMNS.keys()
    | {CLOCK, CLOCK_OFFSET}
)


@dataclass(frozen=True)
class End:
    """When an interval event ended: microseconds since the epoch, then as for its start."""

    micros: int
    zone_seconds: int = 0
    before: int = 0
    after: int = 0
    grain: int | None = None
    nanos: int = 0
    fold: int = 0


@dataclass
class EventBatches:
    """The events of one file that wait for their batch; numbers them from 1 as they come.

    `types` fixes the columns of attributes whose type the format itself prescribes; those named like SPAN
    are no attributes of events.
    """

    options: ReadOptions
    size: int = BATCH_EVENTS
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    _numbered: int = 0
    _fixed: list[list[Any]] = field(init=False)
    _ends: list[End | None] = field(default_factory=list)
    _grains: list[int | None] = field(default_factory=list)
    _nanos: dict[int, int] = field(default_factory=dict)
    _folds: dict[int, int] = field(default_factory=dict)
    _attributes: list[Mapping[str, Value]] = field(default_factory=list)
    _shared: list[Mapping[str, Value]] = field(default_factory=list)
    _sharing: list[int] = field(default_factory=list)
    _names: AttributeNames = field(init=False)
    _crowded: bool = False

    def __post_init__(self) -> None:
        raw = [name for name in self.types if name in (SPAN, END_SPAN)]
        self._names = AttributeNames(MOST_ATTRIBUTES + len(raw))
        self._names.admit(raw)
        self._fixed = [[] for _ in RAW_COLUMNS]

    def __len__(self) -> int:
        """How many events wait."""
        return len(self._attributes)

    @property
    def full(self) -> bool:
        return len(self) >= self.size or len(self) * len(self._names) >= BATCH_CELLS

    def admit(self, attributes: Iterable[str]) -> bool:
        """Make columns of attributes that come without records; whether there is room for all of them."""
        return self._names.admit(attributes)

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
        grain: int | None = None,
        nanos: int = 0,
    ) -> None:
        """Append one event at `micros` since the epoch (None: unusable), and `nanos` beyond them.

        With an `end` it is an interval event, and `micros` its start.  `number` is that of its record,
        None for one more than that of the event before it; `grain` as GRAIN of io/contract/reader.py.
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
        self._grains.append(grain)
        if nanos:
            self._nanos[len(self._attributes)] = nanos
        self._attributes.append(attributes)
        if self._shared and self._shared[-1] is _NOTHING:
            self._sharing[-1] += 1
        else:
            self._shared.append(_NOTHING)
            self._sharing.append(1)
        self._crowded |= not self._names.admit_record(attributes)

    def add_at(
        self,
        event_type: str,
        time: LogTime,
        attributes: Mapping[str, Value],
        *,
        grain: int | None,
        after: int = 0,
        end: End | None = None,
        number: int | None = None,
    ) -> None:
        """Append one event at a time as it was read, with its zone and fold; `grain` as in `add`."""
        if time.fold:
            self._folds[len(self._attributes)] = time.fold
        zone, nanos = time.zone_seconds, time.nanos
        self.add(
            *(event_type, time.micros, attributes),
            zone_seconds=zone, after=after, end=end, number=number, grain=grain, nanos=nanos,
        )  # fmt: skip

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
        micros, zones, folds, _, _, grains, _, nanos = zip(*times, strict=True)
        count, before = len(numbers), len(self)
        for held, rare in ((self._nanos, nanos), (self._folds, folds)):
            if any(rare):
                held |= {before + place: value for place, value in enumerate(rare) if value}
        # With a type: mypy finds another one for a mixture in every run.
        fixed: tuple[Iterable[object], ...]
        nothing = [0] * count
        fixed = (numbers, repeat(None, count), event_types, micros, zones, nothing, nothing)
        for column, values in zip(self._fixed, fixed, strict=True):
            column.extend(values)
        self._ends.extend(ends or repeat(None, count))
        self._grains.extend(grains)
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
            columns |= end_columns(self._ends)
            if END_GRAIN in columns and self.options.exact_times:
                del columns[END_GRAIN]
        has_grains = any(grain is not None for grain in self._grains)
        if has_grains and not (any(self._grains) and self.options.exact_times):
            columns[GRAIN] = pa.array(self._grains, pa.int64())
        for name, held in ((NANOS, self._nanos), (FOLD, self._folds)):
            if held:
                rare = np.zeros(len(self), np.int64)
                rare[list(held)] = list(held.values())
                columns[name] = pa.array(rare)
        mixed: dict[str, str | None] = {}
        for name, values, places in self._columns():
            column = column_name(name)
            array = None if name in self.types else pure_text(values)
            if array is None:
                kinds = set(map(type, values))
                array = pa.array(values, self.types[name]) if name in self.types else array_of(values, kinds)
                mixed[column] = None if name in self.types else mixture_of(values, array, kinds)
            columns[column] = array if places is None else array.take(places)
        if self._crowded:
            columns[REST] = natural_array(list(map(self._names.rest, self._rows())))
        self._fixed, self._ends, self._grains = [[] for _ in RAW_COLUMNS], [], []
        self._nanos, self._folds = {}, {}
        self._crowded = False
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


def end_columns(ends: Sequence[End | None]) -> dict[str, pa.Array]:
    """The columns of the ends of events, of which some have one."""
    parts = ("micros", "zone_seconds", "before", "after", "grain", "nanos", "fold")
    types = {**END_COLUMNS, END_GRAIN: pa.int64(), END_NANOS: pa.int64(), END_FOLD: pa.int64()}
    columns = {
        name: pa.array([None if end is None else getattr(end, part) for end in ends], type)
        for (name, type), part in zip(types.items(), parts, strict=True)
    }
    if columns[END_GRAIN].null_count == len(ends):
        del columns[END_GRAIN]
    for name, part in ((END_NANOS, "nanos"), (END_FOLD, "fold")):
        if not any(end is not None and getattr(end, part) for end in ends):
            del columns[name]
    return columns


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
