"""The messages of a log of lines without all else that they tell: what templates are mined from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO

import numpy as np
import pyarrow as pa

from cepctl.io.contract.unicode_text import NotUnicodeError
from cepctl.io.source.json_objects import text_fields
from cepctl.io.source.line_blocks import BLANKS, Lines, are_many, line_blocks, lines_of
from cepctl.io.source.streams import LONGEST_LINE, Chunks
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.numeric.arrays import Flags

Many = Callable[[Lines], tuple[pa.Array, Flags]]
"""The messages of many lines, and of which lines these are; all others are asked one by one."""
One = Callable[[str], str | None]
"""The message of a line; None where it has none."""


def line_messages(stream: IO[bytes], many: Many, one: One) -> Iterator[pa.Array]:
    """Yield the messages of a log, those of a block that are known at once before its others."""
    for number, text in line_blocks(Chunks(utf8_stream(stream))):
        for lines in lines_of(number, text):
            matched = np.zeros(len(lines), np.bool_)
            if are_many(lines):
                messages, matched = many(lines)
                yield messages
            rest = [_asked(lines.raw(row), one) for row in np.flatnonzero(~matched).tolist()]
            yield pa.array([message for message in rest if message is not None], pa.string())


def _asked(raw: bytes, one: One) -> str | None:
    if not raw or len(raw) > LONGEST_LINE:
        return None
    try:
        return one(raw.decode(errors="replace"))
    except NotUnicodeError:
        return None


def behind(expressions: Sequence[str]) -> Many:
    """What stands behind the first of these expressions that fits the beginning of each line."""

    def many(lines: Lines) -> tuple[pa.Array, Flags]:
        import polars as pl

        texts = pl.Series(lines.strings()).str.strip_chars(f"{BLANKS.decode()}\n")
        matched, rows = np.zeros(len(lines), np.bool_), np.arange(len(lines))
        found = []
        for expression in expressions:
            rest = texts.str.replace(f"^(?:{expression})", "")
            fits = rest.str.len_bytes() < texts.str.len_bytes()
            found.append(rest.filter(fits).to_arrow().cast(pa.string()))
            matched[rows[fits.to_numpy()]] = True
            texts, rows = texts.filter(~fits), rows[~fits.to_numpy()]
            if not len(rows):
                break
        return pa.concat_arrays(found), matched

    return many


def field_of_objects(name: str) -> Many:
    """The text of a field, of lines all of which are objects where it is text or missing."""

    def many(lines: Lines) -> tuple[pa.Array, Flags]:
        fields = text_fields(lines, [name])
        matched = np.full(len(lines), fields is not None)
        return (pa.array([], pa.string()) if fields is None else fields[name].drop_null()), matched

    return many
