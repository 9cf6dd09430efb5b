"""A gigabyte of empty lines inside of a log costs seconds, and nothing after it is lost or misplaced."""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from cepctl.io.contract.reader import NANOS, ReadOptions, ReadReport
from cepctl.io.formats import format_named
from cepctl.io.tabular import delimited
from cepctl.io.tabular.wide import wide_rows
from tests.log4j_logs import CONTAINER
from tests.small_logs import SMALL_LOGS

LINES = 48 << 20
SECONDS = 10  # of processor time; a reader that takes each line by itself needs 20 to 50, these 0.3


class Gap(io.RawIOBase):
    """A text with so many empty lines in the middle, of which memory never holds many."""

    def __init__(self, before: bytes, line_end: bytes, lines: int, behind: bytes) -> None:
        self._line_ends = line_end * (1 << 20)
        self._before, self._left, self._behind = before, lines * len(line_end), behind

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._before:
            piece, self._before = self._before[: len(buffer)], self._before[len(buffer) :]
        elif self._left:
            # All pieces but the last are of whole line ends.
            piece = self._line_ends[: min(len(buffer) // 2 * 2, self._left)]
            self._left -= len(piece)
        else:
            piece, self._behind = self._behind[: len(buffer)], self._behind[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    def hang(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def read(
    format_name: str,
    before: bytes,
    lines: int,
    behind: bytes,
    line_end: bytes = b"\n",
    seconds: int = SECONDS,
) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    stream = io.BufferedReader(Gap(before, line_end, lines, behind), 1 << 16)
    options = ReadOptions(keep_unmatched=True)
    with limited(seconds):
        batches = format_named(format_name).reader.read(stream, "c/n7/load_one.log", options, report)
        events = [event for batch in batches for event in batch.to_pylist()]
    # A gap may end a batch, and a batch may lack columns without a value in it.
    said = [{name: value for name, value in event.items() if value is not None} for event in events]
    return [{**event, NANOS: event.get(NANOS, 0)} for event in said], report


def halves(name: str) -> tuple[str, bytes, bytes]:
    """A small log's format, and what stands before and behind a line end in its second half."""
    format_name, data = SMALL_LOGS[name]
    cut = data.index(b"\n", data.rindex(b"\n", 0, -1) // 2) + 1
    return format_name, data[:cut], data[cut:]


HALVES = {
    **{name: halves(name) for name in ("jsonl", "jhist", "access", "spark")},
    "csv": ("csv", b"event_type,time\nA,5\nB\n", b"C\nA,7\n"),
    "tsv": ("tsv", b"event_type\ttime\nA\t5\nB\n", b"C\nA\t7\n"),
    "log4j": ("log4j", CONTAINER.encode(), CONTAINER.encode()),
}


@pytest.mark.parametrize("name", ["csv", "jsonl", "log4j", "access", "spark"])
def test_many_empty_lines_change_nothing_but_the_places_of_what_is_behind(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_GAP_BYTES", 1 << 18)
    assert_only_places_change(name, LINES, b"\n")


@pytest.mark.slow
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", HALVES)
def test_a_gigabyte_of_empty_lines_changes_nothing_but_the_places_of_what_is_behind(
    name: str, line_end: bytes
) -> None:
    assert_only_places_change(name, 1 << 30, line_end, seconds=60)


def assert_only_places_change(name: str, lines: int, line_end: bytes, seconds: int = SECONDS) -> None:
    format_name, before, behind = HALVES[name]
    few, short = read(format_name, before, 2_000, behind)
    many, long = read(format_name, before, lines, behind, line_end, seconds)
    unplaced = [{**event, "number": None, "event_id": None} for event in few]
    assert [{**event, "number": None, "event_id": None} for event in many] == unplaced
    assert long.records == short.records
    assert [reject.cause for reject in long.rejects] == [reject.cause for reject in short.rejects]
    for far, near in zip(long.rejects, short.rejects, strict=True):
        assert far.line is not None and near.line is not None
        assert far.line - near.line == (lines - 2_000 if near.line > 2_000 else 0)


def test_rows_behind_a_gap_are_counted_and_named_as_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_GAP_BYTES", 1 << 18)
    events, report = read("csv", b"event_type,time\nA,5\n", LINES, b"B\nA,7\n")
    # Number 1 is the row behind the header; a row that is none has a number, too.
    assert [event["number"] for event in events] == [1, LINES + 3]
    assert [(reject.line, reject.raw) for reject in report.rejects] == [(LINES + 3, b"B")]


def test_rows_of_a_wide_file_behind_a_gap_are_counted_and_named_as_without_it() -> None:
    report = ReadReport()
    with limited(SECONDS):
        text = Gap(b"A,5\n", b"\n", LINES, b"B\nA,7\n")
        (rows,) = wide_rows(io.BufferedReader(text), ["event_type", "time"], ",", "x.csv", report)
    assert rows.numbers.tolist() == [1, LINES + 3]
    assert rows.lines is not None and rows.lines.tolist() == [2, LINES + 4]
    assert [(reject.line, reject.raw) for reject in report.rejects] == [(LINES + 3, b"B")]


def test_a_quoted_value_with_more_newlines_than_the_parser_takes_is_refused_as_before() -> None:
    with pytest.raises(Exception, match=r"a row is longer than 4 MiB, or a quote \(\"\) is opened"):
        read("csv", b'event_type,time,note\nA,5,"x\n', 20 << 20, b'y"\nB,6,z\n')
