"""Any other log of lines with a time in them: one event per record, whose type is told from its message.

    line                                       what becomes of it
    one that begins with the time of the log   a record; the layout is learned from the head of the file
    any other                                  part of the record before it, as a stack trace is
    one that nearly begins with such a time    the same, and a reject: a record was lost to damage
    a time that no calendar has                a reject, `no time`

The type is that of the first pattern of the user that fits, else of the template of the message
(io/templates), which are mined before anything is read.  What the heading of the log says (level, thread,
component, pid, node) and what varies in messages of one template are attributes, and so is the message.  By
default a time is as uncertain as its last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags
from cepctl.errors import LogFormatError
from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.batches import INFERRED, column_name
from cepctl.io.contract.hosts import node_names
from cepctl.io.contract.local_instants import Instants, whole_units
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.message_template import OTHER, OTHERS
from cepctl.io.contract.reader import (
    BELOW_NANOSECONDS,
    FOLD,
    GRAIN,
    LAYOUT,
    NANOS,
    NO_TIME,
    NO_ZONE,
    RAW_COLUMNS,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
)
from cepctl.io.lines.beginnings import PREFIX, BeginningLinesOf, Beginnings, BeginningsOf
from cepctl.io.lines.dates import Dates, asked_date
from cepctl.io.lines.held import HELD, layout_in, layout_text
from cepctl.io.lines.local_times import Written, instants_of
from cepctl.io.lines.messages import without_ending
from cepctl.io.lines.nearly import NEARLY, begin_otherwise, nearly_beginnings
from cepctl.io.lines.pairs import pairs_in
from cepctl.io.lines.recognition import (
    HEAD_BYTES,
    LineLayout,
    has_times_somewhere,
    is_log_of_lines,
    layout_of,
    sample_lines,
)
from cepctl.io.log4j.record_starts import LogRecords
from cepctl.io.log4j.records import Records, read_records
from cepctl.io.source.message_patterns import PatternTable, TypedRecords, typed_records
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.templates.first_lines import of_several_lines
from cepctl.io.templates.matching import NONE
from cepctl.io.templates.variables import TemplateTable

UNMATCHED = "no pattern fits the log record (--keep-unmatched types it by its template)"
MESSAGE, NODE, NODE_RAW = "message", "node", "node_raw"
_CONTINUED = "lines without a time of their own, which continue the record before them: {:,}"
_OTHERWISE = (
    "lines that begin with times of another layout than that of the log, which are taken for lines of the "
    "record before them: {:,}; divide the file"
)
_BACK = "times more than half a year before the previous one, as in a log of several years: {:,}"
_HALF_A_YEAR = 183 * 86_400_000_000
_TEXTS = frozenset(
    (MESSAGE, NODE, NODE_RAW, "level", "component", "program", "thread", "label", "location", PREFIX)
)


class LinesLog:
    """Reader of logs of lines."""

    def recognises(self, head: bytes) -> bool:
        # Only what no other reader takes: `recognises_otherwise` of the format.
        return False

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log.

        Raises
        ------
        LogFormatError
            If no line has a time, the day could be the month, or nothing tells the year.
        UsageError
            If the zone of the user does not exist.
        """
        text = utf8_stream(stream)
        layout = _learned(text.peek(HEAD_BYTES), source, options, report.time_forms)
        _tell(layout, report)
        log = _Log(
            source, options, report, layout, PatternTable(options.patterns), TemplateTable(options.templates)
        )
        numbered = 0
        for records in read_records(text, source, report, BeginningsOf(layout)):
            yield log.batch(records, numbered)
            numbered += len(records)


