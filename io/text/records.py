"""Records of several lines in any text: each begins at a line that a pattern of the user marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadReport
from cepctl.io.log4j.layouts import texts
from cepctl.io.log4j.records import read_records
from cepctl.numeric.arrays import Numbers


def beginning_of(patterns: Sequence[LogPattern]) -> str:
    """An expression that fits the lines at which records begin; empty where each line is a record.

    Examples
    --------
    >>> beginning_of([LogPattern("A", "x", begins="^a"), LogPattern("B", "y", begins="^b")])
    '(?:^a)|(?:^b)'
    """
    return "|".join(dict.fromkeys(f"(?:{each.begins})" for each in patterns if each.begins is not None))


@dataclass(frozen=True)
class _Beginnings:
    """The lines of a block that begin a record, as `read_records` wants them."""

    line: Numbers
    message: Numbers

    def first(self, count: int) -> _Beginnings:
        return _Beginnings(self.line[:count], self.message[:count])


def _beginnings(begins: str, block: bytes, starts: Numbers, ends: Numbers) -> _Beginnings:
    fits = pc.match_substring_regex(texts(block, starts, ends), begins).to_numpy(zero_copy_only=False)
    line = np.flatnonzero(fits)
    return _Beginnings(line, starts[line])


def records_beginning(
    stream: IO[bytes], source: str, report: ReadReport, begins: str
) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the records of a text in blocks, each with the number of its first line.

    What stands before the first is one reject; of a record of more than 1 MiB the rest is left out, and
    noted.

    Raises
    ------
    LogFormatError
        If no line begins a record.
    """
    # Who takes the records counts them, too.
    own = ReadReport(rejects=report.rejects, warnings=report.warnings, notes=report.notes)
    taken = 0
    for records in read_records(stream, source, own, partial(_beginnings, begins)):
        taken += len(records)
        yield [*zip(records.line.tolist(), _bytes(records.message), strict=True)]
    if not taken:
        raise LogFormatError(
            f"{source}: none of its lines begins a record as 'begins' of the patterns says: "
            f"{begins.removeprefix('(?:').removesuffix(')').replace(')|(?:', ' or ')}"
        )
    report.records += own.records - taken


def _bytes(messages: pa.Array) -> list[bytes]:
    found: list[bytes] = messages.cast(pa.binary()).to_pylist()
    return found
