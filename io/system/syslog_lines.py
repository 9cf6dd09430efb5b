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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.hosts import node_name, node_names
from cepctl.io.contract.log_format import WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.source.event_lines import SEVERITIES, LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.first_lines import sample_of
from cepctl.io.source.line_blocks import SIGN, WORD, Groups, Layout
from cepctl.io.source.line_columns import LineColumns, LineLayout
from cepctl.io.source.line_messages import behind, line_messages
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.system.stamps import OLD_SHAPE, StampReader, precision_of, stamps_of
from cepctl.io.templates.attribute import TemplatedReader

MESSAGE = "Message"
NOT_SYSLOG = "not a line of syslog (RFC 3164 or RFC 5424)"

_FACILITIES = (
    *("kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"),
    *("ntp", "audit", "alert", "clock", *(f"local{number}" for number in range(8))),
)
_HIGHEST = 191
_LINES_LOOKED_AT = 400

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
# The same as most lines have it, for many at a time.
_NAME, _NAME_BEGINS, _LONGEST_NAME = r"[^\[\]:\t\n\v\f\r ]", r"[^\[\]:(\t\n\v\f\r ]", 100
_PRIORITY, _SECONDS = "<(?P<priority>[0-9]{1,3})>", "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_OLD_TIME = rf"(?:{_PRIORITY})?(?P<time>[A-Z][a-z]{{2}} [ 0-9][0-9] {_SECONDS})"
_WRITTEN = rf"(?P<time>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_SECONDS}(?:Z|[-+][0-9]{{2}}:?[0-9]{{2}})?)"
_ISO_TIME = f"(?:{_PRIORITY})?{_WRITTEN}"
_TAGGED = (
    rf"(?P<node_raw>{_NAME}+) (?P<program>{_NAME_BEGINS}{_NAME}*)"
    rf"(?:\[(?P<pid>[^\]\t\n\v\f\r ]+)\])?: *(?P<message>{SIGN}.*)?"
)
_FIELDS = (
    rf"{_PRIORITY}[0-9]{{1,2}} {_WRITTEN} (?P<node_raw>{WORD}) (?P<program>{WORD}) (?P<pid>{WORD}) "
    rf"(?P<message_id>{WORD}) -(?: (?P<message>[^\ufeff].*))?"
)
# What stands before the message of these.
_TAG_BEFORE = rf" {_NAME}+ {_NAME_BEGINS}{_NAME}*(?:\[[^\]\t\n\v\f\r ]+\])?: *"
_BEFORE = tuple(re.sub(r"\?P<\w+>", "?:", time) + _TAG_BEFORE for time in (_OLD_TIME, _ISO_TIME))
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
        stamps = stamps_of(sample_of(text), source, options, report)
        messages = _Messages(stamps, options.drop_domain)
        return line_events(text, batches, messages.event, messages.layouts)


@dataclass(frozen=True)
class _Messages:
    """Understands the lines of one file."""

    stamps: StampReader
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

    @property
    def layouts(self) -> tuple[LineLayout, ...]:
        """The forms as most lines have them: with a host and a program, and without structured data."""
        return (
            Layout(f"{_OLD_TIME} {_TAGGED}", partial(self._columns, OLD_SHAPE)),
            Layout(f"{_ISO_TIME} {_TAGGED}", partial(self._columns, None)),
            Layout(_FIELDS, self._fields),
        )

    def _columns(self, shape: str | None, groups: Groups) -> LineColumns:
        """As `event`, of lines with a tag."""
        times, instants, note = self.stamps.columns(groups["time"], shape)
        fits = np.ones(len(times.read), np.bool_)
        for name in ("program", "pid"):
            long = pc.fill_null(pc.greater(pc.utf8_length(groups[name]), _LONGEST_NAME), False)
            fits &= ~long.to_numpy(zero_copy_only=False)
        return LineColumns(
            groups["program"],
            replace(times, read=times.read & fits),
            instants,
            {
                "node": node_names(groups["node_raw"], self.drop_domain),
                **{name: groups[name] for name in ("node_raw", "program", "pid", "message")},
            },
            _priorities(groups["priority"]),
            note,
        )

    def _fields(self, groups: Groups) -> LineColumns:
        """As `_structured`, of lines without structured data."""
        times, instants, _ = self.stamps.columns(groups["time"], None)
        said = {
            name: pc.if_else(pc.equal(groups[name], "-"), pa.scalar(None, pa.string()), groups[name])
            for name in ("node_raw", "program", "pid", "message_id")
        }
        node = node_names(said["node_raw"], self.drop_domain)
        types = pc.coalesce(said["program"], pa.scalar(MESSAGE))
        attributes = {"node": node, **said, "message": groups["message"]}
        return LineColumns(types, times, instants, attributes, _priorities(groups["priority"]))

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


def _message(line: str) -> str | None:
    line = line.removeprefix("\ufeff")
    found = _RFC5424.fullmatch(line)
    if found is not None:
        return (found[8] or "").removeprefix("\ufeff") or None
    found = _RFC3164.fullmatch(line)
    return None if found is None else _parts(found[6])[3]


def messages(stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
    """As `LogFormat.messages`."""
    return line_messages(stream, behind(_BEFORE), _message)


def _priority(text: str | None) -> dict[str, Value]:
    """Facility and severity, where a line has a priority that there is."""
    if text is None or int(text) > _HIGHEST:
        return {}
    facility, severity = divmod(int(text), len(SEVERITIES))
    return {"facility": _FACILITIES[facility], "severity": SEVERITIES[severity]}


def _priorities(texts: pa.Array) -> dict[str, pa.Array]:
    """As `_priority`, for a column of texts."""
    once = texts.dictionary_encode()
    found = [_priority(text) for text in once.dictionary.to_pylist()]
    return {
        name: pa.array([each.get(name) for each in found], pa.string()).take(once.indices)
        for name in ("facility", "severity")
    }


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
    events="one type per program, such as sshd; node, pid, severity, message, its template, and what varies "
    "in it; those of --patterns",
    uncertainty="as written: 1 s, 1 ms, or none; a year and a zone only where they are written",
    example=(
        "<38>1 2026-06-14T08:15:04.003+02:00 web1 sshd 2210 - - Accepted publickey for ann\n"
        "2026-06-14T08:15:05.123456+02:00 web1 sudo: ann : USER=root ; COMMAND=/bin/ls\n"
    ),
    page="logs-system.md",
    kinds=("OpenSSH", "Linux", "macOS"),
    appended=True,
    reader=TemplatedReader(Syslog(), _TEXTS | {"pid"}),
    options={
        "time_zone": ZONELESS,
        "exact_times": WRITTEN,
        "drop_domain": "syslog",
        "epoch": "syslog without years",
    },
    lines=plain_lines,
    messages=messages,
)
