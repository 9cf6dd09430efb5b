"""Jobs, tasks and attempts as interval events: their start from one record, their end from another.

    event type     start                                     end
    Job            launchTime, else submitTime               finishTime of JOB_FINISHED, _FAILED, ...
    Task           startTime of TASK_STARTED                 finishTime of TASK_FINISHED, _FAILED
    TaskAttempt    startTime of ..._ATTEMPT_STARTED          finishTime of ..._ATTEMPT_FINISHED, ...

An interval event has the attributes of the record that ends it, without counters; a Job also those
of the records that began it (user, job name, queue).  What ends twice, such as an attempt
whose output was lost after it had succeeded, ends with the first.  What has only a start or only an
end is counted as skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepctl.io.contract.batches import End
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadReport
from cepctl.io.hadoop.records import Record, attribute_name, job_id, micros, scalar, text

_STARTS = {"STARTED": "startTime", "SUBMITTED": "submitTime", "INITED": "launchTime"}
_ENDS = frozenset({"FINISHED", "FAILED", "KILLED", "ERROR"})


@dataclass(frozen=True)
class Span:
    """An interval event: its start in microseconds since the epoch, its end, what its start said."""

    event_type: str
    start: int
    end: End
    attributes: Mapping[str, Value]


@dataclass
class Spans:
    """What began and what has ended so far in a history, by (event type, id)."""

    starts: dict[tuple[str, str], int] = field(default_factory=dict)
    jobs: dict[tuple[str, str], dict[str, Value]] = field(default_factory=dict)
    ended: set[tuple[str, str]] = field(default_factory=set)
    unstarted: int = 0

    def see(self, record: Record) -> None:
        """Note when something began."""
        entity, what = _entity(record), record.kind.rpartition("_")[2]
        time = micros(record.fields.get(_STARTS.get(what, "")))
        if entity is None or time is None:
            return
        # A submission and a launch both begin a job: the launch counts.
        if what != "SUBMITTED" or entity not in self.starts:
            self.starts[entity] = time
        if entity[0] == "Job":
            said = {attribute_name(name): scalar(name, value) for name, value in record.fields.items()}
            self.jobs.setdefault(entity, {}).update(said)

    def closed(self, record: Record) -> Span | None:
        """The interval event that this record ends, if it ends one."""
        entity = _entity(record)
        end = micros(record.fields.get("finishTime"))
        if entity is None or end is None or record.kind.rpartition("_")[2] not in _ENDS:
            return None
        if entity in self.ended:
            return None
        self.ended.add(entity)
        start = self.starts.get(entity)
        if start is None:
            self.unstarted += 1
            return None
        return Span(entity[0], start, End(end), self.jobs.get(entity, {}))

    def count_open(self, report: ReadReport) -> None:
        """Count what is not an interval event as half of it is missing; call it after the last record."""
        unended = len(self.starts.keys() - self.ended)
        if unended:
            report.skipped["not an interval event: started, but no end is known"] += unended
        if self.unstarted:
            report.skipped["not an interval event: ended, but no start is known"] += self.unstarted


def _entity(record: Record) -> tuple[str, str] | None:
    if record.kind.startswith("JOB_"):
        kind, name = "Job", job_id(record.fields)
    elif record.kind.startswith("TASK_"):
        kind, name = "Task", text(record.fields.get("taskid"))
    elif "_ATTEMPT_" in record.kind:
        kind, name = "TaskAttempt", text(record.fields.get("attemptId"))
    else:
        return None
    return (kind, name) if name else None
