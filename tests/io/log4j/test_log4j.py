"""log4j records become typed events, in the zone of their clock, with what patterns and paths tell."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from cepctl.errors import UsageError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import FOLD, TWICE, ReadOptions, ReadReport
from cepctl.io.formats import recognised_format
from cepctl.io.log4j.log import UNMATCHED
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, KEEP, OLD_HDFS, READER, TRACE, only, read

ATTEMPT = "attempt_1772009204117_0042_m_000011_0"

# --- time zones ----------------------------------------------------------------------------


def zoned(time: str, report: ReadReport | None = None) -> dict[str, Any]:
    (row,) = read(f"{time} INFO a.B: x", ReadOptions("Europe/Berlin", keep_unmatched=True), report)
    return row


def test_times_are_read_in_the_zone_of_the_user() -> None:
    row = zoned("2015-07-01 12:00:00,250")
    assert (row["time"], row["zone_seconds"], row["after"]) == (1_435_744_800_250_000, 7200, 999)


def test_a_time_that_happened_twice_is_two_instants() -> None:
    report = ReadReport()
    row = zoned("2015-10-25 02:30:00,000", report)
    assert (row["time"], row["after"], row[FOLD]) == (1_445_733_000_000_000, 999, 3_600_000_000)
    assert [n.format(c) for n, c in report.notes.items()] == [TWICE.format(1)]


def test_a_time_that_the_clocks_skipped_is_a_reject() -> None:
    report = ReadReport()
    text = "2015-03-29 02:30:00,000 INFO org.apache.hadoop.util.Some: x"
    assert not read(text, ReadOptions("Europe/Berlin", keep_unmatched=True), report)
    assert [each.cause for each in report.rejects] == ["the clocks of Europe/Berlin skipped this hour"]


def test_without_a_zone_times_are_utc_and_it_is_said() -> None:
    report = ReadReport()
    read(f"{DAEMON}\n{CONSOLE}\n", report=report)
    assert [n.format(c) for n, c in report.notes.items()] == [
        "times without a zone, read as UTC: 2; name their zone with --tz"
    ]


def test_an_unknown_zone_is_an_error_of_the_user() -> None:
    with pytest.raises(UsageError, match="Mars/Olympus"):
        read(DAEMON, ReadOptions("Mars/Olympus"))


# --- patterns and attributes ---------------------------------------------------------------

TRANSITION = (
    "2015-10-18 18:01:54,604 INFO [dispatcher] org.apache.hadoop.mapreduce.v2.app.job.impl.TaskAttemptImpl: "
    f"{ATTEMPT} TaskAttempt Transitioned from NEW to UNASSIGNED"
)


def test_a_record_that_a_built_in_pattern_fits_is_a_typed_event() -> None:
    row = only(TRANSITION, ReadOptions())
    assert (row["event_type"], row["from"], row["to"]) == ("AttemptTransition", "NEW", "UNASSIGNED")
    assert (row["attempt_id"], row["task_id"], row["job_id"]) == (
        ATTEMPT,
        "task_1772009204117_0042_m_000011",
        "job_1772009204117_0042",
    )
    assert (row["level"], row["thread"]) == ("INFO", "dispatcher")
    assert "message" not in row


def test_records_that_no_pattern_fits_are_counted_and_leave_their_numbers_free() -> None:
    report = ReadReport()
    (row,) = read(f"{DAEMON}\n{DAEMON}\n{TRANSITION}\n", ReadOptions(), report)
    assert row["number"] == 3
    assert (report.records, report.skipped, report.rejects) == (3, {UNMATCHED: 2}, [])


def test_patterns_of_the_user_come_first_and_in_their_order() -> None:
    mine = (
        LogPattern("Late", "never", attributes=()),
        LogPattern(
            "Began",
            r"(?P<attempt_id>attempt_\w+) .* from NEW to (?P<next>\w+)",
            attributes=("attempt_id", "next"),
        ),
        LogPattern("Other", "attempt"),
    )
    row = only(TRANSITION, ReadOptions(patterns=mine))
    assert (row["event_type"], row["next"], row["task_id"]) == (
        "Began",
        "UNASSIGNED",
        "task_1772009204117_0042_m_000011",
    )


def test_a_pattern_looks_only_at_its_loggers_and_level() -> None:
    lines = [f"2015-10-18 18:01:47,978 {level} a.{name}: x" for level in ("INFO", "WARN") for name in "BC"]
    mine = (LogPattern("Hit", "x", loggers=("*.C", "nothing"), level="WARN"),)
    rows = read("\n".join(lines), ReadOptions(patterns=mine, keep_unmatched=True))
    assert [row["event_type"] for row in rows] == ["LogLine", "LogLine", "LogLine", "Hit"]


def test_a_pattern_sees_the_whole_message_with_its_stack_trace() -> None:
    mine = (LogPattern("Lost", r"(?m)^Caused by: (?P<cause>\S+):", attributes=("cause",)),)
    assert only(f"{DAEMON}\n{TRACE}\n", ReadOptions(patterns=mine))["cause"] == "x"


def test_a_group_that_took_no_part_is_null() -> None:
    mine = (LogPattern("Seen", "hello(?: (?P<who>.+))?", attributes=("who",)),)
    rows = read(f"{DAEMON}\n{DAEMON} world\n", ReadOptions(patterns=mine))
    assert [row["who"] for row in rows] == [None, "world"]


def test_groups_called_node_become_host_names_and_the_raw_text_stays() -> None:
    line = (
        "081109 203518 143 INFO dfs.DataNode$DataXceiver: "
        "Receiving block blk_-16 src: /10.0.0.1:5 dest: /10.0.0.2:6"
    )
    row = only(line, ReadOptions())
    assert (row["event_type"], row["block_id"]) == ("BlockReceiveStart", "blk_-16")
    assert (row["node"], row["node_raw"], row["source_node"]) == ("10.0.0.2", "/10.0.0.2:6", "10.0.0.1")


def test_the_address_by_which_a_data_node_calls_itself_gives_way_to_the_host_of_its_log() -> None:
    line = "2015-10-18 18:01:47,978 INFO a.DataNode: Receiving blk_5_1 src: /10.0.0.1:5 dest: /10.0.0.2:6"
    row = only(line, ReadOptions(drop_domain=True), source="hadoop-x-datanode-n2.example.com.log")
    assert (row["node"], row["node_raw"], row["source_node"]) == ("n2", "n2.example.com", "10.0.0.1")
    assert "own_node" not in row


def test_a_group_named_like_a_column_is_an_attribute_with_a_prefix() -> None:
    mine = (LogPattern("Seen", "(?P<time>h)(?P<level>e)", attributes=("time", "level")),)
    row = only(DAEMON, ReadOptions(patterns=mine))
    assert (row["attr:time"], row["level"]) == ("h", "e")


# --- what the path tells -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "daemon", "node"),
    [
        ("hadoop-hdfs-datanode-n7.log", "datanode", "n7"),
        ("logs/hadoop-ana-b-namenode-rack-1-n7.example.com.log.3", "namenode", "rack-1-n7.example.com"),
        ("yarn-yarn-resourcemanager-n1.log.2015-10-18", "resourcemanager", "n1"),
        ("n1/mapred-mapred-historyserver-n1.out", "historyserver", "n1"),
        ("hadoop-x-datanode-n7.log.gz", "datanode", "n7"),
    ],
)
def test_the_log_of_a_daemon_is_about_its_host(name: str, daemon: str, node: str) -> None:
    row = only(DAEMON, source=name)
    assert (row["daemon"], row["node"], row["node_raw"]) == (daemon, node, node)


def test_a_node_that_the_message_names_wins_over_the_host_of_the_log() -> None:
    line = "2015-10-18 18:01:47,978 INFO a.RackResolver: Resolved n2.example.com to /r1\n"
    rows = read(
        line + DAEMON,
        ReadOptions(drop_domain=True, keep_unmatched=True),
        source="yarn-y-resourcemanager-n1.log",
    )
    assert [row["node"] for row in rows] == ["n2", "n1"]


def test_the_log_of_a_container_has_its_ids() -> None:
    path = "userlogs/application_1772009204117_0042/container_e17_1772009204117_0042_01_000003/syslog"
    row = only(CONTAINER, source=path)
    assert row["application_id"] == "application_1772009204117_0042"
    assert row["container_id"] == "container_e17_1772009204117_0042_01_000003"


def test_a_record_about_an_attempt_is_not_taken_for_one_about_the_container_of_the_log() -> None:
    path = "application_1772009204117_0042/container_1772009204117_0042_01_000001/syslog"
    row = only(TRANSITION, source=path)
    assert (row["container_id"], row["application_id"]) == (None, "application_1772009204117_0042")


def test_the_log_of_a_task_of_hadoop_1_has_its_attempt() -> None:
    row = only(DAEMON, source="userlogs/job_200811101024_0005/attempt_200811101024_0005_m_000001_0/syslog")
    assert (row["job_id"], row["attempt_id"]) == (
        "job_200811101024_0005",
        "attempt_200811101024_0005_m_000001_0",
    )


# --- recognition ---------------------------------------------------------------------------


@pytest.mark.parametrize("line", [CONTAINER, DAEMON, CONSOLE, OLD_HDFS, f"\n{DAEMON}\r"])
def test_a_log_is_recognised_by_its_first_record(line: str) -> None:
    assert recognised_format(f"{line}\n{TRACE}\n".encode() * 3, "a").name == "log4j"


def test_a_log_that_begins_inside_a_stack_trace_is_recognised() -> None:
    assert READER.recognises(f"{TRACE}\n{DAEMON}\n{DAEMON}\n{CONSOLE}\n".encode())
    assert READER.recognises(f"{DAEMON}\n".encode("utf-16"))


def test_a_log_of_a_program_that_calls_hadoop_is_of_lines() -> None:
    """As executors of Spark write it: taken for Hadoop's, hardly a record of it would fit a pattern."""
    task = "26/06/14 08:15:01 INFO executor.Executor: Running task 0.0 in stage 0.0 (TID 0)\n"
    saved = "26/06/14 08:15:02 INFO mapred.SparkHadoopMapRedUtil: attempt_1_m_0_0: Committed\n"
    assert recognised_format((2 * task + saved).encode(), "a").name == "lines"
    assert recognised_format((task + saved).encode(), "a").name == "log4j"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# notes\n\nA log looks so:\n\n" + DAEMON,
        "event_type,time\nA,2015-10-18 18:01:47,978\n",
        "2015-10-18 18:01:47,978 x",
    ],
)
def test_other_texts_are_no_logs(text: str) -> None:
    assert not READER.recognises(text.encode())


