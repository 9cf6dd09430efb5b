"""The slow log of MySQL and MariaDB: a record of several lines for each statement that took long.

    # Time: 2026-06-14T08:15:04.978001Z
    # User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    17
    # Query_time: 2.500000  Lock_time: 0.000120 Rows_sent: 1  Rows_examined: 400000
    SET timestamp=1781424902;
    SELECT ...;

Each is a Query at the time at which it was written, when it was over; with `intervals` it lasts from
`Query_time` before that on.  What the lines with # say in pairs are attributes, and so are the statement and
its first word.  Several records may follow one line with the time, and have it all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import NO_TIME, NO_ZONE, TWICE, ReadOptions, ReadReport, Reject, zones_said
from cepctl.io.contract.times import LogTime, read_time
from cepctl.io.contract.written_times import parse_written
from cepctl.io.source.streams import LONGEST_LINE, Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream

QUERY = "Query"
_TIME = re.compile(r"# Time: +(\S.*)", re.DOTALL)
_BEGIN = re.compile(r"# (?:Time: |User@Host: )")
_USER = re.compile(r"# User@Host: +([^\s\[]*)\[([^\]]*)\] @ +(?:([^\s\[]+) *)?\[([^\]]*)\](.*)\Z", re.DOTALL)
_PAIR = re.compile(r"(?<![A-Za-z_])([A-Z][A-Za-z_]{0,40}): {0,20}(\S+)")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_SET = re.compile(r"(?i)(?:use \S+|set (?:timestamp|last_insert_id|insert_id)=.*);\Z")
_OLD = "%y%m%d %H:%M:%S"
_MOST_TEXT = 1 << 20
_CUT = f"statements longer than {_MOST_TEXT >> 20} MiB, which are cut there: {{:,}}"
_NO_LENGTH = "the record has no Query_time"
_STRAY = "the line stands before the first record"
_CHANGED = "a line before Query_time that is no statement"
_LENGTH = "# Query_time: "
_OF_SERVER = re.compile(r"started with:\Z|^Tcp port: |^Time +Id +Command")
_LONGEST = 1 << 60
_SECOND = 1_000_000


@dataclass
class _Record:
    """A record being read: where it begins, its lines with #, and its statement."""

    line: int
    pairs: dict[str, Value] = field(default_factory=dict)
    statement: list[str] = field(default_factory=list)
    size: int = 0


