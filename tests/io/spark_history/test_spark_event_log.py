"""Event logs of Spark: what a record becomes, how it came out, and what it holds."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, known_formats

PATH = "eventlog_v2_application_1_0002/events_1_application_1_0002"
SAMPLE = Path(__file__).parents[3] / "sample_data" / "spark" / "eventlog_v2_application_1772009204117_0077"
BEGIN = 1_781_417_700_000
INFO = {"Task ID": 1, "Index": 3, "Host": "n7.example", "Launch Time": BEGIN, "Finish Time": BEGIN + 9}


def read(*records: Any, **options: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    reader = format_named("spark").reader
    batches = reader.read(io.BytesIO(text.encode()), PATH, ReadOptions(**options), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def listener(name: str, **members: Any) -> dict[str, Any]:
    return {"Event": f"SparkListener{name}", **members}


@pytest.mark.parametrize(
    ("record", "event_type"),
    [
        (listener("TaskEnd", **{"Task Info": INFO, "Task End Reason": {"Reason": "Success"}}), "TaskFinish"),
        (
            listener("TaskEnd", **{"Task Info": INFO, "Task End Reason": {"Reason": "FetchFailed"}}),
            "TaskFail",
        ),
        (listener("TaskEnd", **{"Task Info": INFO, "Task End Reason": {"Reason": "TaskKilled"}}), "TaskKill"),
        (listener("JobEnd", **{"Completion Time": 5, "Job Result": {"Result": "JobSucceeded"}}), "JobFinish"),
        (listener("JobEnd", **{"Completion Time": 5, "Job Result": {"Result": "JobFailed"}}), "JobFail"),
        (listener("StageCompleted", **{"Stage Info": {"Completion Time": 5}}), "StageFinish"),
        (
            listener("StageCompleted", **{"Stage Info": {"Completion Time": 5, "Failure Reason": "x"}}),
            "StageFail",
        ),
        (listener("NodeExcluded", Timestamp=5), "NodeExcluded"),
        (
            {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", "time": 5},
            "SQLExecutionFinish",
        ),
    ],
)
def test_the_type_says_how_it_came_out(record: dict[str, Any], event_type: str) -> None:
    ((event,), _) = read(record)
    assert event["event_type"] == event_type


def test_groups_are_opened_and_names_are_in_snake_case() -> None:
    metrics = {"JVM GC Time": 7, "Shuffle Read Metrics": {"Remote Bytes Read": 8}, "Updated Blocks": [1]}
    reason = {"Reason": "ExceptionFailure", "Description": "boom", "Metrics": {"a": 1}}
    ((event,), _) = read(
        listener(
            "TaskEnd",
            **{"Stage ID": 2, "Task Info": INFO, "Task Metrics": metrics, "Task End Reason": reason},
        )
    )
    assert event["time"] == datetime(2026, 6, 14, 6, 15, 0, 9_000, tzinfo=UTC)
    known = {
        name: event[name] for name in ("app_id", "stage_id", "task_id", "task_index", "node", "node_raw")
    }
    assert known == {
        "app_id": "application_1_0002",
        "stage_id": 2,
        "task_id": 1,
        "task_index": 3,
        "node": "n7.example",
        "node_raw": "n7.example",
    }
    more = (
        "jvm_gc_time",
        "shuffle_read_remote_bytes_read",
        "updated_blocks",
        "reason",
        "error",
        "reason_metrics",
    )
    assert [event[name] for name in more] == [7, 8, "[1]", "ExceptionFailure", "boom", '{"a": 1}']


def test_with_intervals_a_task_and_a_stage_last() -> None:
    stage = {"Stage ID": 2, "Submission Time": BEGIN, "Completion Time": BEGIN + 30}
    events, report = read(
        listener("TaskEnd", **{"Task Info": INFO}),
        listener("StageCompleted", **{"Stage Info": stage}),
        listener("StageCompleted", **{"Stage Info": {"Completion Time": BEGIN}}),
        intervals=True,
    )
    lasting = [event for event in events if event["end_time"] is not None]
    assert [(event["event_type"], (event["end_time"] - event["time"]).microseconds) for event in lasting] == [
        ("Task", 9_000),
        ("Stage", 30_000),
    ]
    assert report.skipped == {"not an interval event: a stage whose start is not known": 1}


def test_what_has_no_time_is_counted_and_what_is_damaged_is_a_reject() -> None:
    events, report = read(
        listener("EnvironmentUpdate"),
        listener("StageSubmitted", **{"Stage Info": {"Stage ID": 1}}),
        listener("ExecutorAdded", Timestamp="soon"),
        listener("ExecutorAdded", Timestamp=0),
        '{"Event": 7}',
        '{"Event":"SparkListenerTaskEnd","Task',
    )
    assert events == []
    assert report.skipped == {"EnvironmentUpdate: it has no time": 1, "StageSubmitted: it has no time": 1}
    cause = "not an event of Spark: a JSON object with Event"
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (3, "no time"),
        (4, "no time"),
        (5, cause),
        (6, cause),
    ]


def test_each_file_of_a_rolled_log_is_recognised() -> None:
    heads = [path.read_bytes() for path in sorted(SAMPLE.glob("events_*"))]
    names = [next(known.name for known in known_formats() if known.reader.recognises(head)) for head in heads]
    assert names == ["spark", "spark"]
