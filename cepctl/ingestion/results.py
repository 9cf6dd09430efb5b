"""What came of every file: the result of the task that read it, and the account that a user gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.kinds import Kind, kind_of_texts
from cepctl.ingestion.chunks import RAW_ZONE, AttributeFacts, Chunk
from cepctl.ingestion.needed import Unneeded
from cepctl.ingestion.other_times import OtherTimes, notes_on_other_times
from cepctl.ingestion.written_units import LOST_ZEROS, EndTimes, KnownTimes
from cepctl.io.contract.log_format import Repeats
from cepctl.io.contract.reader import NO_TIME, Reject
from cepctl.numeric.arrays import Numbers

# How coarse times can be written, from the coarsest on, in nanoseconds; a day is one of the written zone.
STEPS: dict[str, int] = {
    "1 day": 86_400_000_000_000,
    "1 h": 3_600_000_000_000,
    "1 min": 60_000_000_000,
    "15 s": 15_000_000_000,
    "1 s": 1_000_000_000,
    "1 ms": 1_000_000,
    "1 us": 1_000,
    "1 ns": 1,
}
FEWEST_TIMES = 30
_TIMES_FIRST = 1_000
_SECOND = 1_000_000
EMPTY = "empty"
_Kept = TypeVar("_Kept")
_Counted = TypeVar("_Counted")
_NO_FACTS = AttributeFacts(frozenset(), 0)


@dataclass(slots=True)
class TimesSeen:
    """How coarse the times of one file are: the coarsest of STEPS that all of them are multiples of."""

    place: int = 0
    distinct: set[int] = field(default_factory=set)

    def add(self, table: pa.Table) -> None:
        """Look at the times of one more chunk."""
        known = table.select(["time", RAW_ZONE]).filter(pc.is_valid(table.column("time")))
        column = known.column("time")
        per_count = 1 if column.type.unit == "ns" else 1_000
        times = np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)
        self.add_times(times + known.column(RAW_ZONE).to_numpy() * (STEPS["1 s"] // per_count), per_count)

    def add_times(self, times: Numbers, per_count: int) -> None:
        """Look at more times by the clock that wrote them, counted in units of so many nanoseconds."""
        steps = [max(step // per_count, 1) for step in STEPS.values()]
        while np.any(times % steps[self.place]):
            self.place += 1
        if len(self.distinct) < FEWEST_TIMES:
            self.distinct |= _some_distinct(times)

    def join(self, others: TimesSeen) -> None:
        """Look at all times that the others have seen."""
        self.place = max(self.place, others.place)
        self.distinct |= others.distinct

    @property
    def step(self) -> str | None:
        """The name of the step; None from fewer than FEWEST_TIMES distinct times, which prove nothing."""
        return list(STEPS)[self.place] if len(self.distinct) >= FEWEST_TIMES else None


def _some_distinct(times: Numbers) -> set[int]:
    """FEWEST_TIMES of the distinct times, or all where they are fewer; mostly the first few show as many."""
    for count in (_TIMES_FIRST, len(times)):
        found = np.unique(times[:count])
        if len(found) >= FEWEST_TIMES:
            break
    return set(found[:FEWEST_TIMES].tolist())


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one file.

    `rejected` counts all rejects by cause, `rejects` are the first few of each, and all stand in
    `reject_files` (JSON lines, on the filesystem of the chunks) where they were asked for.  A file that
    could not be read and need not be has the reason in `unreadable`.  `named` are all attributes, also of
    records that became no events, and of what kinds their values are where the reader tells it; `notes` are
    warnings with a place for a number.  `first` and `last` are the ends of the uncertainty intervals, in
    ticks; `times` tell how coarse the times are, `written` with what fractions and in which unit they became
    ticks, `units` how many that no rule fits stand for a unit of so many microseconds, have a fraction (0) or
    are exact for other reasons (-1), `time_forms` how columns of times were read (ReadReport); `size` is how
    many bytes the values take; `rules` and `patterns` are the numbers of those of the user that some event
    comes from; `renamed` are the types of events that were given another name.  `read_as` are the kinds of
    the attributes that rules of the model read.
    `other_times` are the attributes that are times, too, `ends` the times of the first and the last record.
    `unneeded` tells of events that were read and are in no chunk.
    `options` are the fields of ReadOptions that its reader looks at, `repeats` says what its files may show
    again.
    """

    name: str
    format: str
    chunks: tuple[Chunk, ...] = ()
    options: frozenset[str] = frozenset()
    repeats: Repeats | None = None
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    rejects: tuple[Reject, ...] = ()
    reject_files: tuple[str, ...] = ()
    named: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: Counter[str] = field(default_factory=Counter)
    ids_given: bool = False
    day_grained: bool = False
    first: int | None = None
    last: int | None = None
    times: TimesSeen = field(default_factory=TimesSeen)
    written: KnownTimes = field(default_factory=KnownTimes)
    units: Counter[int] = field(default_factory=Counter)
    size: int = 0
    time_forms: Mapping[str, str] = field(default_factory=dict)
    unreadable: str | None = None
    rules: frozenset[int] = frozenset()
    patterns: frozenset[int] = frozenset()
    renamed: frozenset[str] = frozenset()
    read_as: Mapping[str, Kind | None] = field(default_factory=dict)
    other_times: Mapping[str, OtherTimes] = field(default_factory=dict)
    ends: EndTimes | None = None
    unneeded: Unneeded = field(default_factory=Unneeded)

    @property
    def events(self) -> int:
        return sum(chunk.rows for chunk in self.chunks) + self.unneeded.events

    def sharing(self, alike: dict[object, object]) -> FileResult:
        """Its own parts, and those that other files have as well once: `alike` grows by what only this has.

        Of a hundred thousand small files that is nearly all.
        """

        def one(value: _Kept) -> _Kept:
            return cast(_Kept, alike.setdefault((type(value), value), value))

        def counts(counter: Counter[_Counted]) -> Counter[_Counted]:
            return cast(Counter[_Counted], alike.setdefault((Counter, *counter.items()), counter))

        def mapping(values: Mapping[str, _Kept]) -> Mapping[str, _Kept]:
            shared = {one(name): one(value) for name, value in values.items()}
            return cast(Mapping[str, _Kept], alike.setdefault((dict, *shared.items()), shared))

        def facts(values: Mapping[str, AttributeFacts]) -> Mapping[str, AttributeFacts]:
            return mapping({name: replace(each, kinds=one(each.kinds)) for name, each in values.items()})

        written = replace(self.written, before=mapping(self.written.before), seen=mapping(self.written.seen))
        return replace(
            self,
            format=one(self.format),
            chunks=tuple(replace(chunk, attributes=facts(chunk.attributes)) for chunk in self.chunks),
            options=one(self.options),
            skipped=counts(self.skipped),
            rejected=counts(self.rejected),
            named=mapping(self.named),
            warnings=one(self.warnings),
            notes=counts(self.notes),
            written=replace(written, unit=one(written.unit)),
            units=counts(self.units),
            time_forms=mapping(self.time_forms),
            read_as=mapping(self.read_as),
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """All warnings, the notes among them completed."""
        return self.remarks_without(frozenset())

    def remarks_without(self, left_out: Set[str]) -> tuple[str, ...]:
        """All warnings without some of the notes."""
        notes = (note.format(self.notes[note]) for note in sorted(+self.notes) if note not in left_out)
        return (*self.warnings, *notes_on_other_times(self.other_times), *notes)

    def attributes(self) -> dict[str, AttributeFacts]:
        """The facts of the attributes in all chunks together; the kind of text is derived from all of it."""
        return {name: _with_one_kind(found) for name, found in self._facts().items()}

    def texts(self) -> dict[str, frozenset[Kind]]:
        """What single values of attributes look like whose type is derived from all their texts."""
        return {name: found.kinds for name, found in self._facts().items() if found.text}

    def _facts(self) -> dict[str, AttributeFacts]:
        facts = dict.fromkeys(self.named, _NO_FACTS)
        for chunk in self.chunks:
            for name, more in chunk.attributes.items():
                facts[name] = facts.get(name, _NO_FACTS).with_others(more)
        return facts


def _with_one_kind(facts: AttributeFacts) -> AttributeFacts:
    if not facts.text or not facts.kinds:
        return facts
    return replace(facts, kinds=frozenset[Kind]({kind_of_texts(facts.kinds)}), text=False)


def _is_unit(grain: int) -> bool:
    """Whether times of this grain have no fraction: they stand for a second or more, or have lost zeros."""
    return abs(grain) >= _SECOND or grain == LOST_ZEROS


@dataclass(frozen=True, slots=True)
class FileTimes:
    """What a file told of its times while it was read, as counts.

    `notes` are those of FileResult, and so are `units`, of times without a fraction alone; `mixed`: whether
    some times have one and some none.  `untimed` are records that became no event for want of a time.
    """

    file: str
    records: int
    untimed: int
    notes: Mapping[str, int]
    units: Mapping[int, int]
    mixed: bool
    other_times: Mapping[str, OtherTimes]

    @classmethod
    def of(cls, result: FileResult) -> FileTimes:
        """Those of the file that this came of."""
        return cls(
            result.name,
            result.records,
            result.rejected[NO_TIME],
            dict(+result.notes),
            {grain: count for grain, count in result.units.items() if count and _is_unit(grain)},
            result.written.is_mixed,
            dict(result.other_times),
        )


@dataclass(frozen=True, slots=True)
class FileAccount:
    """The account of one file in a finished dataset, as `--report` writes it.

    `event_types` counts the events that are in the dataset.  `first` and `last` are ISO 8601, in UTC,
    and span the uncertainty intervals; `granularity` is the coarsest step that all times of the file
    are multiples of in the zone in which they are written; `time_forms` tells how the numbers and the texts
    of its columns of times were read.  `unreadable` says why the file was left out.
    """

    file: str
    format: str
    records: int
    events: int
    event_types: Mapping[str, int]
    rejected: Mapping[str, int]
    skipped: Mapping[str, int]
    first: str | None
    last: str | None
    granularity: str | None
    unreadable: str | None
    warnings: tuple[str, ...]
    time_forms: Mapping[str, str] = field(default_factory=dict)
