"""Damage at the end of a stream loses nothing before it."""

from __future__ import annotations

import errno
import gzip
import io
from typing import IO, cast

import pytest

from cepctl.io.streams import Chunks, split_lines


def test_lines_come_without_newline_and_the_last_needs_none() -> None:
    assert list(split_lines(Chunks(io.BytesIO(b"a\n\nbc\nd")))) == [b"a", b"", b"bc", b"d"]
    assert list(split_lines(Chunks(io.BytesIO(b"a\n")))) == [b"a"]
    long = b"x" * 200_000
    assert list(split_lines(Chunks(io.BytesIO(long + b"\ny")))) == [long, b"y"]


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
