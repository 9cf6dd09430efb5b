"""What an error says of a file that no reader knows: how it begins, and the option that would read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.io.clues import clue_to
from cepctl.io.formats import recognised_format

NAMED = "name its format (--format; --input-format in match), or leave the file out"


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
            b"a,b\n1,2\n",
            "its first line has the columns a, b, so the nearest format is csv; say which are what: "
            "--map event_type=TYPE,time=TIME",
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
            f"it is XML whose root element is <log4j:event>; {NAMED}",
        ),
        (
            b"[08:15:04] ready on 80\n",
            "its first line is '[08:15:04] ready on 80'; the nearest format is text: --patterns FILE "
            "makes events of lines, where a regular expression finds their time (?P<time>...); or leave the "
            "file out",
        ),
        (
            b"0.123: [GC, 0.01 secs]\n1.456: [GC, 0.02 secs]\n",
            f"its first line is '0.123: [GC, 0.01 secs]'; {NAMED}",
        ),
        (b"All rights given away.\n", f"its first line is 'All rights given away.'; {NAMED}"),
        (b"\x00\x01 no log", f"it is binary, and begins with the bytes 00 01 20 6e 6f 20 6c 6f; {NAMED}"),
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


def test_the_option_that_is_named_reads_the_file() -> None:
    head = b"id;activity;when\n1;submit;14.06.2026\n"
    assert recognised_format(head, "x", mapped=True).name == "csv"


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode), st.just(b"{" * 60_000)))
def test_any_bytes_have_a_clue_of_one_line(head: bytes) -> None:
    clue = clue_to(head)
    assert clue
    assert "\n" not in clue
    assert len(clue) < 2_000
