"""Any other log of lines with a time in them: one event per record, whose type is derived from its message.

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
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.lines.alike import AlikeLines
from cepctl.io.lines.beginnings import BeginningLinesOf, BeginningsOf
from cepctl.io.lines.dates import asked_date
from cepctl.io.lines.held import HELD, layout_in, layout_text
from cepctl.io.lines.raw_events import LogOfLines, messages_of, tell
from cepctl.io.lines.recognition import (
    LineLayout,
    has_times_somewhere,
    is_log_of_lines,
    layout_of,
    sample_lines,
)
from cepctl.io.log4j.record_starts import LogRecords
from cepctl.io.log4j.records import read_records
from cepctl.io.source.first_lines import sample_of
from cepctl.io.source.text_encoding import utf8_stream


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
        layout = _learned(sample_of(text), source, options, report.time_forms)
        tell(layout, report)
        log = LogOfLines(source, options, report, layout)
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
        layout = _learned(sample_of(text), source, options, {})
    except LogFormatError:
        return  # reading it will say what is wrong
    yield from messages_of(text, layout, options)


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
        layout = stated = layout_of(lines, options.time_format)
    except LogFormatError:
        layout, stated = layout_of(lines, decided=False), None  # only the user can say what is the day
    if layout is None or layout.quoted or not layout.stamp.has_day:
        return None
    return LogRecords(BeginningLinesOf(layout), () if stated is None else ((HELD, layout_text(stated)),))


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
    alike=AlikeLines(),
)
