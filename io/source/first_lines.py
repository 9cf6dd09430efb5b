"""A text whose first line is longer than what tells a format: that line cut, and lines behind it, tell it.

One line of 100 KB at the front must not decide for all others.  Nothing else changes: the line is read as
every other is.  What may be one document (XML, JSON), is no text, or begins as a very wide table does is left
as it is.
"""

from __future__ import annotations

import io
from typing import cast

HEAD_BYTES = 1 << 16
_ROOM = 4 << 20
_KEPT = 1 << 12
_OF_DOCUMENTS = (b"{", b"[", b"<")
_DELIMITERS = (b",", b"\t", b";", b"|")
_FEWEST_OF_A_TABLE = 50
"""Bytes for each delimiter, at most, in the names of a table."""


def with_room(stream: io.BufferedReader) -> io.BufferedReader:
    """The stream, or one at more of which can be peeked where its first line is longer than the head."""
    head = stream.peek(HEAD_BYTES)
    if len(head) < HEAD_BYTES or b"\n" in head or b"\0" in head or head.lstrip().startswith(_OF_DOCUMENTS):
        return stream
    if any(head.count(sign) * _FEWEST_OF_A_TABLE > len(head) for sign in _DELIMITERS):
        return stream
    return io.BufferedReader(cast(io.RawIOBase, stream), _ROOM)


def sample_of(text: io.BufferedReader) -> bytes:
    """What tells how a text is written: its first 64 KiB, but of a first line that is longer only 4."""
    peeked = text.peek(HEAD_BYTES)
    end = peeked.find(b"\n")
    if end < HEAD_BYTES:
        return peeked[:HEAD_BYTES]
    return peeked[:_KEPT] + peeked[end : end + HEAD_BYTES - _KEPT]
