#!/usr/bin/env python3
"""Writes sample_data/logs: three minutes of a small cluster, with one task that maxed out a node.

    job_..._0042.jhist   a MapReduce job of 16 maps and 3 reduces on six nodes
    gmond-1.xml, -2.xml  what a script got that asked gmond every 10 s
    tickets.xes          what the operators did about it

The planted cause is the map task CULPRIT on node04: while it runs, samples of cpu_user are above
95, after it below 70.  Two other tasks overlap it on that node.  node02 is as busy, but with
tasks that each take more than a minute.

The bytes are the same on every machine and Python: only random.Random.random is used, whose
sequence for a seed is guaranteed.  Usage: make_sample_data.py [FOLDER]
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

SEED = 20100915
EPOCH = 1_772_528_400  # 2026-03-03T09:00:00Z; all other times are seconds after it
CLUSTER_START = 1_772_009_204_117
JOB = f"job_{CLUSTER_START}_0042"
CULPRIT = 11

NODES = ("node01", "node02", "node03", "node04", "node05", "node06")
IDLE_LOAD, MAP_LOAD, REDUCE_LOAD, CULPRIT_LOAD = 8.0, 30.0, 20.0, 95.0
SAMPLE_EVERY, POLL_EVERY, POLLS = 15, 10, 20


@dataclass(frozen=True)
class Task:
    """One task: `m` or `r`, its number, where it ran and when, in seconds after EPOCH."""

    kind: str
    number: int
    node: str
    start: float
    finish: float
    failed_on: str | None = None

    @property
    def load(self) -> float:
        if self.kind == "r":
            return REDUCE_LOAD
        return CULPRIT_LOAD if self.number == CULPRIT else MAP_LOAD

    def named(self, what: str) -> str:
        return f"{what}_{JOB.removeprefix('job_')}_{self.kind}_{self.number:06d}"


TASKS = (
    Task("m", 0, "node01", 8.213, 41.870),
    Task("m", 1, "node01", 8.226, 39.402),
    Task("m", 2, "node02", 8.241, 68.115),
    Task("m", 3, "node02", 8.257, 70.934),
    Task("m", 4, "node03", 8.270, 44.655),
    Task("m", 5, "node03", 8.284, 62.308, failed_on="node05"),
    Task("m", 6, "node04", 8.299, 47.121),
    Task("m", 7, "node04", 8.311, 50.046),
    Task("m", 8, "node05", 8.330, 43.577),
    Task("m", 9, "node06", 8.345, 49.201),
    Task("m", 10, "node04", 82.104, 99.018),
    Task("m", CULPRIT, "node04", 90.052, 123.071),
    Task("m", 12, "node04", 116.133, 133.225),
    Task("m", 13, "node02", 12.402, 75.660),
    Task("m", 14, "node01", 46.518, 80.249),
    Task("m", 15, "node06", 52.097, 88.812),
    Task("r", 0, "node01", 135.310, 165.742),
    Task("r", 1, "node03", 135.322, 170.236),
    Task("r", 2, "node06", 135.335, 158.904),
)
JOB_SUBMIT, JOB_INIT, JOB_FINISH = 1.004, 8.120, 171.305

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


def main(folder: Path) -> None:
    """Write all files of the story into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(SEED)
    files = {f"{JOB}.jhist": job_history(chance), "tickets.xes": tickets()}
    polls = gmond_polls(chance)
    half = len(polls) // 2
    files["gmond-1.xml"], files["gmond-2.xml"] = "".join(polls[:half]), "".join(polls[half:])
    for name, text in files.items():
        (folder / name).write_bytes(text.encode("latin-1" if name.endswith(".xml") else "utf-8"))


def millis(seconds: float) -> int:
    return EPOCH * 1000 + round(seconds * 1000)


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
            began = launched + 14.2
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


@dataclass(frozen=True)
class Sample:
    """A value that gmond received at `arrival`, in seconds after EPOCH."""

    arrival: float
    value: str


@dataclass(frozen=True)
class Metric:
    name: str
    type: str
    units: str
    tmax: int
    slope: str
    group: str