def messages(stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
    """The first lines of the messages of one log that no pattern fits, from which templates are mined."""
    if options.patterns and not options.keep_unmatched:
        return
    text = utf8_stream(stream)
    try:
        layout = _learned(text.peek(HEAD_BYTES), source, options, {})
    except LogFormatError:
        return  # reading it will say what is wrong
    if layout.heading.pairs:
        return
    table = PatternTable(options.patterns)
    beginnings = BeginningsOf(layout, messages=not options.patterns)
    for records in read_records(text, source, ReadReport(), beginnings):
        found = without_ending(layout, records.message)[0]
        if options.patterns:
            found = found.filter(pa.array(_typed(records, table).pattern < 0))
        yield found


def _learned(head: bytes, source: str, options: ReadOptions, known: Mapping[str, str]) -> LineLayout:
    """The layout that is known of the log from what was read before, else that of its head."""
    try:
        layout = (
            layout_in(known[HELD]) if HELD in known else layout_of(sample_lines(head), options.time_format)
        )
    except LogFormatError as problem:
        raise LogFormatError(f"{source}: {problem}") from None
    if layout is None:
        raise LogFormatError(
            f"{source}: its first lines have no time in a known layout; name another format (--format)"
        )
    asked = asked_date(head, source, layout, options)
    if asked is not None:
        raise LogFormatError(f"{source}: {asked}")
    return layout


def line_records(head: bytes, options: ReadOptions) -> LogRecords | None:
    """As `LogFormat.lines` wants it.

    None where the log has no times, or of their days only the first, or a line may stand inside of quotes.
    """
    lines = sample_lines(head)
    try:
        layout = told = layout_of(lines, options.time_format)
    except LogFormatError:
        layout, told = layout_of(lines, decided=False), None  # only the user can say what is the day
    if layout is None or layout.quoted or not layout.stamp.has_day:
        return None
    return LogRecords(BeginningLinesOf(layout), () if told is None else ((HELD, layout_text(told)),))


def _tell(layout: LineLayout, report: ReadReport) -> None:
    report.time_forms[HELD] = layout_text(layout)
    report.time_forms[LAYOUT] = (
        f"{layout.stamp.name} (in {layout.timed:,} of the first {layout.lines:,} lines); "
        f"{layout.heading.name}"
    )
    if layout.headed:
        report.time_forms[LAYOUT] += f" ({layout.headed:,} of these)"
    for name, lines in layout.others:
        report.warnings.append(
            f"{lines:,} of its first {layout.lines:,} lines begin with times of another layout ({name}, not "
            f"{layout.stamp.name}): they are taken for lines of the record before them; divide the file"
        )


def _typed(records: Records[Beginnings], table: PatternTable) -> TypedRecords:
    attributes, count = records.headers.attributes, len(records)
    loggers = attributes.get("component", attributes.get("program", pa.nulls(count, pa.string())))
    levels = pc.utf8_upper(attributes.get("level", pa.nulls(count, pa.string())))
    return typed_records(records.message, pc.fill_null(loggers, ""), levels, table)


@dataclass
class _Log:
    """The file being read and how; `last` is the latest instant of the batch before."""

    source: str
    options: ReadOptions
    report: ReadReport
    layout: LineLayout
    patterns: PatternTable
    templates: TemplateTable
    last: int | None = None

    def __post_init__(self) -> None:
        self.dates = Dates(self.source, self.options, self.report, self.layout)

    def batch(self, records: Records[Beginnings], numbered: int) -> pa.RecordBatch:
        """Records, the first of which is number `numbered` + 1, as raw events."""
        if of_several_lines(records.message):
            self.report.rejects.extend(self._swallowed(records))
        times = records.headers.times
        local, dated = self.dates.local(times)
        found = instants_of(np.where(dated, local, 0), times, self.options)
        usable = dated & (found.problems == "")
        for row in np.flatnonzero(~usable):
            text, cause = str(records.message[int(row)]), found.problems[row] if dated[row] else NO_TIME
            self.report.rejects.append(Reject(self.source, int(records.line[row]), cause, text))
        typed, kept = None, usable
        if self.options.patterns:
            typed = _typed(records, self.patterns)
            self.report.patterns.update((np.unique(typed.pattern[typed.pattern >= 0]) + 1).tolist())
            if not self.options.keep_unmatched:
                kept = usable & (typed.pattern >= 0)
                skipped = int((usable & ~kept).sum())
                if skipped:
                    self.report.skipped[UNMATCHED] += skipped
        types, attributes = self._types(records, typed, kept)
        columns = {
            "number": pa.array(numbered + 1 + np.arange(len(records))),
            "event_id": pa.nulls(len(records), pa.string()),
            "event_type": types,
            **self._times(times, found, usable, kept),
        }
        columns |= {column_name(name): values for name, values in attributes.items()}
        fields = [
            pa.field(name, values.type, metadata=INFERRED if self._is_inferred(name, values) else None)
            for name, values in columns.items()
        ]
        batch = pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields))
        return batch if kept.all() else batch.filter(pa.array(kept))

    def _swallowed(self, records: Records[Beginnings]) -> Iterator[Reject]:
        """Lines that damage keeps from beginning a record, and that stand in the record before them."""
        rows = np.flatnonzero(
            pc.match_substring(records.message, "\n").to_numpy(zero_copy_only=False).astype(np.bool_)
        )
        lines = pc.split_pattern(records.message.take(pa.array(rows)), "\n")
        row, line = pc.list_parent_indices(lines).to_numpy(), lines.flatten()
        place = np.arange(len(line)) - lines.offsets.to_numpy()[row]
        otherwise = begin_otherwise(line).to_numpy(zero_copy_only=False).astype(np.bool_) & (place > 0)
        plain = (place > 0) & ~otherwise
        for note, rows_of in ((_CONTINUED, plain), (_OTHERWISE, otherwise)):
            if rows_of.any():
                self.report.notes[note] += int(rows_of.sum())
        if self.layout.quoted:
            return
        near = nearly_beginnings(line, self.layout.beginnings).to_numpy(zero_copy_only=False)
        for at in np.flatnonzero(near & (place > 0)).tolist():
            number = int(records.line[rows[row[at]]] + place[at])
            yield Reject(self.source, number, NEARLY, str(line[at]))

    def _is_inferred(self, name: str, values: pa.Array) -> bool:
        return pa.types.is_string(values.type) and name not in RAW_COLUMNS and name not in _TEXTS

    def _types(
        self, records: Records[Beginnings], typed: TypedRecords | None, kept: Flags
    ) -> tuple[pa.Array, dict[str, pa.Array]]:
        said, ended = without_ending(self.layout, records.message)
        types, found = self._templated(said, typed, kept)
        heading, drop_domain = {**records.headers.attributes, **ended}, self.options.drop_domain
        if self.layout.heading.type_group is not None:
            types = pc.coalesce(heading[self.layout.heading.type_group], types)
        if NODE in heading:
            heading[NODE_RAW] = heading[NODE]
            heading[NODE] = node_names(heading[NODE], drop_domain)
        attributes = heading
        for name, values in found.items():
            attributes[name if name not in heading and name != MESSAGE else f"{name}_2"] = values
        if typed is not None:
            names = pa.array([*(pattern.event_type for pattern in self.options.patterns), None], pa.string())
            types = pc.coalesce(names.take(pa.array(typed.pattern % len(names))), types)
            for name in typed.pieces:
                own = typed.column(name)
                attributes[name] = pc.coalesce(own, attributes[name]) if name in attributes else own
        attributes[MESSAGE] = records.message
        return types, attributes

    def _templated(
        self, said: pa.Array, typed: TypedRecords | None, kept: Flags
    ) -> tuple[pa.Array, dict[str, pa.Array]]:
        """Types by templates and what varies; neither where only those that a pattern fits are kept."""
        if typed is not None and not self.options.keep_unmatched:
            return pa.nulls(len(said), pa.string()), {}
        if self.layout.heading.pairs:
            return pa.repeat(pa.scalar(OTHER, pa.string()), len(said)), pairs_in(said)
        types, found, template = self.templates.typed(said)
        unknown = kept & (template == NONE)
        if typed is not None:
            unknown &= typed.pattern < 0
        if unknown.any():
            self.report.notes[OTHERS] += int(unknown.sum())
        return types, found

    def _times(self, times: Written, found: Instants, usable: Flags, kept: Flags) -> dict[str, pa.Array]:
        unzoned = kept & ~times.zoned & (times.word == "")
        micros = found.micros[usable]
        back = int(
            (np.diff(micros, prepend=micros[:1] if self.last is None else [self.last]) < -_HALF_A_YEAR).sum()
        )
        self.last = int(micros[-1]) if len(micros) else self.last
        for note, count in (
            (NO_ZONE, int(unzoned.sum()) if self.options.time_zone is None else 0),
            (TWICE, int((kept & (found.fold > 0)).sum())),
            (BELOW_NANOSECONDS, int((kept & times.cut).sum())),
            (_BACK, back),
        ):
            if count:
                self.report.notes[note] += count
        reach = 0 if self.options.exact_times else times.precision - 1
        columns = {
            "time": pa.array(found.micros, pa.int64(), mask=~usable).cast(TIME_TYPE),
            "zone_seconds": pa.array(found.zone_seconds).cast(pa.int32()),
            "before": pa.array(np.zeros(len(usable), np.int64)),
            "after": pa.array(np.zeros(len(usable), np.int64) + reach),
        }
        if not self.options.exact_times:
            columns[GRAIN] = whole_units(times.precision)
        for name, values in ((NANOS, times.nanos), (FOLD, found.fold)):
            if values.any():
                columns[name] = pa.array(values)
        return columns


