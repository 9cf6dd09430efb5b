"""What `docker compose logs` prints: the lines of several containers, each behind the name of its container.

    web-1  | 2026-06-14T08:15:02.123456789Z the line      with -t
    caddy  | {"level":"info","ts":1781424902.123, ...}    a program that writes the time into JSON of its own

Each is a LogLine with `container` and `message`; what an object of JSON says are attributes, too.  A line
without a time of its own is a reject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.containers.lines import LOG_LINE
from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.log_format import WORDED, ZONELESS, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport, zones_said
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import LogTime, read_time
from cepctl.io.contract.unicode_text import NotUnicodeError
from cepctl.io.source.event_lines import LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.json_objects import flat_value, json_object
from cepctl.io.source.line_blocks import Groups, Layout
from cepctl.io.source.line_columns import LineColumns
from cepctl.io.templates.attribute import TemplatedReader

NOT_COMPOSE = "not a line of docker compose logs: CONTAINER | TEXT"
UNTIMED = "no time: docker compose logs -t writes it before each line"
_LINE = re.compile(r"(?P<container>[A-Za-z0-9][\w.-]{0,80}) *\| ?(?P<text>.*)", re.DOTALL)
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:?\d\d)?)(?: |\Z)", re.ASCII)
_TIMED = (
    r"(?P<container>[A-Za-z0-9][A-Za-z0-9_.-]{0,80}) *\| ?"
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:Z|[-+][0-9]{2}:?[0-9]{2}))"
    r"(?: (?P<message>.*))?"
)
"""A line as docker compose logs -t prints it, with the zone of its time."""
_TIMES = ("time", "ts", "timestamp", "@timestamp", "t", "datetime")
_MESSAGES = ("msg", "message", "log")
_TEXTS = frozenset(("container", "message"))
_MICRO_DIGITS = 6
_FIRST, _LAST = 31_536_000, 7_258_118_400


class ComposeLog:
    """Reader of what docker compose prints."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _is_timed)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the lines of all containers."""

        def event_of(line: str) -> LineEvent | str:
            return _event(line, options)

        batches = LineBatches(source, options, report, options.patterns, _TEXTS)
        return line_events(stream, batches, event_of, [Layout(_TIMED, _timed_lines)])


def _timed_lines(groups: Groups) -> LineColumns:
    """Lines of output, by their layout."""
    times = shaped_times(groups["time"])
    # A fraction, however long, is all that is known of how finely a time is written.
    times = replace(times, digits=np.where(times.digits > 0, _MICRO_DIGITS, 0))
    message = pc.if_else(pc.equal(groups["message"], ""), pa.scalar(None, pa.string()), groups["message"])
    attributes = {"container": groups["container"], "message": message}
    types = pa.repeat(pa.scalar(LOG_LINE, pa.string()), len(times.read))
    return LineColumns(types, times, instants_of_shaped(times, None), attributes)


def _is_timed(line: str) -> bool:
    event = _event(line, ReadOptions())
    return not isinstance(event, str) and event.time is not None


def _event(line: str, options: ReadOptions) -> LineEvent | str:
    found = _LINE.fullmatch(line)
    if found is None:
        return NOT_COMPOSE
    container, text = found["container"], found["text"]
    stamp = _STAMP.match(text)
    if stamp is not None:
        time = read_time(stamp[1], *zones_said(options))
        message = text[stamp.end() :]
        precision = 1 if time is None else max(time.grain, 1)
        return LineEvent(LOG_LINE, time, precision, {"container": container, "message": message or None})
    try:
        said = json_object(text) if text.startswith("{") else None
    except NotUnicodeError:
        said = None
    time = None if said is None else _time_in(said, options)
    if said is None or time is None:
        return UNTIMED
    attributes: dict[str, Value] = {name: flat_value(value) for name, value in said.items()}
    message = next((str(said[name]) for name in _MESSAGES if said.get(name)), "")
    attributes |= {"container": container, "message": message or None}
    return LineEvent(LOG_LINE, time, max(time.grain, 1), attributes)


def _time_in(said: dict[str, object], options: ReadOptions) -> LogTime | None:
    """The time of an object, under the first usual name that it has."""
    for name in _TIMES:
        value = said.get(name)
        if isinstance(value, str) and (time := read_time(value, *zones_said(options))) is not None:
            return time
        if isinstance(value, int | float) and not isinstance(value, bool):
            for scale in (1, 1_000, 1_000_000, 1_000_000_000):
                if _FIRST * scale <= value < _LAST * scale:
                    return LogTime(round(value * (1_000_000 / scale)), 0)
    return None


_READER = TemplatedReader(ComposeLog(), _TEXTS)
FORMAT = LogFormat(
    name="compose",
    description="what docker compose logs -t prints, or of programs that write times into JSON",
    events="LogLine; container, message, its template and what varies in it, fields of JSON; those of "
    "--patterns",
    uncertainty="as written: 1 s, 1 ms, or none",
    example=(
        "web-1    | 2026-06-14T08:15:04.123456789Z ready on :8080\n"
        "basket-1 | 2026-06-14T08:15:05.310003110Z cache is full\n"
    ),
    page="logs-containers.md",
    kinds=("docker compose",),
    reader=_READER,
    messages=_READER.messages,
    options={"time_zone": ZONELESS, "zone_words": WORDED},
    appended=True,
)
