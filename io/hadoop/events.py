"""From the records of a Hadoop history to events: one per usable time field of a record.

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
record of the types above whose times are all missing (0 or less) becomes one event without a time.
With `ReadOptions.intervals` the record that ends a job, task or attempt is also the interval event
that it closes (hadoop_spans.py).

Attributes are the fields of the record in snake_case (`job_id`, `user`, `queue`, `status`, ...).
What is not a scalar is kept as JSON text; counters as `{group: {counter: value}}`, and only on the
last event of their record.  Task records name no host; it is that of the attempt that succeeded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.counters import COUNTER_FIELDS, compact_counters
from cepctl.io.hadoop.records import (
    Record,
    attribute_name,
    job_id,
    micros,
    scalar,
    task_id,
    text,
)
from cepctl.io.hadoop.spans import Spans

# Of every format of histories, for its LogFormat.
EVENTS = (
    "JobSubmit, JobStart, TaskStart, MapAttemptStart, MapAttemptFinish, JobFinish, ...; with --intervals "
    "also Job, Task, TaskAttempt"
)
OPTIONS = {"drop_domain": "Hadoop", "intervals": "Hadoop"}

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


@dataclass
class _Attempts:
    """The attempts of one task: where each ran, and which of them succeeded last."""

    hosts: dict[str, str | None] = field(default_factory=dict)
    succeeded: list[str] = field(default_factory=list)

    def see(self, record: Record, attempt: str) -> None:
        raw = text(record.fields.get("hostname")) or text(record.fields.get("trackerName"))
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


@dataclass
class HistoryFacts:
    """What records say of each other: hosts of attempts by task, and when jobs, tasks, attempts began.

    `times_complete` says that in this kind of history every record has all the times of its kind.
    """

    tasks: dict[str, _Attempts] = field(default_factory=dict)
    spans: Spans | None = None
    times_complete: bool = False


def history_facts(
    records: Iterable[Record], options: ReadOptions, *, times_complete: bool = False
) -> HistoryFacts:
    """Look through all records of a history before any becomes an event."""
    facts = HistoryFacts(spans=Spans() if options.intervals else None, times_complete=times_complete)
    for record in records:
        attempt = text(record.fields.get("attemptId"))
        if attempt and "_ATTEMPT_" in record.kind:
            facts.tasks.setdefault(task_id(record.fields) or "", _Attempts()).see(record, attempt)
        if facts.spans is not None:
            facts.spans.see(record)
    return facts


def add_events(record: Record, facts: HistoryFacts, rows: EventBatches, report: ReadReport) -> None:
    """Append the events of one record, or count it as skipped.

    Raises
    ------
    RecursionError
        If a field is nested too deeply to be kept.
    """
    report.records += 1
    times = _TIMES.get(record.kind)
    if times is None:
        report.skipped[record.kind] += 1
        return
    usable = [(time, name) for field, name in times if (time := micros(record.fields.get(field)))]
    if facts.times_complete and usable:
        known = {name for _, name in usable}
        report.skipped.update(f"{name} without a time" for _, name in times if name not in known)
    attributes = _attributes(record, facts, rows.options)
    counters = {name: compact_counters(record.fields[name]) for name in COUNTER_FIELDS & record.fields.keys()}
    for time, event_type in usable[:-1]:
        rows.add(event_type, time, attributes)
    last_time, last_type = usable[-1] if usable else (None, times[-1][1])
    rows.add(
        last_type,
        last_time,
        attributes | {attribute_name(name): counters[name] for name in sorted(counters)},
    )
    if facts.spans is not None and (span := facts.spans.closed(record)):
        rows.add(span.event_type, span.start, {**span.attributes, **attributes}, end=span.end)


def _attributes(record: Record, facts: HistoryFacts, options: ReadOptions) -> dict[str, Value]:
    """Ids and host first, then every field of the record but its counters."""
    fields = {
        attribute_name(name): scalar(name, value)
        for name, value in record.fields.items()
        if name not in COUNTER_FIELDS
    }
    attempt = text(record.fields.get("attemptId"))
    task = task_id(record.fields)
    raw = text(fields.pop("node_raw", None))
    attempts = facts.tasks.get(task or "")
    if attempts and not raw:
        successful = text(record.fields.get("successfulAttemptId"))
        raw = attempts.hosts.get(attempt) if attempt else attempts.host(successful)
    ids: dict[str, Value] = {
        "job_id": job_id(record.fields),
        "task_id": task,
        "attempt_id": attempt,
        "node": node_name(raw, options.drop_domain),
        "node_raw": raw,
    }
    return ids | {name: value for name, value in fields.items() if name not in ids}
