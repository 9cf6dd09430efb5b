"""Syslog in its three forms: one event per line, whose type is the program that wrote it.

    form                       line
    RFC 3164                   [<PRI>]Jun 14 15:16:01 HOST PROGRAM[PID]: MESSAGE
    the same with ISO 8601     [<PRI>]2026-06-14T15:16:01.123456+02:00 HOST PROGRAM[PID]: MESSAGE
    RFC 5424                   <PRI>1 2026-06-14T15:16:01.123456+02:00 HOST PROGRAM PID MSGID [DATA] MESSAGE

A line may lack its host, or its program: the type of a message without one is Message.  Values of the
structured data of RFC 5424 are attributes called ID.NAME.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import IO
from zoneinfo import ZoneInfo

import pyarrow as pa

from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_format import WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.times import LogTime, log_time, named_zone, read_time, with_nanos
from cepctl.io.source.event_lines import SEVERITIES, LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.missing_years import MonthDay, YearRule, year_rule, years_note
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FRACTION = re.compile(r"[.,](\d{1,9})", re.ASCII)
_MICRO_DIGITS = 6
_LINES_LOOKED_AT = 400
_DAY_OF_LINE = re.compile(
    r"^(?:<\d{1,3}>)?([A-Z][a-z]{2} {1,2}\d{1,2}) \d\d:\d\d:\d\d", re.ASCII | re.MULTILINE
)


@dataclass
class Stamps:
    """Reads the times of one file; missing_years.py tells the year where it is not written."""

    source: str
    options: ReadOptions
    report: ReadReport
    first_days: Sequence[MonthDay] = ()
    _years: YearRule | None = None
    _zone: ZoneInfo | None = field(init=False)
    _days: dict[str, date | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._zone = named_zone(self.options.time_zone)

    def written(self, text: str) -> LogTime | None:
        """A time as ISO 8601 has it."""
        return read_time(text.replace(",", "."), self._zone)

    def without_zone(self, day: str, year: str | None, clock: str) -> LogTime | None:
        """A time such as `Jun 14`, 2026 or None, and `15:16:01`.

        Raises
        ------
        LogFormatError
            If there is no year, and nothing tells it.
        """
        if year is None:
            self._count_back(day, clock)
        key = f"{day} {year or ''}"
        if key not in self._days:
            self._days[key] = self._day(day, year)
        found = self._days[key]
        if found is None:
            return None
        fraction = _FRACTION.search(clock)
        micros = int(fraction[1][:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0")) if fraction else 0
        hour, minute, second = (int(part) for part in clock[:8].split(":"))
        leap = second == 60
        try:
            moment = datetime(
                found.year, found.month, found.day, hour, minute, 59 if leap else second, micros
            )
            time = log_time(moment + timedelta(seconds=leap), self._zone)
        except (ValueError, OverflowError):
            return None
        return None if time is None else with_nanos(time, clock)

    def _count_back(self, day: str, clock: str) -> None:
        if self._years is None:
            days = self.first_days or [_month_day(day)]
            self._years = year_rule(self.source, self.options, f"{day} {clock}", days)
        if self._years.told:
            self.report.notes[years_note(self._years)] += 1

    def _day(self, day: str, year: str | None) -> date | None:
        month, number = day.split()
        if month not in _MONTHS:
            return None
        if year is not None:
            return _date(int(year), _MONTHS.index(month) + 1, int(number))
        assert self._years is not None, "a time without a year was seen"
        return self._years.date_of(_MONTHS.index(month) + 1, int(number))


def first_days(head: bytes) -> list[MonthDay]:
    """The days, without years, that the first lines of a log begin with."""
    found = _DAY_OF_LINE.findall(decoded(head))
    return [_month_day(day) for day in dict.fromkeys(found)]


def _month_day(day: str) -> MonthDay:
    month, number = day.split()
    return (_MONTHS.index(month) + 1 if month in _MONTHS else 1), int(number)


def precision_of(clock: str) -> int:
    """Microseconds that the last digit of a written time stands for.

    Examples
    --------
    >>> precision_of("15:16:01"), precision_of("15:16:01.250Z"), precision_of("15:16:01,123456789")
    (1000000, 1000, 1)
    """
    fraction = _FRACTION.search(clock)
    digits = min(len(fraction[1]), _MICRO_DIGITS) if fraction else 0
    return int(10 ** (_MICRO_DIGITS - digits))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


MESSAGE = "Message"
NOT_SYSLOG = "not a line of syslog (RFC 3164 or RFC 5424)"

_FACILITIES = (
    *("kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"),
    *("ntp", "audit", "alert", "clock", *(f"local{number}" for number in range(8))),
)
_HIGHEST = 191
HEAD_BYTES = 1 << 16

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ISO = rf"\d{{4}}-\d\d-\d\dT{_CLOCK}(?:Z|[-+]\d\d:?\d\d)?"
_DATA = r"(?:\[[^ =\]\"]+(?: [^ =\]\"]+=\"(?:[^\"\\]|\\.)*\")*\])+"
_RFC5424 = re.compile(
    rf"<(\d{{1,3}})>\d{{1,2}} ({_ISO}|-) (\S+) (\S+) (\S+) (\S+) ({_DATA}|-)(?: (.*))?", re.ASCII | re.DOTALL
)
_RFC3164 = re.compile(
    rf"(?:<(\d{{1,3}})>)?(?:([A-Z][a-z]{{2}} {{1,2}}\d{{1,2}})(?: (\d{{4}}))? ({_CLOCK})|({_ISO})) (.*)",
    re.ASCII | re.DOTALL,
)
_TAG = re.compile(r"([^\s\[\]:]{1,100})(?:\[([^\]\s]{1,100})\])?(?::\s?|(?=\s\())", re.ASCII)
_ELEMENT = re.compile(r"\[([^ =\]\"]+)((?: [^ =\]\"]+=\"(?:[^\"\\]|\\.)*\")*)\]", re.ASCII | re.DOTALL)
_PARAMETER = re.compile(r" ([^ =\]\"]+)=\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_ESCAPE = re.compile(r"\\([\"\\\]])")
# What other logs have behind a time of ISO 8601.
_NOT_HOSTS = re.compile(
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|stdout|stderr)\b|\[|\{|\S+=", re.IGNORECASE
)
_TEXTS = frozenset(("message", "program", "node", "node_raw", "message_id", "facility", "severity"))


def _goes_on(head: bytes) -> bool:
    """Whether a tenth of the first lines are indented, and so go on with the line before them."""
    lines = [line for line in head.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT] if line.strip()]
    return 10 * sum(line[:1] in b" \t" for line in lines) > len(lines)


class Syslog:
    """Reader of syslog."""

    def recognises(self, head: bytes) -> bool:
        # Records of several lines, as of macOS, are for the reader of lines.
        return lines_fit(head, _is_surely_syslog) and not _goes_on(head)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the messages of one log.

        Raises
        ------
        LogFormatError
            If a time has no year, and nobody says when the log begins.
        UsageError
            If the zone of the user does not exist.
        """
        batches = LineBatches(source, options, report, options.patterns, _TEXTS, inferring=True)
        text = utf8_stream(stream)
        stamps = Stamps(source, options, report, first_days(text.peek(HEAD_BYTES)))
        return line_events(text, batches, _Messages(stamps, options.drop_domain).event)


