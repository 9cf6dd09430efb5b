"""Event logs of Spark: one JSON object per line, in one file or rolled over several (`eventlog_v2_...`).

    record                           event                                       time
    ApplicationStart, -End           ApplicationStart, ApplicationFinish         Timestamp
    JobStart, JobEnd                 JobStart; JobFinish or JobFail              Submission, Completion Time
    StageSubmitted, StageCompleted   StageStart; StageFinish or StageFail        the same, of Stage Info
    TaskStart, TaskEnd               TaskStart; TaskFinish, TaskFail, TaskKill   Launch, Finish Time
    TaskGettingResult                TaskGettingResult                           Getting Result Time
    SQLExecutionStart, -End          SQLExecutionStart; -Finish or -Fail         time
    any other with a time            its own name (ExecutorAdded, ...)           Timestamp, time
    any other                        none; counted as skipped

The driver stamps all of them.  With `intervals` a task and a stage are also a Task and a Stage, from their
start to their end: the record that ends them knows both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any, NamedTuple

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.event_lines import lines_fit
from cepctl.io.source.json_objects import json_object
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.spark_history.fields import attributes_of

NOT_AN_EVENT = "not an event of Spark: a JSON object with Event"
_NEARLY = 0.85
_FIRST = re.compile(r'\s*\{\s*"Event"\s*:\s*"(?:SparkListener|org\.apache\.spark\.)')
_NAME = re.compile(r"(?:.*\.)?(?:SparkListener)?(\w+)", re.DOTALL)
_APPLICATION = re.compile(r"application_\d+_\d+|app-\d{14}-\d+|local-\d+|spark-[0-9a-f]{32}")
_BATCH_EVENTS = 20_000
_BATCH_BYTES = 32 << 20


class _Kind(NamedTuple):
    """What a record becomes: its type, and where its time stands."""

    event_type: str
    times: tuple[tuple[str, ...], ...]


_KINDS = {
    "ApplicationEnd": _Kind("ApplicationFinish", (("Timestamp",),)),
    "JobStart": _Kind("JobStart", (("Submission Time",),)),
    "JobEnd": _Kind("JobFinish", (("Completion Time",),)),
    "StageSubmitted": _Kind("StageStart", (("Stage Info", "Submission Time"),)),
    "StageCompleted": _Kind("StageFinish", (("Stage Info", "Completion Time"),)),
    "TaskStart": _Kind("TaskStart", (("Task Info", "Launch Time"),)),
    "TaskGettingResult": _Kind("TaskGettingResult", (("Task Info", "Getting Result Time"),)),
    "TaskEnd": _Kind("TaskFinish", (("Task Info", "Finish Time"),)),
    "SQLExecutionEnd": _Kind("SQLExecutionFinish", (("time",),)),
}
_ANY_TIME = (("Timestamp",), ("time",))
# The start of what a record ends, for --intervals.
_LASTING = {
    "TaskEnd": ("Task", ("Task Info", "Launch Time")),
    "StageCompleted": ("Stage", ("Stage Info", "Submission Time")),
}


class SparkEventLog:
    """Reader of event logs."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _FIRST.match)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file."""
        log = _EventLog(source, options, report, EventBatches(options))
        chunks = Chunks(utf8_stream(stream))
        size = 0
        for number, line in numbered_lines(chunks):
            raw = line.strip(b" \t\r\0")
            if not raw:
                continue
            report.records += 1
            cause = TOO_LONG if len(raw) > LONGEST_LINE else log.take(number, raw)
            if cause is not None:
                report.rejects.append(Reject(source, number, cause, raw))
            size += len(raw)
            if len(log.rows) >= _BATCH_EVENTS or log.rows.full or size >= _BATCH_BYTES:
                size = 0
                if len(log.rows):
                    yield log.rows.take()
        if len(log.rows):
            yield log.rows.take()
        chunks.tell_damage(source, report)


_LISTENED = tuple(f"SparkListener{kind}" for kind in _KINDS)


