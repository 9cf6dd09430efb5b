"""One file -> sorted chunks of events: the task that reads.

Streams the file through its reader and gathers chunks of bounded size (gathering.py); what the whole file
says (rejects, day grain, kinds of attributes) goes into the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import uuid4

import pyarrow as pa

from cepctl.datasets.kinds import Kind, kinds_of_field
from cepctl.errors import CepctlError, EventSchemaError, LogFormatError, UncertaintyModelError
from cepctl.ingestion.chunk_files import is_one_of_several
from cepctl.ingestion.chunks import is_attribute, raw_table
from cepctl.ingestion.gathering import GatheredChunks, rewritten
from cepctl.ingestion.in_time import with_times
from cepctl.ingestion.intervals import at_local_midnight
from cepctl.ingestion.kinds_read import KindsRead, kinds_read_by
from cepctl.ingestion.needed import IdsOutOfOrderError
from cepctl.ingestion.other_times import OtherTimesSeen
from cepctl.ingestion.rejects import RejectLog, TooManyRejectsError
from cepctl.ingestion.results import EMPTY, FileResult
from cepctl.ingestion.room import chunk_bytes, return_freed
from cepctl.ingestion.sieve import ColumnsLeftOutError, sieve_of
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.type_names import renamed
from cepctl.ingestion.written_units import WrittenOtherwiseError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.formats import format_of, open_log
from cepctl.io.source.locations import Location
from cepctl.io.trial import with_trial
from cepctl.process.memory import size_text
from cepctl.runners.apart import OUT_OF_MEMORY

CHUNK_EVENTS = 200_000
UNREADABLE = "unreadable"


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
            task = replace(task, written=found.known)
        except IdsOutOfOrderError:
            task = replace(task, ids_may_ascend=False)
        except ColumnsLeftOutError:
            task = replace(task, all_columns=True)
        else:
            if not kinds.differ:
                return result
            discard(task.scratch, result)
            kinds = KindsRead(kinds.names, kinds.of_file)
            continue
        kinds = kinds_read_by((*task.model.rules, *task.writing.rules))


def discard(scratch: Location, result: FileResult) -> None:
    """Delete what reading a file has written, which is to be read again."""
    remove(scratch, [*(chunk.path for chunk in result.chunks), *result.reject_files, *result.unneeded.ids])


def remove(scratch: Location, paths: Sequence[str]) -> None:
    """Delete files in the scratch directory."""
    filesystem, _ = scratch.resolve()
    for path in paths:
        if not is_one_of_several(path):
            filesystem.delete_file(path)


def held_to_size(task: ReadTask, result: FileResult) -> FileResult:
    """The result, which tells where its file has lost bytes since it was listed."""
    location, size = task.file.location, task.file.size
    if size is None or not location.is_local or task.file.left_out is not None:
        return result
    filesystem, path = location.resolve()
    now = filesystem.get_file_info(path).size or 0
    if now >= size:
        return result
    cut = (
        f"the file had {size:,} bytes when it was found and has {now:,} now: it was cut while it was read, "
        "as a log is when it is rotated; records may be missing: read it again, with the file that has them"
    )
    return replace(result, warnings=(*result.warnings, cut))


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
    except (WrittenOtherwiseError, IdsOutOfOrderError, ColumnsLeftOutError):
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
            whole = task.file.part is None
            return FileResult(task.file.name, EMPTY, warnings=("the file is empty",) if whole else ())
        known = format_of(log.head, task.file.name, task.input_format, task.options)
        writing = replace(task.writing, of_lines=task.writing.of_lines and known.appended)
        gathered = GatheredChunks(task, kinds, report, writing, sieve_of(task, known, writing))
        reading = replace(task.reading, sieve=gathered.sieve)
        batches = known.read(log.stream, task.file.name, reading, report)
        try:
            result = _written(gathered, known, batches)
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


def _written(gathered: GatheredChunks, known: LogFormat, batches: Iterator[pa.RecordBatch]) -> FileResult:
    """Gather batches into chunks and write them; chunks of a day-grained file are written twice."""
    task, kinds, report = gathered.task, gathered.kinds, gathered.report
    most_bytes = chunk_bytes(task.memory)
    day_grained = known.whole_days and not task.options.exact_times
    named: dict[str, frozenset[Kind]] = {}
    old_types: set[str] = set()
    # Of a format whose columns can be mapped another may be the time.
    others = OtherTimesSeen(task.reading) if "columns" in known.options else None
    for batch in batches:
        gathered.ids_given = gathered.ids_given or batch.column("event_id").null_count < len(batch)
        table = raw_table(batch, task.file)
        table, replaced = renamed(table, task.type_names)
        old_types |= replaced
        for column in filter(lambda column: is_attribute(column.name), table.schema):
            named[column.name] = named.get(column.name, frozenset()) | kinds_of_field(column)
        table = with_times(table, report, task.file.name)
        if others is not None:
            others.add(table)
        day_grained = day_grained and at_local_midnight(table)
        gathered.add(table)
        # Whole days get their intervals at the end, and what may be shown again is derived from all.
        gathered.may_leave_behind = not day_grained and known.repeats is None
        if gathered.fill_a_chunk(CHUNK_EVENTS, most_bytes):
            gathered.flush()
    if gathered.holds_some:
        gathered.flush()
    gathered.settle()
    if gathered.sieve is not None:
        named |= gathered.sieve.kinds_unread
    if kinds.problem is not None and not kinds.differ:
        raise kinds.problem
    chunks = tuple(gathered.chunks)
    if day_grained and not kinds.differ:
        unit = gathered.written.unit
        chunks = tuple(
            rewritten(task, chunk, number, kinds.of_file, unit) for number, chunk in enumerate(chunks)
        )
    return FileResult(
        task.file.name,
        known.name,
        chunks,
        options=frozenset(known.options),
        repeats=known.repeats,
        ids_given=gathered.ids_given,
        day_grained=day_grained and bool(chunks),
        first=min((chunk.first for chunk in chunks), default=None),
        last=max((chunk.last for chunk in chunks), default=None),
        named=named,
        renamed=frozenset(old_types),
        times=gathered.times,
        written=gathered.written,
        ends=gathered.ends,
        unneeded=gathered.unneeded,
        units=Counter() if day_grained else gathered.units,
        size=gathered.size,
        read_as=kinds.of_file,
        other_times={} if others is None else others.by_name,
    )