class SlowLog:
    """Reader of slow logs."""

    def recognises(self, head: bytes) -> bool:
        lines = decoded(head).replace("\r\n", "\n").split("\n")
        begins = [at for at, line in enumerate(lines[:-1]) if _BEGIN.match(line)]
        return bool(begins) and any("Query_time: " in line for line in lines[begins[0] :])

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the statements of one log."""
        log = _SlowLog(source, options, report)
        chunks = Chunks(utf8_stream(stream))
        for number, raw in numbered_lines(chunks):
            log.take(number, raw[:LONGEST_LINE].rstrip(b"\r").decode("utf-8", "replace"))
            if log.rows.full:
                yield log.rows.take()
        log.end_record()
        if len(log.rows):
            yield log.rows.take()
        chunks.tell_damage(source, report)


@dataclass
class _SlowLog:
    source: str
    options: ReadOptions
    report: ReadReport
    time: LogTime | None = None
    record: _Record | None = None

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)

    def take(self, number: int, line: str) -> None:
        """Take one more line."""
        time = _TIME.match(line)
        if time is not None:
            self.end_record()
            self.time = self._time(time[1].rstrip())
            self.record = _Record(number)
        elif line.startswith("# User@Host: "):
            if self.record is None or self.record.pairs:
                self.end_record()
                self.record = _Record(number)
            self.record.pairs |= _user(line)
        elif line.startswith(_LENGTH) and (self.record is None or "Query_time" in self.record.pairs):
            # Damage may have taken the line that says whose the statement was.
            self.end_record()
            self.record = _Record(number, _pairs(line))
        elif self.record is not None and line.startswith(_LENGTH):
            self._no_statement(self.record)
            self.record.pairs |= _pairs(line)
        elif self.record is None:
            self._stray(number, line)
        elif line.startswith("# ") and not self.record.statement:
            self.record.pairs |= _pairs(line)
        elif not _SET.match(line.strip()):
            self._add(self.record, line)

    def _no_statement(self, record: _Record) -> None:
        """What stands before the line that says how long it took is none, but a line that damage changed."""
        if record.statement:
            self.report.records += 1
            self.report.rejects.append(
                Reject(self.source, record.line, _CHANGED, "\n".join(record.statement))
            )
            record.statement, record.size = [], 0

    def _time(self, text: str) -> LogTime | None:
        zone, words = zones_said(self.options)
        return read_time(text, zone, words) or parse_written(text.replace("  ", " 0"), _OLD, zone, words)

    def _add(self, record: _Record, line: str) -> None:
        room = _MOST_TEXT - record.size
        if room >= 0 and len(line) > room:
            self.report.notes[_CUT] += 1
        record.statement.append(line[: max(room, 0)])
        record.size += len(line) + 1

    def _stray(self, number: int, line: str) -> None:
        """A line before the first record: what the server writes when it starts is none that is lost."""
        if not _OF_SERVER.search(line):
            self.report.records += 1
            self.report.rejects.append(Reject(self.source, number, _STRAY, line))

    def end_record(self) -> None:
        """Make an event of the record that is open, if one is; one that is a time alone is none."""
        record, self.record = self.record, None
        if record is None or not (record.pairs or any(map(_is_said, record.statement))):
            return
        self.report.records += 1
        statement = "\n".join(record.statement).strip()
        length = _length(record.pairs.get("Query_time"))
        problem = NO_TIME if self.time is None else self.time.problem
        cause = problem or (_NO_LENGTH if length is None else None)
        if cause is not None or self.time is None or length is None:
            raw = statement or str(record.pairs)
            self.report.rejects.append(Reject(self.source, record.line, str(cause), raw))
            return
        if not self.time.zone_given:
            self.report.notes[NO_ZONE] += self.options.time_zone is None
        self.report.notes[TWICE] += self.time.fold > 0
        word = statement.partition(" ")[0].upper().rstrip(";")
        attributes = {**record.pairs, "verb": word or None, "statement": statement or None}
        self._put(record.line, self.time, length, attributes)

    def _put(self, line: int, time: LogTime, length: int, attributes: dict[str, Value]) -> None:
        zone, fold = time.zone_seconds, time.fold
        after = 0 if self.options.exact_times else max(time.grain - 1, 0)
        end = End(time.micros, zone, after=after, fold=fold) if self.options.intervals else None
        begin = time.micros if end is None else time.micros - length
        began = time._replace(micros=begin, nanos=0)
        self.rows.add_at(QUERY, began, attributes, after=after, end=end, number=line, grain=None)


def _is_said(line: str) -> bool:
    """Whether a line is more than what the server writes when it starts."""
    return bool(line.strip()) and not _OF_SERVER.search(line)


def _user(line: str) -> dict[str, Value]:
    found = _USER.match(line)
    if found is None:
        return {"user": None}
    pairs: dict[str, Value] = {
        "user": found[1] or None,
        "host": found[3] or None,
        "address": found[4] or None,
    }
    return pairs | _pairs(found[5])


def _pairs(line: str) -> dict[str, Value]:
    return {name: _value(text.strip(",")) for name, text in _PAIR.findall(line)}


def _value(text: str) -> Value:
    """A number where it is written like one, else the text."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _length(text: Value) -> int | None:
    """Microseconds that a statement took; None where that is no number, or one beyond all time."""
    try:
        length = round(float(str(text)) * _SECOND)
    except (ValueError, OverflowError):
        return None
    return length if 0 <= length <= _LONGEST else None


FORMAT = LogFormat(
    name="mysql-slow",
    description="the slow log of MySQL and MariaDB",
    events="Query, as it ended; with --intervals from its begin on; user, host, verb, statement, Query_time",
    uncertainty="as written: 1 s, or none",
    example=(
        "# Time: 2026-06-14T08:15:04.978001Z\n# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    17\n"
        "# Query_time: 2.500000  Lock_time: 0.000120 Rows_sent: 1  Rows_examined: 400000\n"
        "SET timestamp=1781424902;\nSELECT * FROM orders WHERE note LIKE '%x%';\n"
    ),
    page="logs-servers.md",
    kinds=("slow log of MySQL",),
    reader=SlowLog(),
    options={"intervals": "MySQL", "time_zone": ZONELESS, "zone_words": WORDED, "exact_times": WRITTEN},
)
