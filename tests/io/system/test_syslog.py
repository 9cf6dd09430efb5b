"""Syslog: its three forms, times without a year, and what is none."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import FOLD, GRAIN, ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

BEGINS = int(datetime(2025, 12, 30, tzinfo=UTC).timestamp()) * 1_000_000
SSHD = "Dec 31 23:59:59 web1 sshd[2210]: Failed password for root"


def read(text: str, **options: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    choices = ReadOptions(**{"epoch": BEGINS, **options})
    batches = format_named("syslog").reader.read(io.BytesIO(text.encode()), "a.log", choices, report)
    return [event for batch in batches for event in batch.to_pylist()], report


def said(line: str) -> dict[str, Any]:
    """What is known of a line, beside its time."""
    (event,), _ = read(line)
    standing = ("number", "time", "zone_seconds", "before", "after", GRAIN)
    return {name: value for name, value in event.items() if name not in standing and value is not None}


def test_the_type_of_a_message_is_its_program() -> None:
    host = {"node": "web1", "node_raw": "web1"}
    sshd = {"event_type": "sshd", **host, "program": "sshd", "pid": "2210"}
    assert said(SSHD) == {**sshd, "message": "Failed password for root"}
    assert said(f"<38>{SSHD}") == {
        **sshd,
        "facility": "auth",
        "severity": "info",
        "message": "Failed password for root",
    }
    assert said("Dec  1 00:00:00 web1 last message repeated 2 times") == {
        "event_type": "Message",
        **host,
        "message": "last message repeated 2 times",
    }
    assert said("Dec 31 00:00:00 kernel: eth0: link down") == {
        "event_type": "kernel",
        "program": "kernel",
        "message": "eth0: link down",
    }


def test_rfc_5424_gives_its_structured_data() -> None:
    line = '<165>1 2026-06-14T06:15:06.003Z web1 su - ID47 [a@1 b="3" c="\\"x\\]"][d e="f"] an event'
    assert said(line) == {
        "event_type": "su",
        "node": "web1",
        "node_raw": "web1",
        "program": "su",
        "facility": "local4",
        "severity": "notice",
        "message_id": "ID47",
        "message": "an event",
        "a@1.b": "3",
        "a@1.c": '"x]',
        "d.e": "f",
    }


@pytest.mark.parametrize(
    ("clock", "time", "after"),
    [
        ("Dec 29 10:00:00", datetime(2025, 12, 29, 10), 999_999),
        ("Dec 28 10:00:00", datetime(2026, 12, 28, 10), 999_999),
        ("Jan  1 00:00:60.250", datetime(2026, 1, 1, 0, 1, 0, 250_000), 999),
        ("Jun 14 2024 10:00:00", datetime(2024, 6, 14, 10), 999_999),
        ("2026-06-14T10:00:00.123456+02:00", datetime(2026, 6, 14, 8, 0, 0, 123_456), 0),
    ],
)
def test_a_time_without_a_year_is_the_first_from_the_day_before_the_beginning(
    clock: str, time: datetime, after: int
) -> None:
    (event,), _ = read(f"{clock} web1 cron[1]: x")
    assert (event["time"], event["after"]) == (time.replace(tzinfo=UTC), after)


def test_times_without_a_zone_are_those_of_the_user_and_an_hour_that_came_twice_is_two() -> None:
    (event,), report = read("Oct 25 02:30:00 web1 cron: x", time_zone="Europe/Berlin")
    assert event["time"] == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert (event["after"], event[FOLD]) == (999_999, 3_600_000_000)
    (_,), in_utc = read(SSHD)
    assert [list(each.notes.values()) for each in (report, in_utc)] == [[1], [1]]


def test_without_a_beginning_a_time_without_a_year_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(LogFormatError, match=r"'Dec 31 23:59:59' has no year; .* --epoch YEAR-12-31"):
        read(SSHD, epoch=None)


def test_what_is_no_syslog_and_days_that_are_not_there_are_rejects() -> None:
    events, report = read(f"at com.example.Some\nFeb 29 10:00:00 web1 cron: x\nFeb 30 1:\n{SSHD}\n")
    assert len(events) == 1
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (1, "not a line of syslog (RFC 3164 or RFC 5424)"),
        (2, "no time"),
        (3, "not a line of syslog (RFC 3164 or RFC 5424)"),
    ]


def test_patterns_name_types_by_program_severity_and_message() -> None:
    patterns = (
        LogPattern("Refused", r"password for (?P<user>\S+)", ("ssh*",), "ERROR", ("user",)),
        LogPattern("Loud", "password", (), None, ()),
    )
    events, report = read(f"<35>{SSHD}\n<38>{SSHD}\nDec 31 00:00:00 web1 su: x\n", patterns=patterns)
    assert [(event["event_type"], event["user"]) for event in events] == [
        ("Refused", "root"),
        ("Loud", None),
        ("su", None),
    ]
    assert report.patterns == {1, 2}


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (SSHD, "syslog"),
        ("2026-06-14T06:15:06Z web1 sshd[1]: x", "syslog"),
        ("2026-06-14T06:15:06Z INFO main: started\n", "lines"),
        ("2026-06-14T06:15:06Z stderr F sshd[1]: x", "cri"),
    ],
)
def test_other_logs_with_times_of_iso_8601_are_not_taken_for_syslog(head: str, name: str) -> None:
    assert recognised_format(head.encode(), "x").name == name
