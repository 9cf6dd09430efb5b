r"""Rumen traces become the events of the histories that they were made from."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.rumen import RumenTrace

READER = RumenTrace()
T0 = 1_297_337_199_000
JOB = "job_201102101103_0066"


def attempt(number: int, **members: Any) -> dict[str, Any]:
    return {
        "attemptID": f"attempt_201102101103_0066_m_000000_{number}",
        "hostName": f"/r1/n{number}",
        "result": "SUCCESS",
        "shuffleFinished": -1,
        "sortFinished": -1,
        "hdfsBytesRead": 7,
        "mapInputBytes": -1,
        "vmemKbytes": [1, 2],
        "location": None,
        **members,
    }


def task(*attempts: Any, **members: Any) -> dict[str, Any]:
    return {
        "taskID": "task_201102101103_0066_m_000000",
        "taskType": "MAP",
        "attempts": list(attempts),
        "taskStatus": "SUCCESS",
        "inputBytes": 5,
        **members,
    }


def job(*tasks: Any, **members: Any) -> dict[str, Any]:
    return {
        "jobID": JOB,
        "user": "ann",
        "mapTasks": list(tasks),
        "jobName": "Sort",
        "reduceTasks": [],
        "otherTasks": [],
        "submitTime": T0,
        "launchTime": T0 + 1,
        "finishTime": T0 + 10,
        "outcome": "SUCCESS",
        "heapMegabytes": -1,
        "jobProperties": {"a": "b"},
        **members,
    }


LIFETIME = job(
    task(
        attempt(0, startTime=T0 + 3, finishTime=T0 + 4, result="FAILED"),
        attempt(1, startTime=T0 + 5, finishTime=T0 + 8),
        startTime=T0 + 2,
        finishTime=T0 + 9,
    )
)


def trace(*documents: Any) -> bytes:
    """As Rumen prints them: one after the other, indented."""
    return "\n".join(json.dumps(document, indent=2) for document in documents).encode()


def read(
    content: bytes, report: ReadReport | None = None, options: ReadOptions | None = None
) -> list[dict[str, Any]]:
    batches = READER.read(io.BytesIO(content), "trace.json", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in batch.to_pylist()]


def times(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(row["event_type"], round(row["time"].timestamp() * 1000) - T0) for row in rows]


def test_a_task_comes_with_its_attempts_and_before_its_job() -> None:
    report = ReadReport()
    assert times(read(trace(LIFETIME), report)) == [
        ("TaskStart", 2),
        ("MapAttemptStart", 3),
        ("AttemptFail", 4),
        ("MapAttemptStart", 5),
        ("MapAttemptFinish", 8),
        ("TaskFinish", 9),
        ("JobSubmit", 0),
        ("JobStart", 1),
        ("JobFinish", 10),
    ]
    assert (report.records, report.skipped, report.rejects) == (9, {}, [])


def test_ids_hosts_and_attributes_are_called_as_in_histories() -> None:
    task_start, _, failed, started, finished, task_finish, submit, _, job_finish = read(trace(LIFETIME))
    for row in (failed, started, finished):
        assert (row["job_id"], row["task_id"]) == (JOB, "task_201102101103_0066_m_000000")
        assert row["attempt_id"]
    assert (failed["node"], failed["node_raw"], failed["rack"]) == ("n0", "/r1/n0", "/r1")
    assert (failed["status"], finished["status"], task_finish["status"]) == ("FAILED", "SUCCESS", "SUCCESS")
    assert (task_start["node"], task_finish["node"], task_start["task_type"]) == ("n1", "n1", "MAP")
    assert (submit["job_id"], submit["user"], submit["job_name"]) == (JOB, "ann", "Sort")
    assert (job_finish["job_status"], job_finish["job_properties"]) == ("SUCCESS", '{"a":"b"}')


def test_what_describes_the_end_is_on_the_last_event_and_minus_one_is_null() -> None:
    _, _, _, started, finished, *_ = read(trace(LIFETIME))
    assert (started["hdfs_bytes_read"], finished["hdfs_bytes_read"]) == (None, 7)
    assert (finished["map_input_bytes"], finished["virtual_memory_kbytes"]) == (None, "[1,2]")


def test_a_reduce_attempt_that_finished_is_three_events() -> None:
    reduced = attempt(
        0, startTime=T0, shuffleFinished=T0 + 1, sortFinished=T0 + 2, finishTime=T0 + 3, hostName="n0"
    )
    document = job(reduceTasks=[task(reduced, taskType="REDUCE", startTime=T0, finishTime=T0 + 4)])
    assert times(read(trace(document)))[1:5] == [
        ("ReduceAttemptStart", 0),
        ("ShuffleFinish", 1),
        ("SortFinish", 2),
        ("ReduceAttemptFinish", 3),
    ]


@pytest.mark.parametrize(
    ("members", "word"),
    [
        ({"outcome": "KILLED"}, "JobKill"),
        ({"outcome": "FAILED"}, "JobFail"),
        ({"outcome": None}, "JobFinish"),
    ],
)
def test_the_outcome_chooses_the_word(members: dict[str, Any], word: str) -> None:
    assert times(read(trace(job(**members))))[-1] == (word, 10)


@pytest.mark.parametrize(("kind", "word"), [("SETUP", "Setup"), ("CLEANUP", "Cleanup")])
def test_other_tasks_have_attempts_of_their_type(kind: str, word: str) -> None:
    other = task(attempt(0, startTime=T0, finishTime=T0 + 1), taskType=kind, startTime=T0, finishTime=T0 + 2)
    rows = read(trace(job(otherTasks=[other])))
    assert [row["event_type"] for row in rows][1:3] == [f"{word}AttemptStart", f"{word}AttemptFinish"]


def test_a_missing_time_is_counted_and_what_is_known_is_kept() -> None:
    unfinished = task(attempt(0, startTime=T0 + 3, finishTime=-1), startTime=T0 + 2, finishTime=-1)
    report = ReadReport()
    rows = read(trace(job(unfinished, launchTime=-1)), report)
    assert times(rows) == [("TaskStart", 2), ("MapAttemptStart", 3), ("JobSubmit", 0), ("JobFinish", 10)]
    assert rows[1]["hdfs_bytes_read"] == 7
    assert report.skipped == {
        "MAP_ATTEMPT_FINISHED: the log says that it has no time": 1,
        "TASK_FINISHED: the log says that it has no time": 1,
        "JOB_INITED: the log says that it has no time": 1,
    }
    assert report.rejects == []


@pytest.mark.parametrize(
    ("member", "damaged", "kind"),
    [
        ('"finishTime": 1297337199008', '"finishTime": "x297337199008"', "MAP_ATTEMPT_FINISHED"),
        ('"finishTime": 1297337199008', '"fi<ishTime": 1297337199008', "MAP_ATTEMPT_FINISHED"),
        ('"startTime": 1297337199002', '"stattTime": 1297337199002', "TASK_STARTED"),
        ('"launchTime"', '"lanchTime"', "JOB_INITED"),
    ],
)
def test_a_time_that_damage_took_is_a_reject(member: str, damaged: str, kind: str) -> None:
    text = json.dumps(LIFETIME)
    assert member in text
    report = ReadReport()
    rows = read(text.replace(member, damaged).encode(), report)
    assert len(rows) == len(read(text.encode())) - 1
    assert [reject.cause for reject in report.rejects] == [f"no time: {kind}; the rest of its record is kept"]


def test_a_phase_of_a_reduce_attempt_that_damage_took_is_a_reject() -> None:
    reduced = attempt(0, startTime=T0, shuffleFinished=T0 + 1, sortFinished=T0 + 2, finishTime=T0 + 3)
    reduced["sortFin<shed"] = reduced.pop("sortFinished")
    report = ReadReport()
    whole = task(reduced, taskType="REDUCE", startTime=T0, finishTime=T0 + 9)
    read(trace(job(reduceTasks=[whole])), report)
    assert [reject.cause for reject in report.rejects] == [
        "no time: SortFinish; the rest of its record is kept"
    ]


def test_tasks_under_another_name_than_their_list_are_so_many_rejects() -> None:
    hidden = json.loads(json.dumps(LIFETIME))
    hidden["mapTasks"] *= 2
    hidden["m<pTasks"] = hidden.pop("mapTasks")
    report = ReadReport()
    read(trace(hidden), report)
    (reject,) = report.rejects
    assert (reject.cause, reject.records) == ("tasks in a member of a job that is not a list of tasks", 2)


def test_attempts_under_another_name_than_their_list_are_so_many_rejects() -> None:
    hidden = json.loads(json.dumps(LIFETIME))
    (of,) = hidden["mapTasks"]
    of["attempus"] = of.pop("attempts")
    report = ReadReport()
    assert [row["event_type"] for row in read(trace(hidden), report)][:2] == ["TaskStart", "TaskFinish"]
    (reject,) = report.rejects
    assert (reject.cause, reject.records) == ("attempts in a member of a task that is not their list", 2)


def test_a_type_of_task_that_is_nearly_one_costs_its_records() -> None:
    hurt = json.loads(json.dumps(LIFETIME))
    hurt["mapTasks"][0]["taskType"] = "M<P"
    report = ReadReport()
    read(trace(hurt), report)
    assert len(report.rejects) == 4
    assert report.rejects[0].cause == "not a type of record, but nearly MAP_ATTEMPT_STARTED"


def test_what_has_no_time_at_all_is_one_event_without_a_time() -> None:
    timeless = task(startTime=-1, finishTime=-1)
    (row, *_) = read(trace(job(timeless)))
    assert (row["event_type"], row["time"]) == ("TaskStart", None)


def test_dots_that_old_traces_escape_are_dots() -> None:
    old = attempt(0, startTime=T0, finishTime=T0 + 1, hostName="/192\\.0\\.2\\.0/n0\\.example\\.com")
    document = trace(job(task(old, startTime=T0, finishTime=T0 + 2)))
    assert read(document)[1]["node"] == "n0.example.com"
    row = read(document, options=ReadOptions(drop_domain=True))[1]
    assert (row["node"], row["rack"]) == ("n0", "/192.0.2.0")


def test_jobs_tasks_and_attempts_are_interval_events_on_request() -> None:
    rows = read(trace(LIFETIME), options=ReadOptions(intervals=True))
    spans = [row for row in rows if row["end_time"]]
    ends = [round(row["end_time"].timestamp() * 1000) - T0 for row in spans]
    assert list(zip(times(spans), ends, strict=True)) == [
        (("TaskAttempt", 3), 4),
        (("TaskAttempt", 5), 8),
        (("Task", 2), 9),
        (("Job", 1), 10),
    ]
    assert [(row["node"], row["user"]) for row in spans] == [
        ("n0", None),
        ("n1", None),
        ("n1", None),
        (None, "ann"),
    ]


def test_a_trace_cut_in_half_keeps_every_task_before_the_cut() -> None:
    content = trace(job(*LIFETIME["mapTasks"], *LIFETIME["mapTasks"]))
    report = ReadReport()
    rows = read(content[: content.rindex(b'"attempts"')], report)
    assert [row["event_type"] for row in rows].count("TaskStart") == 1
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (47, "damaged or cut JSON, kept as far as it goes")
    ]


def test_damage_in_one_job_loses_no_other() -> None:
    content = trace(LIFETIME, LIFETIME, LIFETIME).replace(b'"user": "ann",', b'"user": ann,', 1)
    report = ReadReport()
    rows = read(content, report)
    assert times(rows) == times(read(content.replace(b'"user": ann,', b"")))
    assert [(reject.line, reject.records) for reject in report.rejects] == [(3, 1)]


def test_tasks_of_a_job_that_does_not_begin_are_read() -> None:
    report = ReadReport()
    rows = read(b"?" + trace(LIFETIME), report)
    assert times(rows)[:6] == times(read(trace(LIFETIME)))[:6]
    assert report.rejects[0].cause == "damaged or cut JSON, kept as far as it goes"


def test_a_topology_is_recognised_and_gives_no_events() -> None:
    topology = trace({"name": "<root>", "children": [{"name": "r1", "children": [{"name": "n1"}]}]})
    report = ReadReport()
    assert READER.recognises(topology[:60])
    assert read(topology, report) == []
    assert report.skipped == {"topology": 1}
    assert report.warnings == ["a topology (names of racks and hosts) is not a trace: it holds no events"]
    assert report.rejects == []


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        ({"id": 7}, "not a job of a Rumen trace"),
        ([{"a": 1}], "damaged or cut JSON, kept as far as it goes"),
        (job("?"), "not a task of a Rumen trace"),
        (job(task("?", startTime=T0, finishTime=T0)), "not an attempt of a Rumen trace"),
    ],
)
def test_what_is_no_job_task_or_attempt_is_rejected(document: Any, cause: str) -> None:
    report = ReadReport()
    read(trace(document), report)
    assert [reject.cause for reject in report.rejects] == [cause]


def test_a_trace_is_told_from_its_first_job() -> None:
    assert READER.recognises(trace(LIFETIME))
    assert READER.recognises(trace(LIFETIME)[:200])
    assert not READER.recognises(trace({"jobs": []}))
    assert not READER.recognises(b'{"event_type": "A", "time": 1}\n')
    assert not READER.recognises(b"jobID,submitTime,mapTasks\n")


# --- real traces --------------------------------------------------------------------------


def content_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def documents_of(content: bytes) -> list[dict[str, Any]]:
    text, decoder, documents, position = content.decode(), json.JSONDecoder(), [], 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        document, position = decoder.raw_decode(text, position)
        documents.append(document)
    return documents


def known(entity: dict[str, Any], *names: str) -> int:
    return sum(entity.get(name, -1) > 0 for name in names)


def expected_events(documents: list[dict[str, Any]]) -> tuple[int, Counter[str]]:
    """How many times are known, and how many intervals, by the JSON parser of the standard library."""
    events, spans = 0, Counter[str]()
    for document in documents:
        events += known(document, "submitTime", "launchTime", "finishTime")
        spans["Job"] += document.get("finishTime", -1) > 0
        for name in ("mapTasks", "reduceTasks", "otherTasks"):
            for one in document.get(name, ()):
                events += known(one, "startTime", "finishTime")
                spans["Task"] += known(one, "startTime", "finishTime") == 2
                for tried in one["attempts"]:
                    names = ["startTime", "finishTime"]
                    if one["taskType"] == "REDUCE" and tried["result"] == "SUCCESS":
                        names += ["shuffleFinished", "sortFinished"]
                    events += known(tried, *names)
                    spans["TaskAttempt"] += known(tried, "startTime", "finishTime") == 2
    return events, +spans


@pytest.mark.realdata
def test_real_traces_are_read_completely(real_logs: Path) -> None:
    paths = sorted((real_logs / "hadoop" / "rumen").iterdir())
    assert paths
    for path in paths:
        content, report = content_of(path), ReadReport()
        assert READER.recognises(content[: 1 << 16]), path.name
        rows = read(content, report, ReadOptions(intervals=True))
        documents = documents_of(content)
        if "children" in documents[0]:
            assert (rows, report.skipped) == ([], {"topology": 1})
            continue
        events, spans = expected_events(documents)
        found = Counter(row["event_type"] for row in rows)
        assert {name: found[name] for name in spans} == spans, path.name
        assert len(rows) - spans.total() == events, path.name
        assert report.rejects == []
        assert all(row["time"] is not None and row["job_id"] for row in rows)
