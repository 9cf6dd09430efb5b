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

What becomes of these records is the table of hadoop_events.py.  Keys become the fields of Hadoop 2
and so the same attributes (`TASKID` task_id, `JOBNAME` job_name, `STATE_STRING` state, ...), keys
that it does not know their lower-case names.  HOSTNAME is `/rack/host` or `host`: the rack becomes
`rack`.  Values stay as they are: a status says `SUCCESS`, where later versions say `SUCCEEDED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.events import EVENTS, OPTIONS
from cepctl.io.hadoop.held_back import history_events
from cepctl.io.hadoop.jhist1_entries import Entry, is_history, read_entries
from cepctl.io.hadoop.records import Record, rack_of
from cepctl.io.source.streams import Chunks

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
        """Yield the events of one file in file order; see hadoop_events.py for what becomes an event."""

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


def _record(entry: Entry) -> Record:
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
