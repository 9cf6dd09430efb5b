r"""Histories of Hadoop 0.20 and 1.x become the events that later versions give."""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from pathlib import Path
from typing import IO, Any, cast

import pytest

from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.hadoop.jhist1 import LONGEST_ENTRY, HadoopOldJobHistory
from cepctl.io.hadoop.rumen import RumenTrace

READER = HadoopOldJobHistory()
T0 = 1_240_335_960_000
JOB = "job_200904211745_0002"
TASK = "task_200904211745_0002_m_000010"
ATTEMPT = "attempt_200904211745_0002_m_000010_0"

# A job with one task whose first attempt fails; hosts, escapes and a message over two lines.
LIFETIME = rf"""Meta VERSION="1" .
Job JOBID="{JOB}" JOBNAME="word \"count\"" USER="ann" SUBMIT_TIME="{T0}" JOBCONF="hdfs://nn\.x/job\.xml" .
Job JOBID="{JOB}" JOB_PRIORITY="NORMAL" .
Job JOBID="{JOB}" LAUNCH_TIME="{T0 + 1}" TOTAL_MAPS="1" TOTAL_REDUCES="0" JOB_STATUS="PREP" .
Job JOBID="{JOB}" JOB_STATUS="RUNNING" .
Task TASKID="{TASK}" TASK_TYPE="MAP" START_TIME="{T0 + 2}" SPLITS="/r1/n1\.x,/r2/n2\.x" .
MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_ATTEMPT_ID="{ATTEMPT}" START_TIME="{T0 + 3}" TRACKER_NAME="tracker_n1\.x:localhost/127\.0\.0\.1:54153" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_ATTEMPT_ID="{ATTEMPT}" TASK_STATUS="FAILED" FINISH_TIME="{T0 + 4}" HOSTNAME="n1\.x" ERROR="java\.io\.IOException: status\=15
	at org\.apache\.hadoop\.mapred\.TaskRunner\.run(TaskRunner\.java:424)
" .
MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_ATTEMPT_ID="{ATTEMPT[:-1]}1" START_TIME="{T0 + 5}" TRACKER_NAME="tracker_n2\.x:localhost/127\.0\.0\.1:54153" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_ATTEMPT_ID="{ATTEMPT[:-1]}1" TASK_STATUS="SUCCESS" FINISH_TIME="{T0 + 8}" HOSTNAME="/r2/n2\.x" STATE_STRING="done" COUNTERS="{{(FS)(File \(s\))[(READ)(Bytes read)(7)][(WRITE)(Bytes \\(w\\))(9)]}}" .
Task TASKID="{TASK}" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="{T0 + 9}" COUNTERS="{{(A)(A)[(B)(b)(1)]}}{{(C)(C)[(D)(d)(2)]}}" .
Job JOBID="{JOB}" FINISH_TIME="{T0 + 10}" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="0" .
"""  # noqa: E501 - entries are as long as they are


def read(
    text: str | bytes,
    report: ReadReport | None = None,
    options: ReadOptions | None = None,
    reader: Reader = READER,
) -> list[dict[str, Any]]:
    content = text.encode() if isinstance(text, str) else text
    batches = reader.read(io.BytesIO(content), "history", options or ReadOptions(), report or ReadReport())
    return [row for batch in batches for row in batch.to_pylist()]


def times(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(row["event_type"], round(row["time"].timestamp() * 1000) - T0) for row in rows]


def test_an_entry_with_a_time_becomes_the_event_of_later_versions() -> None:
    report = ReadReport()
    assert times(read(LIFETIME, report)) == [
        ("JobSubmit", 0),
        ("JobStart", 1),
        ("TaskStart", 2),
        ("MapAttemptStart", 3),
        ("AttemptFail", 4),
        ("MapAttemptStart", 5),
        ("MapAttemptFinish", 8),
        ("TaskFinish", 9),
        ("JobFinish", 10),
    ]
    assert report.skipped == {"Meta": 1, "JOB_PRIORITY_CHANGED": 1, "JOB_STATUS_CHANGED": 1}
    assert (report.records, report.rejects) == (12, [])


