"""Workloads of the scheduler load simulator: relative times, counted from the epoch that the user names."""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.sls import SchedulerLoad

READER = SchedulerLoad()
EPOCH = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
COUNTED = ReadOptions(epoch=int(EPOCH.timestamp()) * 1_000_000)
NO_EPOCH = "times are relative and count from 1970-01-01; say with --epoch when they began"


def container(start: Any, end: Any, kind: str = "map", host: str = "/rack1/n1") -> dict[str, Any]:
    return {
        "container.host": host,
        "container.start.ms": start,
        "container.end.ms": end,
        "container.priority": 20,
        "container.type": kind,
    }


def job(*containers: Any, **members: Any) -> dict[str, Any]:
    return {
        "am.type": "mapreduce",
        "job.start.ms": 0,
        "job.end.ms": 95_375,
        "job.queue.name": "sls_queue_1",
        "job.id": "job_1",
        "job.user": "ann",
        "job.tasks": list(containers),
        **{name.replace("_", "."): value for name, value in members.items()},
    }


def read(
    *documents: Any, options: ReadOptions = COUNTED, report: ReadReport | None = None, cut: int = 0
) -> list[dict[str, Any]]:
    text = "\n".join(json.dumps(document, indent=2) for document in documents)
    content = text[: len(text) - cut].encode()
    batches = READER.read(io.BytesIO(content), "sls.json", options, report or ReadReport())
    return [row for batch in batches for row in batch.to_pylist()]


