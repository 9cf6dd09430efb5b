"""Job histories become events with the words of a person, each with its host."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.jhist import HadoopJobHistory

READER = HadoopJobHistory()
SCHEMA = json.dumps({"type": "record", "name": "Event", "namespace": "n", "fields": []})
T0 = 1_329_348_443_000
JOB = "job_1329348432655_0001"
TASK = "task_1329348432655_0001_m_000000"
ATTEMPT = "attempt_1329348432655_0001_m_000000_0"


def record(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "event": {f"org.apache.hadoop.mapreduce.jobhistory.{kind}": fields}})


def history(*records: str) -> bytes:
    return "\n".join(["Avro-Json", SCHEMA, *records, ""]).encode()


def read(
    content: bytes, options: ReadOptions | None = None, report: ReadReport | None = None
) -> list[dict[str, Any]]:
    batches = READER.read(io.BytesIO(content), "job.jhist", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in with_epoch_time(batch)]


def with_epoch_time(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    micros = batch.column("time").cast(pa.int64()).to_pylist()
    return [row | {"time": time} for row, time in zip(batch.to_pylist(), micros, strict=True)]


def test_a_map_attempt_that_finished_is_two_events_each_at_its_own_time() -> None:
    rows = read(
        history(
            record(
                "MAP_ATTEMPT_FINISHED", taskid=TASK, attemptId=ATTEMPT, taskStatus="SUCCEEDED",
                mapFinishTime=T0, finishTime=T0 + 5, hostname="n7", rackname="/r1", port=45454,
            )
        )
    )  # fmt: skip
    assert [(row["event_type"], row["time"]) for row in rows] == [
        ("MapFinish", T0 * 1000),
        ("MapAttemptFinish", (T0 + 5) * 1000),
    ]
    assert [row["number"] for row in rows] == [1, 2]
    for row in rows:
        assert row["job_id"] == "job_1329348432655_0001"
        assert (row["task_id"], row["attempt_id"]) == (TASK, ATTEMPT)
        assert (row["node"], row["node_raw"], row["rack"], row["status"]) == ("n7", "n7", "/r1", "SUCCEEDED")


def test_a_reduce_attempt_that_finished_is_three_events() -> None:
    rows = read(
        history(
            record("REDUCE_ATTEMPT_FINISHED", shuffleFinishTime=T0, sortFinishTime=T0 + 1, finishTime=T0 + 2)
        )
    )
    assert [row["event_type"] for row in rows] == ["ShuffleFinish", "SortFinish", "ReduceAttemptFinish"]


@pytest.mark.parametrize(
    ("kind", "field", "event_type"),
    [
        ("AM_STARTED", "startTime", "AMStart"),
        ("JOB_SUBMITTED", "submitTime", "JobSubmit"),
        ("JOB_INITED", "launchTime", "JobStart"),
        ("JOB_FINISHED", "finishTime", "JobFinish"),
        ("JOB_FAILED", "finishTime", "JobFail"),
        ("JOB_KILLED", "finishTime", "JobKill"),
        ("TASK_STARTED", "startTime", "TaskStart"),
        ("TASK_FINISHED", "finishTime", "TaskFinish"),
        ("TASK_FAILED", "finishTime", "TaskFail"),
        ("MAP_ATTEMPT_STARTED", "startTime", "MapAttemptStart"),
        ("REDUCE_ATTEMPT_STARTED", "startTime", "ReduceAttemptStart"),
        ("MAP_ATTEMPT_FAILED", "finishTime", "AttemptFail"),
        ("REDUCE_ATTEMPT_KILLED", "finishTime", "AttemptKill"),
        ("SETUP_ATTEMPT_STARTED", "startTime", "SetupAttemptStart"),
        ("CLEANUP_ATTEMPT_FINISHED", "finishTime", "CleanupAttemptFinish"),
    ],
)
def test_every_record_with_a_time_has_its_word(kind: str, field: str, event_type: str) -> None:
    (row,) = read(history(record(kind, **{field: T0})))
    assert (row["event_type"], row["time"]) == (event_type, T0 * 1000)


def test_records_without_a_time_of_their_own_are_skipped_by_type() -> None:
    report = ReadReport()
    rows = read(
        history(
            record("JOB_INFO_CHANGED", submitTime=T0, launchTime=T0),
            record("JOB_QUEUE_CHANGED", jobQueueName="q"),
            record("JOB_QUEUE_CHANGED", jobQueueName="p"),
            record("SOMETHING_NEW", finishTime=T0),
        ),
        report=report,
    )
    assert rows == []
    assert report.skipped == {"JOB_INFO_CHANGED": 1, "JOB_QUEUE_CHANGED": 2, "SOMETHING_NEW": 1}
    assert (report.records, report.rejects) == (4, [])


def test_a_time_of_zero_or_less_is_missing() -> None:
    rows = read(
        history(
            record("MAP_ATTEMPT_FINISHED", mapFinishTime=0, finishTime=T0),
            record("TASK_STARTED", startTime=-1),
        )
    )
    assert [(row["event_type"], row["time"]) for row in rows] == [
        ("MapAttemptFinish", T0 * 1000),
        ("TaskStart", None),
    ]
    assert rows[0]["map_finish_time"] is None


def started(number: int, host: str) -> str:
    return record(
        "MAP_ATTEMPT_STARTED",
        taskid=TASK,
        attemptId=f"{ATTEMPT[:-1]}{number}",
        startTime=T0,
        trackerName=host,
    )


def ended(kind: str, number: int, host: str) -> str:
    return record(
        f"MAP_ATTEMPT_{kind}", taskid=TASK, attemptId=f"{ATTEMPT[:-1]}{number}", finishTime=T0, hostname=host
    )


TASK_START = record("TASK_STARTED", taskid=TASK, startTime=T0)


def node_of_the_task(*records: str) -> str | None:
    nodes = {
        row["node"] for row in read(history(TASK_START, *records)) if row["event_type"].startswith("Task")
    }
    (node,) = nodes
    return cast("str | None", node)


def test_a_task_ran_where_its_successful_attempt_ran() -> None:
    finish = record("TASK_FINISHED", taskid=TASK, finishTime=T0)
    attempts = [started(0, "n1"), started(1, "n2"), ended("FINISHED", 1, "n2"), ended("KILLED", 0, "n1")]
    assert node_of_the_task(*attempts, finish) == "n2"


def test_a_success_that_was_lost_later_counts_no_more() -> None:
    lost = [started(0, "n1"), ended("FINISHED", 0, "n1"), ended("KILLED", 0, "n1")]
    assert node_of_the_task(*lost, started(1, "n2"), ended("FINISHED", 1, "n2")) == "n2"


def test_a_failed_task_ran_where_its_only_attempt_ran_else_nowhere_known() -> None:
    fail = record("TASK_FAILED", taskid=TASK, finishTime=T0)
    assert node_of_the_task(started(0, "n1"), ended("FAILED", 0, "n1"), fail) == "n1"
    assert node_of_the_task(started(0, "n1"), started(1, "n2"), fail) is None


def test_an_attempt_killed_before_it_had_a_host_name_keeps_the_one_it_started_on() -> None:
    rows = read(history(started(0, "n1"), ended("KILLED", 0, "")))
    assert [row["node"] for row in rows] == ["n1", "n1"]


def test_a_task_has_its_host_though_its_attempts_come_in_later_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two events a batch, and all of them wait in a file.
    monkeypatch.setattr("cepctl.io.hadoop.events.BATCH_EVENTS", 2)
    monkeypatch.setattr("cepctl.io.hadoop.events.IN_MEMORY_BYTES", 0)
    tasks = [TASK_START] * 3
    rows = read(history(*tasks, started(0, "n1"), started(1, "n2"), ended("FINISHED", 1, "n2"), TASK_START))
    assert [row["node"] for row in rows] == ["n2", "n2", "n2", "n1", "n2", "n2", "n2"]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]


def test_records_of_several_shapes_keep_their_order_beyond_what_waits_of_one() -> None:
    jobs = [
        record("JOB_SUBMITTED", jobid=f"job_1_{n}", submitTime=T0 + n, jobName=f"j{n}") for n in range(600)
    ]
    finishes = [
        record(
            "MAP_ATTEMPT_FINISHED",
            attemptId=f"attempt_1_{n}_m_0_0",
            mapFinishTime=T0,
            finishTime=T0 + n,
            hostname=f"h{n % 7}",
        )
        for n in range(600)
    ]
    rows = read(history(*(line for pair in zip(jobs, finishes, strict=True) for line in pair)))
    assert [row["number"] for row in rows] == list(range(1, 1801))
    assert [row["job_id"] for row in rows] == [f"job_1_{n}" for n in range(600) for _ in range(3)]
    assert [row.get("job_name") for row in rows[::3]] == [f"j{n}" for n in range(600)]
    assert [row["node"] for row in rows[2::3]] == [f"h{n % 7}" for n in range(600)]
    assert [row["time"] for row in rows[2::3]] == [(T0 + n) * 1000 for n in range(600)]


def test_hosts_get_one_spelling_and_the_raw_text_stays() -> None:
    (row,) = read(
        history(record("AM_STARTED", startTime=T0, nodeManagerHost="/rack/n1.example.com")),
        ReadOptions(drop_domain=True),
    )
    assert (row["node"], row["node_raw"]) == ("n1", "/rack/n1.example.com")


def test_unions_are_unwrapped_and_counters_kept_as_one_json_text() -> None:
    counters = {
        "name": "COUNTERS",
        "groups": [
            {"name": "FS", "displayName": "F", "counts": [{"name": "READ", "displayName": "R", "value": 7}]}
        ],
    }
    map_finish, attempt_finish = read(
        history(
            record(
                "MAP_ATTEMPT_FINISHED", mapFinishTime=T0, finishTime=T0, taskid={"string": TASK},
                rackname={"string": "OFF_SWITCH"}, port={"int": 3}, error=None, cpuUsages=[1, 2],
                counters={"org.apache.hadoop.mapreduce.jobhistory.JhCounters": counters},
            )
        )
    )  # fmt: skip
    assert (map_finish["rack"], map_finish["port"], map_finish["cpu_usages"]) == ("OFF_SWITCH", 3, "[1,2]")
    assert attempt_finish["counters"] == '{"FS":{"READ":7}}'
    assert map_finish["counters"] is None


def test_blank_lines_leading_blanks_and_crlf_are_no_records() -> None:
    report = ReadReport()
    content = b"\r\n".join(
        [b"\xef\xbb\xbfAvro-Json", SCHEMA.encode(), b"", b" " + TASK_START.encode(), b"   "]
    )
    assert len(read(content, report=report)) == 1
    assert (report.records, report.rejects) == (1, [])


def test_a_record_cut_in_half_is_rejected_with_its_line_and_the_rest_kept() -> None:
    report = ReadReport()
    rows = read(history(TASK_START, TASK_START)[:-40], report=report)
    assert len(rows) == 1
    assert [(reject.source, reject.line) for reject in report.rejects] == [("job.jhist", 4)]
    assert report.records == 2


@pytest.mark.parametrize("depth", [900, 985, 986, 987, 988, 989, 990, 100_000])
def test_nesting_without_end_is_kept_or_rejected_and_never_fatal(depth: int) -> None:
    report = ReadReport()
    nested = record("TASK_STARTED", taskid=TASK, startTime=T0, x="@").replace(
        '"@"', "[" * depth + "]" * depth
    )
    rows = read(history(nested, TASK_START), report=report)
    assert [row["event_type"] for row in rows][-1] == "TaskStart"
    assert len(rows) + len(report.rejects) == report.records == 2


def test_a_truncated_gzip_keeps_what_came_before() -> None:
    report = ReadReport()
    noise = [
        record("TASK_STARTED", taskid=f"task_1_1_m_{i * 7919 % 999_983}", startTime=T0 + i)
        for i in range(5000)
    ]
    whole = gzip.compress(history(*noise))
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(whole[: len(whole) // 2])))
    rows = sum(batch.num_rows for batch in READER.read(stream, "j.gz", ReadOptions(), report))
    assert 1000 < rows < 4000
    assert "truncated input" in [reject.cause for reject in report.rejects]


def test_bytes_that_are_no_utf8_are_replaced_with_a_warning() -> None:
    report = ReadReport()
    content = history(record("JOB_SUBMITTED", submitTime=T0, jobName="@")).replace(b'"@"', b'"\xff"')
    (row,) = read(content, report=report)
    assert row["job_name"] == "\ufffd"
    assert report.warnings == ["bytes that are not UTF-8 were replaced, the first at line 3"]


def test_another_first_line_is_no_job_history() -> None:
    assert READER.recognises(history())
    assert not READER.recognises(b"event_id,event_type\n")
    with pytest.raises(LogFormatError, match="Avro-Json"):
        read(b"")


def lifetime() -> list[str]:
    """A job with one task of two attempts, of which the first fails; times in ms after T0."""
    failed = {"taskid": TASK, "attemptId": ATTEMPT, "hostname": "n1"}
    good = {"taskid": TASK, "attemptId": f"{ATTEMPT[:-1]}1", "hostname": "n2"}
    return [
        record("JOB_SUBMITTED", jobid=JOB, userName="ann", jobName="Sleep", submitTime=T0),
        record("JOB_INITED", jobid=JOB, launchTime=T0 + 1, totalMaps=1),
        record("TASK_STARTED", taskid=TASK, taskType="MAP", startTime=T0 + 2),
        record("MAP_ATTEMPT_STARTED", **failed, startTime=T0 + 3),
        record("MAP_ATTEMPT_FAILED", **failed, status="FAILED", finishTime=T0 + 4),
        record("MAP_ATTEMPT_STARTED", **good, startTime=T0 + 5),
        record(
            "MAP_ATTEMPT_FINISHED",
            **good,
            taskStatus="SUCCEEDED",
            mapFinishTime=0,
            finishTime=T0 + 8,
            counters={},
        ),
        record("TASK_FINISHED", taskid=TASK, status="SUCCEEDED", finishTime=T0 + 9),
        record("JOB_FINISHED", jobid=JOB, finishedMaps=1, finishTime=T0 + 10),
    ]


def intervals(*records: str, report: ReadReport | None = None) -> list[tuple[Any, ...]]:
    rows = read(history(*records), ReadOptions(intervals=True), report)
    return [
        (row["event_type"], row["time"] // 1000 - T0, row["end_time"].timestamp() * 1000 - T0, row)
        for row in rows
        if row.get("end_time")
    ]


def test_jobs_tasks_and_attempts_are_interval_events_on_request() -> None:
    found = intervals(*lifetime())
    assert [(kind, start, end) for kind, start, end, _ in found] == [
        ("TaskAttempt", 3, 4),
        ("TaskAttempt", 5, 8),
        ("Task", 2, 9),
        ("Job", 1, 10),
    ]
    assert [(row["node"], row["status"]) for *_, row in found[:3]] == [
        ("n1", "FAILED"),
        ("n2", "SUCCEEDED"),
        ("n2", "SUCCEEDED"),
    ]
    job = found[3][3]
    assert (job["job_id"], job["user"], job["job_name"], job["finished_maps"]) == (JOB, "ann", "Sleep", 1)


def test_without_the_request_there_are_none() -> None:
    rows = read(history(*lifetime()))
    assert len(rows) == 9
    assert not any("end_time" in row for row in rows)


def test_a_job_that_was_never_launched_lasts_from_its_submission() -> None:
    submitted, *_, finished = lifetime()
    assert [found[:3] for found in intervals(submitted, finished)] == [("Job", 0, 10)]


def test_an_attempt_whose_output_was_lost_later_ended_when_it_had_succeeded() -> None:
    lost = record("MAP_ATTEMPT_KILLED", taskid=TASK, attemptId=f"{ATTEMPT[:-1]}1", finishTime=T0 + 99)
    ends = [end for kind, _, end, _ in intervals(*lifetime(), lost) if kind == "TaskAttempt"]
    assert ends == [4, 8]


def test_what_only_started_or_only_ended_is_counted_and_no_interval_event() -> None:
    report = ReadReport()
    _, _, task_start, _, _, _, attempt_finish, *_ = lifetime()
    assert intervals(task_start, attempt_finish, report=report) == []
    assert report.skipped == {
        "not an interval event: started, but no end is known": 1,
        "not an interval event: ended, but no start is known": 1,
        "MapFinish: the log says that it has no time": 1,
    }


def test_one_of_several_times_that_damage_took_is_a_reject_and_the_rest_is_kept() -> None:
    for damage in ({"mapFinishTime": "soon"}, {"mapFin<shTime": T0}):
        report = ReadReport()
        rows = read(history(record("MAP_ATTEMPT_FINISHED", finishTime=T0 + 5, **damage)), report=report)
        assert [row["event_type"] for row in rows] == ["MapAttemptFinish"]
        (reject,) = report.rejects
        assert (reject.line, reject.cause) == (3, "no time: MapFinish; the rest of its record is kept")


def test_lines_joined_by_damage_are_as_many_rejects_as_records() -> None:
    first, second = (record("TASK_STARTED", taskid=TASK, startTime=T0 + n) for n in range(2))
    report = ReadReport()
    assert read(history(f"{first}\0{second}", first), report=report) != []
    assert [(reject.line, reject.records) for reject in report.rejects] == [(3, 2)]


def real_histories() -> list[Path]:
    root = os.environ.get("CEPCTL_REALDATA")
    return sorted(Path(root, "hadoop", "jhist").glob("*.jhist")) if root else []


TIME_FIELDS = {
    "MAP_ATTEMPT_FINISHED": 2, "REDUCE_ATTEMPT_FINISHED": 3,
    "JOB_INFO_CHANGED": 0, "JOB_QUEUE_CHANGED": 0,
}  # fmt: skip


@pytest.mark.realdata
@pytest.mark.skipif(not real_histories(), reason="CEPCTL_REALDATA names no job histories")
@pytest.mark.parametrize("path", real_histories(), ids=lambda path: path.name[:40])
def test_real_histories_are_read_completely(path: Path) -> None:
    kinds = Counter(re.findall(rb'^\s*\{"type":"([A-Z_]+)"', path.read_bytes(), re.MULTILINE))
    expected = sum(TIME_FIELDS.get(kind.decode(), 1) * count for kind, count in kinds.items())
    report = ReadReport()
    with path.open("rb") as stream:
        rows = [
            row for b in READER.read(stream, path.name, ReadOptions(), report) for row in with_epoch_time(b)
        ]
    assert (len(rows), report.records, report.rejects) == (expected, sum(kinds.values()), [])
    assert all(row["time"] is not None and row["job_id"] for row in rows)
    assert all(row["node"] for row in rows if row["attempt_id"])