FORMAT = LogFormat(
    name="lines",
    description="any other log of lines with a time in them",
    events="one type per template of messages, such as Accepted password for; what varies (v1, ip, user), "
    "level, component, thread, pid, message; those of --patterns",
    uncertainty="as written: 1 min, 1 s, 1 ms, or none",
    example=(
        "2026-06-14 08:15:04,978 - INFO  [main:Server@12] - Client /10.0.0.7:4101 is in\n"
        "2026-06-14 08:15:05,001 - WARN  [worker:Link@7] - Link 3 is slow: 250 ms\n"
    ),
    page="logs-lines.md",
    kinds=(
        "Apache's error log",
        "ZooKeeper",
        "Kafka",
        "Java's garbage collector",
        "OpenStack",
        "klog",
        "audit of Linux",
        "dpkg",
        "CBS",
        "Proxifier",
        "logcat",
        "health app",
        "BlueGene",
        "HPC cluster",
        "Thunderbird",
        "executors of Spark",
    ),
    appended=True,
    reader=LinesLog(),
    options={
        "time_zone": ZONELESS,
        "zone_words": WORDED,
        "exact_times": WRITTEN,
        "drop_domain": "other text",
        "epoch": "other logs without years",
        "time_format": "logs whose day could be the month",
        "keep_unmatched": "other text",
    },
    lines=line_records,
    recognises_otherwise=is_log_of_lines,
    recognises_named=has_times_somewhere,
    messages=messages,
)
