"""Logs of Hadoop's daemons, containers and consoles, as log4j writes them: one event per record.

    record                              event
    one that a pattern fits             type of the pattern, its named groups as attributes
    any other                           counted as skipped; with `keep_unmatched` LogLine with `message`

Every event has `level`, `logger` and `thread` (null where the layout has none), and what the path of
the log tells (events.py).  Patterns of the user come before the built-in ones.  The number of an
event is that of its record in the file, whatever the patterns are, so its id stays.

The time is read in the zone of the user.  By default it is as uncertain as its last digit: a record
written at 20:10:40 happened in [20:10:40, 20:10:41).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.batches import INFERRED, column_name
from cepctl.io.contract.local_instants import Instants, instants, whole_units
from cepctl.io.contract.log_format import WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import (
    FOLD,
    GRAIN,
    NO_TIME,
    NO_ZONE,
    RAW_COLUMNS,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
)
from cepctl.io.contract.times import named_zone
from cepctl.io.log4j.events import NODE, NODE_RAW, LogOrigin, attribute_columns, log_origin
from cepctl.io.log4j.layouts import Headers, find_headers
from cepctl.io.log4j.patterns import built_in_patterns
from cepctl.io.log4j.record_starts import log_records
from cepctl.io.log4j.records import HeadedRecords, line_bounds, read_records
from cepctl.io.source.message_patterns import PatternTable, TypedRecords, table_of, typed_records
from cepctl.io.source.text_encoding import decoded
from cepctl.io.templates.attribute import TemplatedReader
from cepctl.io.templates.first_lines import first_lines
from cepctl.numeric.arrays import Flags

LOG_LINE = "LogLine"
UNMATCHED = "no pattern fits the log record (--keep-unmatched makes it a LogLine)"

SWALLOWED = "a line that nearly begins a record: its time, or its level, is damaged"
_TIMES = r"\d{4}[-/.]\d\d[-/.]\d\d \d\d:\d\d:\d\d[,.]?\d* |\d\d/\d\d/\d\d \d\d:\d\d:\d\d |\d{6} \d{6} \d+ "
_LEVELS = r"[^\n]{0,3}\d[^\n]{8,28} (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)[ \t]"
_NEARLY_HEADER = rf"\n(?:{_TIMES}|{_LEVELS})"
_SWALLOWED = re.compile(f"{_TIMES}|{_LEVELS}")

_OF_HADOOP = r"\.hadoop\.|^(?:dfs|hdfs|mapred|mapreduce|ipc|fs|util)\."
# In a file that begins in the middle of a record, at least this many lines begin one.
_HEADED_LINES = 3
_HEADED_SHARE = 0.05
_TIMED_LINE = re.compile(rb"^(?:\{|[^\s\n][^\n]{0,40}?(?:\b\d\d[:.]\d\d|\b\d{10}))", re.MULTILINE)
_OTHER_TIMED = 4
_TEXT_ATTRIBUTES = frozenset({"level", "logger", "thread", "message", "daemon", NODE, NODE_RAW})


class Log4jLog:
    """Reader of log4j logs."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the lines that begin as those of log4j do, and from that Hadoop wrote most of them."""
        headers = _headers_in(head)
        return headers is not None and _may_be_of_hadoop(headers) and _is_of_hadoop(head)

    def has_headers(self, head: bytes) -> bool:
        """Tell from the lines that begin with a time, a level and a logger: the first one, or enough.

        The first is not enough among many lines with times of another kind.
        """
        return _headers_in(head) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log.

        Raises
        ------
        UsageError
            If the zone of the user does not exist.
        """
        log = _Log4jFile(
            source,
            options,
            report,
            table_of((*options.patterns, *built_in_patterns())),
            log_origin(source),
        )
        numbered = 0
        for records in read_records(stream, source, report, find_headers):
            yield log.batch(records, numbered)
            numbered += len(records)


def messages(stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
    """As `LogFormat.messages`, of all records: to tell which ones patterns fit takes as long as to read."""
    if options.keep_unmatched:
        for records in read_records(stream, source, ReadReport(), find_headers):
            yield first_lines(records.message)


def _headers_in(head: bytes) -> Headers | None:
    """The lines with a header; None where they are not enough."""
    text = decoded(head).replace("\r\n", "\n").strip("\n\0").encode() + b"\n"
    starts, ends = line_bounds(text)
    headers = find_headers(text, starts, ends)
    lines = headers.line
    if len(lines) >= max(_HEADED_LINES, _HEADED_SHARE * len(starts)):
        return headers
    first = len(lines) > 0 and int(lines[0]) == 0
    return headers if first and len(_TIMED_LINE.findall(text)) <= _OTHER_TIMED * len(lines) else None


def _may_be_of_hadoop(headers: Headers) -> bool:
    """Whether some logger is one of Hadoop, or one whose records a built-in pattern looks at."""
    loggers = pc.unique(headers.logger)
    named = pc.match_substring_regex(loggers, _OF_HADOOP)
    table = table_of(built_in_patterns())
    return bool(pc.any(named).as_py() or table.looking_at(loggers.to_pylist()).any())


def _is_of_hadoop(head: bytes) -> bool:
    """Whether at least half of the records have a logger of Hadoop, or fit a built-in pattern.

    Other programs call the code of Hadoop, which then writes some of the lines of their logs.
    """
    table = table_of(built_in_patterns())
    text = decoded(head).strip("\n\0").encode()
    records = known = 0
    for each in read_records(BytesIO(text), "", ReadReport(), find_headers):
        headers = each.headers
        named = pc.match_substring_regex(headers.logger, _OF_HADOOP).fill_null(False).to_numpy(False)
        fits = typed_records(each.message, headers.logger, headers.level, table).pattern >= 0
        records += len(each)
        known += int((named | fits).sum())
    return 2 * known >= records > 0


@dataclass(frozen=True)
class _Log4jFile:
    """The file being read and how."""

    source: str
    options: ReadOptions
    report: ReadReport
    table: PatternTable
    origin: LogOrigin

    def batch(self, records: HeadedRecords[Headers], numbered: int) -> pa.RecordBatch:
        """Records, the first of which is number `numbered` + 1, as raw events."""
        headers = records.headers
        found = instants(np.where(headers.usable, headers.local, 0), named_zone(self.options.time_zone))
        usable = headers.usable & (found.problems == "")
        bad = [*self._untimed(records, usable, found), *self._swallowed(records)]
        self.report.rejects.extend(sorted(bad, key=lambda reject: reject.line or 0))
        typed = typed_records(records.message, records.headers.logger, records.headers.level, self.table)
        fits = (typed.pattern >= 0) & usable
        own = typed.pattern[fits & (typed.pattern < len(self.options.patterns))]
        self.report.patterns.update((np.unique(own) + 1).tolist())
        kept = usable if self.options.keep_unmatched else fits
        skipped = int((usable & ~kept).sum())
        if skipped:
            self.report.skipped[UNMATCHED] += skipped
        columns = {
            "number": pa.array(numbered + 1 + np.arange(len(records))),
            "event_id": pa.nulls(len(records), pa.string()),
            "event_type": self._types(typed),
            **self._times(records, found, kept),
        }
        columns = {name: columns[name] for name in (*RAW_COLUMNS, GRAIN, FOLD) if name in columns}
        for name, values in self._attributes(records, typed).items():
            columns[column_name(name)] = values
        fields = [
            pa.field(name, values.type, metadata=_inferred(name, values)) for name, values in columns.items()
        ]
        batch = pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields))
        return batch if kept.all() else batch.filter(pa.array(kept))

    def _types(self, typed: TypedRecords) -> pa.Array:
        names = [pattern.event_type for pattern in self.table.patterns] + [LOG_LINE]
        # -1, no pattern, is the last of the names.
        place = np.where(typed.pattern < 0, len(names) - 1, typed.pattern)
        return pa.array(names, pa.string()).take(pa.array(place))

    def _attributes(self, records: HeadedRecords[Headers], typed: TypedRecords) -> dict[str, pa.Array]:
        columns = attribute_columns(typed, self.origin, self.options.drop_domain)
        header = {"level": records.headers.level, "logger": records.headers.logger}
        for name, values in (header | {"thread": records.headers.thread}).items():
            columns[name] = pc.coalesce(columns[name], values) if name in columns else values
        if self.options.keep_unmatched:
            unmatched = pa.array(typed.pattern < 0)
            message = pc.if_else(unmatched, records.message, pa.scalar(None, pa.string()))
            columns["message"] = pc.coalesce(columns["message"], message) if "message" in columns else message
        return columns

    def _times(self, records: HeadedRecords[Headers], found: Instants, kept: Flags) -> dict[str, pa.Array]:
        headers = records.headers
        for note, rows in (
            (NO_ZONE, kept & (self.options.time_zone is None)),
            (TWICE, kept & (found.fold > 0)),
        ):
            if rows.any():
                self.report.notes[note] += int(rows.sum())
        return {
            "time": pa.array(found.micros, pa.int64()).cast(TIME_TYPE),
            "zone_seconds": pa.array(found.zone_seconds).cast(pa.int32()),
            "before": pa.array(np.zeros(len(records), np.int64)),
            "after": pa.array((headers.precision - 1) * (not self.options.exact_times)),
            **({} if self.options.exact_times else {GRAIN: whole_units(headers.precision)}),
            **({FOLD: pa.array(found.fold)} if found.fold.any() else {}),
        }

    def _untimed(self, records: HeadedRecords[Headers], usable: Flags, found: Instants) -> Iterator[Reject]:
        for row in np.flatnonzero(~usable):
            text = f"{records.headers.logger[int(row)]}: {records.message[int(row)]}"
            cause = found.problems[row] if records.headers.usable[row] else NO_TIME
            yield Reject(self.source, int(records.line[row]), cause, text)

    def _swallowed(self, records: HeadedRecords[Headers]) -> Iterator[Reject]:
        """Lines that damage keeps from beginning a record, and that stand in the record before them."""
        suspects = pc.match_substring_regex(records.message, _NEARLY_HEADER)
        for row in np.flatnonzero(pc.fill_null(suspects, False).to_numpy(zero_copy_only=False)):
            lines = str(records.message[int(row)]).split("\n")
            for place, line in enumerate(lines[1:], start=1):
                # Not one record more: parts of a file count those that begin.
                if _SWALLOWED.match(line):
                    at = int(records.line[row]) + place
                    yield Reject(self.source, at, SWALLOWED, line)


def _inferred(name: str, values: pa.Array) -> dict[bytes, bytes] | None:
    """Groups of patterns are text here; what they are is derived from all values of the dataset."""
    fixed = name in _TEXT_ATTRIBUTES or re.search("_(?:id|node)$", name) or name in RAW_COLUMNS
    return None if fixed or not pa.types.is_string(values.type) else INFERRED


_READER = Log4jLog()
FORMAT = LogFormat(
    name="log4j",
    description="log4j logs of Hadoop daemons, containers and consoles; patterns make events of lines",
    events="AttemptTransition, ContainerAssign, BlockReceiveStart, ConnectRetry, ... and those of "
    "--patterns; with --keep-unmatched LogLine for all other records, with message, its template, and what "
    "varies in it",
    uncertainty="as written: 1 ms, or 1 s",
    example=(
        "2026-06-14 08:15:04,978 INFO org.apache.hadoop.hdfs.server.datanode.DataNode: Receiving "
        "BP-1:blk_1_1 src: /10.0.0.1:41022 dest: /10.0.0.5:9866\n"
    ),
    page="log-patterns.md",
    kinds=("HDFS", "Hadoop"),
    appended=True,
    reader=TemplatedReader(_READER, _TEXT_ATTRIBUTES),
    options={
        "time_zone": ZONELESS,
        "exact_times": WRITTEN,
        "drop_domain": "log4j",
        "keep_unmatched": "log4j",
    },
    lines=log_records,
    recognises_patterned=_READER.has_headers,
    messages=messages,
)
