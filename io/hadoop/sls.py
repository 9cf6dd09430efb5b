"""Workloads of the YARN scheduler load simulator (SLS): jobs and containers with relative times.

    object                                  time                  event type
    {"job.id", "job.tasks", ...}            job.start.ms          JobSubmit
                                            job.end.ms            JobFinish
    element of job.tasks                    container.start.ms    MapAttemptStart, ReduceAttemptStart;
                                                                  ContainerStart for other types
                                            container.end.ms      MapAttemptFinish, ReduceAttemptFinish;
                                                                  ContainerFinish for other types

A container may have `duration.ms` instead of its end, and a job no end; any other time that is missing is a
reject.  Times are milliseconds after the epoch of `ReadOptions.epoch`; without one they count from 1970, and
a warning says so.  Containers have no ids: `attempt_id` is made of the job's id, `#` and the place in
its `job.tasks`.  With `ReadOptions.intervals` a job is also a Job, a container a TaskAttempt.  Other
members become attributes (`job.queue.name` queue, `container.priority` priority, ...).  A list of
nodes (`{rack, nodes}`) is recognised; it holds no events and is counted as skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.hadoop.records import json_text, rack_of, scalar, text
from cepctl.io.source.json_documents import (
    Element,
    JsonDocument,
    first_members,
    flat_elements,
    read_documents,
)
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.streams import Chunks

_TASKS = "job.tasks"
_NODES = {"rack", "nodes"}
_NO_WORKLOAD = "a list of nodes is not a workload: it holds no events"
_NO_EPOCH = "times are relative and count from 1970-01-01; say with --epoch when they began"
_ATTRIBUTES = {"id": "job_id", "queue_name": "queue", "type": "task_type", "host": "node_raw"}
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_NO_TASKS = f"jobs without the list {_TASKS}, whose containers are not known: {{:,}}"
_HIDDEN = f"containers in a member of a job that is not {_TASKS}"


_END, _LENGTH, _END_OF_JOB = "container.end.ms", "duration.ms", "job.end.ms"
_STARTS = frozenset(("job.start.ms",))
_NEVER_SAID = object()
_NEARLY = 0.8


class SchedulerLoad:
    """Reader of the workloads that the scheduler load simulator runs."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the members of the first object: a job, or a list of nodes."""
        names = first_members(head, (_TASKS,))
        return _TASKS in names or "job.start.ms" in names or names >= _NODES

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one workload, containers before their job."""
        chunks = Chunks(stream)
        load = _Load(source, EventBatches(options), report, options.epoch or 0)
        for part in read_documents(chunks, (_TASKS,), source, report, _RECORDS):
            try:
                if isinstance(part, Element):
                    for each in flat_elements(part, source, report):
                        load.add_container(each)
                else:
                    load.add_job(part)
            except RecursionError:
                report.rejects.append(Reject(source, None, "nested too deeply", ""))
            if load.rows.full:
                yield load.rows.take()
        if options.epoch is None and load.dated:
            report.warnings.append(_NO_EPOCH)
        if len(load.rows):
            yield load.rows.take()
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _found(value: Any, _name: str, _: Mapping[str, Any]) -> FoundRecord | None:
    """A container of a damaged workload."""
    is_one = isinstance(value, dict) and any(name.startswith("container.") for name in value)
    return FoundRecord(_TASKS, value) if is_one else None


_RECORDS = Records('"container.start.ms"', _found)


@dataclass
class _Load:
    """The workload being read; `epoch` in microseconds since 1970."""

    source: str
    rows: EventBatches
    report: ReadReport
    epoch: int
    containers: int = 0
    dated: bool = False

    def add_container(self, element: Element) -> None:
        self.report.records += 1
        self.containers += 1
        if not isinstance(element.value, dict):
            self._reject(None, "not a container of a workload", json_text(element.value))
            return
        job = text(element.members.get("job.id"))
        attributes = _attributes(element.value, "container.")
        raw = text(attributes.pop("node_raw", None))
        task_type = str(attributes.get("task_type") or "").upper()
        ids: dict[str, Value] = {
            "job_id": job,
            "attempt_id": f"{job}#{self.containers}" if job else None,
            "node": node_name(raw, self.rows.options.drop_domain),
            "node_raw": raw,
            "rack": rack_of(raw),
            "task_type": task_type or None,
        }
        word = f"{task_type.capitalize()}Attempt" if task_type in ("MAP", "REDUCE") else "Container"
        self._add_pair(
            None,
            (f"{word}Start", f"{word}Finish", "TaskAttempt"),
            (element.value.get("container.start.ms"), _end_of(element.value)),
            ids | {name: value for name, value in attributes.items() if name not in ids},
        )

    def add_job(self, document: JsonDocument) -> None:
        self.containers = 0
        members = document.members
        if not document.whole and "job.start.ms" not in members:
            return
        self.report.records += 1
        if members.keys() >= _NODES:
            self.report.skipped["nodes of a rack"] += 1
            if _NO_WORKLOAD not in self.report.warnings:
                self.report.warnings.append(_NO_WORKLOAD)
        elif not any(name.startswith("job.") for name in members):
            names = ", ".join(members)
            self._reject(document.line, "not a job of a workload", names)
        else:
            if document.hidden:
                self.report.records += document.hidden
                self._reject(document.line, _HIDDEN, ", ".join(members), document.hidden)
            elif document.missing:
                self.report.notes[_NO_TASKS] += 1
            self._add_pair(
                document.line,
                ("JobSubmit", "JobFinish", "Job"),
                (members.get("job.start.ms"), _end_of_job(members)),
                {"job_id": None, **_attributes(members, "job.")},
            )

    def _add_pair(
        self,
        line: int | None,
        types: tuple[str, str, str],
        written: tuple[Any, Any],
        attributes: Mapping[str, Value],
    ) -> None:
        """Start and end as two events, and as one interval event where that is asked for."""
        times = [self._micros(value) for value in written]
        start, end = times
        if start is None and end is None:
            self.rows.add(types[0], None, attributes)
            return
        for event_type, time, value in zip(types[:2], times, written, strict=True):
            if value is _NEVER_SAID:
                self.report.skipped[f"{event_type}: the workload does not say when"] += 1
            elif time is None:
                self._reject(line, f"no time: {event_type}; the rest is kept", json_text(dict(attributes)))
            else:
                self.dated = True
                self.rows.add(event_type, time, attributes)
        if self.rows.options.intervals and start is not None and end is not None:
            self.rows.add(types[2], start, attributes, end=End(end))

    def _micros(self, value: Any) -> int | None:
        """A relative time in ms as microseconds since 1970; None when it is none, or no date."""
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        micros = self.epoch + value * 1000
        return micros if abs(micros) < LAST_SECOND * 1_000_000 else None

    def _reject(self, line: int | None, cause: str, raw: str, records: int = 1) -> None:
        self.report.rejects.append(Reject(self.source, line, cause, raw, records))


def _end_of(container: Mapping[str, Any]) -> Any:
    """When a container ends, which some workloads tell by how long it runs."""
    start, end, length = (container.get(name) for name in ("container.start.ms", _END, _LENGTH))
    if _END in container or not isinstance(start, int) or not isinstance(length, int):
        return end
    return start + length


def _end_of_job(members: Mapping[str, Any]) -> Any:
    """When a job ends: a workload need not say it, unless a member is nearly called so."""
    known = _END_OF_JOB in members or get_close_matches(_END_OF_JOB, members.keys() - _STARTS, 1, _NEARLY)
    return members.get(_END_OF_JOB) if known else _NEVER_SAID


def _attributes(members: Mapping[str, Any], prefix: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, value in members.items():
        bare = name.removeprefix(prefix).replace(".", "_")
        found[_ATTRIBUTES.get(bare, bare)] = scalar(bare, value)
    return found


FORMAT = LogFormat(
    name="sls",
    description="workload of the YARN scheduler load simulator (SLS, JSON)",
    events="JobSubmit, MapAttemptStart, MapAttemptFinish, ContainerStart, ..., JobFinish, counted from "
    "--epoch; with --intervals also Job, TaskAttempt",
    uncertainty="1 ms",
    example=(
        '{"job.id": "job_1", "job.user": "ann", "job.start.ms": 0, "job.end.ms": 9500,\n'
        ' "job.tasks": [{"container.host": "/rack1/n7", "container.start.ms": 100,\n'
        '  "container.end.ms": 5000, "container.type": "map"}]}\n'
    ),
    page="logs-hadoop.md",
    reader=SchedulerLoad(),
    options={"drop_domain": "Hadoop", "intervals": "Hadoop", "epoch": "simulator workloads"},
)