def test_ids_hosts_and_attributes_are_called_as_in_later_versions() -> None:
    submit, start, task_start, first, failed, _, finished, task_finish, _ = read(LIFETIME)
    assert (submit["job_id"], submit["job_name"], submit["user"]) == (JOB, 'word "count"', "ann")
    assert submit["job_conf_path"] == "hdfs://nn.x/job.xml"
    assert (start["total_maps"], start["job_status"]) == (1, "PREP")
    for row in (first, failed, finished):
        assert (row["job_id"], row["task_id"]) == (JOB, TASK)
    assert (first["attempt_id"], first["node"], first["http_port"]) == (ATTEMPT, "n1.x", 50060)
    assert first["node_raw"] == "tracker_n1.x:localhost/127.0.0.1:54153"
    assert (finished["node"], finished["rack"], finished["status"]) == ("n2.x", "/r2", "SUCCESS")
    assert (failed["node"], failed["rack"], failed["status"]) == ("n1.x", None, "FAILED")
    assert (task_start["node"], task_finish["node"]) == ("n2.x", "n2.x")
    assert task_start["split_locations"] == "/r1/n1.x,/r2/n2.x"


def test_a_value_may_go_over_several_lines() -> None:
    error = read(LIFETIME)[4]["error"]
    assert error == (
        "java.io.IOException: status=15\n\tat org.apache.hadoop.mapred.TaskRunner.run(TaskRunner.java:424)\n"
    )


def test_counters_are_those_of_later_versions() -> None:
    rows = read(LIFETIME)
    assert rows[6]["counters"] == '{"FS":{"READ":7,"WRITE":9}}'
    assert rows[7]["counters"] == '{"A":{"B":1},"C":{"D":2}}'


@pytest.mark.parametrize("text", ["File Systems.HDFS bytes read:123", "{(A)(A)[(B)(b)(1)]", "{(A)(A)}x"])
def test_counters_written_otherwise_stay_as_they_are(text: str) -> None:
    (row,) = read(f'Task TASKID="{TASK}" TASK_STATUS="SUCCESS" FINISH_TIME="{T0}" COUNTERS="{text}" .\n')
    assert row["counters"] == text


@pytest.mark.parametrize(
    ("entry", "event_type"),
    [
        ('Job JOBID="j" FINISH_TIME="{}" JOB_STATUS="KILLED"', "JobKill"),
        ('Job JOBID="j" FINISH_TIME="{}" JOB_STATUS="FAILED"', "JobFail"),
        ('Task TASKID="t" TASK_STATUS="FAILED" FINISH_TIME="{}"', "TaskFail"),
        ('Task TASKID="t" TASK_STATUS="KILLED" FINISH_TIME="{}"', "TaskFail"),
        ('MapAttempt TASK_TYPE="SETUP" TASKID="t" START_TIME="{}"', "SetupAttemptStart"),
        ('MapAttempt TASK_TYPE="CLEANUP" TASK_STATUS="SUCCESS" FINISH_TIME="{}"', "CleanupAttemptFinish"),
        ('MapAttempt TASKID="t" TASK_STATUS="SUCCESS" FINISH_TIME="{}"', "MapAttemptFinish"),
        ('ReduceAttempt TASKID="t" START_TIME="{}"', "ReduceAttemptStart"),
        ('ReduceAttempt TASKID="t" TASK_STATUS="KILLED" FINISH_TIME="{}"', "AttemptKill"),
        ('MapAttempt TASKID="t" TASK_STATUS="FAILED_UNCLEAN" FINISH_TIME="{}"', "AttemptFail"),
    ],
)  # fmt: skip
def test_kind_type_and_status_choose_the_word(entry: str, event_type: str) -> None:
    assert times(read(f"{entry.format(T0)} .\n")) == [(event_type, 0)]


