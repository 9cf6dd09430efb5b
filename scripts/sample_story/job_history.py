"""The job history of the story, in Avro's JSON encoding."""

from __future__ import annotations

import json
import random
from typing import Any

from sample_story.story import (
    FAILED_ATTEMPT_SECONDS,
    JOB,
    JOB_FINISH,
    JOB_INIT,
    JOB_SUBMIT,
    TASKS,
    Task,
    millis,
)

LONG, INT, TEXT = "long", "int", "string"
COUNTERS = {
    "name": "JhCounters", "type": "record",
    "fields": [
        {"name": "name", "type": TEXT},
        {"name": "groups", "type": {"type": "array", "items": {
            "name": "JhCounterGroup", "type": "record",
            "fields": [
                {"name": "name", "type": TEXT},
                {"name": "displayName", "type": TEXT},
                {"name": "counts", "type": {"type": "array", "items": {
                    "name": "JhCounter", "type": "record",
                    "fields": [
                        {"name": "name", "type": TEXT},
                        {"name": "displayName", "type": TEXT},
                        {"name": "value", "type": LONG},
                    ]}}},
            ]}}},
    ],
}  # fmt: skip
RECORDS: dict[str, dict[str, str]] = {
    "AMStarted": {"applicationAttemptId": TEXT, "startTime": LONG, "containerId": TEXT,
                  "nodeManagerHost": TEXT, "nodeManagerPort": INT, "nodeManagerHttpPort": INT},
    "JobSubmitted": {"jobid": TEXT, "jobName": TEXT, "userName": TEXT, "submitTime": LONG,
                     "jobConfPath": TEXT, "jobQueueName": TEXT},
    "JobQueueChange": {"jobid": TEXT, "jobQueueName": TEXT},
    "JobInited": {"jobid": TEXT, "launchTime": LONG, "totalMaps": INT, "totalReduces": INT,
                  "jobStatus": TEXT, "uberized": "boolean"},
    "JobInfoChange": {"jobid": TEXT, "submitTime": LONG, "launchTime": LONG},
    "TaskStarted": {"taskid": TEXT, "taskType": TEXT, "startTime": LONG, "splitLocations": TEXT},
    "TaskAttemptStarted": {"taskid": TEXT, "taskType": TEXT, "attemptId": TEXT, "startTime": LONG,
                           "trackerName": TEXT, "httpPort": INT, "shufflePort": INT, "containerId": TEXT,
                           "locality": TEXT, "avataar": TEXT},
    "MapAttemptFinished": {"taskid": TEXT, "attemptId": TEXT, "taskType": TEXT, "taskStatus": TEXT,
                           "mapFinishTime": LONG, "finishTime": LONG, "hostname": TEXT, "port": INT,
                           "rackname": TEXT, "state": TEXT, "counters": "JhCounters"},
    "ReduceAttemptFinished": {"taskid": TEXT, "attemptId": TEXT, "taskType": TEXT, "taskStatus": TEXT,
                              "shuffleFinishTime": LONG, "sortFinishTime": LONG, "finishTime": LONG,
                              "hostname": TEXT, "port": INT, "rackname": TEXT, "state": TEXT,
                              "counters": "JhCounters"},
    "TaskAttemptUnsuccessfulCompletion": {"taskid": TEXT, "taskType": TEXT, "attemptId": TEXT,
                                          "finishTime": LONG, "hostname": TEXT, "port": INT,
                                          "rackname": TEXT, "status": TEXT, "error": TEXT},
    "TaskFinished": {"taskid": TEXT, "taskType": TEXT, "finishTime": LONG, "status": TEXT,
                     "successfulAttemptId": TEXT},
    "JobFinished": {"jobid": TEXT, "finishTime": LONG, "finishedMaps": INT, "finishedReduces": INT,
                    "failedMaps": INT, "failedReduces": INT},
}  # fmt: skip
PACKAGE = "org.apache.hadoop.mapreduce.jobhistory"


def job_history(chance: random.Random) -> str:
    """The job in Avro's JSON encoding: opening records, then tasks in the order of their times."""
    ids = {"jobid": JOB}
    submit, init = millis(JOB_SUBMIT), millis(JOB_INIT)
    application = JOB.removeprefix("job_")
    opening = [
        record("AM_STARTED", "AMStarted", f"appattempt_{application}_000001", millis(4.517),
               f"container_{application}_01_000001", "node01", 45454, 8042),
        record("JOB_SUBMITTED", "JobSubmitted", *ids.values(), "page views by hour", "ana", submit,
               f"hdfs://node01:8020/staging/ana/{JOB}/job.xml", "reports"),
        record("JOB_QUEUE_CHANGED", "JobQueueChange", *ids.values(), "root.reports"),
        record("JOB_INITED", "JobInited", *ids.values(), init, 16, 3, "INITED", False),
        record("JOB_INFO_CHANGED", "JobInfoChange", *ids.values(), submit, init),
    ]  # fmt: skip
    timed = [entry for task in TASKS for entry in task_records(task, chance)]
    closing = record("JOB_FINISHED", "JobFinished", JOB, millis(JOB_FINISH), 16, 3, 0, 0)
    lines = [*opening, *(line for _, line in sorted(timed, key=lambda entry: entry[0])), closing]
    return "\n".join(["Avro-Json", schema(), *lines]) + "\n"