def _should_have_time(name: str) -> bool:
    """Whether an event of this name has one in every log, or has nearly the name of such an event."""
    if name in _KINDS:
        return "Stage" not in name
    return bool(get_close_matches(name, (*_KINDS, *_LISTENED), 1, _NEARLY))


@dataclass(frozen=True)
class _EventLog:
    """The file being read."""

    source: str
    options: ReadOptions
    report: ReadReport
    rows: EventBatches

    def take(self, number: int, raw: bytes) -> str | None:
        """Take one record; returns why it is a reject, None where it is none."""
        try:
            record = json_object(raw.decode("utf-8", "replace"))
        except NotUnicodeError:
            return NOT_UNICODE
        if record is None or not isinstance(record.get("Event"), str):
            return NOT_AN_EVENT
        found = _NAME.fullmatch(record["Event"])
        name = found[1] if found else record["Event"]
        kind = _KINDS.get(name) or _Kind(name, _ANY_TIME)
        written = next((value for path in kind.times if (value := _member(record, path)) is not None), None)
        if written is None and _should_have_time(name):
            return NO_TIME
        if written is None:
            # Stages that were never submitted, and what only describes the application.
            self.report.skipped[f"{name}: it has no time"] += 1
            return None
        micros = _micros(written)
        if micros is None:
            return NO_TIME
        attributes = attributes_of(record, self.options.drop_domain)
        application = _APPLICATION.search(self.source)
        if application is not None:
            attributes.setdefault("app_id", application[0])
        self.rows.add(_outcome(name, kind.event_type, record), micros, attributes, number=number)
        self._add_lasting(name, number, micros, record, attributes)
        return None

    def _add_lasting(
        self, name: str, number: int, end: int, record: Mapping[str, Any], attributes: Mapping[str, Value]
    ) -> None:
        if not self.options.intervals or name not in _LASTING:
            return
        event_type, path = _LASTING[name]
        start = _micros(_member(record, path))
        if start is None:
            self.report.skipped[
                f"not an interval event: a {event_type.lower()} whose start is not known"
            ] += 1
        else:
            self.rows.add(event_type, start, attributes, end=End(end), number=number)


def _outcome(name: str, event_type: str, record: Mapping[str, Any]) -> str:
    """The type of an event, by how what it ends came out."""
    if name == "TaskEnd":
        info = record.get("Task Info")
        reason = _member(record, ("Task End Reason", "Reason"))
        if reason == "TaskKilled" or (isinstance(info, dict) and info.get("Killed") is True):
            return "TaskKill"
        return event_type if reason in (None, "Success") else "TaskFail"
    failed = (
        (name == "StageCompleted" and _member(record, ("Stage Info", "Failure Reason")) is not None)
        or (name == "JobEnd" and _member(record, ("Job Result", "Result")) not in (None, "JobSucceeded"))
        or (name == "SQLExecutionEnd" and record.get("errorMessage") not in (None, ""))
    )
    return event_type.replace("Finish", "Fail") if failed else event_type


def _member(record: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = record
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _micros(value: Any) -> int | None:
    """A time in milliseconds as microseconds since 1970; 0 and less are no time, as Spark writes them."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < LAST_SECOND * 1000:
        return None
    return value * 1000


FORMAT = LogFormat(
    name="spark",
    description="event logs of Spark (history server), also rolled (eventlog_v2_...) and compressed",
    events="ApplicationStart, JobStart, StageStart, TaskStart, TaskFinish, TaskFail, ExecutorAdded, ...; "
    "with --intervals also Task, Stage",
    uncertainty="1 ms, by the clock of the driver",
    example=(
        '{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Task ID":1,'
        '"Executor ID":"2","Host":"node05","Launch Time":1781417703021}}\n'
    ),
    page="logs-spark.md",
    reader=SparkEventLog(),
    options={"drop_domain": "Spark", "intervals": "Spark"},
    lines=plain_lines,
)
