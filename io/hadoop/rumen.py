r"""Traces of Rumen: jobs with their tasks and attempts, as concatenated JSON objects.

Job > mapTasks, reduceTasks, otherTasks > attempts; each becomes the records of Hadoop 2 that
events.py turns into events:

    object     time                                     record
    job        submitTime, launchTime                   JOB_SUBMITTED, JOB_INITED
               finishTime                               JOB_FINISHED; by `outcome` JOB_FAILED, _KILLED
    task       startTime                                TASK_STARTED
               finishTime                               TASK_FINISHED; TASK_FAILED when `taskStatus` says
                                                        FAILED or KILLED
    attempt    startTime                                MAP_, REDUCE_, SETUP_ or CLEANUP_ATTEMPT_STARTED,
                                                        by the `taskType` of its task
               shuffleFinished, sortFinished,           ..._ATTEMPT_FINISHED; by `result` ..._FAILED,
               finishTime                               ..._KILLED

A time of -1 says that there is none: the record is counted as skipped, or, where an object has no time
at all, becomes one event without a time; a time that is missing or no number is a reject.  A task comes
with its attempts and before its job, whose fields may follow its tasks.  What describes the end
(`result`, counters, resource usage) is on the last event of its object, with -1 read as null; `jobID`,
`user` and the like on every one.  Old traces escape dots in host names (`n7\.example\.com`): they are
undone.

A topology (`{name, children}`) is recognised; it holds no events and is counted as skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.events import EVENTS, OPTIONS, HistoryEvents, tell_missing
from cepctl.io.hadoop.facts import history_facts
from cepctl.io.hadoop.records import Record, json_text, micros, rack_of, text
from cepctl.io.source.json_documents import (
    Element,
    JsonDocument,
    first_members,
    flat_elements,
    read_documents,
)
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.streams import Chunks

_TASK_LISTS = {"mapTasks": "MAP", "reduceTasks": "REDUCE", "otherTasks": "OTHER"}
_TOPOLOGY = {"name", "children"}
_NO_TRACE = "a topology (names of racks and hosts) is not a trace: it holds no events"
_FIELDS = {
    "jobID": "jobid",
    "taskID": "taskid",
    "attemptID": "attemptId",
    "hostName": "hostname",
    "result": "taskStatus",
    "outcome": "jobStatus",
    "shuffleFinished": "shuffleFinishTime",
    "sortFinished": "sortFinishTime",
    "vmemKbytes": "vMemKbytes",
}
# What stands once in every attempt.
_ATTEMPT = '"attemptID"'
_OF_JOBS = ("jobid", "jobName", "user", "queue", "priority")
_OF_TASKS = ("taskid", "taskType")
_OF_ATTEMPTS = ("taskid", "attemptId", "taskType", "hostname", "rackname")
_UNTOLD = frozenset(("mapFinishTime",))
_NO_LIST = "jobs without the list {} of their tasks: {{:,}}"
_NO_ATTEMPTS = "tasks without the list of their attempts: {:,}"
_HIDDEN = "tasks in a member of a job that is not a list of tasks"
_HIDDEN_ATTEMPTS = "attempts in a member of a task that is not their list"


class RumenTrace:
    """Reader of job traces that Rumen wrote."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the members of the first object: a job, or a topology."""
        names = first_members(head, _TASK_LISTS)
        return names >= _TOPOLOGY or (
            "jobID" in names and bool(names & (_TASK_LISTS.keys() | {"submitTime"}))
        )

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one trace, task by task; memory holds one task at a time."""
        chunks = Chunks(stream)
        rows = HistoryEvents(source, options, report)
        for part in read_documents(chunks, _TASK_LISTS, source, report, _RECORDS):
            if isinstance(part, Element):
                for each in flat_elements(part, source, report):
                    _add(_task_records(each, source, report), rows, source, report)
            else:
                _add(_job_records(part, source, report), rows, source, report)
            if rows.full:
                yield rows.take().with_hosts(options)
        if len(rows):
            yield rows.take().with_hosts(options)
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _add(records: list[Record], rows: HistoryEvents, source: str, report: ReadReport) -> None:
    try:
        facts = history_facts(records, rows.options, untold=_UNTOLD)
        for record in records:
            rows.add(record, facts)
    except RecursionError:
        report.rejects.append(Reject(source, None, "nested too deeply", records[0].kind))
        return
    if facts.spans is not None:
        facts.spans.count_open(report)


def _job_records(document: JsonDocument, source: str, report: ReadReport) -> list[Record]:
    fields = _fields(document.members)
    if text(fields.get("jobid")):
        _tell_tasks(document, source, report)
    else:
        if not document.whole:
            return []
        report.records += 1
        if document.members.keys() >= _TOPOLOGY:
            report.skipped["topology"] += 1
            if _NO_TRACE not in report.warnings:
                report.warnings.append(_NO_TRACE)
        else:
            names = ", ".join(map(str, document.members))
            report.rejects.append(Reject(source, document.line, "not a job of a Rumen trace", names))
        return []
    kinds: tuple[tuple[str, str], ...] = (
        ("JOB_SUBMITTED", "submitTime"),
        ("JOB_INITED", "launchTime"),
        (f"JOB_{_ending(fields.get('jobStatus'))}", "finishTime"),
    )
    if not document.whole:
        # The damage is a reject already: what it took away is not counted again.
        kinds = tuple((kind, time) for kind, time in kinds if micros(fields.get(time)) is not None)
    return _timed(kinds, fields, _OF_JOBS, source, document.line, report) if kinds else []


def _tell_tasks(document: JsonDocument, source: str, report: ReadReport) -> None:
    """Note which lists of tasks a job does not have; tasks that stand elsewhere in it are rejects."""
    report.notes.update(_NO_LIST.format(name) for name in document.missing)
    if document.hidden:
        names = ", ".join(document.members)
        report.records += document.hidden
        report.rejects.append(Reject(source, document.line, _HIDDEN, names, document.hidden))


def _found(value: Any, name: str, _: Mapping[str, Any]) -> FoundRecord | None:
    """A task of a damaged trace."""
    if not isinstance(value, dict) or "taskID" not in value or "attempts" not in value:
        return None
    task_type = value.get("taskType")
    return FoundRecord(next((key for key, of in _TASK_LISTS.items() if of == task_type), name), value)


_RECORDS = Records('"taskID"', _found)


def _task_records(element: Element, source: str, report: ReadReport) -> list[Record]:
    if not isinstance(element.value, dict):
        report.records += 1
        report.rejects.append(Reject(source, None, "not a task of a Rumen trace", str(element.value)))
        return []
    attempts = element.value.get("attempts")
    if not isinstance(attempts, list):
        report.notes[_NO_ATTEMPTS] += 1
        shown = json_text(element.value)
        if hidden := shown.count(_ATTEMPT):
            report.records += hidden
            report.rejects.append(Reject(source, None, _HIDDEN_ATTEMPTS, shown, hidden))
    fields = _fields({name: value for name, value in element.value.items() if name != "attempts"})
    task_type = text(fields.get("taskType")) or _TASK_LISTS[element.key]
    fields["taskType"] = task_type
    failed = fields.get("taskStatus") in ("FAILED", "KILLED")
    kinds = (("TASK_STARTED", "startTime"), ("TASK_FAILED" if failed else "TASK_FINISHED", "finishTime"))
    first, *last = _timed(kinds, fields, _OF_TASKS, source, None, report)
    records = [first]
    for attempt in attempts if isinstance(attempts, list) else ():
        if isinstance(attempt, dict):
            ids = {"taskid": fields.get("taskid"), "taskType": task_type}
            records += _attempt_records(task_type, ids | _fields(attempt), source, report)
        else:
            report.records += 1
            report.rejects.append(Reject(source, None, "not an attempt of a Rumen trace", str(attempt)))
    return records + last


def _attempt_records(task_type: str, fields: dict[str, Any], source: str, report: ReadReport) -> list[Record]:
    host = text(fields.get("hostname"))
    if host:
        fields["hostname"] = host.replace("\\.", ".")
        fields["rackname"] = rack_of(fields["hostname"])
    kinds = (
        (f"{task_type}_ATTEMPT_STARTED", "startTime"),
        (f"{task_type}_ATTEMPT_{_ending(fields.get('taskStatus'))}", "finishTime"),
    )
    return _timed(kinds, fields, _OF_ATTEMPTS, source, None, report)


def _fields(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members under the names that Hadoop 2 gives them; -1 says that something is not known."""
    return {
        _FIELDS.get(name, name): None if type(value) is int and value == -1 else value
        for name, value in members.items()
    }


