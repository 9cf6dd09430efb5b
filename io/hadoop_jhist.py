"""Job history of Hadoop 2 and 3 in its JSON form (`.jhist`, first line `Avro-Json`).

One event per usable time field of a record, in file order:

    record                        time field                     event type
    AM_STARTED                    startTime                      AMStart
    JOB_SUBMITTED, JOB_INITED     submitTime, launchTime         JobSubmit, JobStart
    JOB_FINISHED, _FAILED,        finishTime                     JobFinish, JobFail,
      _KILLED, _ERROR                                              JobKill, JobFail
    TASK_STARTED, _FINISHED,      startTime, finishTime          TaskStart, TaskFinish,
      _FAILED                                                      TaskFail
    MAP_ATTEMPT_FINISHED          mapFinishTime, finishTime      MapFinish, MapAttemptFinish
    REDUCE_ATTEMPT_FINISHED       shuffleFinishTime,             ShuffleFinish, SortFinish,
                                  sortFinishTime, finishTime       ReduceAttemptFinish
    SETUP_, CLEANUP_ATTEMPT_...   startTime, finishTime          SetupAttemptStart, ...
    any ..._ATTEMPT_FAILED        finishTime                     AttemptFail
    any ..._ATTEMPT_KILLED        finishTime                     AttemptKill

Records of every other type have no time of their own: they are counted as skipped, by type.  A
record of the types above whose times are all missing (0 or less) becomes one event without a
time.  Task records name no host, so the file is read twice: first for the host of every attempt.

Attributes are the fields of the record in snake_case (`job_id`, `user`, `queue`, `status`, ...).
What is no scalar is kept as JSON text; counters as `{group: {counter: value}}`, and only on the
last event of their record.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa

from cepctl.io.batches import EventBatches, Value
from cepctl.io.hadoop_jhist_records import BOM, MAGIC, MAGIC_BINARY, Record, read_records
from cepctl.io.hosts import node_name
from cepctl.io.reading import ReadOptions, ReadReport, Reject
from cepctl.io.streams import Chunks
from cepctl.io.times import LAST_SECOND

_COPY_IN_MEMORY_BYTES = 1 << 26

_TIMES: dict[str, tuple[tuple[str, str], ...]] = {
    "AM_STARTED": (("startTime", "AMStart"),),
    "JOB_SUBMITTED": (("submitTime", "JobSubmit"),),
    "JOB_INITED": (("launchTime", "JobStart"),),
    "JOB_FINISHED": (("finishTime", "JobFinish"),),
    "JOB_FAILED": (("finishTime", "JobFail"),),
    "JOB_KILLED": (("finishTime", "JobKill"),),
    "JOB_ERROR": (("finishTime", "JobFail"),),
    "TASK_STARTED": (("startTime", "TaskStart"),),
    "TASK_FINISHED": (("finishTime", "TaskFinish"),),
    "TASK_FAILED": (("finishTime", "TaskFail"),),
    "MAP_ATTEMPT_FINISHED": (("mapFinishTime", "MapFinish"), ("finishTime", "MapAttemptFinish")),
    "REDUCE_ATTEMPT_FINISHED": (
        ("shuffleFinishTime", "ShuffleFinish"),
        ("sortFinishTime", "SortFinish"),
        ("finishTime", "ReduceAttemptFinish"),
    ),
    "SETUP_ATTEMPT_FINISHED": (("finishTime", "SetupAttemptFinish"),),
    "CLEANUP_ATTEMPT_FINISHED": (("finishTime", "CleanupAttemptFinish"),),
} | {
    f"{kind.upper()}_ATTEMPT_{ending}": ((time, event_type),)
    for kind in ("Map", "Reduce", "Setup", "Cleanup")
    for ending, time, event_type in (
        ("STARTED", "startTime", f"{kind}AttemptStart"),
        ("FAILED", "finishTime", "AttemptFail"),
        ("KILLED", "finishTime", "AttemptKill"),
    )
}
_TIME_FIELDS = frozenset(name for times in _TIMES.values() for name, _ in times)

_ATTRIBUTES = {
    "jobid": "job_id",
    "taskid": "task_id",
    "userName": "user",
    "jobQueueName": "queue",
    "taskStatus": "status",
    "rackname": "rack",
    "hostname": "node_raw",
    "trackerName": "node_raw",
    "nodeManagerHost": "node_raw",
    "vMemKbytes": "virtual_memory_kbytes",
    "physMemKbytes": "physical_memory_kbytes",
}
_COUNTERS = frozenset({"counters", "mapCounters", "reduceCounters", "totalCounters"})
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENTITY_ID = re.compile(r"(?:job|task|attempt|appattempt|container(?:_e\d+)?)_(\d+_\d+)(?:_|$)")
_TASK_OF_ATTEMPT = re.compile(r"attempt_(\d+_\d+_[a-z]+_\d+)_\d+")


@dataclass
class _Task:
    """The attempts of one task: where each ran, and which of them succeeded last."""

    hosts: dict[str, str | None] = field(default_factory=dict)
    succeeded: list[str] = field(default_factory=list)

    def see(self, record: Record, attempt: str) -> None:
        raw = _text(record.fields.get("hostname")) or _text(record.fields.get("trackerName"))
        self.hosts[attempt] = raw or self.hosts.get(attempt)
        if attempt in self.succeeded:
            self.succeeded.remove(attempt)
        if record.kind.endswith("_FINISHED"):
            self.succeeded.append(attempt)

    def host(self, successful: str | None) -> str | None:
        """Host of the successful attempt, else of the only one, else None."""
        if successful in self.hosts:
            return self.hosts[successful]
        if self.succeeded:
            return self.hosts[self.succeeded[-1]]
        return next(iter(self.hosts.values())) if len(self.hosts) == 1 else None


class HadoopJobHistory:
    """Reader of `.jhist` files in the Avro-Json form."""

    name = "jhist"
    description = "Hadoop 2 and 3 job history (.jhist, Avro-Json)"

    def recognises(self, head: bytes) -> bool:
        """Tell from the first line; the binary form counts too, so that reading can say what to do."""
        return head.removeprefix(BOM).lstrip().startswith((MAGIC, MAGIC_BINARY))

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one job history; see the module for what becomes an event.

        Raises
        ------
        LogFormatError
            If the first line is not `Avro-Json`.
        """
        with tempfile.SpooledTemporaryFile(max_size=_COPY_IN_MEMORY_BYTES) as copy:
            chunks = Chunks(stream)
            copy.writelines(chunks)
            tasks = _tasks(read_records(_from_start(copy), source, ReadReport()))
            rows = EventBatches(options)
            for record in read_records(_from_start(copy), source, report):
                try:
                    _add_events(record, tasks, rows, report)
                except RecursionError:
                    report.rejects.append(Reject(source, record.line, "nested too deeply", record.kind))
                if rows.full:
                    yield rows.take()
            if len(rows):
                yield rows.take()
            if chunks.damage:
                report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _from_start(copy: IO[bytes]) -> Chunks:
    copy.seek(0)
    return Chunks(copy)


