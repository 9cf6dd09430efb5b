r"""Job history of Hadoop 0.20 and 1.x, brought to the records of Hadoop 2.

An entity is spread over several entries; each becomes the record that Hadoop 2 would have written:

    entry                                     record
    Job with SUBMIT_TIME                      JOB_SUBMITTED
    Job with LAUNCH_TIME                      JOB_INITED
    Job with both (a restart repeats them)    JOB_INFO_CHANGED
    Job with FINISH_TIME                      JOB_FINISHED, JOB_FAILED or JOB_KILLED, by JOB_STATUS
    Job with JOB_PRIORITY or JOB_STATUS only  JOB_PRIORITY_CHANGED, JOB_STATUS_CHANGED
    Task with START_TIME                      TASK_STARTED
    Task with FINISH_TIME and TASK_STATUS     TASK_FINISHED, or TASK_FAILED unless it succeeded
    Task with FINISH_TIME alone               TASK_UPDATED
    MapAttempt, ReduceAttempt                 MAP_, REDUCE_, SETUP_ or CLEANUP_ATTEMPT_STARTED, _FINISHED,
                                              _FAILED, _KILLED, by TASK_TYPE and TASK_STATUS
    any of these without its time             none: rejected
    Meta, Jobtracker                          no events: counted as skipped

What becomes of these records is the table of events.py.  Keys become the fields of Hadoop 2
and so the same attributes (`TASKID` task_id, `JOBNAME` job_name, `STATE_STRING` state, ...), keys
that it does not know their lower-case names.  HOSTNAME is `/rack/host` or `host`: the rack becomes
`rack`.  Values stay as they are: a status says `SUCCESS`, where later versions say `SUCCEEDED`.

Entries of a job history as Hadoop 0.20 and 1.x wrote it: `Kind KEY="value" ... .`

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
from difflib import get_close_matches
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.events import EVENTS, OPTIONS, history_events
from cepctl.io.hadoop.records import Record, rack_of
from cepctl.io.source.streams import Chunks, numbered_lines

BOM = b"\xef\xbb\xbf"
LONGEST_ENTRY = 1 << 24

_KINDS = rb"(?:Meta|Jobtracker|Job|Task|MapAttempt|ReduceAttempt)"
_LINES_LOOKED_AT, _FEWEST_LINES = 40, 5
_FIRST_LINE = re.compile(_KINDS + rb" +[A-Z_]+=\"")
_KEY = re.compile(rb"[A-Z_]=\"")
_FILE = re.compile(rb"\f?!!FILE=(.*)!!\s*")
_KIND = re.compile(r"[A-Za-z]+")
_PAIR = re.compile(r'\s*([A-Z_0-9]+)="([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["=.\\])')
_CUT = "the entry is cut short"


@dataclass(frozen=True)
class HistoryEntry:
    """One entry: the line it begins on, its kind such as `MapAttempt`, its values by key."""

    line: int
    kind: str
    values: Mapping[str, str]


def is_history(head: bytes) -> bool:
    """Whether a file begins as such a history does, and more of its first lines are of one."""
    first, *lines = head.removeprefix(BOM).lstrip().split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
    entries = sum(_FIRST_LINE.match(line) is not None for line in lines)
    begins = _FILE.fullmatch(first) or _FIRST_LINE.match(first)
    alone = len(lines) >= _FEWEST_LINES and not entries
    return bool(begins and not alone) or entries > max(_FEWEST_LINES, len(lines) / 2)


@dataclass
class _HistoryEntries:
    """The entry being gathered, and what was found out about the file so far."""

    source: str
    report: ReadReport
    lines: list[bytes] = field(default_factory=list)
    begin: int = 0
    size: int = 0
    versioned: bool = False
    in_configuration: bool = False
    strays: int = 0

    def take(self, number: int, line: bytes) -> Iterator[HistoryEntry]:
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

    def end(self) -> Iterator[HistoryEntry]:
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

    def _complete(self, line: bytes) -> Iterator[HistoryEntry]:
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


def read_entries(chunks: Chunks, source: str, report: ReadReport) -> Iterator[HistoryEntry]:
    """The entries of the file in file order; what is none goes to the report."""
    entries = _HistoryEntries(source, report)
    before = 0
    for number, line in numbered_lines(chunks, longest_gap=LONGEST_ENTRY):
        entries.go_over(number - before - 1)
        before = number
        if line == b"\r" and not entries.lines:
            continue
        yield from entries.take(number, line.removeprefix(BOM) if number == 1 else line)
    yield from entries.end()


def _parsed(text: str, line: int) -> HistoryEntry | None:
    """The entry, with or without the ` .` at its end; None when the text is none."""
    kind = _KIND.match(text)
    if kind is None:
        return None
    position, values = kind.end(), {}
    while found := _PAIR.match(text, position):
        written = found[2]
        values[found[1]] = _ESCAPED.sub(r"\1", written) if "\\" in written else written
        position = found.end()
    return HistoryEntry(line, kind[0], values) if text[position:].strip() in ("", ".") else None


_FIELDS = {
    "JOBID": "jobid",
    "JOBNAME": "jobName",
    "USER": "userName",
    "JOBCONF": "jobConfPath",
    "JOB_QUEUE": "jobQueueName",
    "JOB_PRIORITY": "priority",
    "JOB_STATUS": "jobStatus",
    "TASKID": "taskid",
    "TASK_ATTEMPT_ID": "attemptId",
    "TASK_TYPE": "taskType",
    "TASK_STATUS": "taskStatus",
    "HOSTNAME": "hostname",
    "TRACKER_NAME": "trackerName",
    "STATE_STRING": "state",
    "ERROR": "error",
    "SPLITS": "splitLocations",
    "COUNTERS": "counters",
    "MAP_COUNTERS": "mapCounters",
    "REDUCE_COUNTERS": "reduceCounters",
}
_NUMBERS = {
    "SUBMIT_TIME": "submitTime",
    "LAUNCH_TIME": "launchTime",
    "START_TIME": "startTime",
    "FINISH_TIME": "finishTime",
    "SHUFFLE_FINISHED": "shuffleFinishTime",
    "SORT_FINISHED": "sortFinishTime",
    "TOTAL_MAPS": "totalMaps",
    "TOTAL_REDUCES": "totalReduces",
    "FINISHED_MAPS": "finishedMaps",
    "FINISHED_REDUCES": "finishedReduces",
    "FAILED_MAPS": "failedMaps",
    "FAILED_REDUCES": "failedReduces",
    "HTTP_PORT": "httpPort",
}
# Maps only say when they finished.
_UNTOLD = frozenset(("mapFinishTime",))
_ATTEMPT_TYPES = frozenset({"MAP", "REDUCE", "SETUP", "CLEANUP"})
# Entries without times of their own, and what one of them says at least.
_ENOUGH: dict[str, tuple[str, ...]] = {
    "JOB_STATUS_CHANGED": ("JOB_STATUS",),
    "JOB_PRIORITY_CHANGED": ("JOB_PRIORITY",),
    "TASK_UPDATED": ("START_TIME", "FINISH_TIME"),
}
_TELLING = ("SUBMIT_TIME", "LAUNCH_TIME", "START_TIME", "FINISH_TIME", "TASK_STATUS")
_NEARLY = 0.8
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


class HadoopOldJobHistory:
    """Reader of job histories of Hadoop 0.20 and 1.x, also of several joined in one file."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first line: an entry, or the name of a joined file."""
        return is_history(head)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file in file order; see events.py for what becomes an event."""

        def records(copy: IO[bytes], notes: ReadReport) -> Iterator[Record]:
            for entry in read_entries(Chunks(copy), source, notes):
                record = _record(entry)
                if _lost_its_time(record.kind, entry.values):
                    notes.records += 1
                    said = " ".join(f'{key}="{value}"' for key, value in entry.values.items())
                    notes.rejects.append(Reject(source, entry.line, NO_TIME, f"{entry.kind} {said}"))
                else:
                    yield record

        yield from history_events(Chunks(stream), records, source, options, report, untold=_UNTOLD)


def _record(entry: HistoryEntry) -> Record:
    kind = _kind(entry.kind, entry.values)
    fields: dict[str, Any] = {}
    for key, value in entry.values.items():
        if key in _NUMBERS:
            fields[_NUMBERS[key]] = int(value) if _INTEGER.fullmatch(value) else value
        else:
            fields[_FIELDS.get(key, key.lower())] = value
    if kind.startswith("JOB_") and "counters" in fields:
        fields["totalCounters"] = fields.pop("counters")
    if kind.startswith("TASK_") and "attemptId" in fields:
        role = "failedDueToAttempt" if kind == "TASK_FAILED" else "successfulAttemptId"
        fields[role] = fields.pop("attemptId")
    rack = rack_of(entry.values.get("HOSTNAME"))
    if rack:
        fields["rackname"] = rack
    return Record(entry.line, kind, fields)


def _kind(kind: str, values: Mapping[str, str]) -> str:
    """The type of the record that Hadoop 2 would have written."""
    if kind == "Job":
        return _job_kind(values)
    if kind == "Task":
        if "TASK_STATUS" in values and "FINISH_TIME" in values:
            return "TASK_FINISHED" if values["TASK_STATUS"].startswith("SUCC") else "TASK_FAILED"
        return "TASK_STARTED" if "START_TIME" in values else "TASK_UPDATED"
    if kind in ("MapAttempt", "ReduceAttempt"):
        given = values.get("TASK_TYPE", "")
        task_type = given if given in _ATTEMPT_TYPES else kind.removesuffix("Attempt").upper()
        return f"{task_type}_ATTEMPT_{_ending(values)}"
    return kind


def _lost_its_time(kind: str, values: Mapping[str, str]) -> bool:
    """Whether an entry that gives no event would, were it not damaged."""
    if kind.endswith("_ATTEMPT_UPDATED"):
        return True
    needed = _ENOUGH.get(kind)
    if needed is None:
        return False
    strange = values.keys() - _FIELDS.keys() - _NUMBERS.keys()
    nearly = any(get_close_matches(key, _TELLING, 1, _NEARLY) for key in strange)
    return nearly or values.keys().isdisjoint(needed)


def _job_kind(values: Mapping[str, str]) -> str:
    if "FINISH_TIME" in values:
        status = values.get("JOB_STATUS")
        return f"JOB_{status}" if status in ("FAILED", "KILLED") else "JOB_FINISHED"
    if "SUBMIT_TIME" in values or "LAUNCH_TIME" in values:
        if "SUBMIT_TIME" in values and "LAUNCH_TIME" in values:
            return "JOB_INFO_CHANGED"
        return "JOB_SUBMITTED" if "SUBMIT_TIME" in values else "JOB_INITED"
    return "JOB_PRIORITY_CHANGED" if "JOB_PRIORITY" in values else "JOB_STATUS_CHANGED"


def _ending(values: Mapping[str, str]) -> str:
    status = values.get("TASK_STATUS", "")
    for beginning, ending in (("SUCC", "FINISHED"), ("FAILED", "FAILED"), ("KILLED", "KILLED")):
        if status.startswith(beginning):
            return ending
    return "STARTED" if "START_TIME" in values else "UPDATED"


FORMAT = LogFormat(
    name="jhist1",
    description="Hadoop 0.20 and 1.x job history",
    events=EVENTS,
    uncertainty="1 ms",
    example=('Job JOBID="job_200904211745_0002" JOBNAME="sort" USER="ann" SUBMIT_TIME="1240335960000" .\n'),
    page="logs-hadoop.md",
    reader=HadoopOldJobHistory(),
    options=OPTIONS,
)
