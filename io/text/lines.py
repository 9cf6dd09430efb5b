"""Any text, where the user has patterns for it: a line, or a record, that one fits is an event of its type.

The named group `time` of the pattern says when; all other groups are attributes, as in every log of messages.
A line that no pattern fits is counted, and one that a pattern without such a group fits is a reject.  Without
patterns there is no such format: then nothing is known of a text.  Where patterns say how records begin, a
record with all its lines stands for a line (records.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, zones_said
from cepctl.io.contract.times import LAST_SECOND, LogTime, read_time
from cepctl.io.contract.written_times import parse_written, possible_forms
from cepctl.io.source.event_lines import LineBatches, LineEvent, found_groups
from cepctl.io.source.message_patterns import PatternTable, typed_records
from cepctl.io.source.plain_lines import PlainLines, plain_lines
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.io.text.records import beginning_of, records_beginning

TIME = "time"
UNMATCHED = "no pattern fits the line"
NO_GROUP = "no time: the pattern that fits has no group (?P<time>...)"
_BATCH_LINES = 20_000
_BATCH_BYTES = 16 << 20
_EPOCH = re.compile(r"(\d{10})(?:\.(\d+)|(\d{3}|\d{6}|\d{9}))?", re.ASCII)
_FRACTION = re.compile(r":\d\d[.,](\d{1,9})", re.ASCII)
_MICRO_DIGITS, _NANO_DIGITS = 6, 9


class TextLines:
    """Reader of lines that patterns fit."""

    def recognises(self, head: bytes) -> bool:
        return False

    def is_text(self, head: bytes) -> bool:
        """Whether a file that begins so may be text at all."""
        text = decoded(head)
        return "\0" not in text and text.count("\ufffd") * 20 <= len(text) and bool(text.strip())

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one text.

        Raises
        ------
        LogFormatError
            If there are no patterns, or a time is written in a form that has to be named.
        """
        if not options.patterns:
            raise LogFormatError(f"{source}: of a text patterns make events: name their file with --patterns")
        batches = LineBatches(source, options, report, options.patterns, already_typed=True)
        text = _Text(source, options, report, PatternTable(options.patterns), batches)
        if begins := beginning_of(options.patterns):
            for records in records_beginning(utf8_stream(stream), source, report, begins):
                text.take(records)
                if len(batches):
                    yield batches.take()
            return
        chunks = Chunks(utf8_stream(stream))
        waiting: list[tuple[int, bytes]] = []
        size = 0
        for number, line in numbered_lines(chunks):
            raw = line.rstrip(b"\r\0")
            if len(raw) > LONGEST_LINE:
                batches.add(number, TOO_LONG, raw)
            elif raw.strip():
                waiting.append((number, raw))
                size += len(raw)
            if len(waiting) >= _BATCH_LINES or size >= _BATCH_BYTES:
                text.take(waiting)
                waiting, size = [], 0
                if len(batches):
                    yield batches.take()
        text.take(waiting)
        if len(batches):
            yield batches.take()
        chunks.tell_damage(source, report)


@dataclass
class _Text:
    """The file being read."""

    source: str
    options: ReadOptions
    report: ReadReport
    table: PatternTable
    batches: LineBatches
    _known_form: bool = False

    def take(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """Make events of those lines that a pattern fits."""
        if not lines:
            return
        texts = [self.batches.text_of(raw) for _, raw in lines]
        count = len(texts)
        typed = typed_records(
            pa.array(texts, pa.string()), pa.array([""] * count), pa.nulls(count, pa.string()), self.table
        )
        groups = found_groups(typed, count, self.options)
        for (number, raw), place, found in zip(lines, typed.pattern.tolist(), groups, strict=True):
            if place < 0:
                self.report.records += 1
                self.report.skipped[UNMATCHED] += 1
                continue
            pattern = self.options.patterns[place]
            self.report.patterns.add(place + 1)
            if TIME not in pattern.attributes:
                self.batches.add(number, NO_GROUP, raw)
                continue
            written = str(found.pop(TIME, None) or "")
            time = self._time(written, number)
            self.batches.add(number, LineEvent(pattern.event_type, time, _precision(written), found), raw)

    def _time(self, text: str, number: int) -> LogTime | None:
        zone, words = zones_said(self.options)
        if self.options.time_format is not None:
            return parse_written(text, self.options.time_format, zone, words)
        time = _since_1970(text) or read_time(text, zone, words)
        # Where other times of the file could be read, it is this one that is damaged.
        forms = possible_forms(text) if time is None and not self._known_form else ()
        if forms:
            options = " or ".join(f"--time-format '{form}'" for form in forms)
            raise LogFormatError(
                f"{self.source}:{number}: the time '{text}' is not written as ISO 8601; name its form: "
                f"{options}"
            )
        self._known_form = self._known_form or time is not None
        return time


def _since_1970(text: str) -> LogTime | None:
    """Seconds since 1970, with decimals, or milliseconds and finer, as their digits tell."""
    found = _EPOCH.fullmatch(text)
    if found is None or int(found[1]) > LAST_SECOND:
        return None
    written = (found[2] or found[3] or "").ljust(_NANO_DIGITS, "0")
    micros, nanos = divmod(int(written[:_NANO_DIGITS]), 1_000)
    cut = written[_NANO_DIGITS:].strip("0") != ""
    return LogTime(int(found[1]) * 1_000_000 + micros, 0, cut=cut, nanos=nanos)


def _precision(text: str) -> int:
    """Microseconds that the last digit of a time stands for: whole seconds where it has no more."""
    epoch = _EPOCH.fullmatch(text)
    fraction = _FRACTION.search(text)
    digits = (epoch[2] or epoch[3] or "") if epoch else fraction[1] if fraction else ""
    return int(10 ** (_MICRO_DIGITS - min(len(digits), _MICRO_DIGITS)))


def _lines_alone(head: bytes, options: ReadOptions) -> PlainLines | None:
    """As `LogFormat.lines` wants it: None where records may have several lines."""
    return None if beginning_of(options.patterns) else plain_lines(head, options)


_READER = TextLines()
FORMAT = LogFormat(
    name="text",
    description="any other text, line by line, where --patterns makes events of it",
    events="those of --patterns, each with its time in the group (?P<time>...)",
    uncertainty="as written: 1 s, 1 ms, or none",
    example=("[2026-06-14 08:15:04] valve 3 open\n"),
    page="log-patterns.md",
    appended=True,
    reader=_READER,
    options={
        "time_zone": ZONELESS,
        "zone_words": WORDED,
        "exact_times": WRITTEN,
        "time_format": "text with --patterns",
        "drop_domain": "other text",
    },
    lines=_lines_alone,
    recognises_patterned=_READER.is_text,
    timed_patterns=True,
)
