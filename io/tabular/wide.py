"""Delimited files with more columns than a dataset may have: read row by row, the rest as JSON.

A column of Arrow costs memory whether it holds something or not, so a million of them cannot be.  This
is the slow way; it takes the rows of a file by the csv module of the standard library.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES, REST, AttributeNames
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, LongGaps, ShortenedGaps
from cepctl.io.tabular.columns import BlockRows
from cepctl.io.tabular.mapping import RESERVED

_BLOCK_BYTES = 16 << 20
_READ_BYTES = 1 << 20
# Longer than a field that the csv module takes, so a run of this length stands between rows.
_GAP_BYTES = 1 << 20


@dataclass
class _Lines:
    """The lines of a text as the csv module wants them; `taken` are those of the row being read."""

    text: IO[bytes]
    gaps: LongGaps
    passed: int = 0
    taken: list[bytes] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise csv.Error(TOO_LONG)
            self.taken.append(line)
            yield line.decode("utf-8", "replace")

    def take(self) -> tuple[int, bytes]:
        """How many lines came before the row just read, and its text; the next row begins."""
        before, raw = self.passed, b"".join(self.taken)
        self.passed += len(self.taken)
        self.taken.clear()
        return before, raw

    def left_out(self, before: int) -> int:
        """How many lines of long gaps were left out before the row that `before` lines come before."""
        return int(self.gaps.left_out_before(np.array([before], dtype=np.int64))[0])


@dataclass(frozen=True)
class _Row:
    number: int
    line: int
    raw: bytes
    fields: Sequence[str | None]


def wide_rows(
    text: IO[bytes], names: Sequence[str], delimiter: str, source: str, report: ReadReport, header: int = 1
) -> Iterator[BlockRows]:
    """Blocks of rows after the header, a line of this number; the first MOST_ATTRIBUTES names are columns.

    Raises
    ------
    LogFormatError
        If a row cannot be taken apart.
    """
    kept = AttributeNames()
    kept.admit([*(name for name in RESERVED if name in names), *names])
    gaps = LongGaps(_GAP_BYTES)
    lines = _Lines(io.BufferedReader(ShortenedGaps(text, gaps), _READ_BYTES), gaps)
    block: list[_Row] = []
    size = 0
    try:
        for number, fields in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
            before, raw = lines.take()
            if not any(fields):
                continue
            left_out = lines.left_out(before)
            line = header + 1 + before + left_out
            if len(fields) != len(names):
                report.records += 1
                cause = f"the row does not have {len(names)} fields like the header"
                report.rejects.append(Reject(source, line, cause, raw.rstrip(b"\r\n")))
                continue
            values = [value or None for value in fields]
            block.append(_Row(number + left_out, line, raw.rstrip(b"\r\n"), values))
            size += len(raw) + 8 * MOST_ATTRIBUTES
            if size >= _BLOCK_BYTES:
                yield _rows(block, names, kept)
                block, size = [], 0
    except csv.Error as problem:
        line = header + 1 + lines.passed + lines.left_out(lines.passed)
        raise LogFormatError(f"{source}:{line}: not a row of {len(names):,} fields: {problem}") from None
    if block:
        yield _rows(block, names, kept)


def _rows(block: Sequence[_Row], names: Sequence[str], kept: AttributeNames) -> BlockRows:
    places = {name: place for place, name in enumerate(names)}
    columns = {
        name: pa.array([row.fields[places[name]] for row in block], pa.string()) for name in kept.among(names)
    }
    rest = [kept.rest(dict(zip(names, row.fields, strict=True))) for row in block]
    columns[REST] = pa.array(rest, pa.string())
    numbers = np.array([row.number for row in block], dtype=np.int64)
    lines = np.array([row.line for row in block], dtype=np.int64)
    return BlockRows(columns, numbers, lines, lambda place: block[place].raw)
