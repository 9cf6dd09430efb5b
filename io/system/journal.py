"""The journal of systemd as `journalctl -o json` prints it: one object per line, one event each.

The type is what wrote the entry: SYSLOG_IDENTIFIER, else _COMM, else Message.  The time is that which the
writer gave (_SOURCE_REALTIME_TIMESTAMP), else when the journal got the entry (__REALTIME_TIMESTAMP).

    field                     attribute
    MESSAGE                   message; bytes that are not UTF-8 replaced
    SYSLOG_IDENTIFIER, _COMM  program
    _HOSTNAME                 node, node_raw
    _SYSTEMD_UNIT             unit
    PRIORITY                  severity, by name
    _PID, _BOOT_ID, any other pid, boot_id, in small letters without underscores before them; where the
                              writer gave a field of the same name, that keeps its own name
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.times import LAST_SECOND, LogTime
from cepctl.io.source.event_lines import SEVERITIES, LineBatches, LineEvent, line_events, lines_fit
from cepctl.io.source.json_objects import flat_value, json_object
from cepctl.io.source.line_messages import field_of_objects, line_messages
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.system.journal_columns import EntryColumns
from cepctl.io.system.journal_fields import (
    GIVEN,
    MOST_DIGITS,
    OF_ITS_OWN,
    OWN,
    RECEIVED,
    UNTYPED,
    is_of_journal,
    short_name,
)
from cepctl.io.templates.attribute import TemplatedReader
from cepctl.io.templates.first_lines import first_lines

NOT_AN_ENTRY = "not an entry of a journal: a JSON object with __REALTIME_TIMESTAMP"
_MOST_SHAPES = 256
_TAKEN = frozenset(("node", "node_raw", "program", "severity", "message", "pid", "unit"))
_TEXTS = frozenset(("message", "program", "node", "node_raw", "unit", "severity", "cursor", "cmdline", "exe"))


class Journal:
    """Reader of exported journals."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, lambda line: line.startswith("{") and f'"{RECEIVED}"' in line)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the entries of one export."""
        batches = LineBatches(source, options, report, options.patterns, _TEXTS, inferring=True)
        known = EntryColumns(options.drop_domain).known_lines
        return line_events(stream, batches, _Entries(options.drop_domain).event, known=known)


def messages(stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
    """As `LogFormat.messages`."""

    def one(line: str) -> str | None:
        entry = json_object(line)
        return None if entry is None else _text(entry.get("MESSAGE"))

    return map(first_lines, line_messages(stream, field_of_objects("MESSAGE"), one))


@dataclass(frozen=True)
class _Entries:
    """Understands the lines of one file."""

    drop_domain: bool

    def event(self, line: str) -> LineEvent | str:
        entry = json_object(line)
        if entry is None or RECEIVED not in entry:
            return NOT_AN_ENTRY
        program = _text(entry.get("SYSLOG_IDENTIFIER")) or _text(entry.get("_COMM"))
        host = _text(entry.get("_HOSTNAME"))
        attributes: dict[str, Value] = {
            "node": node_name(host, self.drop_domain),
            "program": program,
            "severity": _severity(entry.get("PRIORITY")),
            "message": _text(entry.get("MESSAGE")),
            **_others(entry),
        }
        time = _instant(entry.get(GIVEN)) or _instant(entry.get(RECEIVED))
        return LineEvent(program or UNTYPED, time, 1, attributes)


def _others(entry: Mapping[str, Any]) -> dict[str, Value]:
    """All fields but those that have an attribute of their own."""
    return {
        attribute: value if type(value := entry[name]) is str else _value(value)
        for name, attribute in _attributes_of(tuple(entry))
    }


@lru_cache(_MOST_SHAPES)
def _attributes_of(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each of the fields that an entry has, with its attribute: most entries of a program have the same."""
    found: dict[str, str] = {}
    # What the journal itself knows begins with an underscore, and has the short name first.
    for name in sorted(names, key=lambda name: not is_of_journal(name)):
        if name in OWN:
            continue
        short = short_name(name)
        taken = short in found or short in OF_ITS_OWN
        found[name if taken else short] = name
    return tuple((name, attribute) for attribute, name in found.items())


def _value(value: Any) -> Value:
    return _text(value) if _is_bytes(value) else flat_value(value)


def _text(value: Any) -> str | None:
    """A field as text: a list of bytes is what was not UTF-8, any other list what repeats."""
    if _is_bytes(value):
        return bytes(value).decode("utf-8", "replace")
    if value is None or isinstance(value, str):
        return value or None
    return str(flat_value(value))


def _is_bytes(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(type(each) is int and 0 <= each < 256 for each in value)
    )


def _severity(value: Any) -> str | None:
    text = _text(value)
    if text is None:
        return None
    return SEVERITIES[int(text)] if text in "01234567" and len(text) == 1 else text


def _instant(value: Any) -> LogTime | None:
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        return None
    micros = int(text)
    return LogTime(micros, 0) if 0 < micros < LAST_SECOND * 1_000_000 else None


FORMAT = LogFormat(
    name="journal",
    description="journal of systemd, as journalctl -o json prints it",
    events="one type per program, such as sshd; node, unit, pid, severity, message, its template, and what "
    "varies in it; those of --patterns",
    uncertainty="none: microseconds, as the writer gave them, else as the journal got them",
    example=(
        '{"__REALTIME_TIMESTAMP":"1781417705612004","_HOSTNAME":"web1","SYSLOG_IDENTIFIER":"sshd","_PID":"2210",'
        '"PRIORITY":"6","MESSAGE":"Accepted publickey for ann"}\n'
    ),
    page="logs-system.md",
    appended=True,
    reader=TemplatedReader(Journal(), _TAKEN),
    options={"drop_domain": "the journal"},
    lines=plain_lines,
    messages=messages,
)