def _ending(status: object) -> str:
    return str(status) if status in ("FAILED", "KILLED") else "FINISHED"


def _timed(
    kinds: tuple[tuple[str, str], ...],
    fields: Mapping[str, Any],
    common: tuple[str, ...],
    source: str,
    line: int | None,
    report: ReadReport,
) -> list[Record]:
    """A record for every time that is known, the last with all fields; one without a time if none is."""
    usable = [(kind, time) for kind, time in kinds if micros(fields.get(time)) is not None]
    for kind, time in kinds if usable else kinds[1:]:
        if kind not in dict(usable):
            report.records += 1
            tell_missing(source, line, kind, fields, time, report)
    known = usable or list(kinds[:1])
    records = []
    for kind, time in known[:-1]:
        names = (*common, time)
        records.append(Record(line, kind, {name: fields[name] for name in names if name in fields}))
    return [*records, Record(line, known[-1][0], fields)]


FORMAT = LogFormat(
    name="rumen",
    description="Rumen job trace (JSON), as it feeds GridMix and the scheduler load simulator",
    events=EVENTS,
    uncertainty="1 ms",
    example=(
        '{"jobID": "job_201102101103_0066", "user": "ann", "submitTime": 1297375411000,\n'
        ' "launchTime": 1297375412000, "finishTime": 1297375499000, "outcome": "SUCCESS",\n'
        ' "mapTasks": [], "reduceTasks": [], "otherTasks": []}\n'
    ),
    page="logs-hadoop.md",
    reader=RumenTrace(),
    options=OPTIONS,
)