def _tasks(records: Iterator[Record]) -> dict[str, _Task]:
    tasks: dict[str, _Task] = {}
    for record in records:
        attempt = _text(record.fields.get("attemptId"))
        if attempt and "_ATTEMPT_" in record.kind:
            tasks.setdefault(_task_id(record, attempt), _Task()).see(record, attempt)
    return tasks


def _task_id(record: Record, attempt: str | None) -> str:
    given = _text(record.fields.get("taskid"))
    found = _TASK_OF_ATTEMPT.fullmatch(attempt or "")
    return given or (f"task_{found[1]}" if found else "")


def _add_events(record: Record, tasks: Mapping[str, _Task], rows: EventBatches, report: ReadReport) -> None:
    report.records += 1
    times = _TIMES.get(record.kind)
    if times is None:
        report.skipped[record.kind] += 1
        return
    usable = [(micros, name) for field, name in times if (micros := _micros(record.fields.get(field)))]
    attributes = _attributes(record, tasks, rows.options)
    counters = {name: _compact_counters(record.fields[name]) for name in _COUNTERS & record.fields.keys()}
    for micros, event_type in usable[:-1]:
        rows.add(event_type, micros, attributes)
    last_time, last_type = usable[-1] if usable else (None, times[-1][1])
    rows.add(
        last_type,
        last_time,
        attributes | {_attribute_name(name): counters[name] for name in sorted(counters)},
    )


def _attributes(record: Record, tasks: Mapping[str, _Task], options: ReadOptions) -> dict[str, Value]:
    """Ids and host first, then every field of the record but its counters."""
    fields = {
        _attribute_name(name): _scalar(name, value)
        for name, value in record.fields.items()
        if name not in _COUNTERS
    }
    attempt = _text(record.fields.get("attemptId"))
    task_id = _task_id(record, attempt) or None
    raw = _text(fields.pop("node_raw", None))
    task = tasks.get(task_id or "")
    if task and not raw:
        successful = _text(record.fields.get("successfulAttemptId"))
        raw = task.hosts.get(attempt) if attempt else task.host(successful)
    ids: dict[str, Value] = {
        "job_id": _text(fields.pop("job_id", None)) or _job_id(record.fields),
        "task_id": task_id,
        "attempt_id": attempt,
        "node": node_name(raw, options.drop_domain),
        "node_raw": raw,
    }
    return ids | {name: value for name, value in fields.items() if name not in ids}


def _job_id(fields: Mapping[str, Any]) -> str | None:
    for name in ("taskid", "attemptId", "applicationAttemptId", "containerId"):
        found = _ENTITY_ID.match(_text(fields.get(name)) or "")
        if found:
            return f"job_{found[1]}"
    return None


def _attribute_name(field: str) -> str:
    return _ATTRIBUTES.get(field) or _CAPITAL.sub("_", field).lower()


def _scalar(name: str, value: Any) -> Value:
    """A field as an attribute: missing times and empty collections null, nested values JSON text."""
    if name in _TIME_FIELDS and _micros(value) is None:
        return None
    if isinstance(value, dict | list):
        return _json_text(value) if value else None
    return value  # type: ignore[no-any-return]


def _compact_counters(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    try:
        groups = {
            group["name"]: {count["name"]: count["value"] for count in group.get("counts", ())}
            for group in value.get("groups", ())
        }
    except (KeyError, TypeError, AttributeError):
        return _json_text(value)
    return _json_text(groups) if groups else None


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _micros(value: Any) -> int | None:
    """Epoch milliseconds as microseconds; None when missing (0 or less, no integer, after the year 9999)."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < (LAST_SECOND + 1) * 1000:
        return None
    return value * 1000


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
