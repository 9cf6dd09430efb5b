"""One file -> sorted chunks of events: the task that reads.

Streams the file through its reader, gives every event its interval, and writes Parquet chunks of
bounded size; what the whole file says (rejects, day grain, kinds of attributes) goes into the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

import numpy as np
import pyarrow as pa

from cepctl.datasets.arrow_files import SUFFIX
from cepctl.datasets.kinds import Kind, kinds_of_field
from cepctl.datasets.marker import PARQUET
from cepctl.errors import CepctlError, EventSchemaError, LogFormatError, UncertaintyModelError
from cepctl.ingestion.chunk_files import MOST_ARROW_BYTES, ROWS_OF_GROUP, read_chunk, write_chunk
from cepctl.ingestion.chunks import (
    RAW_OFFSET,
    Chunk,
    bytes_of_values,
    is_attribute,
    joined,
    raw_table,
    sorted_events,
)
from cepctl.ingestion.clocks import unstamped_notes
from cepctl.ingestion.ends import end_notes
from cepctl.ingestion.in_time import ending_after_start, inside_time, with_ends_of_lengths, with_times
from cepctl.ingestion.intervals import at_local_midnight, conditions_of, with_intervals
from cepctl.ingestion.kinds_read import KindsRead, ReadAs, kinds_read_by
from cepctl.ingestion.other_times import OtherTimesSeen
from cepctl.ingestion.rejects import RejectLog, TooManyRejectsError
from cepctl.ingestion.results import EMPTY, FileResult, TimesSeen
from cepctl.ingestion.room import chunk_bytes, is_little, return_freed
from cepctl.ingestion.spans import with_spans
from cepctl.ingestion.type_names import TypeNames, renamed
from cepctl.ingestion.writer_names import Writing, with_writers
from cepctl.ingestion.written_units import Ends, Written, WrittenOtherwiseError, in_whole_units
from cepctl.io.contract.clock_offsets import rescaled_with_clocks
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.formats import format_of, open_log
from cepctl.io.source.locations import InputFile, Location
from cepctl.io.trial import with_trial
from cepctl.memory import MemoryBudget, reading_budget, size_text
from cepctl.runners.apart import OUT_OF_MEMORY
from cepctl.schema import TimeUnit
from cepctl.uncertainty.assign import DAY
from cepctl.uncertainty.model import UncertaintyModel

CHUNK_EVENTS = 200_000
_FEWER_ROWS_OF_GROUP = 8_192
_CELL_BYTES = 8
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ReadTask:
    """What reading one file needs.

    `scratch` is the directory that chunks are written to, and with `keep_rejects` all rejects.  Ticks
    that the file gives are counted in the time unit of `options`, those of the dataset in that of `written`,
    which is what is known before of its times; a file that `declares_unit` gives the latter itself.
    Where `max_rejects` is given, reading stops at one reject more.  A file that `may_be_unreadable` is then
    left out, with the reason in its result, and so is any part of a file whose reading did not finish.
    Chunks are of Parquet, or `in_arrow` as long as they are few.  `writing`: who wrote the events.
    """

    file: InputFile
    number: int
    scratch: Location
    options: ReadOptions
    model: UncertaintyModel
    written: Written
    type_names: TypeNames = ()
    input_format: str | None = None
    may_be_unreadable: bool = False
    keep_rejects: bool = False
    max_rejects: int | None = None
    memory: MemoryBudget = field(default_factory=reading_budget)
    declares_unit: bool = False
    in_arrow: bool = False
    writing: Writing = field(default_factory=Writing)

    @property
    def reading(self) -> ReadOptions:
        """What the reader is told."""
        if not self.declares_unit:
            return self.options
        return replace(self.options, time_unit=self.written.unit)


def read_file(task: ReadTask) -> FileResult:
    """Read one file into chunks.

    Raises
    ------
    LogFormatError
        If the file is of no known format or cannot be read at all, unless it need not be; if there are
        more rejects than allowed.
    """
    return_freed(task.memory)
    kinds = kinds_read_by((*task.model.rules, *task.writing.rules))
    while True:
        try:
            result = _read(task, kinds)
        except WrittenOtherwiseError as found:
            remove(task.scratch, found.chunks)
            task, kinds = (
                replace(task, written=found.known),
                kinds_read_by((*task.model.rules, *task.writing.rules)),
            )
            continue
        if not kinds.differ:
            return result
        discard(task.scratch, result)
        kinds = KindsRead(kinds.names, kinds.of_file)


def discard(scratch: Location, result: FileResult) -> None:
    """Delete what reading a file has written, which is to be read again."""
    remove(scratch, [*(chunk.path for chunk in result.chunks), *result.reject_files])


def remove(scratch: Location, paths: Sequence[str]) -> None:
    """Delete files in the scratch directory."""
    filesystem, _ = scratch.resolve()
    for path in paths:
        filesystem.delete_file(path)


def parser_died(task: ReadTask, cause: str) -> FileResult:
    """What comes of a file that killed the process which read it, by `cause`.

    Raises
    ------
    LogFormatError
        As `read_file` does.
    """
    if cause == OUT_OF_MEMORY:
        return _unread(
            task,
            LogFormatError(
                f"{task.file.name}: reading it takes more than the {size_text(task.memory.of_task)} of "
                "memory that there are for it, so nothing of it was taken in; raise --max-memory, or leave "
                "the file out"
            ),
        )
    out_of_memory = ", as where memory runs out" if cause == "SIGKILL" else ""
    return _unread(
        task,
        LogFormatError(
            f"{task.file.name}: the process that read it died ({cause}{out_of_memory}), so nothing of it was "
            "taken in; leave the file out, or find out whether it is damaged"
        ),
    )


def _read(task: ReadTask, kinds: KindsRead) -> FileResult:
    before = task.file.lines_before
    if not task.keep_rejects:
        return _read_with(task, kinds, RejectLog(max_rejects=task.max_rejects, lines_before=before))
    filesystem, directory = task.scratch.resolve()
    path = f"{directory}/{task.number:06d}-{uuid4().hex[:12]}.rejects"
    try:
        with filesystem.open_output_stream(path) as stream:
            result = _read_with(task, kinds, RejectLog(stream, lines_before=before))
    except WrittenOtherwiseError:
        filesystem.delete_file(path)
        raise
    return replace(result, reject_files=(path,))


def _read_with(task: ReadTask, kinds: KindsRead, rejects: RejectLog) -> FileResult:
    try:
        if task.file.left_out is not None:
            raise LogFormatError(task.file.left_out)
        return _read_whole(task, kinds, ReadReport(rejects=rejects, time_forms=dict(task.file.time_forms)))
    except (LogFormatError, EventSchemaError, UncertaintyModelError) as problem:
        return _unread(task, problem)


def _unread(task: ReadTask, problem: CepctlError) -> FileResult:
    of_whole_run = isinstance(problem, TooManyRejectsError | UncertaintyModelError)
    if task.file.part is None and (of_whole_run or not task.may_be_unreadable):
        raise problem
    return FileResult(task.file.name, UNREADABLE, unreadable=str(problem))


def _read_whole(task: ReadTask, kinds: KindsRead, report: ReadReport) -> FileResult:
    with open_log(task.file.location, task.file.part) as log:
        if not log.head:
            return FileResult(task.file.name, EMPTY, warnings=("the file is empty",))
        known = format_of(log.head, task.file.name, task.input_format, task.options)
        batches = known.read(log.stream, task.file.name, task.reading, report)
        try:
            result = _written(task, known, kinds, batches, report)
        except (LogFormatError, EventSchemaError) as problem:
            if isinstance(problem, TooManyRejectsError):
                raise
            raise type(problem)(with_trial(str(problem), known, log.head, task.reading)) from problem
        damage = log.damage or task.file.damage
        if damage:
            report.rejects.append(Reject(task.file.name, None, f"the file is damaged: {damage}"))
            report.records += 1
    assert isinstance(report.rejects, RejectLog)
    return replace(
        result,
        records=report.records,
        skipped=report.skipped,
        rejected=report.rejects.causes,
        rejects=tuple(report.rejects),
        warnings=tuple(report.warnings),
        notes=report.notes,
        rules=frozenset(report.rules),
        patterns=frozenset(report.patterns),
        time_forms=dict(sorted({**report.time_forms, **result.written.forms}.items())),
    )


@dataclass
class _Gathered:
    """The chunks of one file: tables wait until they make one, and are written with their intervals."""

    task: ReadTask
    kinds: KindsRead
    report: ReadReport
    writing: Writing
    pending: list[pa.Table] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    times: TimesSeen = field(default_factory=TimesSeen)
    units: Counter[int] = field(default_factory=Counter)
    size: int = 0
    flushed: bool = False
    ends: Ends | None = None

    def __post_init__(self) -> None:
        self.written, self.whole = self.task.written, self.task.written.whole

    def settle(self) -> None:
        """At the end of the file, let it be read again where its chunks were written otherwise than it is.

        Raises
        ------
        WrittenOtherwiseError
            If what is known of all of it says otherwise than what was known of its first chunk.
        """
        if self.flushed and self.written.whole != self.whole:
            known = replace(self.written, settled=self.written.whole)
            raise WrittenOtherwiseError(known, [chunk.path for chunk in self.chunks])

    def flush(self) -> None:
        """Write what waits."""
        task, report = self.task, self.report
        table = joined(self.pending)
        self.pending.clear()
        known = self.written.after(table)
        if self.flushed and known.unit != self.written.unit:
            raise WrittenOtherwiseError(known.anew(), [chunk.path for chunk in self.chunks])
        if not self.flushed:
            self.whole = known.whole
        self.written, self.flushed = known, True
        read_as = self.kinds.of_next(table)
        if read_as is None:
            return
        before, own = self.ends, Ends.of(table)
        self.ends = own if before is None else before.before(own)
        last = None if before is None else before.last
        table, units = in_whole_units(table, known, self.whole, report, task.file.name, last)
        table = rescaled_with_clocks(table, task.reading.time_unit, known.unit, RAW_OFFSET)
        table = with_spans(table, known.unit)
        try:
            table, assigned = with_intervals(table, task.model, known.unit, read_as)
            table = with_writers(table, self.writing, conditions_of(table, read_as))
        except UncertaintyModelError as problem:
            if self.kinds.known is not None:
                raise
            self.kinds.problem = problem
            return
        found, counts = np.unique(units[~assigned.ruled], return_counts=True)
        self.units.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        report.rules |= assigned.rules
        report.notes.update(unstamped_notes(assigned.unstamped, task.model.rules))
        table = inside_time(with_ends_of_lengths(table), known.unit, report, task.file.name)
        table = ending_after_start(table, report, task.file.name)
        if not len(table):
            return
        report.notes.update(end_notes(table))
        self.times.add(table)
        self.size += bytes_of_values(table)
        in_arrow = task.in_arrow and self.size <= MOST_ARROW_BYTES
        self.chunks.append(_write(task, table, len(self.chunks), in_arrow=in_arrow))


def _written(
    task: ReadTask, known: LogFormat, kinds: KindsRead, batches: Iterator[pa.RecordBatch], report: ReadReport
) -> FileResult:
    """Gather batches into chunks and write them; chunks of a day-grained file are written twice."""
    writing = replace(task.writing, of_lines=task.writing.of_lines and known.appended)
    gathered = _Gathered(task, kinds, report, writing)
    most_bytes = chunk_bytes(task.memory)
    day_grained = known.whole_days and not task.options.exact_times
    ids_given = False
    named: dict[str, frozenset[Kind]] = {}
    old_types: set[str] = set()
    # Of a format whose columns can be mapped another may be the time.
    others = OtherTimesSeen(task.reading) if "columns" in known.options else None
    for batch in batches:
        ids_given = ids_given or batch.column("event_id").null_count < len(batch)
        table = raw_table(batch, task.file)
        table, replaced = renamed(table, task.type_names)
        old_types |= replaced
        for column in filter(lambda column: is_attribute(column.name), table.schema):
            named[column.name] = named.get(column.name, frozenset()) | kinds_of_field(column)
        table = with_times(table, report, task.file.name)
        if others is not None:
            others.add(table)
        day_grained = day_grained and at_local_midnight(table)
        gathered.pending.append(table)
        if _fills_a_chunk(gathered.pending, most_bytes):
            gathered.flush()
    if any(map(len, gathered.pending)):
        gathered.flush()
    gathered.settle()
    if kinds.problem is not None and not kinds.differ:
        raise kinds.problem
    chunks = tuple(gathered.chunks)
    if day_grained and not kinds.differ:
        unit = gathered.written.unit
        chunks = tuple(
            _rewritten(task, chunk, number, kinds.of_file, unit) for number, chunk in enumerate(chunks)
        )
    return FileResult(
        task.file.name,
        known.name,
        chunks,
        options=frozenset(known.options),
        repeats=known.repeats,
        ids_given=ids_given,
        day_grained=day_grained and bool(chunks),
        first=min((chunk.first for chunk in chunks), default=None),
        last=max((chunk.last for chunk in chunks), default=None),
        named=named,
        renamed=frozenset(old_types),
        times=gathered.times,
        written=gathered.written,
        ends=gathered.ends,
        units=Counter() if day_grained else gathered.units,
        size=gathered.size,
        read_as=kinds.of_file,
        other_times={} if others is None else others.by_name,
    )


def _fills_a_chunk(pending: Sequence[pa.Table], most_bytes: int) -> bool:
    """Whether the tables make a chunk; every column takes memory in all rows, also where it has no value."""
    rows = sum(map(len, pending))
    columns = len({name for table in pending for name in table.column_names})
    size = max(sum(table.nbytes for table in pending), rows * columns * _CELL_BYTES)
    return rows >= CHUNK_EVENTS or size >= most_bytes


def _write(task: ReadTask, table: pa.Table, number: int, *, in_arrow: bool) -> Chunk:
    """Write one chunk, sorted; returns what later steps need to know of it."""
    table = sorted_events(table)
    filesystem, directory = task.scratch.resolve()
    ending = SUFFIX if in_arrow else PARQUET
    # A name of its own: an attempt that was given up and still runs must not spoil a later one.
    path = f"{directory}/{task.number:06d}-{number:04d}-{uuid4().hex[:12]}{ending}"
    # Small chunks are many, and little is wanted of each at a time.
    groups = _FEWER_ROWS_OF_GROUP if is_little(task.memory) else ROWS_OF_GROUP
    return write_chunk(table, path, filesystem, groups)


def _rewritten(task: ReadTask, chunk: Chunk, number: int, read_as: ReadAs, unit: TimeUnit) -> Chunk:
    """A chunk whose events that no rule fits have a granularity of one day."""
    filesystem, _ = task.scratch.resolve()
    table = read_chunk(chunk.path, filesystem)
    empty = pa.nulls(len(table), pa.int64())
    for name in ("lower", "upper", "end_lower", "end_upper"):
        table = table.set_column(table.column_names.index(name), name, empty)
    table = with_intervals(table, task.model, unit, read_as, DAY)[0]
    return _write(task, table, number, in_arrow=chunk.path.endswith(SUFFIX))