@dataclass(frozen=True)
class _Messages:
    """Understands the lines of one file."""

    stamps: Stamps
    drop_domain: bool

    def event(self, line: str) -> LineEvent | str:
        line = line.removeprefix("\ufeff")
        found = _RFC5424.fullmatch(line)
        if found is not None:
            return self._structured(found)
        found = _RFC3164.fullmatch(line)
        if found is None:
            return NOT_SYSLOG
        priority, day, year, clock, iso, rest = found.groups()
        time = self.stamps.written(iso) if iso else self.stamps.without_zone(day, year, clock)
        host, program, pid, message = _parts(rest)
        attributes = {
            **self._node(host),
            "program": program,
            "pid": pid,
            **_priority(priority),
            "message": message,
        }
        return LineEvent(program or MESSAGE, time, precision_of(iso or clock), attributes)

    def _structured(self, found: re.Match[str]) -> LineEvent:
        priority, iso, host, program, pid, message_id, data, message = found.groups()
        attributes = {
            **self._node(_value(host)),
            "program": _value(program),
            "pid": _value(pid),
            **_priority(priority),
            "message_id": _value(message_id),
            "message": (message or "").removeprefix("\ufeff") or None,
            **_structured_data(data),
        }
        return LineEvent(_value(program) or MESSAGE, self.stamps.written(iso), precision_of(iso), attributes)

    def _node(self, host: str | None) -> dict[str, Value]:
        return {"node": node_name(host, self.drop_domain), "node_raw": host}


def _is_surely_syslog(line: str) -> bool:
    line = line.removeprefix("\ufeff")
    if _RFC5424.fullmatch(line):
        return True
    found = _RFC3164.fullmatch(line)
    if found is None:
        return False
    _, program, _, _ = _parts(found[6])
    return found[5] is None or (program is not None and _NOT_HOSTS.match(found[6]) is None)


def _parts(rest: str) -> tuple[str | None, str | None, str | None, str | None]:
    """Host, program, its process, and message of what stands behind the time."""
    tag = _TAG.match(rest)
    if tag is not None:
        return None, tag[1], tag[2], rest[tag.end() :] or None
    host, _, said = rest.partition(" ")
    said = said.lstrip(" ")
    tag = _TAG.match(said)
    if tag is None:
        return host, None, None, said or None
    return host, tag[1], tag[2], said[tag.end() :].lstrip(" ") or None


def _priority(text: str | None) -> dict[str, Value]:
    """Facility and severity, where a line has a priority that there is."""
    if text is None or int(text) > _HIGHEST:
        return {}
    facility, severity = divmod(int(text), len(SEVERITIES))
    return {"facility": _FACILITIES[facility], "severity": SEVERITIES[severity]}


def _structured_data(data: str) -> dict[str, Value]:
    return {
        f"{element[1]}.{parameter[1]}": _ESCAPE.sub(r"\1", parameter[2])
        for element in _ELEMENT.finditer(data)
        for parameter in _PARAMETER.finditer(element[2])
    }


def _value(text: str) -> str | None:
    return None if text == "-" else text


FORMAT = LogFormat(
    name="syslog",
    description="syslog, RFC 3164 or RFC 5424, as daemons write it to files",
    events="one type per program, such as sshd; node, pid, severity, message; those of --patterns",
    uncertainty="as written: 1 s, 1 ms, or none; a year and a zone only where they are written",
    example=(
        "<38>1 2026-06-14T08:15:04.003+02:00 web1 sshd 2210 - - Accepted publickey for ann\n"
        "2026-06-14T08:15:05.123456+02:00 web1 sudo: ann : USER=root ; COMMAND=/bin/ls\n"
    ),
    page="logs-system.md",
    kinds=("OpenSSH", "Linux", "macOS"),
    appended=True,
    reader=Syslog(),
    options={
        "time_zone": ZONELESS,
        "exact_times": WRITTEN,
        "drop_domain": "syslog",
        "epoch": "syslog without years",
    },
    lines=plain_lines,
)
