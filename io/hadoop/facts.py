"""What the records of a history say of each other: hosts by task, and spans from a start to an end.

Jobs, tasks and attempts as interval events: their start from one record, their end from another.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.io.contract.batches import End
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.natural_columns import Value, natural_array
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions, ReadReport
from cepctl.io.hadoop.records import Record, attribute_name, job_id, micros, scalar, task_id, text
from cepctl.numeric.arrays import Indexes


@dataclass(slots=True)
class TaskAttempts:
    """The attempts of one task: where each ran, and which of them succeeded last."""

    hosts: dict[str, str | None] = field(default_factory=dict)
    succeeded: list[str] = field(default_factory=list)

    def see(self, record: Record, attempt: str) -> None:
        fields = record.fields
        raw = text(fields.get("hostname")) or text(fields.get("trackerName"))
        self.hosts[attempt] = raw or self.hosts.get(attempt)
        if self.succeeded and attempt in self.succeeded:
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
    """The facts of one history, or of the part of one that says all about its tasks.

    `untold` are the times that records of this kind of history do not have; any other that is missing is
    damage.  `spans` are there where interval events are asked for.
    """

    tasks: dict[str, TaskAttempts] = field(default_factory=dict)
    spans: OpenFacts | None = None
    untold: frozenset[str] = frozenset()

    def attempts_of(self, task: str | None) -> TaskAttempts:
        """The attempts of a task, of which more may become known."""
        known = self.tasks.get(task or "")
        if known is None:
            known = self.tasks[task or ""] = TaskAttempts()
        return known

    def see(self, record: Record) -> None:
        """Note where an attempt ran."""
        if "_ATTEMPT_" in record.kind:
            attempt = text(record.fields.get("attemptId"))
            if attempt:
                self.attempts_of(task_id(record.fields)).see(record, attempt)


def history_facts(
    records: Iterable[Record], options: ReadOptions, *, untold: frozenset[str] = frozenset()
) -> HistoryFacts:
    """Look through all records of a history before any becomes an event."""
    facts = HistoryFacts(spans=OpenFacts() if options.intervals else None, untold=untold)
    for record in records:
        facts.see(record)
        if facts.spans is not None:
            facts.spans.see(record)
    return facts


HOSTS = ("node", "node_raw")
Elsewhere = tuple[int, int, TaskAttempts, str | None, str | None]
"""Events whose host another record names: the first, how many, the attempts of their task, of which the
event's own, and the one that its record calls successful."""


@dataclass
class EventColumns:
    """Types, times and hosts of the events of a batch, at places that are told with them."""

    elsewhere: list[Elsewhere] = field(default_factory=list)
    _timed: list[tuple[Indexes, Any, Indexes, Any]] = field(default_factory=list)
    _hosts: list[tuple[Indexes, Any]] = field(default_factory=list)

    def add(
        self, places: Indexes, types: str | Sequence[str], times: Indexes, timed: Sequence[bool] | bool
    ) -> None:
        """Types of events, their microseconds since the epoch, and whether they have a time at all."""
        self._timed.append((places, types, times, timed))

    def add_hosts(self, places: Indexes, hosts: Sequence[str | None], rows: Indexes) -> None:
        """Hosts as the history writes them, and which events ran on which of them."""
        texts = np.empty(len(hosts), object)
        texts[:] = hosts
        self._hosts.append((places, texts[rows]))

    def arrays(self, count: int, numbered: int) -> dict[str, pa.Array]:
        """The columns that all raw events have, but for ends; numbers follow those of earlier batches."""
        types, times, known = np.empty(count, object), np.zeros(count, np.int64), np.zeros(count, bool)
        for places, type_, time, timed in self._timed:
            types[places], times[places], known[places] = type_, time, timed
        nothing = pa.array(np.zeros(count, np.int64))
        return {
            "number": pa.array(np.arange(numbered + 1, numbered + 1 + count)),
            "event_id": pa.nulls(count, RAW_COLUMNS["event_id"]),
            "event_type": pa.array(types, RAW_COLUMNS["event_type"]),
            "time": pa.array(times, mask=~known).cast(RAW_COLUMNS["time"]),
        } | {name: nothing.cast(RAW_COLUMNS[name]) for name in ("zone_seconds", "before", "after")}

    def hosts(self, count: int) -> list[str | None]:
        """The hosts that are known already."""
        texts = np.empty(count, object)
        for places, hosts in self._hosts:
            texts[places] = hosts
        known: list[str | None] = texts.tolist()
        return known


@dataclass(frozen=True)
class HeldBatch:
    """A batch of events, of which some take their host from attempts that may still become known.

    Its columns of hosts are null; `hosts` are those that are known.
    """

    batch: pa.RecordBatch
    hosts: list[str | None]
    elsewhere: list[Elsewhere]

    def with_hosts(self, options: ReadOptions) -> pa.RecordBatch:
        """The batch with its hosts, as they are known by now."""
        hosts = list(self.hosts)
        for first, count, attempts, attempt, successful in self.elsewhere:
            raw = attempts.hosts.get(attempt) if attempt else attempts.host(successful)
            hosts[first : first + count] = [raw] * count
        raws = dict.fromkeys(hosts)
        places = dict(zip(raws, range(len(raws)), strict=True))
        rows = pa.array(np.fromiter(map(places.__getitem__, hosts), np.int64, len(hosts)))
        nodes = [node_name(raw, options.drop_domain) for raw in raws]
        batch = self.batch
        for name, values in zip(HOSTS, (nodes, list(raws)), strict=True):
            array = natural_array(values).take(rows)
            batch = batch.set_column(batch.schema.get_field_index(name), name, array)
        return batch


_STARTS = {"STARTED": "startTime", "SUBMITTED": "submitTime", "INITED": "launchTime"}
_ENDS = frozenset({"FINISHED", "FAILED", "KILLED", "ERROR"})


@dataclass(frozen=True)
class LastingFact:
    """An interval event: its start in microseconds since the epoch, its end, what its start said."""

    event_type: str
    start: int
    end: End
    attributes: Mapping[str, Value]


@dataclass
class OpenFacts:
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

    def closed(self, record: Record) -> LastingFact | None:
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
        return LastingFact(entity[0], start, End(end), self.jobs.get(entity, {}))

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