def schema() -> str:
    events: list[Any] = []
    seen_counters = False
    for name, fields in RECORDS.items():
        described = []
        for field, kind in fields.items():
            first = kind == "JhCounters" and not seen_counters
            seen_counters = seen_counters or first
            described.append({"name": field, "type": COUNTERS if first else kind})
        events.append({"type": "record", "name": name, "fields": described})
    kinds = {"type": "enum", "name": "EventType", "symbols": sorted(EVENT_TYPES)}
    fields = [{"name": "type", "type": kinds}, {"name": "event", "type": events}]
    return compact({"type": "record", "name": "Event", "namespace": PACKAGE, "fields": fields})


EVENT_TYPES = {
    "AM_STARTED", "JOB_SUBMITTED", "JOB_QUEUE_CHANGED", "JOB_INITED", "JOB_INFO_CHANGED", "TASK_STARTED",
    "MAP_ATTEMPT_STARTED", "REDUCE_ATTEMPT_STARTED", "MAP_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FINISHED",
    "MAP_ATTEMPT_FAILED", "TASK_FINISHED", "JOB_FINISHED",
}  # fmt: skip


def record(event_type: str, name: str, *values: Any) -> str:
    """One line of the history; the values in the order of the record's fields."""
    assert event_type in EVENT_TYPES
    fields = dict(zip(RECORDS[name], values, strict=True))
    return compact({"type": event_type, "event": {f"{PACKAGE}.{name}": fields}})


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def task_records(task: Task, chance: random.Random) -> list[tuple[float, str]]:
    """All records of a task and its attempts, each with its time."""
    task_id, kind = task.named("task"), "MAP" if task.kind == "m" else "REDUCE"
    hosts = [host for host in (task.failed_on, task.node) if host]
    began = task.start
    entries = [(began, record("TASK_STARTED", "TaskStarted", task_id, kind, millis(began), task.node))]
    for attempt, host in enumerate(hosts):
        attempt_id = f"{task.named('attempt')}_{attempt}"
        launched = began + 0.9 + 0.8 * chance.random()
        container = f"container_{JOB.removeprefix('job_')}_01_{len(TASKS) * attempt + task.number + 2:06d}"
        started = record(f"{kind}_ATTEMPT_STARTED", "TaskAttemptStarted", task_id, kind, attempt_id,
                         millis(launched), host, 8042, 13562, container, "NODE_LOCAL", "VIRGIN")  # fmt: skip
        entries.append((launched, started))
        if attempt < len(hosts) - 1:
            began = launched + FAILED_ATTEMPT_SECONDS
            error = "Error: java.io.IOException: No space left on device"
            failed = record("MAP_ATTEMPT_FAILED", "TaskAttemptUnsuccessfulCompletion", task_id, kind,
                            attempt_id, millis(began), host, 45454, "/rack1", "FAILED", error)  # fmt: skip
            entries.append((began, failed))
    done = task.finish
    entries.append((done, attempt_finished(task, attempt_id, chance)))
    finished = record("TASK_FINISHED", "TaskFinished", task_id, kind, millis(done), "SUCCEEDED", attempt_id)
    return [*entries, (done + 0.0001, finished)]


def attempt_finished(task: Task, attempt_id: str, chance: random.Random) -> str:
    done, task_id = task.finish, task.named("task")
    where = (task.node, 45454, "/rack1" if task.node < "node04" else "/rack2")
    values = {
        "CPU_MILLISECONDS": int((done - task.start) * task.load * 10),
        "SPILLED_RECORDS": int(90_000 + 20_000 * chance.random()),
    }
    counts = [{"name": name, "displayName": name, "value": value} for name, value in values.items()]
    group = {
        "name": "org.apache.hadoop.mapreduce.TaskCounter",
        "displayName": "Map-Reduce Framework",
        "counts": counts,
    }
    counters = {"name": "COUNTERS", "groups": [group]}
    if task.kind == "m":
        times = (millis(done - 0.2 - 0.3 * chance.random()), millis(done))
        return record("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", task_id, attempt_id, "MAP", "SUCCEEDED",
                      *times, *where, "map", counters)  # fmt: skip
    shuffled = task.start + 8 + 3 * chance.random()
    times = (millis(shuffled), millis(shuffled + 0.4), millis(done))
    return record("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", task_id, attempt_id, "REDUCE",
                  "SUCCEEDED", *times, *where, "reduce > reduce", counters)  # fmt: skip
