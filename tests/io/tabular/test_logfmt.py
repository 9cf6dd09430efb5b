"""Logfmt: which key is the time and which the type, and how sure a time is."""

from __future__ import annotations

import io
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

TIME = "2026-06-14T08:15:04Z"


def read(text: str, *columns: tuple[str, str]) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    reader = format_named("logfmt").reader
    batches = reader.read(io.BytesIO(text.encode()), "a", ReadOptions(columns=columns), report)
    return [event for batch in batches for event in batch.to_pylist()], report


@pytest.mark.parametrize(
    ("line", "event_type"),
    [
        (f"t={TIME} msg=on event=Start", "Start"),
        (f't={TIME} msg="it \\"is\\" on" level=info', 'it "is" on'),
        (f"t={TIME} level=info", "LogLine"),
    ],
)
def test_the_type_is_the_event_or_the_message(line: str, event_type: str) -> None:
    ((event,), _) = read(line)
    assert event["event_type"] == event_type


@pytest.mark.parametrize(
    ("time", "after"),
    [(TIME, 999_999), ("2026-06-14T08:15:04.5Z", 99_999), ("1781417704", 999_999), ("1781417704.250", 999)],
)
def test_a_time_is_as_sure_as_its_last_digit(time: str, after: int) -> None:
    ((event,), _) = read(f"ts={time} msg=on")
    assert (event["time"].strftime("%H:%M:%S"), event["after"]) == (
        "06:15:04" if "T" not in time else "08:15:04",
        after,
    )


def test_a_mapping_goes_before_the_usual_names() -> None:
    ((event,), _) = read(f"t=1 at={TIME} msg=on level=info", ("time", "at"), ("event_type", "level"))
    assert (event["event_type"], event["msg"], event["t"]) == ("info", "on", "1")


def test_keys_called_like_columns_of_events_are_attributes() -> None:
    ((event,), _) = read(f"t={TIME} upper=7 event_id=x done ok=")
    assert (event["attr:upper"], event["attr:event_id"], event["event_id"], event["done"]) == (
        "7",
        "x",
        None,
        "true",
    )


def test_what_is_not_keys_and_values_is_a_reject() -> None:
    events, report = read(f't={TIME} msg=on\npanic: boom\nt={TIME} msg="open\nmsg=late\n')
    assert len(events) == 1
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (2, 'not a line of logfmt: KEY=VALUE KEY="VALUE" ...'),
        (3, 'not a line of logfmt: KEY=VALUE KEY="VALUE" ...'),
        (4, "no time"),
    ]


@pytest.mark.parametrize("head", [f"level=info ts={TIME}", "ts=1781417704.2 msg=x", f'time="{TIME}" msg=x'])
def test_it_is_told_from_a_line_with_a_time(head: str) -> None:
    assert recognised_format(head.encode(), "x").name == "logfmt"
