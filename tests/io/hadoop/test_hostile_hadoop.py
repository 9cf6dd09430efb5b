r"""Hadoop readers on damaged files: events, rejects or a documented error, and never anything else."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.formats import known_formats, recognised_format
from cepctl.io.hadoop.jhist import HadoopJobHistory
from cepctl.io.hadoop.jhist1 import HadoopOldJobHistory
from cepctl.io.hadoop.rumen import RumenTrace
from cepctl.io.hadoop.sls import SchedulerLoad

T0 = 1_240_335_960_000
TASK = "task_200904211745_0002_m_000010"
ATTEMPT = "attempt_200904211745_0002_m_000010_0"
HISTORY = "org.apache.hadoop.mapreduce.jobhistory"

FIELDS: dict[str, dict[str, object]] = {
    "JobSubmitted": {"jobid": "string", "jobName": ["null", "string"], "submitTime": "long"},
    "TaskStarted": {"taskid": "string", "taskType": "string", "startTime": "long"},
    "MapAttemptFinished": {
        "taskid": "string",
        "attemptId": "string",
        "mapFinishTime": "long",
        "finishTime": "long",
        "hostname": "string",
        "cpuUsages": {"type": "array", "items": "int"},
        "acls": {"type": "map", "values": "string"},
    },
}
KINDS = {
    "JobSubmitted": "JOB_SUBMITTED",
    "TaskStarted": "TASK_STARTED",
    "MapAttemptFinished": "MAP_ATTEMPT_FINISHED",
}
EVENTS = [
    ("JobSubmitted", {"jobid": "job_200904211745_0002", "jobName": "Sleep", "submitTime": T0}),
    ("TaskStarted", {"taskid": TASK, "taskType": "MAP", "startTime": T0 + 1}),
    (
        "MapAttemptFinished",
        {
            "taskid": TASK,
            "attemptId": ATTEMPT,
            "mapFinishTime": 0,
            "finishTime": T0 + 2,
            "hostname": "/r1/n1",
            "cpuUsages": [1, 2, 3],
            "acls": {"view": "*"},
        },
    ),
]


def schema() -> dict[str, object]:
    records = [
        {
            "type": "record",
            "name": name,
            "namespace": HISTORY,
            "fields": [{"name": field, "type": kind} for field, kind in fields.items()],
        }
        for name, fields in FIELDS.items()
    ]
    kinds = {"type": "enum", "name": "EventType", "symbols": list(KINDS.values())}
    fields = [{"name": "type", "type": kinds}, {"name": "event", "type": records}]
    return {"type": "record", "name": "Event", "namespace": HISTORY, "fields": fields}


def json_history() -> bytes:
    lines = [
        json.dumps({"type": KINDS[name], "event": {f"{HISTORY}.{name}": fields}}) for name, fields in EVENTS
    ]
    return "\n".join(["Avro-Json", json.dumps(schema()), *lines, ""]).encode()


def binary_history() -> bytes:
    output = io.BytesIO()
    parsed = fastavro.parse_schema(schema())
    for name, fields in EVENTS:
        event = (f"{HISTORY}.{name}", fields)
        fastavro.schemaless_writer(output, parsed, {"type": KINDS[name], "event": event})
    return b"Avro-Binary\n" + json.dumps(schema()).encode() + b"\n" + output.getvalue()


OLD_HISTORY = rf"""!!FILE=jt_1_job_1_ann_word+count!!
Meta VERSION="1" .
Job JOBID="job_200904211745_0002" JOBNAME="w \"c\"" SUBMIT_TIME="{T0}" JOBCONF="hdfs://nn\.x/job\.xml" .
Task TASKID="{TASK}" TASK_TYPE="MAP" START_TIME="{T0 + 2}" SPLITS="" .
MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_ATTEMPT_ID="{ATTEMPT}" START_TIME="{T0 + 3}" .
MapAttempt TASK_TYPE="MAP" TASK_ATTEMPT_ID="{ATTEMPT}" TASK_STATUS="FAILED" FINISH_TIME="{T0 + 4}" ERROR="e
	at x