def test_a_reduce_attempt_that_finished_is_three_events() -> None:
    entry = (
        'ReduceAttempt TASK_TYPE="REDUCE" TASKID="t" TASK_STATUS="SUCCESS" '
        f'SHUFFLE_FINISHED="{T0}" SORT_FINISHED="{T0 + 1}" FINISH_TIME="{T0 + 2}" HOSTNAME="n" .\n'
    )
    assert times(read(entry)) == [("ShuffleFinish", 0), ("SortFinish", 1), ("ReduceAttemptFinish", 2)]


def test_what_a_restart_repeats_is_no_event() -> None:
    report = ReadReport()
    assert read(f'Job JOBID="j" SUBMIT_TIME="{T0}" LAUNCH_TIME="{T0}" .\n', report) == []
    assert report.skipped == {"JOB_INFO_CHANGED": 1}


@pytest.mark.parametrize("time", ["-1", "0", "", "soon", "9" * 30])
def test_a_time_that_is_none_makes_an_event_without_one(time: str) -> None:
    (row,) = read(f'Task TASKID="{TASK}" START_TIME="{time}" .\n')
    assert (row["event_type"], row["time"]) == ("TaskStart", None)


@pytest.mark.parametrize(
    "entry",
    [
        f'MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" START_TIMU="{T0}"',
        f'MapAttempt TASK_TYPE="MAP" TASKID="{TASK}" TASK_STATVS="SUCCESS" FINISH_TIME="{T0}"',
        f'Task TASKID="{TASK}" TASK_TYPE="MAP" START_TIE="{T0}"',
        f'Task TASKID="{TASK}" TASK_STATVS="SUCCESS" FINISH_TIME="{T0}"',
        f'Job JOBID="j" JOBNAME="n" SUBMIT_TYME="{T0}"',
        f'Job JOBID="j" LAUNCHTIME="{T0}" JOB_STATUS="PREP"',
        f'Job JOBID="j" JOB_STATUS="SUCCESS" FINISH_TIMX="{T0}" FINISHED_MAPS="1"',
    ],
)
def test_an_entry_that_lost_its_time_is_a_reject(entry: str) -> None:
    report = ReadReport()
    assert read(f"{entry} .\n", report) == []
    assert [(reject.line, reject.cause, reject.text) for reject in report.rejects] == [(1, "no time", entry)]
    assert (report.records, report.skipped) == (1, {})


def test_a_task_that_only_says_when_it_was_last_heard_of_is_counted() -> None:
    report = ReadReport()
    assert read(f'Task TASKID="{TASK}" FINISH_TIME="{T0}" .\n', report) == []
    assert (report.skipped, report.rejects) == ({"TASK_UPDATED": 1}, [])


def test_jobs_tasks_and_attempts_are_interval_events_on_request() -> None:
    rows = read(LIFETIME, options=ReadOptions(intervals=True))
    spans = [row for row in rows if row["end_time"]]
    ends = [round(row["end_time"].timestamp() * 1000) - T0 for row in spans]
    assert list(zip(times(spans), ends, strict=True)) == [
        (("TaskAttempt", 3), 4),
        (("TaskAttempt", 5), 8),
        (("Task", 2), 9),
        (("Job", 1), 10),
    ]


# --- files as they are found --------------------------------------------------------------


def test_histories_joined_in_one_file_are_read_and_their_configurations_skipped() -> None:
    joined = (
        "\f!!FILE=jt_1_job_1_conf.xml!!\n<?xml version='1.0'?>\n<configuration>\n</configuration>\n"
        f"\f!!FILE=jt_1_job_1_ann_word+count!!\n{LIFETIME}\n"
        "!!FILE=jt_1_job_2_conf.xml!!\n<configuration/>\n"
    )
    report = ReadReport()
    assert READER.recognises(joined.encode())
    assert read(joined, report) == read(LIFETIME)
    assert report.skipped["configuration of a job"] == 2
    assert report.rejects == []


