"""The contract between log readers and the ingest job: batches of raw events, and a report.

A reader turns one open file into Arrow record batches; it knows its format and nothing of
ticks, uncertainty models or Spark.  Every batch has the columns of RAW_COLUMNS, then one column
per attribute that occurs in it, in its natural type (int64, float64, string, bool).

    column         meaning
    number         running number of the event in its file, from 1; makes the event id
    event_id       the id given by the input, null when it has none
    event_type     what a pattern names
    time           the time as the log gave it; null when unusable (ingest rejects the record)
    zone_seconds   offset from UTC of the zone in which it was written; 0 for epoch times
    before, after  default uncertainty of this format around `time`, in microseconds; one that ends a
                   microsecond before a unit, as that of a written precision does, reaches to the unit

Readers for input that brings its own intervals add `lower`, `upper` (and `pmf`) columns.  Readers of
interval events add `end_time`, the time of the end as the log gave it, null where an event has none,
and where zone or default uncertainty of the end differ from those of the start also
`end_zone_seconds`, `end_before` and `end_after`; the rule that fits an event is applied to both.

A time with digits below the microsecond has them in NANOS (END_NANOS), 0 to 999; where no time of a batch
has any, the column may be missing.

A time in an hour that happened twice is two instants: `time` is the earlier, and FOLD (END_FOLD) has the
microseconds to the later, 0 for all other times; where there is no such time, the column may be missing.

Readers of formats that do not say themselves how far a written time can be trusted add GRAIN (and END_GRAIN):
the microseconds of the unit that a time is written to, 0 where it has a fraction or is exact, null for none.
Where no time of a file has a fraction, each stands for its whole unit (cepctl/ingestion/written_units.py).

Readers of formats whose files say of single events how uncertain their times are add SPAN (and END_SPAN),
null where an event says nothing: the instants that its time may be, which become `lower`, `upper` and `pmf`
as soon as the length of ticks is known (cepctl/ingestion/spans.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple, Protocol, Self
from zoneinfo import ZoneInfo

import pyarrow as pa

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.message_template import MessageTemplate
from cepctl.io.contract.sieve import Sieve
from cepctl.io.contract.times import named_zone
from cepctl.io.contract.zone_words import ZoneWords, said_words
from cepctl.schema import END_TIME, MILLISECOND, TimeUnit

RAW_COLUMNS: dict[str, pa.DataType] = {
    "number": pa.int64(),
    "event_id": pa.string(),
    "event_type": pa.string(),
    "time": TIME_TYPE,
    "zone_seconds": pa.int32(),
    "before": pa.int64(),
    "after": pa.int64(),
}
SHOWN_CHARACTERS = 200
BEYOND_TIME = "beyond the range of ticks, -2^62 to 2^62; a coarser time_unit reaches further"
_BEYOND_NANOSECONDS = (
    "beyond what ticks of {} reach, 1823-11-12 to 2116-02-20; --time-unit us reaches further"
)
NO_TIME = "no time"
NO_ZONE = "times without a zone, read as UTC: {:,}; name their zone with --tz"
TWICE = "times in an hour that happened twice, each of its two instants with one half: {:,}"
CUT_TIMES = "times with digits finer than a tick of {}, which are cut: {{:,}}; --time-unit names a finer one"
BELOW_NANOSECONDS = "times with digits below the nanosecond, which are cut: {:,}"
NANOS, END_NANOS = "cepctl.raw.nanos", "cepctl.raw.end_nanos"
FOLD, END_FOLD = "cepctl.raw.fold", "cepctl.raw.end_fold"
GRAIN, END_GRAIN = "cepctl.raw.grain", "cepctl.raw.end_grain"
SPAN, END_SPAN = "cepctl.raw.span", "cepctl.raw.end_span"
END_COLUMNS: dict[str, pa.DataType] = {
    END_TIME: TIME_TYPE,
    "end_zone_seconds": pa.int32(),
    "end_before": pa.int64(),
    "end_after": pa.int64(),
}


class InstantBucket(NamedTuple):
    """Instants from the first to the last, both included: microseconds since the epoch, nanoseconds beyond.

    `p` is their probability, spread evenly; with a `sigma`, in microseconds, it is that of a normal
    distribution around the one instant that there is then.
    """

    lo: int
    lo_nanos: int
    hi: int
    hi_nanos: int
    p: float
    sigma: float | None = None

    @property
    def first(self) -> tuple[int, int]:
        return self.lo, self.lo_nanos

    @property
    def last(self) -> tuple[int, int]:
        return self.hi, self.hi_nanos


Span = list[dict[str, Any]]
"""The buckets of one event, in order: one where its mass is uniform, or has a sigma."""
SPAN_TYPE = pa.list_(
    pa.struct(
        [
            *((name, pa.int64()) for name in ("lo", "lo_nanos", "hi", "hi_nanos")),
            *((name, pa.float64()) for name in ("p", "sigma")),
        ]
    )
)


def beyond_time(unit: TimeUnit) -> str:
    """The cause of a reject whose time lies beyond the range of ticks of a length."""
    return BEYOND_TIME if unit.resolution == "us" else _BEYOND_NANOSECONDS.format(unit)


@dataclass(frozen=True)
class Reject:
    """A record that could not become an event: where it stands, why, and the record itself.

    `raw` is the whole record as the file has it (text where the bytes are no longer known), empty
    where there is none to show; whoever shows or keeps it makes it shorter.  `records` is how many records
    are lost by it, about: more than one where damage takes others along.
    """

    source: str
    line: int | None
    cause: str
    raw: str | bytes = ""
    records: int = 1

    @property
    def text(self) -> str:
        """The beginning of the record on one line, for people."""
        start = self.raw[: 4 * SHOWN_CHARACTERS]
        text = start if isinstance(start, str) else start.decode("utf-8", "replace")
        return " ".join(text.split())[:SHOWN_CHARACTERS]


@dataclass
class ReadReport:
    """What a reader has to say beside its events; filled while it reads.

    `notes` are warnings with a place for a number (`{:,}`), counted up while the file is read.
    `rejects` only takes rejects in: an ingest does not hold on to all of them.  `rules` of the uncertainty
    model and `patterns` of the user are the numbers, from 1, of those that fitted something.  `time_forms`
    tells of the columns of times of a plain file how their first number and their first written time are
    read, and so all.
    """

    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejects: list[Reject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    rules: set[int] = field(default_factory=set)
    patterns: set[int] = field(default_factory=set)
    time_forms: dict[str, str] = field(default_factory=dict)


@contextmanager
def among_rejects(report: ReadReport, others: Iterable[Reject]) -> Iterator[None]:
    """Take in other rejects of the same block, in order of lines, between those that come meanwhile.

    So the order of all rejects of a file does not depend on where its blocks end.
    """
    taking = report.rejects
    report.rejects = between = _Between(taking, iter(others))
    try:
        yield
        between.take_all()
    finally:
        report.rejects = taking


class TakenOneByOne(list[Reject]):
    """Rejects that are more than held: however several are added, `append` takes each."""

    def extend(self, rejects: Iterable[Reject]) -> None:
        """Take several."""
        for reject in rejects:
            self.append(reject)

    def __iadd__(self, rejects: Iterable[Reject]) -> Self:  # type: ignore[misc, override]  # extend takes it
        self.extend(rejects)
        return self


class _Between(TakenOneByOne):
    """Puts rejects into a list, each after those on lines before its own."""

    def __init__(self, taking: list[Reject], others: Iterator[Reject]) -> None:
        super().__init__()
        self._taking = taking
        self._others = others
        self._next = next(others, None)

    def append(self, reject: Reject) -> None:
        while self._next is not None and (self._next.line or 0) < (reject.line or 0):
            self._take()
        self._taking.append(reject)

    def take_all(self) -> None:
        while self._next is not None:
            self._take()

    def _take(self) -> None:
        assert self._next is not None
        self._taking.append(self._next)
        self._next = next(self._others, None)


LAYOUT = "lines"
"""Under this name `ReadReport.time_forms` tells the layout that was learned from a file, and how surely."""
ColumnMap = tuple[tuple[str, str], ...]
"""Pairs (field, column): which columns of a plain file are what."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Choices of the user that readers honour.

    `time_zone` is an IANA name for times written without a zone; `zone_words` are pairs of a word behind
    times and the IANA zone that it names; `drop_domain` shortens host names to their first
    label; `time_unit` is the length of the ticks that input which brings its own intervals is counted in;
    `intervals` asks for what lasts (tasks, attempts, jobs, activities) as interval events;
    `epoch` is the instant, in microseconds since 1970, that logs with relative times count from, and on
    whose day those without years begin; `columns` says which columns of plain event files are what, as
    pairs of (field, column), and `column_names` are their names where files have no header; `patterns` are
    tried on log records before the built-in ones, and
    `keep_unmatched` makes events of records that none fits. `epoch_unit` (s, ms, us or ns) is that of
    numbers in the columns of times of plain files, and `time_format` the form of their written times, in
    codes of strptime; without them both come from the file.  `per_object` is the type of object of which
    an event about several becomes one event for each.  With `exact_times` a time without a fraction is exact.
    A `strict` reader refuses a file with marks of uncertainty that have no model here.
    `templates` are those that messages without a pattern get their type, or their attribute `template`, from;
    `row_groups` are the first that is read of a Parquet file and that behind the last, None for all.
    `modified` is when the file was last changed, in microseconds since 1970, from which years that are not
    written are counted back, and `neighbour` the name of another file of its set, with a date.
    Rows of tables that the `sieve` holds back become no events.
    """

    time_zone: str | None = None
    zone_words: tuple[tuple[str, str], ...] = ()
    drop_domain: bool = False
    time_unit: TimeUnit = MILLISECOND
    intervals: bool = False
    epoch: int | None = None
    columns: ColumnMap = ()
    column_names: tuple[str, ...] = ()
    patterns: tuple[LogPattern, ...] = ()
    keep_unmatched: bool = False
    epoch_unit: str | None = None
    time_format: str | None = None
    per_object: str | None = None
    exact_times: bool = False
    templates: tuple[MessageTemplate, ...] = ()
    modified: int | None = None
    neighbour: str | None = None
    strict: bool = False
    row_groups: tuple[int, int] | None = None
    sieve: Sieve | None = field(default=None, compare=False)


def zones_said(options: ReadOptions) -> tuple[ZoneInfo | None, ZoneWords]:
    """The zone of times without one, and those that words behind times name.

    Raises
    ------
    UsageError
        If there is no such zone.
    """
    return named_zone(options.time_zone), said_words(options.zone_words)


class Reader(Protocol):
    """Reads the files of one format, of which its LogFormat (log_format.py) tells everything else."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first 64 KiB (decompressed) whether the file is of this format."""

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file in file order; raises LogFormatError when unreadable."""
