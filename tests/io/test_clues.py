"""What an error says of a file that no reader knows: how it begins, and the option that would read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import LogFormatError
from cepctl.io.clues import clue_to
from cepctl.io.formats import recognised_format

NO_TIMES = (
    "nothing in its first {} is a time in a known layout, so no option makes events of it; where it has "
    "times of "
    "another kind, --patterns FILE says where (?P<time>...); else leave the file out"
)


@pytest.mark.parametrize(
    ("head", "clue"),
    [
        (
            b"id;activity;when\n1;submit;14.06.2026\n",
            "its first line has the columns id, activity, when, so the nearest format is csv; "
            "say which are what: --map event_type=activity,time=when",
        ),
        (
            b'{"ts": 5, "level": "info", "deep": {}}\n',
            "its first line is a JSON object with the keys ts, level, deep, so the nearest "
            "format is jsonl; say which are what: --map event_type=level,time=ts",
        ),
        (
            b"A,2026-06-14T08:15:00Z,1\nB,2026-06-14T08:15:05Z,2\n",
            "its first line holds values and no names of columns: name them, event_type and time among them: "
            "--columns-of event_type,time,column3",
        ),
        (
            b"Event,Date,Time,User\nLogin,06/14/2026,8:15:00 AM,ann\nLogout,06/14/2026,8:25:00 PM,ann\n",
            "its first line has the columns Event, Date, Time, User, so the nearest format is csv; "
            "say which are what: --map event_type=Event,time=Date+Time",
        ),
        (
            b"a,b\n1,2\n",
            "its first line has the columns a, b, so the nearest format is csv; none of them looks like a "
            "time "
            "with a date, so no option is sure to make events of it: where one is a time, name it: "
            "--map event_type=a,time=TIME",
        ),
        (
            b'{\n "job": 1,\n "at": "x"}',
            "it is JSON over several lines and begins with the keys job, at; "
            "make it one object per line (jq -c), and name its columns (--map)",
        ),
        (
            b'{\n "__CURSOR" : "s=1",\n "MESSAGE" : "x"}',
            "it is a journal over several lines; print it with one entry per line: journalctl -o json",
        ),
        (
            b"<?xml version='1.0'?><log4j:event a='1'>",
            "it is XML whose root element is <log4j:event>, which no format has, and no option reads: make "
            "CSV "
            "or JSON lines of it, and name their columns (--map)",
        ),
        (
            b"[Sunday the 14th, 08:15] ready on 80\n",
            "its first line is '[Sunday the 14th, 08:15] ready on 80'; its times are in no known layout: "
            "--patterns FILE says where they stand (?P<time>...), and --time-format how they are written; or "
            "leave the file out",
        ),
        (
            b"All rights given away.\n",
            f"its first line is 'All rights given away.'; {NO_TIMES.format('1 line')}",
        ),
        (
            b"\x00\x01 no log",
            "it is binary, and begins with the bytes 00 01 20 6e 6f 20 6c 6f; it holds no text, and no "
            "option "
            "of cepctl finds times in it: leave the file out",
        ),
        (b"\xd4\xc3\xb2\xa1\x02", "it is a capture of packets; print it: tcpdump -tttt -n -r FILE"),
        (
            b"SQLite format 3\x00\x10",
            "it is an SQLite database, not of OCEL; export its table of events as CSV, "
            "and name its columns (--map)",
        ),
    ],
)
def test_a_file_of_no_known_format_is_described_and_the_option_that_would_read_it_named(
    head: bytes, clue: str
) -> None:
    assert clue_to(head) == clue


FAR = "".join(
    f"the worker with the number {n} went on and was done in the end at 2026-06-14 08:15:{n:02}\n"
    for n in range(60)
)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (
            FAR.encode(),
            "its times stand far into its lines, or in few of them; --format lines (--input-format in match) "
            "reads them: with it 60 of its first 60 records would become events of 1 type: the worker with "
            "the "
            "number",
        ),
        (
            bytes(5_000) + b"2026-06-14 08:15:04 ready\n2026-06-14 08:15:05 ready\n",
            "it has bytes of zeros around its text, as a log that was cut while it was written; tr -d "
            "'\\0' < "
            "FILE | cepctl ingest - -o EVENTS reads the rest, where that is a log (with it 2 of its first 2 "
            "records would become events of 1 type: ready)",
        ),
        (
            "2026-06-14 08:15:04 ready\n2026-06-14 08:15:05 ready\n".encode("utf-16-le"),
            "it is text in UTF-16LE without the mark that says so; iconv -f UTF-16LE -t UTF-8 < FILE | "
            "cepctl "
            "ingest - -o EVENTS reads it, if it is a log (with it 2 of its first 2 records would become "
            "events "
            "of 1 type: ready)",
        ),
        (
            b"when;n;m\nyesterday;1;2\ntoday;2;2\n",
            "its first line has the columns when, n, m, so the nearest format is csv; say which are what: "
            "--map "
            "event_type=n,time=when (with it none of its first records would become an event)",
        ),
        (
            b"1;14.06.2026 08:15;Register\n2;14.06.2026 08:16;Check\n",
            "its first line holds values and no names of columns: name them, event_type and time among them: "
            "--columns-of column1,time,event_type --time-format '%d.%m.%Y %H:%M' (with it 2 of its first 2 "
            "records would become events of 2 types: Register, Check)",
        ),
        (
            b"a banner\nwhat,when\n" + b"Paid,2026-06-14T08:15:00Z\n" * 3,
            "its line 2 has the columns what, when, so the nearest format is csv; say which are what: --map "
            "event_type=what,time=when (with it 3 of its first 4 records would become events of 1 type: "
            "Paid)",
        ),
        (
            b"a banner\n" + b"Paid,2026-06-14T08:15:00Z\n" * 4,
            "its line 2 holds values and no names of columns: name them, event_type and time among them: "
            "--columns-of event_type,time (with it 4 of its first 5 records would become events of 1 type: "
            "Paid)",
        ),
    ],
)
def test_a_remedy_was_tried(text: bytes, remedy: str) -> None:
    with pytest.raises(LogFormatError) as refused:
        recognised_format(text, "x")
    assert str(refused.value) == f"x: of no known format (cepctl formats lists them); {remedy}"


def test_the_option_that_is_named_reads_the_file() -> None:
    head = b"id;activity;when\n1;submit;14.06.2026\n"
    assert recognised_format(head, "x", mapped=True).name == "csv"


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode), st.just(b"{" * 60_000)))
def test_any_bytes_have_a_clue_of_one_line(head: bytes) -> None:
    clue = clue_to(head)
    assert clue
    assert "\n" not in clue
    assert len(clue) < 2_000