def test_a_history_whose_name_is_damaged_is_read_behind_a_configuration() -> None:
    joined = f"!!FILE=jt_1_job_1_conf.xml!!\n<configuration>\n\f!?FILE=jt_1_job_1_ann_a!!\n{LIFETIME}\n"
    report = ReadReport()
    assert read(joined, report) == read(LIFETIME)
    assert report.rejects == []


def test_entries_lost_together_are_as_many_rejects() -> None:
    first, second = (f'Task TASKID="{n}" TASK_TYPE="MAP" START_TIME="{T0}" .' for n in "ab")
    for text, records in (
        (f"{first}\0{second}\n", [2]),
        (f"{first}J{second}\n", [2]),
        (f"?{first}\nT{second}\n", [1, 1]),
    ):
        report = ReadReport()
        assert read(f"{first}\n{text}{second}\n", report) != []
        assert [reject.records for reject in report.rejects] == records
        assert report.records == 4


def test_a_file_is_told_from_its_first_line() -> None:
    assert READER.recognises(LIFETIME.encode())
    assert READER.recognises(b"\xef\xbb\xbf\n\n" + LIFETIME.encode())
    assert not READER.recognises(b'Avro-Json\n{"type":"record"}')
    assert not READER.recognises(b"2015-10-18 18:01:47,978 INFO [main] Job JOBID=1\n")
    assert not READER.recognises(b"")


def test_the_last_entry_cut_in_half_is_rejected_with_the_line_it_begins_on() -> None:
    report = ReadReport()
    assert len(read(LIFETIME[:-20], report)) == 8
    assert [(reject.line, reject.cause) for reject in report.rejects] == [(14, "the entry is cut short")]
    assert report.records == 12


def test_an_entry_cut_at_a_key_is_cut_short_although_it_reads_well() -> None:
    report = ReadReport()
    assert len(read(LIFETIME[: LIFETIME.rindex(" JOB_STATUS")], report)) == 8
    assert len(report.rejects) == 1


def test_before_versions_entries_had_no_mark_at_their_end() -> None:
    old = f'Job JOBID="j" SUBMIT_TIME="{T0}"\nJob JOBID="j" LAUNCH_TIME="{T0 + 1}"\n'
    report = ReadReport()
    assert times(read(old, report)) == [("JobSubmit", 0), ("JobStart", 1)]
    assert report.rejects == []


def test_an_entry_that_the_next_cuts_off_loses_no_other() -> None:
    lines = LIFETIME.splitlines(keepends=True)
    lines[1] = lines[1][:40] + "\n"
    report = ReadReport()
    assert len(read("".join(lines), report)) == 8
    assert [reject.line for reject in report.rejects] == [2]


def test_lines_that_belong_to_no_entry_are_one_reject_for_each_place() -> None:
    lines = LIFETIME.splitlines(keepends=True)
    report = ReadReport()
    content = "".join([*lines[:2], "garbage\n", "more\n", *lines[2:], "\n", "last\n"])
    assert len(read(content, report)) == 9
    assert [(reject.line, reject.raw) for reject in report.rejects] == [(3, b"garbage"), (18, b"last")]


def test_a_damaged_entry_is_rejected_whole() -> None:
    report = ReadReport()
    assert len(read(LIFETIME.replace('USER="ann"', 'USER=ann"'), report)) == 8
    assert [(reject.line, reject.cause) for reject in report.rejects] == [(2, "the entry is damaged")]


