"""Tables of well-known programs, whose columns need no mapping: by their headers, or by their first row.

table                                   type                time
XES, as PM4Py writes it                 concept:name        time:timestamp
events of Windows, as EvtxECmd, the     the event id        TimeCreated, ...
  event viewer and PowerShell export
rules on these, as Hayabusa writes      RuleTitle           Timestamp
timelines of plaso, in its two forms    the description     datetime, or date and time
  and for Timesketch                    of the timestamp
PostgreSQL's csvlog, without a header   error_severity      log_time
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from cepctl.io.contract.reader import ColumnMap, ReadOptions

_XES = (("event_type", "concept:name"), ("time", "time:timestamp"), ("case_id", "case:concept:name"))


@dataclass(frozen=True)
class KnownTable:
    """One kind of table: the columns that tell it, and the mapping that it then has.

    Columns of the mapping that a table lacks are left out.  `time_format` is that of its times, in codes of
    strptime; None for ISO 8601, or where it depends on the machine that wrote it.
    """

    told_by: frozenset[str]
    mapping: ColumnMap
    time_format: str | None = None


def _table(told_by: str, event_type: str, time: str, time_format: str | None = None) -> KnownTable:
    return KnownTable(
        frozenset(told_by.split("|")), (("event_type", event_type), ("time", time)), time_format
    )


_KNOWN = (
    KnownTable(frozenset(("concept:name", "time:timestamp")), _XES),
    _table("TimeCreated|EventId|Channel", "EventId", "TimeCreated"),
    _table("TimeCreated|Id|ProviderName", "Id", "TimeCreated"),
    _table("Date and Time|Event ID|Source", "Event ID", "Date and Time"),
    _table("Timestamp|EventID|RuleTitle|Computer", "RuleTitle", "Timestamp"),
    _table("datetime|timestamp_desc|source|message", "timestamp_desc", "datetime"),
    _table("datetime|timestamp_desc|message", "timestamp_desc", "datetime"),
    _table("Time|Source|Host|User|Description", "Source", "Time"),
    _table("log_time|session_id|error_severity|sql_state_code", "error_severity", "log_time"),
    _table(
        "date|time|timezone|MACB|sourcetype|type|desc", "type", "date+time+timezone", "%m/%d/%Y %H:%M:%S %Z"
    ),
)
TOLD_BY = frozenset(name for known in _KNOWN for name in known.told_by)
MOST_LINES_BEFORE = 20
"""Where more lines stand before a table, it is not looked for."""
_ROWS_LOOKED_AT = 40
CSVLOG = (
    *("log_time", "user_name", "database_name", "process_id", "connection_from", "session_id"),
    *("session_line_num", "command_tag", "session_start_time", "virtual_transaction_id", "transaction_id"),
    *("error_severity", "sql_state_code", "message", "detail", "hint", "internal_query"),
    *("internal_query_pos", "context", "query", "query_pos", "location", "application_name"),
    *("backend_type", "leader_pid", "query_id"),
)
_CSVLOG_COUNTS = (22, 23, 24, 26)
# A time with a word for its zone, user, database, process, client, and the id of a session.
_CSVLOG_ROW = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Za-z+-][\w:+-]*,"
    r'(?:"[^"]*"|[^",]*),(?:"[^"]*"|[^",]*),\d+,(?:"[^"]*"|[^",]*),[0-9a-f]+\.[0-9a-f]+,\d+,',
    re.ASCII | re.MULTILINE,
)


# The event viewer writes the text of an event behind all columns that its header names.
_VIEWER, _VIEWED = frozenset(("Date and Time", "Event ID", "Source", "Task Category")), "message"


def with_unnamed(names: list[str], below: str) -> list[str]:
    """The columns of a table with these names, also one that a known table has and its header does not name.

    `below` is how the text below the header begins.
    """
    if not set(names) >= _VIEWER:
        return names
    return [*names, _VIEWED] if _usual_count(below)[0] == len(names) + 1 else names


def _usual_count(text: str) -> tuple[int, bool]:
    """How many values the first rows of a text have, as far as they agree, and whether most of them do."""
    counts = Counter(map(len, first_rows(text, ",")))
    count, rows = counts.most_common(1)[0] if counts else (0, 0)
    return count, 2 * rows > counts.total()


def known_table(names: Sequence[str]) -> KnownTable | None:
    """The known table that has these columns; None where there is none."""
    there = set(names)
    if "event_type" in there:
        return None
    known = next((each for each in _KNOWN if each.told_by <= there), None)
    if known is None:
        return None
    mapping = tuple((field, column) for field, column in known.mapping if column in there or "+" in column)
    return KnownTable(known.told_by, mapping, known.time_format)


def as_known(names: Sequence[str], options: ReadOptions) -> ReadOptions:
    """The options, where the user maps nothing with what is known of a table with these columns."""
    known = None if options.columns else known_table(names)
    if known is None:
        return options
    form = options.time_format or known.time_format
    return replace(options, columns=known.mapping, time_format=form)


def names_of_rows(text: str) -> tuple[str, ...]:
    """The columns of a known table without a header that begins so; none of any other text.

    A few lines may stand before its first row, and any one of the rows may be damaged.
    """
    few = MOST_LINES_BEFORE
    end = 0
    while few and (found := text.find("\n", end)) >= 0:
        few, end = few - 1, found + 1
    begin = _CSVLOG_ROW.search(text, 0, len(text) if few else text.find("\n", end) + 1 or len(text))
    if begin is None:
        return ()
    count, agreed = _usual_count(text[begin.start() :])
    return CSVLOG[:count] if agreed and count in _CSVLOG_COUNTS else ()


def first_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The values of the first rows of a text, but for the last row, which may be cut."""
    whole = text[: text.rfind("\n") + 1] or text
    with suppress(csv.Error):
        rows = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)
        yield from islice(filter(None, rows), _ROWS_LOOKED_AT)