def times(rows: list[dict[str, Any]], since: dt.datetime = EPOCH) -> list[tuple[str, int]]:
    return [(row["event_type"], (row["time"] - since) // dt.timedelta(milliseconds=1)) for row in rows]


def test_times_count_from_the_epoch() -> None:
    report = ReadReport()
    rows = read(job(container(6_664, 23_707), container(68_770, 86_613, "reduce")), report=report)
    assert times(rows) == [
        ("MapAttemptStart", 6_664),
        ("MapAttemptFinish", 23_707),
        ("ReduceAttemptStart", 68_770),
        ("ReduceAttemptFinish", 86_613),
        ("JobSubmit", 0),
        ("JobFinish", 95_375),
    ]
    assert (report.records, report.warnings, report.rejects) == (3, [], [])


def test_without_an_epoch_they_count_from_1970_with_a_warning() -> None:
    report = ReadReport()
    rows = read(job(), options=ReadOptions(), report=report)
    assert times(rows, dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) == [("JobSubmit", 0), ("JobFinish", 95_375)]
    assert report.warnings == [NO_EPOCH]


def test_members_become_attributes_and_containers_get_ids() -> None:
    start, _, _, second, *_, submit, _ = read(job(container(1, 2), container(3, 4)))
    assert (start["job_id"], start["attempt_id"], second["attempt_id"]) == ("job_1", "job_1#1", "job_1#2")
    assert (start["node"], start["node_raw"], start["rack"]) == ("n1", "/rack1/n1", "/rack1")
    assert (start["task_type"], start["priority"]) == ("MAP", 20)
    assert (submit["job_id"], submit["user"], submit["queue"], submit["am_type"]) == (
        "job_1",
        "ann",
        "sls_queue_1",
        "mapreduce",
    )


def test_ids_of_containers_begin_anew_with_every_job() -> None:
    rows = read(job(container(1, 2)), job(container(1, 2), job_id="job_2"))
    assert [row["attempt_id"] for row in rows if row["event_type"] == "MapAttemptStart"] == [
        "job_1#1",
        "job_2#1",
    ]


def test_a_container_of_another_type_is_called_so() -> None:
    rows = read(job(container(1, 2, "stream")))
    assert times(rows)[:2] == [("ContainerStart", 1), ("ContainerFinish", 2)]


def test_numbers_may_be_text() -> None:
    assert times(read(job(job_start_ms="5", job_end_ms="6"))) == [("JobSubmit", 5), ("JobFinish", 6)]


def test_jobs_and_containers_are_interval_events_on_request() -> None:
    rows = read(job(container(1, 2)), options=ReadOptions(epoch=COUNTED.epoch, intervals=True))
    spans = [row for row in rows if row["end_time"]]
    assert times(spans) == [("TaskAttempt", 1), ("Job", 0)]
    assert [row["end_time"] - EPOCH for row in spans] == [
        dt.timedelta(milliseconds=2),
        dt.timedelta(milliseconds=95_375),
    ]


def test_a_missing_time_is_counted_and_none_at_all_makes_an_event_without_one() -> None:
    report = ReadReport()
    rows = read(job(container(1, None), container("soon", 10**30)), report=report)
    assert times([row for row in rows if row["time"]])[0] == ("MapAttemptStart", 1)
    assert [row["event_type"] for row in rows if row["time"] is None] == ["MapAttemptStart"]
    assert [reject.cause for reject in report.rejects] == ["no time: MapAttemptFinish; the rest is kept"]


def test_a_container_may_say_how_long_it_runs() -> None:
    running = {"container.host": "/r/n", "container.start.ms": 5, "duration.ms": 7, "container.type": "map"}
    report = ReadReport()
    assert times(read(job(running), report=report))[:2] == [("MapAttemptStart", 5), ("MapAttemptFinish", 12)]
    assert report.rejects == []


def test_a_job_need_not_say_when_it_ends_but_a_damaged_end_is_a_reject() -> None:
    endless = job(container(1, 2))
    del endless["job.end.ms"]
    report = ReadReport()
    assert times(read(endless, report=report))[2:] == [("JobSubmit", 0)]
    assert (report.skipped, report.rejects) == ({"JobFinish: the workload does not say when": 1}, [])
    for damaged in ({**endless, "job.<nd.ms": 5}, {**endless, "job.end.ms": "soon"}):
        report = ReadReport()
        assert times(read(damaged, report=report))[2:] == [("JobSubmit", 0)]
        assert [reject.cause for reject in report.rejects] == ["no time: JobFinish; the rest is kept"]


def test_containers_under_another_name_than_their_list_are_so_many_rejects() -> None:
    hidden = job(container(1, 2), container(3, 4))
    hidden["job.t<sks"] = hidden.pop("job.tasks")
    report = ReadReport()
    assert len(read(hidden, report=report)) == 2
    (reject,) = report.rejects
    assert (reject.cause, reject.records) == ("containers in a member of a job that is not job.tasks", 2)


def test_nodes_are_recognised_and_give_no_events() -> None:
    nodes = {"rack": "rack1", "nodes": [{"node": "n1"}]}
    report = ReadReport()
    assert READER.recognises(json.dumps(nodes).encode())
    assert read(nodes, nodes, report=report) == []
    assert report.skipped == {"nodes of a rack": 2}
    assert report.warnings == ["a list of nodes is not a workload: it holds no events"]


def test_a_workload_cut_in_half_keeps_what_came_before() -> None:
    report = ReadReport()
    rows = read(job(container(1, 2), container(3, 4)), report=report, cut=60)
    assert [row["event_type"] for row in rows] == [
        "MapAttemptStart",
        "MapAttemptFinish",
        "JobSubmit",
        "JobFinish",
    ]
    assert len(report.rejects) == 1


@pytest.mark.parametrize(
    ("document", "cause"),
    [({"id": 1}, "not a job of a workload"), (job("?"), "not a container of a workload")],
)
def test_what_is_no_job_or_container_is_rejected(document: Any, cause: str) -> None:
    report = ReadReport()
    read(document, report=report)
    assert [reject.cause for reject in report.rejects] == [cause]


def test_a_workload_is_told_from_its_first_job() -> None:
    assert READER.recognises(json.dumps(job(container(1, 2))).encode())
    assert READER.recognises(json.dumps(job(container(1, 2)), indent=2).encode()[:300])
    assert not READER.recognises(b'{"jobID": "job_1", "mapTasks": []}')
    assert not READER.recognises(b"job.start.ms,job.tasks\n")
