"""Bytes of a log in blocks of whole lines, mended, and never larger than a bound.

in the file                       in the blocks
CRLF                              LF
no newline at the end             one
UTF-16, byte order mark           UTF-8 without
bytes that are not UTF-8           replaced by U+FFFD; noted
NUL bytes, as a crash leaves      left out; noted
a line longer than a block        its beginning, a little more than LONGEST_RECORD bytes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from cepctl.io.contract.reader import ReadReport
from cepctl.io.source.streams import Chunks, LongGaps
from cepctl.io.source.text_encoding import utf8_stream

BLOCK_BYTES = 4 << 20
LONGEST_RECORD = 1 << 20

GAP_BYTES = 4 * LONGEST_RECORD

# So that what is left of a cut line is still too long, and is cut once more with all that stands before it.
_BEYOND = 8

_NOT_UTF8 = "lines of the log with bytes that are not UTF-8, which were replaced: {:,}"
_NUL = "NUL bytes between the lines, which were left out: {:,}"


def line_blocks(stream: IO[bytes], source: str, report: ReadReport, gaps: LongGaps) -> Iterator[bytes]:
    """Yield the text in blocks that end with a newline; memory is bounded whatever the lines are.

    Of runs of empty lines what is too long is left out, and noted in `gaps`.
    """
    chunks = Chunks(utf8_stream(stream))
    for block in _whole_lines(chunk for chunk in chunks if not gaps.leaves_out(chunk)):
        yield mended(block, report)
    chunks.tell_damage(source, report, as_record=False)


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size, inside_long_line = 0, False
    for chunk in chunks:
        piece = chunk
        if inside_long_line:
            newline = chunk.find(b"\n")
            if newline < 0:
                continue
            inside_long_line, piece = False, chunk[newline:]
        waiting.append(piece)
        size += len(piece)
        if size < BLOCK_BYTES:
            continue
        block = b"".join(waiting)
        first = block.find(b"\n")
        inside_long_line = first < 0
        if first >= BLOCK_BYTES:
            block = cut_line(block) + block[first:]
        whole = block.rfind(b"\n") + 1
        if whole:
            yield block[:whole]
        rest = block[whole:] if whole else cut_line(block)
        waiting, size = [rest], len(rest)
    last = b"".join(waiting)
    if last:
        yield last if last.endswith(b"\n") else last + b"\n"


def cut_line(line: bytes) -> bytes:
    """What is kept of a line that is longer than a block."""
    return line[: cut_before(line, LONGEST_RECORD + _BEYOND)]


def cut_before(text: bytes, limit: int) -> int:
    """The largest place up to `limit` where the text can be cut without splitting a character.

    Examples
    --------
    >>> cut_before("aé".encode(), 2), cut_before(b"abc", 2)
    (1, 2)
    """
    if limit >= len(text):
        return len(text)
    # A character of UTF-8 has at most three bytes after its first.
    for place in range(limit, max(limit - 4, 0), -1):
        if text[place] & 0xC0 != 0x80:
            return place
    return limit


def mended(block: bytes, report: ReadReport) -> bytes:
    """Whole lines, each as it is read whatever stands around it; what was mended is noted."""
    if b"\0" in block:
        report.notes[_NUL] += block.count(b"\0")
        block = block.replace(b"\0", b"")
    block = block.replace(b"\r\n", b"\n")
    try:
        block.decode()
    except UnicodeDecodeError:
        report.notes[_NOT_UTF8] += sum(map(_is_no_utf8, block.split(b"\n")))
        return block.decode(errors="replace").encode()
    return block


def _is_no_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return False
