"""Logs in which every line is a record: what their readers share.

Lines of a layout that the reader knows become columns, many at once; all others go to it one by one, which
tells the same.

    the line                          what becomes of it
    one that the reader understands   an event with the number of its line
    one that it does not              a reject with the cause that the reader tells
    a time that no calendar has       a reject, `no time`
    one longer than LONGEST_LINE      a reject
    nothing but blanks, or NUL bytes  nothing: a crash leaves such lines
    bytes that are not UTF-8          replaced by U+FFFD; noted

Where lines are messages, patterns of the user name the type of those that they fit, and their named groups
are attributes; all others keep the type that the reader gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import INFERRED, EventBatches, column_name
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.natural_columns import Value, mixtures_in, with_mixtures
from cepctl.io.contract.reader import (
    BELOW_NANOSECONDS,
    NO_TIME,
    NO_ZONE,
    RAW_COLUMNS,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
)
from cepctl.io.contract.times import LogTime
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.line_blocks import BLANKS, Lines, are_many, line_blocks, lines_of, parsed_by
from cepctl.io.source.line_columns import LineColumns, LineLayout, in_order, raw_columns
from cepctl.io.source.message_patterns import PatternTable, TypedRecords, typed_records, with_groups
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.numeric.arrays import Numbers

_BATCH_EVENTS = 20_000
_BATCH_BYTES = 16 << 20
_LINES_LOOKED_AT = 40
_FEWEST_LINES, _FEWEST_SHARE = 3, 0.25

MESSAGE, PROGRAM, SEVERITY = "message", "program", "severity"
SEVERITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
"""What syslog and the journal call their severities, from 0 on."""
# What the level of a pattern means there.
_LEVELS = dict(
    zip(SEVERITIES, ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG"), strict=True)
)

_SECOND = 1_000_000
_NOT_UTF8 = "lines with bytes that are not UTF-8, which were replaced: {:,}"


class LineEvent(NamedTuple):
    """What one record tells.

    Attributes
    ----------
    event_type
        What a pattern names.
    time
        The instant in the record, or the problem with it; None where it has none.
    precision
        Microseconds that the last written digit of the time stands for: 1,000,000 of whole seconds.
    attributes
        Everything else.
    """

    event_type: str
    time: LogTime | None
    precision: int
    attributes: dict[str, Value]


EventOf = Callable[[str], LineEvent | str]
"""Understands a line without its line end: the event, or the cause why it is none."""


Take = Callable[[int, bytes], None]
"""Takes a line with its number."""
Known = Callable[[Lines], Iterable[tuple[Numbers, LineColumns]] | None]
"""What many lines tell in columns, with the rows of those that it understands; None where there are none."""


@dataclass
class LineBatches:
    """The records of one file that wait for their batch.

    `text_columns` are attributes that stay text whatever their values look like; of all other text the type
    follows from the values of the dataset, where `inferring`.  Events that are `already_typed` have what the
    patterns found.
    """

    source: str
    options: ReadOptions
    report: ReadReport
    patterns: tuple[LogPattern, ...] = ()
    text_columns: frozenset[str] = frozenset()
    inferring: bool = False
    already_typed: bool = False
    _rows: EventBatches = field(init=False)
    _waiting: list[tuple[int, LineEvent]] = field(default_factory=list)
    _bytes: int = 0
    _table: PatternTable = field(init=False)

    def __post_init__(self) -> None:
        self._rows = EventBatches(self.options)
        self._table = PatternTable(self.patterns)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        return len(self._waiting) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES

    def add(self, number: int, event: LineEvent | str, raw: bytes) -> None:
        """Take the event of a record that begins on this line, or reject it by its cause."""
        self.report.records += 1
        if isinstance(event, str):
            self.report.rejects.append(Reject(self.source, number, event, raw))
        elif event.time is None:
            self.report.rejects.append(Reject(self.source, number, NO_TIME, raw))
        elif event.time.problem is not None:
            self.report.rejects.append(Reject(self.source, number, event.time.problem, raw))
        else:
            self._note_time(event.time)
            self._waiting.append((number, event))
            self._bytes += len(raw)

    def text_of(self, raw: bytes) -> str:
        """The text of a line; what is not UTF-8 is replaced, and noted."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.report.notes[_NOT_UTF8] += 1
            return raw.decode(errors="replace")

    def take(self) -> pa.RecordBatch:
        """All waiting events as one batch; afterwards none waits."""
        return self._finished(self._waiting_events())

    def take_among(self, lines: Lines, known: Sequence[tuple[Numbers, LineColumns]]) -> pa.RecordBatch | None:
        """As `take`, with the events of some rows of these lines; None where there is none."""
        batches = [
            raw_columns(lines.number + rows, columns, self.options, self.report) for rows, columns in known
        ] + ([self._waiting_events()] if self._waiting else [])
        return self._finished(in_order(batches)) if batches else None

    def admit(self, lines: LineColumns) -> bool:
        """Whether there is room for the attributes of so many lines, which are columns from now on."""
        return self._rows.admit(lines.columns())

    def _waiting_events(self) -> pa.RecordBatch:
        for number, event in self._waiting:
            time = event.time
            assert time is not None, "records without a time are rejects"
            self._rows.add_at(
                event.event_type,
                time,
                event.attributes,
                after=self._reach(event.precision),
                number=number,
                grain=event.precision if event.precision >= _SECOND else 0,
            )
        self._waiting, self._bytes = [], 0
        return self._rows.take()

    def _reach(self, precision: int) -> int:
        """How many microseconds later than written a time may be, if written times are not exact."""
        return precision - 1 if precision > 1 and not self.options.exact_times else 0

    def _finished(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Events with what patterns say of them, and their columns marked whose type is not known yet."""
        if self.patterns and not self.already_typed:
            batch = self._typed(batch)
        inferred = self._inferred(batch.schema.names)
        return batch.cast(
            pa.schema(
                each.with_metadata(INFERRED) if each.name in inferred and _is_text(each) else each
                for each in batch.schema
            )
        )

    def _inferred(self, names: Sequence[str]) -> set[str]:
        groups = {column_name(name) for pattern in self.patterns for name in pattern.attributes}
        found = set(names) if self.inferring else groups & set(names)
        hosts = {name for name in found if name.endswith(("_id", "node"))}
        return found - hosts - self.text_columns - RAW_COLUMNS.keys()

    def _note_time(self, time: LogTime) -> None:
        if time.cut:
            self.report.notes[BELOW_NANOSECONDS] += 1
        if time.zone_given:
            return
        for note, applies in (
            (NO_ZONE, self.options.time_zone is None),
            (TWICE, time.fold > 0),
        ):
            if applies:
                self.report.notes[note] += 1

    def _typed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The events with the types and the attributes that the patterns of the user give them."""
        severities = _text_of(batch, SEVERITY).dictionary_encode()
        levels = pa.array(map(_LEVELS.get, severities.dictionary.to_pylist()), pa.string())
        typed = typed_records(
            _text_of(batch, MESSAGE), _text_of(batch, PROGRAM), levels.take(severities.indices), self._table
        )
        self.report.patterns.update((np.unique(typed.pattern[typed.pattern >= 0]) + 1).tolist())
        names = pa.array([*(pattern.event_type for pattern in self.patterns), None], pa.string())
        types = names.take(pa.array(typed.pattern % len(names)))
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns["event_type"] = pc.coalesce(types, columns["event_type"])
        joined, mixed = with_groups(columns, typed, self.options)
        return with_mixtures(pa.RecordBatch.from_pydict(joined), mixtures_in(batch.schema) | mixed)


def line_events(
    stream: IO[bytes],
    batches: LineBatches,
    event_of: EventOf,
    layouts: Sequence[LineLayout] = (),
    known: Known | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the events of a log, in its order; what fits a layout, or is `known`, is read many at a time."""
    known = partial(parsed_by, layouts) if layouts else known
    return taken_lines(stream, batches, partial(_take, batches, event_of), known)


def taken_lines(
    stream: IO[bytes],
    batches: LineBatches,
    take: Take,
    known: Known | None,
    blanks: bytes = BLANKS,
    end: Callable[[], None] = lambda: None,
) -> Iterator[pa.RecordBatch]:
    """As `line_events`, of lines that are taken with their number, without `blanks` around them.

    `known`: tells of many lines at once.  `end` is called behind the last of them.
    """
    chunks = Chunks(utf8_stream(stream))
    for number, text in line_blocks(chunks):
        for lines in lines_of(number, text):
            known_rows = known(lines) if known is not None and are_many(lines) else None
            if known_rows is not None:
                if len(batches):
                    yield batches.take()
                batch = _events_of(lines, batches, take, known_rows, blanks)
                if batch is not None:
                    yield batch
                continue
            for place, line in numbered_lines([lines.block()]):
                take(lines.number + place - 1, line.strip(blanks))
                if batches.full:
                    yield batches.take()
    end()
    if len(batches):
        yield batches.take()
    chunks.tell_damage(batches.source, batches.report)


def _events_of(
    lines: Lines,
    batches: LineBatches,
    take: Take,
    found: Iterable[tuple[Numbers, LineColumns]],
    blanks: bytes,
) -> pa.RecordBatch | None:
    """The events of some lines, in their order; None where there is none."""
    parts = []
    waiting = np.ones(len(lines), np.bool_)
    for rows, columns in found:
        usable = columns.usable & (lines.ends[rows] - lines.starts[rows] <= LONGEST_LINE)
        if usable.any():
            parts.append((rows[usable], columns.where(usable)))
            waiting[rows[usable]] = False
    known = []

    def take_waiting(upto: int) -> None:
        for row in np.flatnonzero(waiting[:upto]).tolist():
            take(lines.number + row, lines.whole(row).strip(blanks))
        waiting[:upto] = False

    for rows, columns in sorted(parts, key=lambda each: int(each[0][0])):
        take_waiting(int(rows[0]))
        if batches.admit(columns):
            known.append((rows, columns))
        else:
            waiting[rows] = True
    take_waiting(len(lines))
    return batches.take_among(lines, known)


def _take(batches: LineBatches, event_of: EventOf, number: int, raw: bytes) -> None:
    if len(raw) > LONGEST_LINE:
        batches.add(number, TOO_LONG, raw)
    elif raw:
        batches.add(number, _event_of(batches.text_of(raw), event_of), raw)


def _event_of(line: str, event_of: EventOf) -> LineEvent | str:
    try:
        return event_of(line)
    except NotUnicodeError:
        return NOT_UNICODE


def lines_fit(head: bytes, fits: Callable[[str], object]) -> bool:
    """Whether the first line of a file is a record and so are others, or most of its first lines are.

    A log that was cut off at the front, or that begins with a banner, is still one; and one line of this
    kind makes none of a log of another.
    """
    text = decoded(head)
    whole, _, rest = text.rpartition("\n")
    # The last line is cut where the head is, but for a file of one line.
    lines = [line.strip() for line in (whole or rest).split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]]
    known = [_fits(line, fits) for line in lines if line.strip("\0")]
    count = sum(known)
    begins = count > 0 and known[0] and count >= _FEWEST_SHARE * len(known)
    return begins or (count >= _FEWEST_LINES and 2 * count > len(known))


def _fits(line: str, fits: Callable[[str], object]) -> bool:
    try:
        return bool(fits(line))
    except NotUnicodeError:
        return False


def _text_of(batch: pa.RecordBatch, name: str) -> pa.Array:
    """What events say under a name, as text; empty where they say nothing."""
    if name not in batch.schema.names or not pa.types.is_string(batch.column(name).type):
        return pa.repeat(pa.scalar("", pa.string()), len(batch))
    return pc.fill_null(batch.column(name), "")


def found_groups(typed: TypedRecords, count: int, options: ReadOptions) -> list[dict[str, Value]]:
    """The attributes that the patterns found, record by record; hosts in the one spelling of hosts."""
    found: list[dict[str, Value]] = [{} for _ in range(count)]
    for name, pieces in typed.pieces.items():
        is_host = name == "node" or name.endswith("_node")
        for rows, texts in pieces:
            for row, text in zip(rows.tolist(), texts.to_pylist(), strict=True):
                found[row][name] = node_name(text, options.drop_domain) if is_host else text
                if name == "node":
                    found[row]["node_raw"] = text
    return found


def _is_text(column: pa.Field) -> bool:
    return bool(pa.types.is_string(column.type))