def test_an_entry_without_end_is_given_up_at_a_limit() -> None:
    line = "x" * (1 << 20) + "\n"
    endless = f'Task TASKID="{TASK}" ERROR="' + line * (LONGEST_ENTRY // len(line) + 1)
    report = ReadReport()
    assert len(read(f"{endless}\n{LIFETIME}", report)) == 9
    assert report.rejects[0].cause == "the entry is longer than 16 MB"


def test_lines_may_end_as_on_windows() -> None:
    report = ReadReport()
    rows = read(LIFETIME.replace("\n", "\r\n"), report)
    assert (times(rows), report.rejects) == (times(read(LIFETIME)), [])


def test_bytes_that_are_no_utf8_are_replaced_with_a_warning() -> None:
    report = ReadReport()
    submit, *_ = read(LIFETIME.encode().replace(b'"ann"', b'"\xff"'), report)
    assert submit["user"] == "\ufffd"
    assert report.warnings == ["bytes that are not UTF-8 were replaced, the first in the entry at line 2"]


def test_a_truncated_gzip_keeps_what_came_before() -> None:
    noise = "".join(
        f'Task TASKID="task_1_1_m_{i * 7919 % 999_983}" START_TIME="{T0 + i}" .\n' for i in range(5_000)
    )
    whole = gzip.compress(noise.encode())
    report = ReadReport()
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(whole[: len(whole) // 2])))
    rows = sum(batch.num_rows for batch in READER.read(stream, "h.gz", ReadOptions(), report))
    assert 1_000 < rows < 4_000
    assert "truncated input" in [reject.cause for reject in report.rejects]


# --- real histories -----------------------------------------------------------------------


def content_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def expected_events(content: bytes) -> tuple[int, int]:
    """Entries, and times that are events, by a regular expression over the whole text."""
    sections = re.split(rb"\f?!!FILE=.*_conf\.xml!!\n(?:<.*\n?)*", content)
    text = b"\n".join(sections)
    entries = re.findall(rb'^(\w+) ((?:[A-Z_]+="(?:[^"\\]|\\.)*" )+)\.$', text, re.MULTILINE | re.DOTALL)
    events = 0
    for kind, values in entries:
        keys = Counter(re.findall(rb'([A-Z_]+)="(?:[^"\\]|\\.)*"', values))
        names = [b"SUBMIT_TIME", b"LAUNCH_TIME", b"START_TIME", b"FINISH_TIME"]
        events += sum(
            keys[name] for name in [*names, *[b"SHUFFLE_FINISHED", b"SORT_FINISHED"] * (kind != b"Job")]
        )
    return len(entries), events


@pytest.mark.realdata
def test_real_histories_are_read_completely(real_logs: Path) -> None:
    paths = sorted((real_logs / "hadoop" / "history-v20").iterdir())
    assert paths
    for path in paths:
        content, report = content_of(path), ReadReport()
        assert READER.recognises(content[: 1 << 16])
        rows = read(content, report)
        entries, events = expected_events(content)
        configurations = report.skipped["configuration of a job"]
        assert (report.records - configurations - len(report.rejects), len(rows)) == (entries, events), (
            path.name
        )
        assert [(reject.line, reject.cause) for reject in report.rejects] == (
            [(58, "the entry is damaged")] if path.name.startswith("truncated") else []
        )
        assert all(row["time"] is not None and row["job_id"] for row in rows)
        assert all(row["status"] for row in rows if row["event_type"].endswith("AttemptFinish"))


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("history", "trace"),
    [
        ("dispatch-sample-v20-jt-log.gz", "dispatch-trace-output.json.gz"),
        ("truncated-job-tracker-log", "truncated-trace-output"),
    ],
)
def test_what_rumen_made_of_a_history_is_what_the_history_says(
    real_logs: Path, history: str, trace: str
) -> None:
    """Two readers that share no parsing, and a third program between them: Rumen itself."""
    written = read(content_of(real_logs / "hadoop" / "history-v20" / history))
    made = read(content_of(real_logs / "hadoop" / "rumen" / trace), reader=RumenTrace())

    def facts(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        names = ("event_type", "time", "job_id", "task_id", "attempt_id", "status")
        return Counter(tuple(row[name] for name in names) for row in rows)

    assert facts(written) == facts(made)
    # Rumen forgot the hosts of attempts that failed; where it kept them, they are the same.
    hosts = {row["attempt_id"]: row["node"] for row in written if row["attempt_id"]}
    kept = [row for row in made if row["attempt_id"] and row["node"]]
    assert len(kept) > len(made) // 3
    assert all(row["node"] == hosts[row["attempt_id"]] for row in kept)
