"""Reader of tables whose header stands in comments: the logs of Zeek, and W3C extended logs of servers.

    log     type                                             time
    Zeek    what #path says, such as conn or ssh             ts
    W3C     event-id or action; Request, where the columns   date and time, in UTC unless the log says that
            are those of a server                            they are local

All other columns are attributes; `-` is no value.  With `intervals` rows of Zeek that have a duration last so
long.  A comment in the middle of the file changes what holds for the rows below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions, ReadReport, Reject, among_rejects
from cepctl.io.headed.header import W3C, ZEEK, CommentedHeader, header_at
from cepctl.io.source.streams import Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.io.tabular.columns import BlockRows, raw_batch
from cepctl.io.tabular.epoch_times import counts
from cepctl.io.tabular.mapping import RESERVED, raw_name, require_mapped
from cepctl.schema import END_TIME

_HEAD_LINES = 100
# Also in UTF-16.
_FIELDS = re.compile(rb"#\0?f\0?i\0?e\0?l\0?d\0?s", re.IGNORECASE)
_MARK = "\ufeff"
_BLOCK_LINES, _BLOCK_BYTES = 50_000, 8 << 20
_HALF_A_DAY = 43_200
_LONGER = "rows with more values than the header has names, the rest of which is the attribute extra: {:,}"
_NO_HEADER = "the row stands below a header that names no time"
_NEXT_DAY = "times of day that go back by half a day or more, taken for those of the next day: {:,}"
_NANOS = 10**9
# Numbers, also such as 1.7e+09, and ISO 8601: what else stands there is damaged.
_LIKE_TIMES = r"^(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\d{4}-\d\d-\d\d[T ].*)$"


@dataclass(frozen=True)
class HeadedLog:
    """Reader of one kind of such logs."""

    kind: str

    def recognises(self, head: bytes) -> bool:
        if _FIELDS.search(head) is None:
            return False
        header = header_at(_first_lines(head))
        return header is not None and header.kind == self.kind

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log.

        Raises
        ------
        EventSchemaError
            If a column that the user names is missing.
        """
        log = _Log(source, options, report, CommentedHeader(self.kind))
        chunks = Chunks(utf8_stream(stream))
        for number, raw in numbered_lines(chunks):
            line = raw.rstrip(b"\r").decode("utf-8", "replace").removeprefix(_MARK)
            if line.startswith("#"):
                yield from log.take()
                log.header = log.header.with_comment(line)
            elif line.strip(" \0"):
                log.add(number, line)
                if log.full:
                    yield from log.take()
        yield from log.take()
        chunks.tell_damage(source, report)


def _first_lines(head: bytes) -> list[str]:
    lines = [line.lstrip(_MARK) for line in decoded(head).replace("\r\n", "\n").split("\n", _HEAD_LINES)]
    return [line for line in lines[:_HEAD_LINES] if line.strip()]


@dataclass
class _Log:
    """The log being read: its header up to here, and the rows that wait for their batch."""

    source: str
    options: ReadOptions
    report: ReadReport
    header: CommentedHeader
    _lines: list[str] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _bytes: int = 0
    _day: str | None = None
    _passed: int = 0
    _clock: int | None = None

    @property
    def full(self) -> bool:
        return len(self._lines) >= _BLOCK_LINES or self._bytes >= _BLOCK_BYTES

    def add(self, number: int, line: str) -> None:
        """Take a row."""
        self._lines.append(line)
        self._numbers.append(number)
        self._bytes += len(line)

    def take(self) -> Iterator[pa.RecordBatch]:
        """The rows that wait, as events; afterwards none waits."""
        from cepctl.io.headed.rows import rows_below, separated_as

        lines, numbers = self._lines, np.array(self._numbers, np.int64)
        self._lines, self._numbers, self._bytes = [], [], 0
        if not lines:
            return
        header = self.header
        if not header.time_columns:
            self._reject(range(len(lines)), lines, numbers, _NO_HEADER)
            return
        found = rows_below(header, separated_as(header, lines), lines)
        cause = f"the row does not have {len(header.names)} fields like the header"
        bad = [Reject(self.source, int(numbers[at]), cause, lines[at]) for at in found.short]
        self.report.records += len(bad)
        if found.longer:
            self.report.notes[_LONGER] += found.longer
        if not len(found.places):
            self.report.rejects.extend(bad)
            return
        columns = self._columns(found.columns, len(found.places))
        own = numbers[found.places]
        rows = BlockRows(columns, own, own, lambda place: lines[int(found.places[place])].encode())
        with among_rejects(self.report, bad):
            batch = raw_batch(rows, self.source, self._as_it_writes, self.report)
        yield _inferring(batch)

    @property
    def _as_it_writes(self) -> ReadOptions:
        """The options, with what is known of the times of Zeek."""
        if self.header.kind != ZEEK or "time" in dict(self.options.columns):
            return self.options
        columns = (*self.options.columns, ("time", self.header.time_columns[0]))
        return replace(self.options, columns=columns, epoch_unit=self.options.epoch_unit or "s")

    def _reject(
        self, places: Sequence[int] | range, lines: Sequence[str], numbers: np.ndarray, cause: str
    ) -> None:
        self.report.records += len(places)
        self.report.rejects.extend(Reject(self.source, int(numbers[at]), cause, lines[at]) for at in places)

    def _columns(self, found: dict[str, pa.Array], count: int) -> dict[str, pa.Array]:
        """The columns of raw events, with what the header says of their type and time."""
        header, mapping = self.header, self.options.columns
        require_mapped(list(found), mapping, self.source)
        mapped = {name for name, _ in mapping}
        own: dict[str, pa.Array] = {}
        if "time" not in mapped:
            own["time"] = self._times(found)
        if "event_type" not in mapped:
            named = header.type_column
            fixed = pa.repeat(pa.scalar(header.event_type, pa.string()), count)
            own["event_type"] = fixed if named is None else found[named]
            if named is not None and named.startswith(("cs-", "sc-", "x-edge")):
                own["event_type"] = pa.repeat(pa.scalar("Request", pa.string()), count)
        if header.kind == ZEEK and self.options.intervals and "duration" in found and "ts" in found:
            own[END_TIME] = _ends(found["ts"], found["duration"])
        times = {*header.time_columns} if "time" in own else set()
        rest = {name: values for name, values in found.items() if name not in times}
        for name, values in rest.items():
            column = raw_name(name, mapping)
            while column in own:
                column = f"attr:{column}"
            own[column] = _as_typed(values, header, name)
        return own

    def _times(self, found: dict[str, pa.Array]) -> pa.Array:
        header, names = self.header, self.header.time_columns
        if header.kind == ZEEK:
            like_one = pc.match_substring_regex(found[names[0]], _LIKE_TIMES)
            return pc.if_else(pc.fill_null(like_one, False), found[names[0]], pa.scalar(None, pa.string()))
        if len(names) == 1 and header.day is None:
            return found[names[0]]
        day = self._days(found[names[0]]) if len(names) == 1 else found[names[0]]
        text = pc.binary_join_element_wise(day, found[names[-1]], " ")
        return text if header.zone is None else pc.binary_join_element_wise(text, header.zone, "")

    def _days(self, clock: pa.Array) -> pa.Array:
        """The day of each time of day: that of the last comment, and one more for each midnight passed."""
        begin = str(self.header.day)
        if self._day != begin:
            self._day, self._passed, self._clock = begin, 0, None
        numbers = counts(pc.replace_substring_regex(pc.fill_null(clock, ""), r"\D.*$|:", ""))
        hours = np.where(numbers.known, numbers.whole, 0)
        minutes = counts(pc.replace_substring_regex(pc.fill_null(clock, ""), r"^\d+:(\d+).*$", r"\1"))
        seconds = hours * 3_600 + np.where(minutes.known, minutes.whole, 0) * 60
        before = seconds[0] if self._clock is None else self._clock
        passed = np.diff(seconds, prepend=before) <= -_HALF_A_DAY
        if passed.any():
            self.report.notes[_NEXT_DAY] += int(np.count_nonzero(passed))
        days = self._passed + np.cumsum(passed)
        self._passed, self._clock = int(days[-1]), int(seconds[-1])
        first = date.fromisoformat(begin)
        every = pa.array([(first + timedelta(days=at)).isoformat() for at in range(self._passed + 1)])
        return every.take(pa.array(days))