METRICS = (
    Metric("cpu_user", "float", "%", 90, "both", "cpu"),
    Metric("load_one", "float", " ", 70, "both", "load"),
    Metric("mem_free", "float", "KB", 180, "both", "memory"),
    Metric("os_name", "string", "", 1200, "zero", "system"),
)
DOCTYPE = """<!DOCTYPE GANGLIA_XML [
   <!ELEMENT GANGLIA_XML (GRID|CLUSTER|HOST)*>
      <!ATTLIST GANGLIA_XML VERSION CDATA #REQUIRED>
      <!ATTLIST GANGLIA_XML SOURCE CDATA #REQUIRED>
   <!ELEMENT CLUSTER (HOST | HOSTS | METRICS)*>
      <!ATTLIST CLUSTER NAME CDATA #REQUIRED>
      <!ATTLIST CLUSTER LOCALTIME CDATA #REQUIRED>
   <!ELEMENT HOST (METRIC)*>
      <!ATTLIST HOST NAME CDATA #REQUIRED>
      <!ATTLIST HOST IP CDATA #REQUIRED>
      <!ATTLIST HOST REPORTED CDATA #REQUIRED>
      <!ATTLIST HOST TN CDATA #IMPLIED>
      <!ATTLIST HOST TMAX CDATA #IMPLIED>
      <!ATTLIST HOST DMAX CDATA #IMPLIED>
   <!ELEMENT METRIC (EXTRA_DATA*)>
      <!ATTLIST METRIC NAME CDATA #REQUIRED>
      <!ATTLIST METRIC VAL CDATA #REQUIRED>
      <!ATTLIST METRIC TYPE (string | int8 | uint8 | int16 | uint16 | int32 | uint32 |
                             float | double | timestamp) #REQUIRED>
      <!ATTLIST METRIC UNITS CDATA #IMPLIED>
      <!ATTLIST METRIC TN CDATA #IMPLIED>
      <!ATTLIST METRIC TMAX CDATA #IMPLIED>
      <!ATTLIST METRIC DMAX CDATA #IMPLIED>
      <!ATTLIST METRIC SLOPE (zero | positive | negative | both | unspecified) #IMPLIED>
   <!ELEMENT EXTRA_DATA (EXTRA_ELEMENT*)>
   <!ELEMENT EXTRA_ELEMENT EMPTY>
      <!ATTLIST EXTRA_ELEMENT NAME CDATA #REQUIRED>
      <!ATTLIST EXTRA_ELEMENT VAL CDATA #REQUIRED>
]>
"""


def gmond_polls(chance: random.Random) -> list[str]:
    """What gmond answered, poll by poll; a sample stays in its answers until the next one arrives."""
    samples = {node: node_samples(node, place, chance) for place, node in enumerate(NODES)}
    return [poll(3.7 + POLL_EVERY * number, samples) for number in range(POLLS)]


