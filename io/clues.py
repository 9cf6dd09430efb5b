"""What a file of no known format begins with, and which option would read it: the end of an error message."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from cepctl.io.source.text_encoding import decoded

_OUT = "leave the file out"
_BINARY = f"it holds no text, and no option of cepctl finds times in it: {_OUT}"
_NO_TIMES = (
    "nothing in its first {count} is a time in a known layout, so no option makes events of it; "
    f"where it has times of another kind, --patterns FILE says where (?P<time>...); else {_OUT}"
)
_COMPOSE = re.compile(r"[A-Za-z0-9][\w.-]* {2,40}\| ")
_WITHOUT_TIMES = (
    "its lines stand behind names of containers, as docker compose logs prints them, and have no times: "
    "print them with docker compose logs -t"
)
_DOTNET = re.compile(r'"\\?(/Date\(-?\d{1,18}(?:[-+]\d{4})?)\)')
_OF_DOTNET = (
    "write them as text: in PowerShell, Select-Object *, @{n='time';e={$_.TimeCreated.ToString('o')}} before "
    "ConvertTo-Json"
)
_OWN_TIMES = (
    "its times are in no known layout: --patterns FILE says where they stand (?P<time>...), and "
    f"--time-format how they are written; or {_OUT}"
)
_NOT_TIMES = (
    "none of them looks like a time with a date, so no option is sure to make events of it: where one is a "
    "time, name it: "
)
_PACKETS = "print it: tcpdump -tttt -n -r FILE"
_MAGICS = (
    (
        b"SQLite format 3\0",
        "an SQLite database, not of OCEL",
        "export its table of events as CSV, and name its columns (--map)",
    ),
    (b"%PDF", "a PDF", "leave the file out"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it"),
    (b"Rar!", "a RAR archive", "unpack it"),
    (b"LPKSHHRH", "a binary journal of systemd", "print it: journalctl --file FILE -o json"),
    (b"ElfFile\0", "a Windows event log", "export it as CSV, and name its columns (--map)"),
    (b"\x7fELF", "a program", "leave the file out"),
    (b"Obj\x01", "an Avro container", "convert it to JSON lines or Parquet"),
    (b"ORC", "an ORC file", "convert it to Parquet"),
    (b"\xd4\xc3\xb2\xa1", "a capture of packets", _PACKETS),
    (b"\xa1\xb2\xc3\xd4", "a capture of packets", _PACKETS),
    (b"\x0a\x0d\x0d\x0a", "a capture of packets", _PACKETS),
    (b"FLR\0", "a recording of Java's flight recorder", "print it: jfr print --json FILE"),
)
_TIMES = (
    "time",
    "timestamp",
    "ts",
    "@timestamp",
    "t",
    "datetime",
    "date",
    "when",
    "created_at",
    "started_at",
)
_TYPES = (
    "event",
    "event_type",
    "type",
    "activity",
    "action",
    "event_name",
    "operation",
    "msg",
    "message",
    "level",
)
_DELIMITERS = (",", ";", "\t", "|")
_XML = re.compile(r"(?:<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<([A-Za-z_][\w.:-]*)", re.DOTALL)
_JSON = re.compile(r'\{|\[\s*[{\["]')
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|\d{10}")
# What begins so is no name of a column.
_VALUE = re.compile(r"\d+[.:]\d")
# A date and a time of day, or a date alone; a word.
_WRITTEN = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?!\d)")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{4} \d|\d{10,19}(?:\.\d+)?$")
_OF_DAY = re.compile(r"\d{1,2}:\d\d")
_WORD = re.compile(r"[^\W\d_][\w .-]*")
# What a shell would not leave as it is.
_UNSAFE = re.compile(r"[^\w@%+=:,./<>-]")
_LISTED = 12
_MOST_LINES_BEFORE, _FEWEST_TIMED = 20, 3
_LONGEST_NAME = 60
# A run of as many zeros is none of UTF-16 or UTF-32.
_ZEROS = bytes(16)
_MOSTLY, _FEW_SIGNS = 0.8, 7
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_RECODED = "iconv -f {encoding} -t UTF-8 < FILE | cepctl ingest - -o EVENTS reads it, if it is a log"
_CUT = "it has bytes of zeros around its text, as a log that was cut while it was written"
_WITHOUT_ZEROS = "tr -d '\\0' < FILE | cepctl ingest - -o EVENTS reads the rest, where that is a log"
_SHOWN = 80
_FEW_CHARACTERS = 8_192


def clue_to(head: bytes) -> str:
    """What the file with this head looks like, and what to do; one line.

    Examples
    --------
    >>> clue_to(b"All rights given away.")[:42]
    "its first line is 'All rights given away.'"
    """
    if not head.strip():
        return f"it is empty; {_OUT}"
    for magic, what, remedy in _MAGICS:
        if head.startswith(magic):
            return f"it is {what}; {remedy}"
    text = decoded(head)
    piped = piped_text(head)
    if piped is not None:
        return piped[0]
    if "\0" in text or text.count("\ufffd") * 10 > len(text):
        return f"it is binary, and begins with the bytes {head[:8].hex(' ')}; {_BINARY}"
    text = text.strip()[:_FEW_CHARACTERS]
    if (found := _DOTNET.search(text)) is not None:
        return f"its times are such as {found[1]}), which .NET writes; {_OF_DOTNET}"
    if _JSON.match(text):
        return _of_json(text)
    found = _XML.match(text)
    if found is not None:
        return (
            f"it is XML whose root element is <{found[1][:_SHOWN]}>, which no format has, and no option "
            "reads: make CSV or JSON lines of it, and name their columns (--map)"
        )
    lines = text.split("\n")
    shown = [line for line in lines[:_LISTED] if line]
    if shown and sum(_COMPOSE.match(line) is not None for line in shown) > _MOSTLY * len(shown):
        return _WITHOUT_TIMES
    for at in range(min(_MOST_LINES_BEFORE, len(lines)) + 1):
        if at == 0 or _begins_rows(lines[at:]):
            table = _of_table(lines[at:], "first line" if at == 0 else f"line {at + 1}")
            if table is not None:
                return table
    return _of_text(lines)


def _begins_rows(lines: Sequence[str]) -> bool:
    """Whether below a line there are others divided like it, most of them with a time as one value."""
    for delimiter in _DELIMITERS:
        count = lines[0].count(delimiter) if lines else 0
        rows = [line.split(delimiter) for line in lines[1:_LISTED] if line.count(delimiter) == count]
        timed = sum(any(_INSTANT.match(cell.strip().strip('"')) for cell in row) for row in rows)
        if count and timed >= _FEWEST_TIMED and 2 * timed > len(lines[1:_LISTED]):
            return True
    return False


def _of_table(lines: Sequence[str], where: str) -> str | None:
    """Of lines that are a table without usual names of its columns: what it is, and how it is read."""
    unnamed = _names_for(lines)
    if unnamed:
        return (
            f"its {where} holds values and no names of columns: name them, event_type and time among them: "
            f"--columns-of {','.join(unnamed)}"
        )
    columns = _columns(lines)
    if not columns:
        return None
    near = "tsv" if "\t" in lines[0] else "csv"
    seen = f"its {where} has the columns {_listed(columns)}, so the nearest format is {near}"
    delimiter = next(each for each in _DELIMITERS if lines[0].count(each) == len(columns) - 1)
    rows = [[cell.strip().strip('"') for cell in line.split(delimiter)] for line in lines[1:_LISTED]]
    cells = [dict(zip(columns, row, strict=True)) for row in rows if len(row) == len(columns)]
    return f"{seen}; {_mapping(columns, cells)}"


def _of_json(text: str) -> str:
    line = text.split("\n", 1)[0]
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        seen = f"its first line is a JSON object with the keys {_listed(list(value))}"
        return f"{seen}, so the nearest format is jsonl; {_mapping(list(value), _cells(text.split(chr(10))))}"
    if '"__CURSOR"' in text:
        return "it is a journal over several lines; print it with one entry per line: journalctl -o json"
    keys = list(dict.fromkeys(found[1] for found in _KEY.finditer(text)))
    known = f" and begins with the keys {_listed(keys)}" if keys else ""
    remedy = "make it one object per line (jq -c), and name its columns (--map)"
    return f"it is JSON over several lines{known}; {remedy}"


def _of_text(lines: Sequence[str]) -> str:
    first = " ".join(lines[0].split())
    shown = first[:_SHOWN] + ("..." if len(first) > _SHOWN else "")
    if any(_CLOCK.search(line[:_FEW_CHARACTERS]) for line in lines[:_LISTED]):
        return f"its first line is '{shown}'; {_OWN_TIMES}"
    count = f"{len(lines):,} line{'s' * (len(lines) != 1)}"
    return f"its first line is '{shown}'; {_NO_TIMES.format(count=count)}"


def piped_text(head: bytes) -> tuple[str, bytes] | None:
    """Of a file that holds text once another program has mended it: what it is, and how that text begins.

    Examples
    --------
    >>> piped_text("no mark".encode("utf-16-le"))[1]
    b'no mark'
    """
    if _ZEROS in head and _is_text(text := head.replace(b"\0", b"")):
        return f"{_CUT}; {_WITHOUT_ZEROS}", text
    for encoding, zeros, others in (("UTF-16LE", head[1::2], head[::2]), ("UTF-16BE", head[::2], head[1::2])):
        mostly = len(zeros) >= _FEW_SIGNS and zeros.count(0) > _MOSTLY * len(zeros)
        if mostly and not _CONTROL.search(others):
            clue = f"it is text in {encoding} without the mark that says so"
            return f"{clue}; {_RECODED.format(encoding=encoding)}", head.decode(encoding, "replace").encode()
    return None


def _is_text(head: bytes) -> bool:
    text = decoded(head)
    return text.count("\ufffd") * 10 <= len(text)


def _columns(lines: Sequence[str]) -> list[str]:
    """The names in a first line that the second is divided like; empty where it is not."""
    if len(lines) < 2:
        return []
    for delimiter in sorted(_DELIMITERS, key=lines[0].count, reverse=True):
        count = lines[0].count(delimiter)
        cells = [name.strip().strip('"') for name in lines[0].split(delimiter)]
        names = [name or f"column{place}" for place, name in enumerate(cells, 1)]
        named = cells.count("") < 2 and len(set(names)) == len(names) and not any(map(_VALUE.match, names))
        named = named and max(map(len, names)) <= _LONGEST_NAME
        if count and lines[1].count(delimiter) == count and named:
            return names
    return []


def _names_for(lines: Sequence[str]) -> list[str]:
    """Names for the columns of a table that begins with a row; empty where it is none, or has a header."""
    rows = [line for line in lines[:_LISTED] if line]
    if len(rows) < 2:
        return []
    for delimiter in sorted(_DELIMITERS, key=rows[0].count, reverse=True):
        cells = [[cell.strip().strip('"') for cell in row.split(delimiter)] for row in rows]
        alike = [row for row in cells if len(row) == len(cells[0])]
        if len(cells[0]) < 2 or len(alike) < 2:
            continue
        columns = list(zip(*alike, strict=True))
        time = next((at for at, each in enumerate(columns) if all(map(_INSTANT.match, each))), None)
        if time is not None:
            words = (at for at, each in enumerate(columns) if all(map(_WORD.fullmatch, each)))
            known = {next(words, int(not time)): "event_type", time: "time"}
            return [known.get(at, f"column{at + 1}") for at in range(len(columns))]
    return []


def _mapping(names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    """The option that says which of these is what, as far as their names, else their values, tell."""
    time = _first_of(_TIMES, names) or next(
        (name for name in names if _all(_WRITTEN.match, name, rows)), "TIME"
    )
    others = [name for name in names if name != time]
    if _all(_OF_DAY.match, time, rows):
        date = next((name for name in others if _all(_WRITTEN.fullmatch, name, rows)), None)
        if date is not None:
            others.remove(date)
            time = f"{date}+{time}"
    event_type = _first_of(_TYPES, others) or next(
        (name for name in others if _all(_WORD.fullmatch, name, rows)), (*others, "TYPE")[0]
    )
    pairs = ",".join(map(_quoted, (f"event_type={event_type}", f"time={time}")))
    option = f"--map {shlex.quote(pairs) if _UNSAFE.search(pairs) else pairs}"
    return f"{_NOT_TIMES}{option}" if time == "TIME" else f"say which are what: {option}"


def _cells(lines: Sequence[str]) -> list[dict[str, object]]:
    """The objects of some lines."""
    found = []
    for line in lines[:_LISTED]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _all(fits: Callable[[str], object], name: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether every value that there is under a name is a text that fits."""
    values = [value for row in rows if (value := row.get(name)) not in (None, "")]
    return bool(values) and all(isinstance(value, str) and fits(value) for value in values)


def _quoted(pair: str) -> str:
    """A pair as --map takes it, where quotes protect a comma."""
    return '"' + pair.replace('"', '""') + '"' if re.search('[,"]', pair) else pair


def _first_of(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    small = {name.lower(): name for name in reversed(names)}
    exact = next((small[name] for name in wanted if name in small), None)
    near = next((name for name in names if any(part in name.lower() for part in wanted[:2])), None)
    return exact or near


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    shown = [" ".join(name[:_SHOWN].split()) for name in names[:_LISTED]]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
