"""Text of no known format: patterns make events of its lines, and say when they happened."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

READY = LogPattern("Ready", r"^\[(?P<time>[^\]]+)\] ready on (?P<port>\d+)", (), None, ("time", "port"))
TIMELESS = LogPattern("Lost", "lost", (), None, ())


def read(text: str, *patterns: LogPattern, **options: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    choices = ReadOptions(patterns=patterns, **options)
    batches = format_named("text").reader.read(io.BytesIO(text.encode()), "a.log", choices, report)
    return [event for batch in batches for event in batch.to_pylist()], report


@pytest.mark.parametrize(
    ("time", "options", "instant", "after"),
    [
        ("2026-06-14T08:15:04Z", {}, datetime(2026, 6, 14, 8, 15, 4), 999_999),
        (
            "2026-06-14 10:15:04,25",
            {"time_zone": "Europe/Berlin"},
            datetime(2026, 6, 14, 8, 15, 4, 250_000),
            9_999,
        ),
        ("1781424904.125", {}, datetime(2026, 6, 14, 8, 15, 4, 125_000), 999),
        ("1781424904125", {}, datetime(2026, 6, 14, 8, 15, 4, 125_000), 999),
        (
            "14.06.2026 08:15:04",
            {"time_format": "%d.%m.%Y %H:%M:%S"},
            datetime(2026, 6, 14, 8, 15, 4),
            999_999,
        ),
    ],
)
def test_a_line_is_an_event_at_the_time_that_its_pattern_found(
    time: str, options: dict[str, Any], instant: datetime, after: int
) -> None:
    ((event,), report) = read(f"[{time}] ready on 80\n", READY, **options)
    assert (event["event_type"], event["time"], event["after"]) == (
        "Ready",
        instant.replace(tzinfo=UTC),
        after,
    )
    assert (event["port"], report.patterns) == ("80", {1})


def test_lines_that_no_pattern_fits_are_counted_and_what_has_no_time_is_a_reject() -> None:
    events, report = read(
        "hello\n\n[soon] ready on 80\nlost it\n[2026-06-14 08:15] ready on 9\n", TIMELESS, READY
    )
    assert [event["number"] for event in events] == [5]
    assert (report.records, report.skipped) == (4, {"no pattern fits the line": 1})
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (3, "no time"),
        (4, "no time: the pattern that fits has no group (?P<time>...)"),
    ]


def test_a_time_of_another_form_is_an_error_that_names_the_form() -> None:
    with pytest.raises(LogFormatError, match=r"a\.log:1: .* --time-format '%d\.%m\.%Y %H:%M'"):
        read("[14.06.2026 08:15] ready on 80", READY)


def test_a_text_is_one_of_lines_only_where_there_are_patterns_and_no_other_format() -> None:
    assert recognised_format(b"[x] ready\n", "x", patterned=True).name == "text"
    assert recognised_format(b"event_type,time\nA,1\n", "x", patterned=True).name == "csv"
    for head, patterned in ((b"[x] ready\n", False), (b"\x00\x01\x02", True)):
        with pytest.raises(LogFormatError, match="of no known format"):
            recognised_format(head, "x", patterned=patterned)
    with pytest.raises(LogFormatError, match="name their file with --patterns"):
        read("[x] ready\n")
