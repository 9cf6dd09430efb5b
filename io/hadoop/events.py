"""From the records of a Hadoop history to events: one per usable time field of a record.

    record                        time field                     event type
    AM_STARTED                    startTime                      AMStart
    JOB_SUBMITTED, JOB_INITED     submitTime, launchTime         JobSubmit, JobStart
    JOB_FINISHED, _FAILED,        finishTime                     JobFinish, JobFail,
      _KILLED, _ERROR                                              JobKill, JobFail
    TASK_STARTED, _FINISHED,      startTime, finishTime          TaskStart, TaskFinish,
      _FAILED                                                      TaskFail
    MAP_ATTEMPT_FINISHED          mapFinishTime, finishTime      MapFinish, MapAttemptFinish
    REDUCE_ATTEMPT_FINISHED       shuffleFinishTime,             ShuffleFinish, SortFinish,
                                  sortFinishTime, finishTime       ReduceAttemptFinish
    SETUP_, CLEANUP_ATTEMPT_...   startTime, finishTime          SetupAttemptStart, ...
    any ..._ATTEMPT_FAILED        finishTime                     AttemptFail
    any ..._ATTEMPT_KILLED        finishTime                     AttemptKill

Records of every other type have no time of their own: they are counted as skipped, by type.  A
record of the types above whose times are all missing (0 or less) becomes one event without a time; where
it has another, one that is missing or no number is a reject, and one that says 0 or less is counted.
With `ReadOptions.intervals` the record that ends a job, task or attempt is also the interval event
that it closes (facts.py).

Attributes are the fields of the record in snake_case (`job_id`, `user`, `queue`, `status`, ...).
What is not a scalar is kept as JSON text; counters as `{group: {counter: value}}`, and only on the
last event of their record.  Task records name no host; it is that of the attempt that succeeded.

A history whose events are held back until all of it is read: where a task ran may be said at its end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.attribute_limit import REST, AttributeNames
from cepctl.io.contract.batches import BATCH_CELLS, BATCH_EVENTS, column_name, end_columns
from cepctl.io.contract.natural_columns import Value, natural_array, with_mixtures
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.sparse_columns import SparseColumn
from cepctl.io.hadoop.facts import HOSTS, EventColumns, HeldBatch, HistoryFacts, LastingFact, history_facts
from cepctl.io.hadoop.record_shapes import ROWS_AT_ONCE, RecordShape, Times, shape_of
from cepctl.io.hadoop.records import FIRST_BEYOND_TIME, Record
from cepctl.io.source.copies import IN_MEMORY_BYTES, copy_of
from cepctl.io.source.streams import Chunks

# Of every format of histories, for its LogFormat.
EVENTS = (
    "JobSubmit, JobStart, TaskStart, MapAttemptStart, MapAttemptFinish, JobFinish, ...; with --intervals "
    "also Job, Task, TaskAttempt"
)
OPTIONS = {"drop_domain": "Hadoop", "intervals": "Hadoop"}

TIMES: dict[str, Times] = {
    "AM_STARTED": (("startTime", "AMStart"),),
    "JOB_SUBMITTED": (("submitTime", "JobSubmit"),),
    "JOB_INITED": (("launchTime", "JobStart"),),
    "JOB_FINISHED": (("finishTime", "JobFinish"),),
    "JOB_FAILED": (("finishTime", "JobFail"),),
    "JOB_KILLED": (("finishTime", "JobKill"),),
    "JOB_ERROR": (("finishTime", "JobFail"),),
    "TASK_STARTED": (("startTime", "TaskStart"),),
    "TASK_FINISHED": (("finishTime", "TaskFinish"),),
    "TASK_FAILED": (("finishTime", "TaskFail"),),
    "MAP_ATTEMPT_FINISHED": (("mapFinishTime", "MapFinish"), ("finishTime", "MapAttemptFinish")),
    "REDUCE_ATTEMPT_FINISHED": (
        ("shuffleFinishTime", "ShuffleFinish"),
        ("sortFinishTime", "SortFinish"),
        ("finishTime", "ReduceAttemptFinish"),
    ),
    "SETUP_ATTEMPT_FINISHED": (("finishTime", "SetupAttemptFinish"),),
    "CLEANUP_ATTEMPT_FINISHED": (("finishTime", "CleanupAttemptFinish"),),
} | {
    f"{kind.upper()}_ATTEMPT_{ending}": ((time, event_type),)
    for kind in ("Map", "Reduce", "Setup", "Cleanup")
    for ending, time, event_type in (
        ("STARTED", "startTime", f"{kind}AttemptStart"),
        ("FAILED", "finishTime", "AttemptFail"),
        ("KILLED", "finishTime", "AttemptKill"),
    )
}
_OTHER_KINDS = frozenset(("JOB_QUEUE_CHANGED", "AM_STARTED", "NORMALIZED_RESOURCE"))
_NEARLY = 0.89


@lru_cache(maxsize=1_024)
def nearly_known(kind: str) -> str | None:
    """The type of record that damage made this of; None where it is one, or unlike any.

    Examples
    --------
    >>> nearly_known("TASK_S?ARTED"), nearly_known("TASK_STARTED"), nearly_known("TASK_UPDATED")
    ('TASK_STARTED', None, None)
    """
    if kind in TIMES or kind in _OTHER_KINDS or kind.endswith("_UPDATED"):
        return None
    return next(iter(get_close_matches(kind, TIMES, 1, _NEARLY)), None)


def tell_missing(
    source: str, line: int | None, what: str, fields: Mapping[str, Any], time: str, report: ReadReport
) -> None:
    """Tell of one of several times that cannot be used: a reject, unless the log says that there is none."""
    value = fields.get(time, "")
    if value is None or (type(value) is int and value <= 0):
        report.skipped[f"{what}: the log says that it has no time"] += 1
    else:
        report.rejects.append(Reject(source, line, f"no time: {what}; the rest of its record is kept", time))


@dataclass
class HistoryEvents:
    """The events of a history that wait for their batch; numbers them from 1 as they come."""

    source: str
    options: ReadOptions
    report: ReadReport
    _numbered: int = 0
    _count: int = 0
    _room: int = BATCH_EVENTS
    _ends: dict[int, LastingFact] = field(default_factory=dict)
    _shapes: dict[tuple[Any, ...], RecordShape] = field(default_factory=dict)
    _order: dict[str, None] = field(default_factory=dict)
    _fixed: EventColumns = field(default_factory=EventColumns)
    _columns: dict[str, SparseColumn] = field(default_factory=dict)
    _rests: dict[int, dict[str, Value]] = field(default_factory=dict)
    _names: AttributeNames = field(default_factory=AttributeNames)

    def __len__(self) -> int:
        """How many events wait."""
        return self._count

    @property
    def full(self) -> bool:
        return self._count >= self._room

    def add(self, record: Record, facts: HistoryFacts) -> None:
        """Append the events of one record, or count it as skipped.

        Raises
        ------
        RecursionError
            If a field is nested too deeply to be kept.
        """
        self.report.records += 1
        kind, fields = record.kind, record.fields
        times = TIMES.get(kind)
        if times is None:
            self._tell_untimed(record)
            return
        usable = None if len(times) == 1 else self._usable(record, times, facts)
        values = fields.values()
        key = kind, *fields, *map(type, values)
        shape = self._shapes.get(key)
        known = shape is not None
        if shape is None:
            shape = shape_of(record, times)
        told = shape.texts(fields) if shape.tells else None
        if not known:
            self._shapes[key] = shape
            self._admit(shape.names)
        shape.add(tuple(values), told, self._count, facts)
        if usable is None:
            self._count += 1
        else:
            shape.usable.append(usable)
            self._count += len(usable)
        if facts.spans is not None and (span := facts.spans.closed(record)):
            self._admit(span.attributes)
            shape.add_span(span, self._count)
            self._ends[self._count] = span
            self._count += 1
        if len(shape.rows) >= ROWS_AT_ONCE:
            self._flush(shape)

    def _tell_untimed(self, record: Record) -> None:
        """Count a record of a type that has no times, unless damage made it one."""
        near = nearly_known(record.kind)
        if near is None:
            self.report.skipped[record.kind] += 1
        else:
            cause = f"not a type of record, but nearly {near}"
            self.report.rejects.append(Reject(self.source, record.line, cause, record.kind))

    def _usable(self, record: Record, times: Times, facts: HistoryFacts) -> list[tuple[int | None, str]]:
        """The events of a record that may have several; one without a time if it has no time at all."""
        fields = record.fields
        usable: list[tuple[int | None, str]] = []
        for field_, name in times:
            time = fields.get(field_)
            # What `micros` does, without a call for each time.
            if type(time) is int and 0 < time < FIRST_BEYOND_TIME:
                usable.append((time * 1_000, name))
        if usable and len(usable) < len(times):
            known = {name for _, name in usable}
            for field_, name in times:
                if name not in known and field_ not in facts.untold:
                    tell_missing(self.source, record.line, name, fields, field_, self.report)
        return usable or [(None, times[-1][1])]

    def _admit(self, names: Collection[str]) -> None:
        self._order.update(dict.fromkeys(names))
        self._names.admit(names)
        self._room = min(BATCH_EVENTS, -(-BATCH_CELLS // len(self._names)))

    def _flush(self, shape: RecordShape) -> None:
        """Make columns of the records of a shape that wait."""
        for name, values, events, rows in shape.columns(self._fixed):
            if name in self._names:
                column = self._columns.get(name)
                if column is None:
                    column = self._columns[name] = SparseColumn()
                column.add(values, events, rows)
            else:
                for event, row in zip(events.tolist(), rows.tolist(), strict=True):
                    self._rests.setdefault(event, {})[name] = values[row]

    def take(self) -> HeldBatch:
        """All waiting events as one batch; afterwards none waits."""
        count = self._count
        for shape in self._shapes.values():
            if shape.rows:
                self._flush(shape)
        columns = self._fixed.arrays(count, self._numbered)
        if self._ends:
            ends = (self._ends.get(place) for place in range(count))
            columns |= end_columns([None if span is None else span.end for span in ends])
        mixed: dict[str, str | None] = {}
        for name in self._names.among(self._order):
            column = column_name(name)
            if name in HOSTS:
                columns[column] = pa.nulls(count)
            else:
                columns[column], mixed[column] = self._columns[name].array(count)
        if self._rests:
            rests = (self._rests.get(place, {}) for place in range(count))
            columns[REST] = natural_array(list(map(self._names.rest, rests)))
        batch = with_mixtures(pa.RecordBatch.from_pydict(columns), mixed)
        held = HeldBatch(batch, self._fixed.hosts(count), self._fixed.elsewhere)
        self._numbered += count
        self._count, self._ends, self._shapes, self._order = 0, {}, {}, {}
        self._fixed, self._columns, self._rests = EventColumns(), {}, {}
        return held


Records = Callable[[IO[bytes], ReadReport], Iterator[Record]]


def history_events(
    chunks: Chunks,
    records: Records,
    source: str,
    options: ReadOptions,
    report: ReadReport,
    *,
    untold: frozenset[str] = frozenset(),
) -> Iterator[pa.RecordBatch]:
    """The events of a history, in the order of its records.

    `records` gives the records of a copy of the file, which stands at its start, and fills a report.
    The copy goes to disk where it is large, and so do the events.  `untold` are the times that records of
    this kind of history do not have; any other that is missing is damage.
    """
    with copy_of(chunks) as copy, tempfile.TemporaryFile() as file:
        facts = HistoryFacts(untold=untold)
        if options.intervals:
            facts = history_facts(records(copy, ReadReport()), options, untold=untold)
            copy.seek(0)
        rows = HistoryEvents(source, options, report)
        held = _HeldBatches(file)
        for record in records(copy, report):
            if facts.spans is None:
                facts.see(record)
            try:
                rows.add(record, facts)
            except RecursionError:
                report.rejects.append(Reject(source, record.line, "nested too deeply", record.kind))
            if rows.full:
                held.put(rows.take())
        if len(rows):
            held.put(rows.take())
        for batch in held.taken():
            yield batch.with_hosts(options)
        if facts.spans is not None:
            facts.spans.count_open(report)
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


class _HeldBatches:
    """Batches in the order in which they came; those beyond so many bytes are in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._bytes = 0
        self._batches: list[tuple[HeldBatch, int]] = []

    def put(self, held: HeldBatch) -> None:
        self._bytes += held.batch.nbytes
        if self._bytes <= IN_MEMORY_BYTES:
            self._batches.append((held, 0))
            return
        start = self._file.tell()
        with pa.ipc.new_stream(self._file, held.batch.schema) as stream:
            stream.write_batch(held.batch)
        # Of a slice Arrow would keep the whole.
        empty = pa.RecordBatch.from_pylist([], held.batch.schema)
        self._batches.append((replace(held, batch=empty), self._file.tell() - start))

    def taken(self) -> Iterator[HeldBatch]:
        self._file.seek(0)
        for held, size in self._batches:
            if not size:
                yield held
                continue
            with pa.ipc.open_stream(pa.py_buffer(self._file.read(size))) as stream:
                yield replace(held, batch=stream.read_next_batch())
