"""What a remedy would yield: the options that an error offers, tried on the first records of the file.

    the error offers                          tried with
    --map event_type=COLUMN,time=COLUMN       these columns
    --time-format 'FORM' or ...               the first of the forms
    --epoch DAY                               that day; YEAR is any leap year
    --epoch-unit s, ms, us or ns              the first of the units
    --columns-of NAME,...                     these names

Where reading then asks for something else, that is offered and tried, too.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO

from cepctl.errors import EventSchemaError, LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.times import parse_time
from cepctl.io.templates.survey import survey_of, templates_of

_TRIED_LINES = 1_000
_ROUNDS = 4
_PARQUET = b"PAR1"
_SHOWN_TYPES, _SHOWN_TYPE = 3, 40
_LEAP_YEAR = "2000"
_SOME_DAY = {"YEAR-MM-DD": "2000-01-01", "YEAR-MM-DDThh:mm:ss": "2000-01-01"}
_OFFERED = re.compile(
    r"--map (?P<map>'(?:[^'\n]|'\"'\"')+'|[a-z_]+=[^\s;]+)|--time-format '(?P<form>[^']+)'"
    r"|--columns-of (?P<names>[\w,]+)"
    r"|--epoch (?P<epoch>(?:YEAR|\d{4})-[\w:.-]*\w)|--epoch-unit (?P<unit>ns|us|ms|s)\b"
)
_ALTERNATIVE = re.compile(r"^(?: or --|, (?:ms|us|ns))")


@dataclass(frozen=True)
class Trial:
    """The message of an error, behind it what its remedy makes of the file, and whether that is of use."""

    message: str
    useful: bool


def with_trial(message: str, known: LogFormat, head: bytes, options: ReadOptions) -> str:
    """The message of an error, behind it what its remedy makes of the file that begins so.

    As it is where it offers nothing that can be tried.  What is of no use is said to be.
    """
    return tried(message, known, head, options).message


def tried(message: str, known: LogFormat, head: bytes, options: ReadOptions) -> Trial:
    """As `with_trial`."""
    if head.startswith(_PARQUET):  # Its beginning alone cannot be read.
        return Trial(message, useful=True)
    found = _OFFERED.search(message)
    records = _first_records(known, head)
    asked, alternatives = "", False
    for _ in range(_ROUNDS):
        if found is None or (chosen := _with(options, found)) == options:
            break
        options = chosen
        alternatives = alternatives or _ALTERNATIVE.match(found.string[found.end() :]) is not None
        try:
            yielded = _yield(known, records, options)
        except (LogFormatError, EventSchemaError) as problem:
            found = _OFFERED.search(str(problem))
            if found is None:
                cause = str(problem).removeprefix(": ")
                return Trial(f"{message}{asked} (tried on its first records: {cause})", useful=False)
            asked += f" {found[0]}"
            continue
        which = "the first of them" if alternatives else "it"
        none = "none of its first records would become an event"
        return Trial(f"{message}{asked} (with {which} {yielded or none})", useful=bool(yielded))
    return Trial(message, useful=False)


def yield_of(known: LogFormat, head: bytes, options: ReadOptions) -> str:
    """What a format makes of the first records of the file that begins so; empty where that is nothing."""
    try:
        return _yield(known, _first_records(known, head), options)
    except (LogFormatError, EventSchemaError):
        return ""


def _first_records(known: LogFormat, head: bytes) -> bytes:
    """Of a format without templates one line more, which may be a header."""
    whole = head[: head.rfind(b"\n") + 1] or head
    return b"".join(whole.splitlines(keepends=True)[: _TRIED_LINES + (known.messages is None)])


def _with(options: ReadOptions, found: re.Match[str]) -> ReadOptions:
    """The options with what was offered."""
    if found["map"]:
        try:
            (text,) = shlex.split(found["map"])
        except ValueError:  # a name with a quote, told as it stands in the file
            return options
        pairs = [pair.partition("=") for pair in next(csv.reader([text]))]
        columns = ((field, column) for field, _, column in pairs)
        return replace(options, columns=(*options.columns, *columns))
    if found["names"]:
        return replace(options, column_names=tuple(found["names"].split(",")))
    if found["form"]:
        return replace(options, time_format=found["form"])
    if found["unit"]:
        return replace(options, epoch_unit=found["unit"])
    time = parse_time(_SOME_DAY.get(found["epoch"], found["epoch"]).replace("YEAR", _LEAP_YEAR))
    return options if time is None else replace(options, epoch=time.micros)


def _yield(known: LogFormat, tried: bytes, options: ReadOptions) -> str:
    """How many events of which types; empty where there are none."""
    if known.messages is not None:
        mined = templates_of(survey_of(known.messages(BytesIO(tried), "", options)), options.templates)
        options = replace(options, templates=mined.templates)
    report = ReadReport()
    batches = list(known.read(BytesIO(tried), "", options, report))
    events = sum(map(len, batches))
    # A record may give several events.
    types = list(dict.fromkeys(_types(text for b in batches for text in b.column("event_type").to_pylist())))
    if not events:
        return ""
    records = max(report.records, events)
    shown = ", ".join(types[:_SHOWN_TYPES]) + (", ..." if len(types) > _SHOWN_TYPES else "")
    return (
        f"{events:,} of its first {records:,} records would become events of {len(types):,} "
        f"type{'s' * (len(types) != 1)}: {shown}"
    )


def _types(found: Iterator[str | None]) -> Iterator[str]:
    for each in found:
        yield str(each)[:_SHOWN_TYPE]