def _ends(begins: pa.Array, durations: pa.Array) -> pa.Array:
    """When events end that last so long, as numbers of seconds in text; null where they have no duration."""
    start, length = counts(begins), counts(durations)
    known = start.known & length.known
    whole, nanos = start.whole + length.whole, start.nanos + length.nanos
    whole, nanos = whole + nanos // _NANOS, nanos % _NANOS
    digits = pc.utf8_lpad(pa.array(nanos).cast(pa.string()), 9, "0")
    text = pc.binary_join_element_wise(pa.array(whole).cast(pa.string()), digits, ".")
    return pc.if_else(pa.array(known), text, pa.scalar(None, pa.string()))


def _as_typed(values: pa.Array, header: CommentedHeader, name: str) -> pa.Array:
    """Values of a column that the log says is of T and F as such."""
    kind = dict(zip(header.names, header.types, strict=False)).get(name)
    if kind != "bool":
        return values
    return pc.if_else(pc.equal(values, "T"), True, pc.if_else(pc.equal(values, "F"), False, None))


def _inferring(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Mark attributes that are text, whose type is not known yet."""
    known = {*RAW_COLUMNS, *RESERVED}
    fields = [
        each if each.name in known or not pa.types.is_string(each.type) else each.with_metadata(INFERRED)
        for each in batch.schema
    ]
    return batch.cast(pa.schema(fields))


_OPTIONS = {
    "columns": "plain event files",
    "epoch_unit": "plain event files",
    "time_format": "plain event files",
}
_ZEEK = LogFormat(
    name="zeek",
    description="logs of Zeek (Bro) with #fields",
    events="what #path says, as conn or ssh; every field; with --intervals they last for the duration",
    uncertainty="none; where no time has a fraction, the second",
    example=(
        "#separator \\x09\n#unset_field\t-\n#path\tssh\n#fields\tts\tuid\tid.orig_h\tauth_success\n"
        "#types\ttime\tstring\taddr\tbool\n1781417704.978001\tCa1\t198.51.100.7\tF\n"
    ),
    page="logs-networks.md",
    kinds=("Zeek",),
    reader=HeadedLog(ZEEK),
    options={
        **_OPTIONS,
        "intervals": "Zeek",
        "time_zone": ZONELESS,
        "zone_words": WORDED,
        "exact_times": WRITTEN,
    },
)
_W3C = LogFormat(
    name="w3c",
    description="W3C extended logs with #Fields, of IIS, CloudFront, Exchange and others",
    events="Request, or what event-id or action says; every field",
    uncertainty="as written: 1 s, 1 ms",
    example=(
        "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status\n"
        "2026-06-14 08:15:04 198.51.100.7 GET /orders 200\n"
    ),
    page="logs-networks.md",
    kinds=("IIS",),
    reader=HeadedLog(W3C),
    options={**_OPTIONS, "time_zone": ZONELESS, "zone_words": WORDED, "exact_times": WRITTEN},
)
FORMATS = (_ZEEK, _W3C)
