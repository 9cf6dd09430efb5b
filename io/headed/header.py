r"""The header of a table that stands in comments: `#fields` and what else they say of the rows below.

    log                 fields     between values           no value   time
    Zeek                #fields    #separator, as \x09      -          ts
    W3C extended log    #Fields    blanks, tabs or commas   -          date and time; time alone, of #Date
                                   outside of quotes

Comments may come again at any place, as where a server was started anew, and hold for the rows below them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import takewhile

ZEEK, W3C = "zeek", "w3c"
NO_VALUE = "-"
_ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{2})")
_DAY = re.compile(r"\s*(\d{4})-(\d\d)-(\d\d)(?!\d)", re.ASCII)
# Names of date and time of day of the event, of a W3C log; the first pair that a header has.
_PAIRS = (("date", "time"), ("date-local", "time-local"), ("date-UTC", "time-UTC"))
_INSTANTS = ("date-time", "datetime", "x-timestamp", "timestamp", "ts", "x-localtime")
# What names the type of an event of a W3C log.
_TYPES = ("event-id", "x-event", "action", "cs-method", "s-event", "x-edge-result-type", "sc-status")
_ZONED = re.compile(r"\s*([-+])(\d\d):?(\d\d)")
REQUEST = "Request"
_MOST_LINES_BEFORE, _FEWEST_ROWS = 20, 5
_WORDS = re.compile(r'"(?:[^"]|"")*"|\S+')
_LIKE_TIMES = re.compile(r'"?(?:\d+(?:\.\d*)?|\d{4}-\d\d-\d\d|[\d:T.Z+-]{8,})"?')


@dataclass(frozen=True)
class CommentedHeader:
    """What comments say of the rows below them.

    Attributes
    ----------
    kind
        ZEEK or W3C.
    names
        The columns, in their order; none before a comment names them.
    separator
        What stands between two values, of one character; a blank stands for any number of them.
    said
        All other comments: their names in lower case, and what they say.
    types
        The types of the columns, where the log says them.
    """

    kind: str
    names: tuple[str, ...] = ()
    separator: str = "\t"
    said: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()

    def with_comment(self, line: str) -> CommentedHeader:
        """With what one more comment says."""
        if self.kind == ZEEK:
            return self._with_line_of_zeek(line)
        name, colon, value = line[1:].partition(":")
        if not colon:
            return self
        if name.strip().lower() == "fields":
            separator = next((sign for sign in "\t," if sign in value.strip()), " ")
            names = re.split(r"[\s,]+" if separator != "," else r"\s*,\s*", value.strip())
            # The names may be divided by blanks where the values are by tabs: the first row tells.
            return replace(self, names=_different(names), separator=separator, types=())
        return replace(self, said={**self.said, name.strip().lower(): value.strip()})

    def _with_line_of_zeek(self, line: str) -> CommentedHeader:
        name, _, value = (
            line[1:].rstrip("\r").partition(" " if line.startswith("#separator") else self.separator)
        )
        if name == "separator":
            return replace(
                self, separator=_ESCAPED.sub(lambda found: chr(int(found[1], 16)), value.strip()) or "\t"
            )
        values = value.split(self.separator)
        if name == "fields":
            return replace(self, names=_different(values), types=())
        if name == "types":
            return replace(self, types=tuple(values))
        return replace(self, said={**self.said, name: value})

    @property
    def unset(self) -> str:
        """What stands where a row has no value."""
        return self.said.get("unset_field", NO_VALUE)

    @property
    def event_type(self) -> str | None:
        """The type of all rows, where no column names it."""
        if self.kind == ZEEK:
            return self.said.get("path") or "Record"
        return None if self.type_column else REQUEST

    @property
    def type_column(self) -> str | None:
        """The column that names the type of a row; None where all have the same."""
        if self.kind == ZEEK:
            return None
        return next((name for name in _TYPES if name in self.names), None)

    @property
    def time_columns(self) -> tuple[str, ...]:
        """The columns of the time of a row: one, or those of its date and its time of day; none."""
        if self.kind == ZEEK:
            return ("ts",) if "ts" in self.names else ()
        whole = next((name for name in _INSTANTS if name in self.names), None)
        if whole is not None:
            return (whole,)
        pair = next((pair for pair in _PAIRS if set(pair) <= set(self.names)), None)
        return pair or tuple(name for name in ("time", "time-local") if name in self.names)[:1]

    @property
    def day(self) -> str | None:
        """The day of rows with a time of day alone, as the last comment has it."""
        found = next(
            (each for name in ("date", "start-date") if (each := _DAY.match(self.said.get(name, "")))), None
        )
        said = None if found is None else "-".join(found.groups())
        return said if said is not None and _is_day(said) else None

    @property
    def zone(self) -> str | None:
        """The zone of the times, as an offset; None where they are of the place where the log was written."""
        matched = _ZONED.match(self.said.get("gmt-offset", ""))
        if matched is not None:
            return f"{matched[1]}{matched[2]}:{matched[3]}"
        local = self.said.get("time format", "").lower() == "local"
        return None if local or any("local" in name for name in self.time_columns) else "Z"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def header_at(lines: Sequence[str]) -> CommentedHeader | None:
    """The header that a file begins with; None where it does not begin with one, or no column is a time.

    A few lines of something else may stand before its comments and among them: then most of the lines below
    must be rows.  Where there are some lines, none of them a row, it is a comment in a log of another kind.
    """
    comments = [*takewhile(lambda line: line.startswith("#"), lines)]
    if comments:
        of_zeek = comments[0].startswith(("#separator", "#fields\t"))
        header = CommentedHeader(ZEEK if of_zeek else W3C)
        for line in comments:
            header = header.with_comment(line)
        rows = [line for line in lines[len(comments) :] if not line.startswith("#")]
        if _usable(header) and (len(rows) < _FEWEST_ROWS or any(_may_be_row(row, header) for row in rows)):
            return header
    begin = next((at for at, line in enumerate(lines[:_MOST_LINES_BEFORE]) if line.startswith("#")), None)
    if begin is None:
        return None
    found = (_header_of_rows(CommentedHeader(kind), lines[begin:]) for kind in (ZEEK, W3C))
    return next((header for header in found if header is not None), None)


def _header_of_rows(header: CommentedHeader, lines: Sequence[str]) -> CommentedHeader | None:
    """What holds for the first row, where most lines that are no comments are rows of those above them."""
    first: CommentedHeader | None = None
    rows = others = 0
    for line in lines:
        if line.startswith("#"):
            header = header.with_comment(line)
        elif _usable(header) is not None and _may_be_row(line, header, len(header.names)):
            first, rows = first or header, rows + 1
        else:
            others += 1
    return first if rows > others else None


def _may_be_row(line: str, header: CommentedHeader, most: int | None = None) -> bool:
    """Whether a line has a value for each name, and no more than so many; those of its time as times are."""
    times = [header.names.index(name) for name in header.time_columns]
    values = (
        _WORDS.findall(line) if header.separator == " " else line.split(header.separator),
        line.split("\t"),
    )
    return any(
        len(header.names) <= len(each) <= (most or len(each))
        and all(_LIKE_TIMES.fullmatch(each[at]) for at in times)
        for each in values
    )


def _usable(header: CommentedHeader) -> CommentedHeader | None:
    """The header where it names columns and one of them is a time; else None."""
    if len(header.names) < 2 or not header.time_columns:
        return None
    if (
        header.kind == W3C
        and len(header.time_columns) == 1
        and header.time_columns[0] in _PAIRS[0] + _PAIRS[1]
    ):
        return header if header.day is not None else None
    return header


def _different(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, those that came before with a number."""
    found: list[str] = []
    for name in names:
        number, each = 2, name
        while each in found:
            each, number = f"{name}_{number}", number + 1
        found.append(each)
    return tuple(found)
