"""Damage at the end of a stream loses nothing before it."""

from __future__ import annotations

import errno
import gzip
import io
from typing import IO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.io.source.streams import LONGEST_LINE, Chunks, numbered_lines


def lines(*chunks: bytes) -> list[tuple[int, bytes]]:
    return list(numbered_lines(chunks))


def test_lines_come_with_their_numbers_without_newline_and_the_last_needs_none() -> None:
    assert lines(b"a\n\nbc\nd") == [(1, b"a"), (3, b"bc"), (4, b"d")]
    assert lines(b"\n\n a\r\n") == [(3, b" a\r")]
    assert lines(b"a", b"", b"b\n\n", b"\nc", b"\n", b"\n", b"d") == [
        (1, b"ab"),
        (4, b"c"),
        (6, b"d"),
    ]
    assert lines() == lines(b"\n\n", b"\n") == []


def test_a_line_may_lie_in_many_chunks() -> None:
    long = b"x" * 200_000
    assert list(numbered_lines(Chunks(io.BytesIO(long + b"\ny")))) == [(1, long), (2, b"y")]


@settings(deadline=None)
@given(st.lists(st.text("a\n\r ", max_size=6).map(str.encode)))
def test_lines_are_those_of_the_whole_text(chunks: list[bytes]) -> None:
    whole = b"".join(chunks).split(b"\n")
    assert lines(*chunks) == [(number, line) for number, line in enumerate(whole, start=1) if line]


def test_of_a_line_that_is_too_long_only_the_beginning_comes() -> None:
    piece = b"x" * (1 << 20)
    found = lines(b"a\n", *[piece] * (LONGEST_LINE // len(piece) + 3), b"\nb")
    assert [(number, len(line)) for number, line in found] == [(1, 1), (2, LONGEST_LINE + 1), (3, 1)]


def test_a_truncated_gzip_gives_all_that_came_before() -> None:
    text = b"".join(b"%06d\n" % (i * 7919 % 999983) for i in range(40_000))
    whole = gzip.compress(text)
    chunks = Chunks(cast(IO[bytes], gzip.GzipFile(fileobj=io.BytesIO(whole[: len(whole) // 2]))))
    got = b"".join(chunks)
    assert chunks.damage is not None
    assert len(got) > len(text) // 3
    assert text.startswith(got)


def test_an_error_of_the_system_is_not_mistaken_for_damage() -> None:
    class Failing(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(errno.EIO, "disk")

    with pytest.raises(OSError, match="disk"):
        list(Chunks(cast(IO[bytes], Failing())))
