"""The binary form of a job history says what its JSON form says."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.hadoop.jhist import HadoopJobHistory

READER = HadoopJobHistory()
HISTORY = "org.apache.hadoop.mapreduce.jobhistory"
T0 = 1_329_348_443_000


def record_type(name: str, /, **fields: Any) -> dict[str, Any]:
    members = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "namespace": HISTORY, "fields": members}


COUNTERS = record_type(
    "JhCounters",
    name="string",
    groups={
        "type": "array",
        "items": record_type(
            "JhCounterGroup",
            name="string",
            counts={"type": "array", "items": record_type("JhCounter", name="string", value="long")},
        ),
    },
)
SCHEMA = record_type(
    "Event",
    type={
        "type": "enum",
        "name": "EventType",
        "symbols": ["JOB_SUBMITTED", "MAP_ATTEMPT_STARTED", "MAP_ATTEMPT_FINISHED"],
    },
    event=[
        record_type("JobSubmitted", jobid="string", jobName=["null", "string"], submitTime="long"),
        record_type("MapAttemptStarted", taskid="string", attemptId="string", startTime="long"),
        record_type(
            "MapAttemptFinished",
            taskid="string",
            attemptId="string",
            taskStatus="string",
            mapFinishTime="long",
            finishTime="long",
            hostname="string",
            cpuUsages={"type": "array", "items": "int"},
            counters=COUNTERS,
        ),
    ],
)
TASK = "task_1329348432655_0001_m_000000"
ATTEMPT = "attempt_1329348432655_0001_m_000000_0"
RECORDS = [
    (
        "JOB_SUBMITTED",
        "JobSubmitted",
        {"jobid": "job_1329348432655_0001", "jobName": {"string": "Sleep"}, "submitTime": T0},
    ),
    (
        "MAP_ATTEMPT_STARTED",
        "MapAttemptStarted",
        {"taskid": TASK, "attemptId": ATTEMPT, "startTime": T0 + 5},
    ),
    (
        "MAP_ATTEMPT_FINISHED",
        "MapAttemptFinished",
        {
            "taskid": TASK,
            "attemptId": ATTEMPT,
            "taskStatus": "SUCCEEDED",
            "mapFinishTime": T0 + 80,
            "finishTime": T0 + 90,
            "hostname": "n7",
            "cpuUsages": [1, 2, 3],
            "counters": {
                "name": "COUNTERS",
                "groups": [{"name": "FS", "counts": [{"name": "READ", "value": 7}]}],
            },
        },
    ),
]


def json_history() -> bytes:
    lines = [
        json.dumps({"type": kind, "event": {f"{HISTORY}.{name}": fields}}) for kind, name, fields in RECORDS
    ]
    return "\n".join(["Avro-Json", json.dumps(SCHEMA), *lines, ""]).encode()


def binary_history(json_form: bytes) -> bytes:
    """The records of the JSON form, encoded by another library than the one under test reads JSON with."""
    _, schema_line, *lines = json_form.splitlines()
    schema = fastavro.parse_schema(json.loads(schema_line))
    output = io.BytesIO()
    for line in lines:
        if line.strip():
            content = next(fastavro.json_reader(io.StringIO(line.decode()), schema))
            fastavro.schemaless_writer(output, schema, content)
    return b"Avro-Binary\n" + schema_line + b"\n" + output.getvalue()


def read(
    content: bytes, report: ReadReport | None = None, options: ReadOptions | None = None
) -> list[dict[str, Any]]:
    batches = READER.read(io.BytesIO(content), "job.jhist", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in batch.to_pylist()]


def test_both_forms_of_a_history_are_the_same_events() -> None:
    binary = binary_history(json_history())
    assert READER.recognises(binary)
    rows = read(binary)
    assert rows == read(json_history())
    assert [row["event_type"] for row in rows] == [
        "JobSubmit",
        "MapAttemptStart",
        "MapFinish",
        "MapAttemptFinish",
    ]
    assert (rows[3]["node"], rows[3]["counters"]) == ("n7", '{"FS":{"READ":7}}')


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_a_record_cut_in_half_is_one_reject_and_what_came_before_stays(cut: int) -> None:
    report = ReadReport()
    rows = read(binary_history(json_history())[:-cut], report)
    assert [row["event_type"] for row in rows] == ["JobSubmit", "MapAttemptStart"]
    assert report.records in (3, 4, 5)  # what is lost is counted by the length of those before
    (reject,) = report.rejects
    assert (reject.source, reject.cause) == ("job.jhist", "damaged or cut, read as far as it goes")


def test_a_type_that_the_schema_does_not_know_ends_the_file() -> None:
    whole = binary_history(json_history())
    report = ReadReport()
    assert len(read(whole + b"\x7e" * 20, report)) == 4
    assert len(report.rejects) == 1


def test_a_history_without_records_has_no_events() -> None:
    report = ReadReport()
    assert read(b"Avro-Binary\n" + json.dumps(SCHEMA).encode() + b"\n", report) == []
    assert (report.records, report.rejects) == (0, [])


@pytest.mark.parametrize(
    "schema",
    [b"", b"{", b"{}", b"\xff", b'{"type":"record","name":"E","fields":[{"name":"type"},{"name":"event"}]}'],
)
def test_a_damaged_schema_is_named_with_its_line(schema: bytes) -> None:
    with pytest.raises(LogFormatError, match=r"job\.jhist:2: the Avro schema .* damaged"):
        read(b"Avro-Binary\n" + schema + b"\n\x00\x02")


@pytest.mark.parametrize(
    "items",
    ["null", record_type("Nothing"), {"type": "fixed", "name": "F", "size": 0}, record_type("N", a="null")],
)
def test_a_schema_by_which_few_bytes_are_an_endless_list_is_refused(items: Any) -> None:
    bomb = record_type("Event", type="string", event=record_type("E", x={"type": "array", "items": items}))
    endless = b"\x00" + b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"
    with pytest.raises(LogFormatError, match="may be endless"):
        read(b"Avro-Binary\n" + json.dumps(bomb).encode() + b"\n" + endless)


@pytest.mark.realdata
@pytest.mark.parametrize("intervals", [False, True])
def test_real_histories_are_the_same_events_in_both_forms(real_logs: Path, intervals: bool) -> None:
    options = ReadOptions(intervals=intervals)
    histories = sorted((real_logs / "hadoop" / "jhist").glob("*.jhist"))
    assert histories
    for path in histories:
        content = path.read_bytes()
        assert read(binary_history(content), options=options) == read(content, options=options), path.name
