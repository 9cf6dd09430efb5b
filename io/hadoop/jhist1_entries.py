r"""Entries of a job history as Hadoop 0.20 and 1.x wrote it: `Kind KEY="value" ... .`

    in the file                                  what becomes of it
    entry over several lines                     goes on to a line that ends with ` .`
    entry cut short by the next, or by the end   rejected; kept where the file has no `Meta VERSION`
                                                 (before 0.20 entries had no ` .` at their end)
    \" \= \. \\ in a value                       the character itself
    !!FILE=name!! (joined histories)             begins another file; configurations are skipped
    lines that belong to no entry                rejected, adjacent ones together, but for damaged entries

A value holds no bare quote and, from `VERSION="1"` on, no bare dot, so neither the end of an entry
nor the first key of the next can stand inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.source.streams import Chunks, numbered_lines

BOM = b"\xef\xbb\xbf"
LONGEST_ENTRY = 1 << 24

_KINDS = rb"(?:Meta|Jobtracker|Job|Task|MapAttempt|ReduceAttempt)"
_FIRST_LINE = re.compile(_KINDS + rb" +[A-Z_]+=\"")
_KEY = re.compile(rb"[A-Z_]=\"")
_FILE = re.compile(rb"\f?!!FILE=(.*)!!\s*")
_KIND = re.compile(r"[A-Za-z]+")
_PAIR = re.compile(r'\s*([A-Z_0-9]+)="([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["=.\\])')
_CUT = "the entry is cut short"


@dataclass(frozen=True)
class Entry:
    """One entry: the line it begins on, its kind such as `MapAttempt`, its values by key."""

    line: int
    kind: str
    values: Mapping[str, str]


def is_history(head: bytes) -> bool:
    """Whether a file begins as such a history does."""
    lines = head.removeprefix(BOM).lstrip().split(b"\n", 1)
    return bool(_FILE.fullmatch(lines[0]) or _FIRST_LINE.match(lines[0]))


@dataclass
class _Entries:
    """The entry being gathered, and what was found out about the file so far."""

    source: str
    report: ReadReport
    lines: list[bytes] = field(default_factory=list)
    begin: int = 0
    size: int = 0
    versioned: bool = False
    in_configuration: bool = False
    strays: int = 0

    def take(self, number: int, line: bytes) -> Iterator[Entry]:
        """The entries that are known to be complete once this line was seen."""
        header = _FILE.fullmatch(line)
        if header:
            yield from self.end()
            self._begin_file(header[1])
        elif _FIRST_LINE.match(line):
            # Also in a configuration, where the name of the file behind it is damaged.
            self.in_configuration = False
            yield from self.end()
            self._begin(number, line)
            yield from self._complete(line)
        elif self.in_configuration:
            return
        elif self.lines:
            self._go_on(line)
            yield from self._complete(line)
        elif line.strip():
            self._stray(number, line)

    def end(self) -> Iterator[Entry]:
        """The entry that nothing more belongs to, where it can be used although it has no ` .`."""
        self.strays = 0
        if self.lines:
            text = self._text()
            entry = _parsed(text, self.begin)
            if entry is None or self.versioned:
                self._reject(self.begin, _CUT, b"\n".join(self.lines))
            else:
                yield entry
            self.lines = []

    def _begin_file(self, name: bytes) -> None:
        self.in_configuration = name.endswith(b"_conf.xml")
        self.versioned = False
        if self.in_configuration:
            self.report.records += 1
            self.report.skipped["configuration of a job"] += 1

    def go_over(self, empty: int) -> None:
        """Take in this many empty lines, which mean something only inside of an entry."""
        if self.lines and empty:
            self._go_on(b"\n" * min(empty - 1, LONGEST_ENTRY))

    def _begin(self, number: int, line: bytes) -> None:
        self.lines, self.begin, self.size = [], number, 0
        self._go_on(line)

    def _go_on(self, line: bytes) -> None:
        self.lines.append(line)
        self.size += len(line) + 1
        if self.size > LONGEST_ENTRY:
            self._reject(self.begin, "the entry is longer than 16 MB", self.lines[0])
            self.lines = []

    def _complete(self, line: bytes) -> Iterator[Entry]:
        if not self.lines or not line.rstrip().endswith(b" ."):
            return
        entry = _parsed(self._text(), self.begin)
        if entry is None:
            self._reject(self.begin, "the entry is damaged", b"\n".join(self.lines))
        else:
            self.versioned = self.versioned or (entry.kind == "Meta" and entry.values.get("VERSION") != "0")
            yield entry
        self.lines = []

    def _text(self) -> str:
        content = b"\n".join(self.lines)
        try:
            return content.decode()
        except UnicodeDecodeError:
            note = "bytes that are not UTF-8 were replaced"
            if not any(warning.startswith(note) for warning in self.report.warnings):
                self.report.warnings.append(f"{note}, the first in the entry at line {self.begin}")
            return content.decode(errors="replace")

    def _stray(self, number: int, line: bytes) -> None:
        self.strays += 1
        if self.strays == 1 or (line.rstrip().endswith(b'" .') and _KEY.search(line)):
            self._reject(number, "not an entry of a job history", line)

    def _reject(self, line: int, cause: str, raw: bytes) -> None:
        count = max(len(_FIRST_LINE.findall(raw)), 1)
        self.report.records += count
        self.report.rejects.append(Reject(self.source, line, cause, raw, count))


def read_entries(chunks: Chunks, source: str, report: ReadReport) -> Iterator[Entry]:
    """The entries of the file in file order; what is none goes to the report."""
    entries = _Entries(source, report)
    before = 0
    for number, line in numbered_lines(chunks, longest_gap=LONGEST_ENTRY):
        entries.go_over(number - before - 1)
        before = number
        if line == b"\r" and not entries.lines:
            continue
        yield from entries.take(number, line.removeprefix(BOM) if number == 1 else line)
    yield from entries.end()


def _parsed(text: str, line: int) -> Entry | None:
    """The entry, with or without the ` .` at its end; None when the text is none."""
    kind = _KIND.match(text)
    if kind is None:
        return None
    position, values = kind.end(), {}
    while found := _PAIR.match(text, position):
        written = found[2]
        values[found[1]] = _ESCAPED.sub(r"\1", written) if "\\" in written else written
        position = found.end()
    return Entry(line, kind[0], values) if text[position:].strip() in ("", ".") else None