def node_samples(node: str, place: int, chance: random.Random) -> dict[str, list[Sample]]:
    """Samples of all metrics of a node; node04 sends on the quarter minute, the others a bit later."""
    phase = (place - NODES.index("node04")) % len(NODES) * 2.3 + 0.4
    cpu, load = [], []
    for step in range(-1, POLLS * POLL_EVERY // SAMPLE_EVERY + 1):
        arrival = phase + SAMPLE_EVERY * step
        cpu.append(Sample(arrival, f"{min(mean_load(node, arrival) + chance.random(), 100):.1f}"))
        load.append(Sample(arrival + 1, f"{mean_load(node, arrival) / 25 + 0.2 * chance.random():.2f}"))
    memory = [Sample(phase - 20 + 60 * step, f"{5e6 + 2e6 * chance.random():.0f}") for step in range(4)]
    return {"cpu_user": cpu, "load_one": load, "mem_free": memory, "os_name": [Sample(phase - 300, "Linux")]}


def mean_load(node: str, arrival: float) -> float:
    """Mean CPU of a node over the 15 s before a sample, in percent, short of 100 by a little."""
    total = 0.0
    for second in range(SAMPLE_EVERY):
        moment = arrival - second - 0.5
        running = sum(task.load for task in TASKS if task.node == node and task.start <= moment < task.finish)
        total += min(IDLE_LOAD + running, 98.8)
    return total / SAMPLE_EVERY


def poll(moment: float, samples: dict[str, dict[str, list[Sample]]]) -> str:
    hosts = "".join(host(moment, node, samples[node]) for node in NODES)
    return (
        '<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>\n'
        f'{DOCTYPE}<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond">\n'
        f'<CLUSTER NAME="reports" LOCALTIME="{EPOCH + int(moment)}" OWNER="operations" LATLONG="unspecified" '
        f'URL="unspecified">\n{hosts}</CLUSTER>\n</GANGLIA_XML>\n'
    )


def host(moment: float, node: str, metrics: dict[str, list[Sample]]) -> str:
    newest = {
        name: max((sample for sample in found if sample.arrival <= moment), key=lambda sample: sample.arrival)
        for name, found in metrics.items()
    }
    heard = max(sample.arrival for sample in newest.values())
    lines = [metric(described, newest[described.name], moment) for described in METRICS]
    reported = EPOCH + int(heard // 1)
    return (
        f'<HOST NAME="{node}" IP="10.0.0.{NODES.index(node) + 1}" REPORTED="{reported}" '
        f'TN="{int(moment - heard)}" TMAX="20" DMAX="0" LOCATION="unspecified" '
        f'GMOND_STARTED="{EPOCH - 86_400}">\n'
        f"{''.join(lines)}</HOST>\n"
    )


def metric(described: Metric, sample: Sample, moment: float) -> str:
    return (
        f'<METRIC NAME="{described.name}" VAL={quoteattr(sample.value)} TYPE="{described.type}" '
        f'UNITS="{described.units}" TN="{int(moment - sample.arrival)}" TMAX="{described.tmax}" DMAX="0" '
        f'SLOPE="{described.slope}">\n<EXTRA_DATA>\n'
        f'<EXTRA_ELEMENT NAME="GROUP" VAL="{described.group}"/>\n</EXTRA_DATA>\n</METRIC>\n'
    )


STEPS = {
    "alert": (("Alert raised", 0, "monitor"),),
    "opened": (("Alert raised", 0, "monitor"), ("Ticket opened", 2, "Bo")),
    "solved": (
        ("Alert raised", 0, "monitor"), ("Ticket opened", 3, "Bo"), ("Node inspected", 9, "Cleo"),
        ("Owner informed", 21, "Bo"), ("Ticket closed", 64, "Cleo"),
    ),
    "false alarm": (("Alert raised", 0, "monitor"), ("Ticket opened", 4, "Ida"), ("Ticket closed", 6, "Ida")),
    "reopened": (
        ("Alert raised", 0, "monitor"), ("Ticket opened", 5, "Ida"), ("Node inspected", 12, "Cleo"),
        ("Ticket closed", 30, "Ida"), ("Ticket reopened", 95, "Bo"), ("Node drained", 103, "Cleo"),
        ("Owner informed", 110, "Bo"), ("Ticket closed", 240, "Cleo"),
    ),
}  # fmt: skip
CASES = (
    ("T-311", "solved", "node04", -1490), ("T-312", "false alarm", "node02", -1302),
    ("T-313", "false alarm", "node06", -640), ("T-314", "solved", "node02", -71),
    ("T-315", "reopened", "node04", 3), ("T-316", "opened", "node05", 41),
    ("T-317", "alert", "node02", 44),
)  # fmt: skip


def tickets() -> str:
    """The operators' tickets, one case each; they write their times in local time, to the minute."""
    traces = "".join(ticket(*case) for case in CASES)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">\n'
        '\t<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>\n'
        '\t<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>\n'
        '\t<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>\n'
        f'\t<classifier name="Activity" keys="concept:name"/>\n{traces}</log>\n'
    )


def ticket(case: str, course: str, node: str, raised: int) -> str:
    berlin = timezone(timedelta(hours=1))
    lines = [
        f'\t<trace>\n\t\t<string key="concept:name" value="{case}"/>\n'
        f'\t\t<string key="node" value="{node}"/>\n'
    ]
    for activity, minutes, resource in STEPS[course]:
        moment = datetime.fromtimestamp(EPOCH, berlin) + timedelta(minutes=raised + minutes)
        written = moment.isoformat(timespec="milliseconds")
        lines.append(
            f'\t\t<event>\n\t\t\t<string key="concept:name" value="{activity}"/>\n'
            f'\t\t\t<string key="org:resource" value="{resource}"/>\n'
            f'\t\t\t<date key="time:timestamp" value="{written}"/>\n\t\t</event>\n'
        )
    return "".join([*lines, "\t</trace>\n"])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent / "sample_data" / "logs")
