"""Access logs: what a line becomes, in each layout, and what is none."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from cepctl.io.contract.reader import GRAIN, ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

COMMON = '198.51.100.7 - ann [14/Jun/2026:08:15:02 +0200] "GET /orders?page=1 HTTP/1.1" 200 1843'
COMBINED = COMMON + ' "https://shop.example/" "Mozilla/5.0 (X11; \\"x\\")"'


def read(text: str) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    reader = format_named("access").reader
    batches = reader.read(io.BytesIO(text.encode("utf-8", "surrogateescape")), "a.log", ReadOptions(), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def attributes(line: str) -> dict[str, Any]:
    (event,), _ = read(line)
    standing = ("number", "event_id", "event_type", "time", "zone_seconds", "before", "after", GRAIN)
    return {name: value for name, value in event.items() if name not in standing and value is not None}


def test_a_line_is_a_request_at_its_second_in_its_zone() -> None:
    (event,), report = read(COMMON + "\n")
    assert (event["event_type"], event["number"], report.records) == ("Request", 1, 1)
    assert event["time"] == datetime(2026, 6, 14, 6, 15, 2, tzinfo=UTC)
    assert (event["zone_seconds"], event["before"], event["after"]) == (7200, 0, 999_999)


def test_the_layouts_give_what_they_hold() -> None:
    common = {
        "client": "198.51.100.7",
        "user": "ann",
        "method": "GET",
        "path": "/orders",
        "query": "page=1",
        "protocol": "HTTP/1.1",
        "status": 200,
        "bytes": 1843,
    }
    agent = {"referer": "https://shop.example/", "agent": 'Mozilla/5.0 (X11; \\"x\\")'}
    assert attributes(COMMON) == common
    assert attributes(COMBINED) == {**common, **agent}
    assert attributes(f"shop.example:443 {COMBINED}") == {**common, **agent, "server": "shop.example:443"}
    assert attributes(f'{COMBINED} 0.031 "-"') == {**common, **agent, "extra": '0.031 "-"'}


@pytest.mark.parametrize("request_line", ["\\x16\\x03\\x01", "GET / HTTP/1.1 more", "get /"])
def test_a_request_of_another_form_stays_whole(request_line: str) -> None:
    found = attributes(f'::1 - - [14/Jun/2026:08:15:02 +0200] "{request_line}" 400 -')
    assert found == {"client": "::1", "request": request_line, "status": 400}


def test_what_is_no_line_of_a_log_is_a_reject_with_its_line_and_its_text() -> None:
    bad = COMMON.replace("14/Jun", "31/Jun")
    events, report = read(f"{COMMON}\n\nstarting\n{bad}\n{COMBINED}\n")
    assert [event["number"] for event in events] == [1, 5]
    assert [(reject.line, reject.cause, reject.raw) for reject in report.rejects] == [
        (3, "not a line of an access log in the common or the combined format", b"starting"),
        (4, "no time", bad.encode()),
    ]
    assert report.records == 4


def test_bytes_that_are_not_text_are_replaced_and_noted() -> None:
    (event,), report = read(COMMON.replace("ann", "\udce9"))
    assert event["user"] == "\ufffd"
    assert report.notes == {"lines with bytes that are not UTF-8, which were replaced: {:,}": 1}


def test_second_60_is_the_next_minute() -> None:
    (event,), _ = read(COMMON.replace("08:15:02", "08:15:60"))
    assert event["time"] == datetime(2026, 6, 14, 6, 16, 0, tzinfo=UTC)


@pytest.mark.parametrize("head", ["", "banner\n"])
def test_a_log_is_told_from_its_lines_also_behind_a_banner(head: str) -> None:
    assert recognised_format(f"{head}{COMMON}\n{COMBINED}\n{COMMON}\n".encode(), "x").name == "access"
