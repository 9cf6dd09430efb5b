"""Records of log4j logs: their layouts, their lines, and how little memory they may take."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from typing import IO, Any, cast

import pytest

from cepctl.io.contract.reader import ReadReport
from cepctl.io.log4j.lines import BLOCK_BYTES, LONGEST_RECORD
from cepctl.io.log4j.log import SWALLOWED
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, KEEP, OLD_HDFS, READER, TRACE, messages, only, read

# --- layouts -------------------------------------------------------------------------------

OCTOBER = 1_445_191_307  # 2015-10-18T18:01:47Z
JUNE = 1_497_039_040  # 2017-06-09T20:10:40Z
NOVEMBER = 1_226_262_975  # 2008-11-09T20:36:15Z


@pytest.mark.parametrize(
    ("line", "micros", "precision", "thread", "logger"),
    [
        (CONTAINER, OCTOBER * 1_000_000 + 978_000, 1_000, "main", "org.apache.hadoop.Some"),
        (DAEMON, OCTOBER * 1_000_000 + 978_000, 1_000, None, "org.apache.hadoop.Some"),
        (CONSOLE, JUNE * 1_000_000, 1_000_000, None, "mapred.JobClient"),
        (OLD_HDFS, NOVEMBER * 1_000_000, 1_000_000, "148", "dfs.DataNode$PacketResponder"),
    ],
    ids=["container", "daemon", "console", "old HDFS"],
)
def test_a_record_of_every_layout_has_time_precision_thread_and_logger(
    line: str, micros: int, precision: int, thread: str | None, logger: str
) -> None:
    row = only(line + "\n")
    assert (row["time"], row["before"], row["after"]) == (micros, 0, precision - 1)
    assert (row["thread"], row["logger"], row["level"]) == (thread, logger, "INFO")
    assert (row["event_type"], row["message"]) == ("LogLine", "hello")


@pytest.mark.parametrize(
    "line",
    [
        DAEMON.replace(",978", ".978"),
        DAEMON.replace("18 18:", "18T18:"),
        DAEMON.replace(" INFO ", " INFO  "),
        "2015-10-18 18:01:47,978 INFO  org.apache.hadoop.Some (Some.java:<init>(12)) - hello",
    ],
    ids=["point before the milliseconds", "T between date and time", "padded level", "place in the source"],
)
def test_variants_of_a_layout_read_the_same(line: str) -> None:
    row, plain = only(line), only(DAEMON)
    assert row == plain


def test_a_dated_line_without_milliseconds_is_uncertain_by_a_second() -> None:
    row = only(DAEMON.replace(",978", ""))
    assert (row["time"], row["after"]) == (OCTOBER * 1_000_000, 999_999)


@pytest.mark.parametrize(
    "thread",
    ["IPC Server handler 3 on [9000]", "LeaseRenewer:ana@n1:9000", "a] b", "[x]"],
)
def test_a_thread_may_be_called_anything(thread: str) -> None:
    row = only(f"2015-10-18 18:01:47,978 WARN [{thread}] a.B: hello [x] y: z\n")
    assert (row["thread"], row["logger"], row["message"]) == (thread, "a.B", "hello [x] y: z")


def test_layouts_may_alternate_in_one_file_and_keep_their_order() -> None:
    rows = read("\n".join([CONSOLE, CONTAINER, OLD_HDFS, DAEMON, CONSOLE]))
    assert [row["logger"] for row in rows] == [
        "mapred.JobClient",
        "org.apache.hadoop.Some",
        "dfs.DataNode$PacketResponder",
        "org.apache.hadoop.Some",
        "mapred.JobClient",
    ]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5]


# --- records and lines ---------------------------------------------------------------------


def test_a_stack_trace_belongs_to_the_message_before_it() -> None:
    assert messages(f"{DAEMON}\n{TRACE}\n{CONTAINER}\n") == [f"hello\n{TRACE}", "hello"]


def test_a_time_without_level_and_logger_begins_no_record() -> None:
    lines = "2015-10-18 18:01:48,000 is no header\n2015-10-18 18:01:48 INFO nor this"
    assert messages(f"{DAEMON}\n{lines}\n") == [f"hello\n{lines}"]


def test_blank_messages_are_records_too() -> None:
    assert messages("2015-10-18 18:01:47,978 INFO a.B: \n2015-10-18 18:01:47,978 INFO a.B:\n") == ["", ""]


def test_crlf_and_a_missing_newline_at_the_end_change_nothing() -> None:
    text = f"{DAEMON}\n{TRACE}\n{CONSOLE}\n"
    assert read(text.replace("\n", "\r\n")[:-2]) == read(text.replace("\n", "\r\n")) == read(text)


def test_a_byte_order_mark_and_utf16_change_nothing() -> None:
    text = f"{DAEMON} für\n{CONSOLE}\n"
    assert read(b"\xef\xbb\xbf" + text.encode()) == read(text.encode("utf-16")) == read(text)


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    report = ReadReport()
    assert messages(DAEMON.encode() + b" \xff\xfe!\n", report) == ["hello \ufffd\ufffd!"]
    assert [note.format(count) for note, count in report.notes.items() if "UTF-8" in note] == [
        "lines of the log with bytes that are not UTF-8, which were replaced: 1"
    ]


def test_nul_bytes_that_a_crash_left_hide_no_record() -> None:
    report = ReadReport()
    content = f"{DAEMON}\n".encode() + bytes(700) + f"{CONSOLE}\n".encode()
    assert messages(content, report) == ["hello", "hello"]
    assert "NUL bytes between the lines, which were left out: 700" in [
        note.format(count) for note, count in report.notes.items()
    ]


def test_what_stands_before_the_first_record_is_rejected_once() -> None:
    report = ReadReport()
    assert messages(f"\tat a.B.c(B.java:1)\n\t... 3 more\n{DAEMON}\n", report) == ["hello"]
    (reject,) = report.rejects
    assert (reject.line, reject.cause, report.records) == (1, "before the first record of the log", 2)
    assert "a.B.c" in reject.text


@pytest.mark.parametrize(
    "time", ["2015-02-29 18:01:47,978", "2015-10-18 25:00:00,000", "2015-13-01 00:00:00,000"]
)
def test_a_time_that_no_calendar_has_is_rejected_with_its_line(time: str) -> None:
    report = ReadReport()
    rows = read(f"{DAEMON}\n{TRACE}\n{time} INFO a.B: bad\n{DAEMON}\n", report=report)
    assert [row["number"] for row in rows] == [1, 3]
    (reject,) = report.rejects
    assert (reject.line, reject.cause, reject.text) == (5, "no time", "a.B: bad")
    assert report.records == 3


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("2016-12-31 23:59:60,000", 1_483_228_800),
        ("2016-12-31 24:00:00,000", 1_483_228_800),
        ("2016-02-29 00:00:00,000", 1_456_704_000),
    ],
)
def test_leap_seconds_leap_days_and_hour_24_are_times(time: str, seconds: int) -> None:
    assert only(f"{time} INFO a.B: x")["time"] == seconds * 1_000_000


def test_a_truncated_gzip_keeps_what_came_before() -> None:
    whole = gzip.compress("".join(f"{DAEMON} {i * 7919 % 999_983}\n" for i in range(20_000)).encode())
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(whole[: len(whole) // 2])))
    report = ReadReport()
    rows = sum(batch.num_rows for batch in READER.read(stream, "a.log.gz", KEEP, report))
    assert 1_000 < rows < 19_000
    # Where the input ends inside of a time, that line is told as well.
    causes = [reject.cause for reject in report.rejects]
    assert causes in (["truncated input"], ["truncated input", SWALLOWED])


# --- bounded memory ------------------------------------------------------------------------


class Synthetic(io.RawIOBase):
    """A stream that is made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            self._waiting = next(self._pieces, b"")
            if not self._waiting:
                return 0
        piece, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def pieces_of_one_record(continuation: bytes, size: int) -> Iterator[bytes]:
    yield f"{DAEMON}\n".encode()
    for _ in range(size // len(continuation)):
        yield continuation
    yield f"\n{CONSOLE}\n".encode()


@pytest.mark.parametrize(
    "line", [b"\tat a.B.c(B.java:1)\n" * 3_000, b"\xc3\xa9" * 30_000], ids=["lines", "one line"]
)
def test_a_monstrous_record_is_cut_and_said_and_the_next_one_is_whole(line: bytes) -> None:
    report = ReadReport()
    stream = io.BufferedReader(Synthetic(pieces_of_one_record(line, 3 * BLOCK_BYTES)))
    rows = [row for batch in READER.read(stream, "a.log", KEEP, report) for row in batch.to_pylist()]
    assert [row["logger"] for row in rows] == ["org.apache.hadoop.Some", "mapred.JobClient"]
    assert LONGEST_RECORD * 0.99 < len(rows[0]["message"].encode()) <= LONGEST_RECORD
    assert rows[1]["message"] == "hello"
    assert [note.format(count) for note, count in report.notes.items() if "records of more" in note] == [
        "records of more than 1,048,576 bytes, of which the rest was left out: 1"
    ]
    assert not [note for note in report.notes if "UTF-8" in note]


def test_a_long_file_comes_in_batches_and_every_record_once() -> None:
    line = b"2015-10-18 18:01:47,978 INFO [thread %d] a.B: " + b"x" * 200 + b"\n\tat c\n"
    count = 3 * BLOCK_BYTES // len(line)
    stream = io.BufferedReader(Synthetic(iter([line % i for i in range(count)])))
    report = ReadReport()
    batches = list(READER.read(stream, "a.log", KEEP, report))
    assert len(batches) > 2
    rows = [row for batch in batches for row in batch.select(["number", "thread", "message"]).to_pylist()]
    assert [row["number"] for row in rows] == list(range(1, count + 1))
    assert [row["thread"] for row in rows] == [f"thread {i}" for i in range(count)]
    assert {row["message"] for row in rows} == {"x" * 200 + "\n\tat c"}
    assert (report.records, report.rejects) == (count, [])
