"""The journal of systemd: whose entry, when, and what its fields become."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named

RECEIVED = {"__REALTIME_TIMESTAMP": "1781417705612004"}


def read(*lines: str) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    stream = io.BytesIO("\n".join(lines).encode())
    batches = format_named("journal").reader.read(stream, "j", ReadOptions(), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def entry(**fields: Any) -> dict[str, Any]:
    (event,), _ = read(json.dumps({**RECEIVED, **fields}))
    return event


def test_the_type_is_the_identifier_else_the_command_else_message() -> None:
    assert entry(SYSLOG_IDENTIFIER="sshd", _COMM="sshd-session")["event_type"] == "sshd"
    assert entry(_COMM="sshd-session")["event_type"] == "sshd-session"
    assert entry()["event_type"] == "Message"


def test_the_time_is_that_of_the_writer_else_that_of_the_journal() -> None:
    received = datetime(2026, 6, 14, 6, 15, 5, 612_004, tzinfo=UTC)
    assert entry()["time"] == received
    assert entry(_SOURCE_REALTIME_TIMESTAMP="1781417705000001")["time"] == received.replace(microsecond=1)


def test_fields_are_attributes_by_short_names_and_what_a_client_says_too_keeps_its_own() -> None:
    event = entry(
        _HOSTNAME="web1", _PID="7", PID="8", PRIORITY="3", _SYSTEMD_UNIT="a.service", UNIT="b", X=["1", "2"]
    )
    known = {name: event[name] for name in ("node", "pid", "PID", "severity", "unit", "UNIT", "x")}
    assert known == {
        "node": "web1",
        "pid": "7",
        "PID": "8",
        "severity": "err",
        "unit": "a.service",
        "UNIT": "b",
        "x": '["1", "2"]',
    }


@pytest.mark.parametrize(
    ("written", "message"), [("x", "x"), ([72, 105, 255], "Hi\ufffd"), (None, None), ("", None)]
)
def test_a_message_is_text_also_where_it_is_written_as_bytes(written: Any, message: str | None) -> None:
    assert entry(MESSAGE=written)["message"] == message


def test_what_is_no_entry_is_a_reject() -> None:
    events, report = read('{"a": 1}', json.dumps(RECEIVED), "[" * 5_000, '{"__REALTIME_TIMESTAMP": "x"}')
    assert len(events) == 1
    cause = "not an entry of a journal: a JSON object with __REALTIME_TIMESTAMP"
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (1, cause),
        (3, cause),
        (4, "no time"),
    ]
