"""The lines of a log in blocks of many, so that a block is read column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import polars as pl

from cepctl.io.clocks.contract import Account
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks
from cepctl.io.source.text_encoding import utf8_stream

_BLOCK_BYTES = 1 << 20
CUT = "a last line without an end, cut while it was written"


@dataclass(frozen=True)
class NumberedLines:
    """Lines without their ends, and the number of the first, from 1."""

    first: int
    lines: pl.Series

    def numbered(self) -> pl.DataFrame:
        """Columns `text` and `line`, without empty lines."""
        frame = pl.DataFrame({"text": self.lines}).with_row_index("line", offset=self.first)
        return frame.with_columns(pl.col("line").cast(pl.Int64)).filter(
            pl.col("text").str.strip_chars(" \t\r\0").str.len_bytes() > 0
        )


def blocks(
    stream: IO[bytes], source: str, account: Account, *, may_lack_end: bool = False
) -> Iterator[NumberedLines]:
    """The lines of a log; what is not UTF-8 in them becomes U+FFFD.

    A last line without an end is refused, unless it `may_lack_end`: half of a number is a number, too.
    """
    chunks = Chunks(utf8_stream(stream))
    number, held, size = 1, [], 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size < _BLOCK_BYTES or b"\n" not in chunk:
            if size > LONGEST_LINE and not any(b"\n" in each for each in held):
                account.refuse(TOO_LONG, [number])
                return
            continue
        whole, _, rest = b"".join(held).rpartition(b"\n")
        held, size = [rest], len(rest)
        block = _block(number, whole)
        number += len(block.lines)
        yield block
    whole, end, rest = b"".join(held).rpartition(b"\n")
    if end:
        block = _block(number, whole)
        number += len(block.lines)
        yield block
    if rest.strip(b" \t\r\0"):
        if may_lack_end and not chunks.damage:
            yield _block(number, rest)
        else:
            account.refuse(CUT, [number])
    chunks.tell_damage(source, account.report, as_record=False)


def _block(first: int, text: bytes) -> NumberedLines:
    return NumberedLines(
        first, pl.Series("text", text.decode("utf-8", "replace").split("\n"), dtype=pl.String)
    )
