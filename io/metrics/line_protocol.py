r"""Line protocol of InfluxDB, as Telegraf writes it: one event per line, whose type is the measurement.

    MEASUREMENT[,TAG=VALUE...] FIELD=VALUE[,FIELD=VALUE...] TIME

Tags and fields are attributes: 82 and 82.5 numbers, 82i and 82u whole ones, t and f, true and false; "text".
The time counts nanoseconds since 1970; of fewer digits microseconds, milliseconds or seconds.  A line without
a time is a reject: who took it in gave it that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.times import LAST_SECOND, LogTime
from cepctl.io.source.event_lines import LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.plain_lines import plain_lines

NOT_A_POINT = "not a line of line protocol: MEASUREMENT,TAG=VALUE FIELD=VALUE TIME"
UNTIMED = "no time: the line has none"
_NAME = r"(?:[^\\,= \t]|\\.)+"
_FIELD_VALUE = r'(?:"(?:[^"\\]|\\.)*"|[-+]?[0-9][0-9.eE+-]{0,40}[iu]?|[tT](?:rue|RUE)?|[fF](?:alse|ALSE)?)'
_FIELD = rf"{_NAME}={_FIELD_VALUE}"
_POINT = re.compile(
    rf"(?P<measurement>(?:[^\\, \t#]|\\.)(?:[^\\, \t]|\\.)*)(?P<tags>(?:,{_NAME}={_NAME})*) +"
    rf"(?P<fields>{_FIELD}(?:,{_FIELD})*)(?: +(?P<time>-?[0-9]{{1,19}}))?",
    re.ASCII | re.DOTALL,
)
_TAG = re.compile(r"(?:[^\\,]|\\.)+", re.DOTALL)
_ONE_FIELD = re.compile(r'(?:[^\\,"]|\\.|"(?:[^"\\]|\\.)*")+', re.DOTALL)
_PAIR = re.compile(rf"\A({_NAME})=(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\([,= \"\\])")
# How many digits seconds, milliseconds, microseconds have at most, and how many nanoseconds one of each is.
_UNITS = ((11, 10**9), (14, 10**6), (17, 10**3), (19, 1))


class LineProtocol:
    """Reader of line protocol."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _is_timed)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the points of one text."""
        return line_events(stream, LineBatches(source, options, report, inferring=True), _event)


def _is_timed(line: str) -> bool:
    found = _POINT.fullmatch(line)
    return found is not None and found["time"] is not None and _instant(found["time"])[0] is not None


def _event(line: str) -> LineEvent | str:
    found = _POINT.fullmatch(line)
    if found is None:
        return NOT_A_POINT
    if found["time"] is None:
        return UNTIMED
    time, precision = _instant(found["time"])
    attributes: dict[str, Value] = {name: _plain(text) for name, text in _pairs(_TAG, found["tags"])}
    for name, text in _pairs(_ONE_FIELD, found["fields"]):
        attributes[name if name not in attributes else f"{name}_2"] = _value(text)
    return LineEvent(_plain(found["measurement"]), time, precision, attributes)


def _pairs(piece: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """The names and the values, as they are written, of pieces with commas between them."""
    for each in piece.findall(text):
        found = _PAIR.match(each)
        if found is not None:
            yield _plain(found[1]), found[2]


def _plain(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _value(text: str) -> Value:
    if text[0] == '"':
        return _plain(text[1:-1])
    if text[0] in "tTfF":
        return text[0] in "tT"
    try:
        return int(text[:-1]) if text[-1] in "iu" else float(text)
    except ValueError:
        return text


def _instant(text: str) -> tuple[LogTime | None, int]:
    """The instant, and microseconds that its last digit stands for, at least one."""
    scale = next(scale for digits, scale in _UNITS if len(text.lstrip("-")) <= digits)
    micros, nanos = divmod(int(text) * scale, 1_000)
    known = 0 < micros < LAST_SECOND * 1_000_000
    return (LogTime(micros, 0, nanos=nanos) if known else None), max(scale // 1_000, 1)


FORMAT = LogFormat(
    name="line-protocol",
    description="line protocol of InfluxDB, as Telegraf writes it",
    events="one type per measurement; tags and fields",
    uncertainty="as written: none, 1 us, 1 ms or 1 s",
    example=(
        "cpu,host=web1 usage=99.5,cores=8i 1781417704250000000\n"
        'events,host=web1 text="deploy began" 1781417705000000000\n'
    ),
    page="logs-metrics.md",
    kinds=("InfluxDB",),
    reader=LineProtocol(),
    lines=plain_lines,
)