# --- real logs -----------------------------------------------------------------------------

SHARES = {"HDFS_HDFS_2k.log": 1.0, "Hadoop_Hadoop_2k.log": 0.95}


def real_logs() -> list[Path]:
    root = os.environ.get("CEPCTL_REALDATA")
    return sorted(Path(root, "hadoop", "log4j").glob("*.log")) if root else []


@pytest.mark.realdata
@pytest.mark.skipif(not real_logs(), reason="CEPCTL_REALDATA names no log4j logs")
@pytest.mark.parametrize("path", real_logs(), ids=lambda path: path.name)
def test_real_logs_are_read_completely_and_mostly_understood(path: Path) -> None:
    begins = re.compile(rb"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}|\d{6} \d{6} \d+) [A-Z]+ ", re.MULTILINE)
    expected = len(begins.findall(path.read_bytes()))
    report = ReadReport()
    kept = read(path.read_bytes(), KEEP, report, path.name)
    assert (len(kept), report.records, report.rejects) == (expected, expected, []) == (2_000, 2_000, [])
    assert recognised_format(path.read_bytes()[: 1 << 16], path.name).name == "log4j"
    assert sum(row["event_type"] != "LogLine" for row in kept) / expected >= SHARES[path.name]


@pytest.mark.realdata
@pytest.mark.skipif(not real_logs(), reason="CEPCTL_REALDATA names no log4j logs")
@pytest.mark.parametrize(
    ("file", "event_type", "words"),
    [
        ("HDFS_HDFS_2k.log", "BlockStore", rb"addStoredBlock: blockMap updated"),
        ("HDFS_HDFS_2k.log", "BlockServe", rb" Served block "),
        ("HDFS_HDFS_2k.log", "BlockReceiveStart", rb": Receiving block "),
        ("HDFS_HDFS_2k.log", "BlockReceiveFinish", rb": Received block "),
        ("HDFS_HDFS_2k.log", "BlockDelete", rb"Deleting block "),
        ("HDFS_HDFS_2k.log", "BlockAllocate", rb"allocateBlock: "),
        ("Hadoop_Hadoop_2k.log", "AttemptTransition", rb" TaskAttempt Transitioned from "),
        ("Hadoop_Hadoop_2k.log", "TaskTransition", rb" Task Transitioned from "),
        ("Hadoop_Hadoop_2k.log", "JobTransition", rb"Job Transitioned from "),
        ("Hadoop_Hadoop_2k.log", "ContainerAssign", rb"Assigned container "),
        ("Hadoop_Hadoop_2k.log", "ConnectRetry", rb"Retrying connect to server"),
        ("Hadoop_Hadoop_2k.log", "LeaseRenewFail", rb"Failed to renew lease for"),
    ],
)
def test_real_messages_become_the_events_that_a_search_finds(
    file: str, event_type: str, words: bytes
) -> None:
    path = Path(os.environ["CEPCTL_REALDATA"], "hadoop", "log4j", file)
    rows = read(path.read_bytes(), ReadOptions())
    assert sum(row["event_type"] == event_type for row in rows) == path.read_bytes().count(words) > 0