" .
Task TASKID="{TASK}" TASK_STATUS="SUCCESS" FINISH_TIME="{T0 + 9}" COUNTERS="{{(A)(A)[(B)(b)(1)]}}" .
!!FILE=jt_1_job_1_conf.xml!!
<configuration/>
""".encode()

TRACE = {
    "jobID": "job_200904211745_0002",
    "mapTasks": [
        {
            "taskID": TASK,
            "taskType": "MAP",
            "startTime": T0,
            "attempts": [
                {
                    "attemptID": ATTEMPT,
                    "hostName": "/r1/n1",
                    "startTime": T0,
                    "finishTime": T0,
                    "cpu": [1, 2.5],
                }
            ],
            "finishTime": -1,
        }
    ],
    "submitTime": T0,
    "launchTime": -1,
    "finishTime": T0 + 9,
    "jobProperties": {"a": None},
}
LOAD = {
    "job.id": "job_1",
    "job.start.ms": 0,
    "job.end.ms": 9,
    "job.tasks": [{"container.host": "/r1/n1", "container.start.ms": 1, "container.end.ms": 2}],
}

FILES: dict[str, tuple[Reader, bytes]] = {
    "jhist": (HadoopJobHistory(), json_history()),
    "binary": (HadoopJobHistory(), binary_history()),
    "binary records": (HadoopJobHistory(), binary_history()),
    "jhist1": (HadoopOldJobHistory(), OLD_HISTORY),
    "rumen": (RumenTrace(), "\n".join([json.dumps(TRACE, indent=1)] * 3).encode()),
    "sls": (SchedulerLoad(), "\n".join([json.dumps(LOAD, indent=1)] * 3).encode()),
}


def read(reader: Reader, content: bytes) -> tuple[int, ReadReport]:
    """Read to the end; how many events there were."""
    report = ReadReport()
    options = ReadOptions(intervals=True)
    batches = reader.read(io.BytesIO(content), "log", options, report)
    return sum(batch.num_rows for batch in batches), report


AWKWARD = [b'"', b"\\", b"{", b"[" * 2_000, b"null", b"-1", b"\n", b" .\n", b"9" * 5_000, b"1e999"]
positions = st.integers(min_value=0, max_value=1 << 20)
mutations = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), positions, st.integers(1, 255)),
        st.tuples(st.just("cut"), positions, st.integers(1, 400)),
        st.tuples(st.just("insert"), positions, st.binary(min_size=1, max_size=30)),
        st.tuples(st.just("repeat"), positions, st.integers(1, 400)),
        st.tuples(
            st.just("insert"),
            positions,
            st.sampled_from(AWKWARD),
        ),
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


def mutated(content: bytes, changes: list[tuple[str, int, int | bytes]]) -> bytes:
    for kind, position, what in changes:
        place = position % (len(content) + 1)
        if isinstance(what, bytes):
            content = content[:place] + what + content[place:]
        elif kind == "flip" and place < len(content):
            content = content[:place] + bytes([content[place] ^ what]) + content[place + 1 :]
        elif kind == "cut":
            content = content[:place] + content[place + what :]
        elif kind == "repeat":
            content = content[:place] + content[place : place + what] + content[place:]
    return content


@pytest.mark.parametrize("name", FILES)
def test_undamaged_they_are_recognised_and_whole(name: str) -> None:
    reader, content = FILES[name]
    asked = [known for known in known_formats() if known.name != "json"]  # which takes any other JSON
    readers = [known.reader for known in asked if known.reader.recognises(content[: 1 << 16])]
    assert list(map(type, readers)) == [type(reader)]
    assert type(recognised_format(content, name).reader) is type(reader)
    events, report = read(reader, content)
    assert events >= 3
    assert report.rejects == []


@pytest.mark.parametrize("name", FILES)
@given(changes=mutations)
def test_damage_gives_events_rejects_or_a_documented_error(
    name: str, changes: list[tuple[str, int, int | bytes]]
) -> None:
    reader, content = FILES[name]
    # Without its schema a binary history cannot be read at all: damage what is behind it, too.
    schema_end = content.index(b"\n", 20) + 1 if name == "binary records" else 0
    damaged = content[:schema_end] + mutated(content[schema_end:], changes)
    reader.recognises(damaged[: 1 << 16])
    try:
        _, report = read(reader, damaged)
    except CepctlError as problem:
        assert str(problem).startswith("log")
    else:
        assert all(reject.source == "log" and reject.cause for reject in report.rejects)


@pytest.mark.parametrize("name", FILES)
def test_every_cut_keeps_what_came_before(name: str) -> None:
    reader, content = FILES[name]
    whole, _ = read(reader, content)
    counts = []
    first = content.index(b"\n", 20) + 1 if name.startswith("binary") else len(content) // 2
    for cut in range(first, len(content), 7):
        events, report = read(reader, content[:cut])
        counts.append(events)
        assert len(report.rejects) <= 1
    assert counts == sorted(counts)
    assert counts[-1] <= whole


@pytest.mark.parametrize("name", FILES)
def test_noise_is_never_an_event(name: str) -> None:
    reader, _ = FILES[name]
    for seed in range(20):
        noise = random.Random(seed).randbytes(5_000)
        assert not reader.recognises(noise)
        try:
            assert read(reader, noise)[0] == 0
        except CepctlError as problem:
            assert "log" in str(problem)


def deep(text: str) -> Callable[[int], bytes]:
    return lambda depth: text.replace("@", "[" * depth + "]" * depth).encode()


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (RumenTrace(), deep('{"jobID": "j", "mapTasks": [{"taskID": "t", "startTime": 9, "x": @}]}')),
        (RumenTrace(), deep('{"jobID": "j", "submitTime": 9, "x": @}')),
        (SchedulerLoad(), deep('{"job.id": "j", "job.tasks": [{"container.start.ms": 1, "x": @}]}')),
        (SchedulerLoad(), deep('{"job.id": "j", "job.start.ms": 9, "x": @}')),
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", [10, 900, 985, 990, 995, 1_000, 100_000])
def test_nesting_without_end_is_kept_or_rejected_and_never_fatal(
    reader: Reader, content: Callable[[int], bytes], depth: int
) -> None:
    events, report = read(reader, content(depth))
    assert events + len(report.rejects) > 0
