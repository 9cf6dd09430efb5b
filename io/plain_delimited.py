"""CSV and TSV with the columns of the event table.

Attributes stay text in the batches, marked as INFERRED: their type follows from all values of the
dataset, so that a column that turns out to be text loses nothing on the way.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from cepctl.errors import LogFormatError
from cepctl.io.plain_columns import RESERVED, Rows, attribute_name, raw_batch
from cepctl.io.plain_histograms import Numbers
from cepctl.io.plain_text import decoded, require_columns, utf8_stream
from cepctl.io.reading import RAW_COLUMNS, ReadOptions, ReadReport, Reject

INFERRED = {b"cepctl.infer": b"type"}
_BLOCK_BYTES = 4 << 20
_SHOWN = 200
_NOT_ATTRIBUTES = {*RAW_COLUMNS, *RESERVED}


class DelimitedReader:
    """CSV or TSV with a header line."""

    def __init__(self, name: str, delimiter: str, description: str) -> None:
        self.name = name
        self.delimiter = delimiter
        self.description = description

    def recognises(self, head: bytes) -> bool:
        names = _header(decoded(head).split("\n", 1)[0], self.delimiter)
        timed = "time" in names or {"lower", "upper"} <= set(names) or "pmf" in names
        return "event_type" in names and timed

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        text = utf8_stream(stream)
        names = _header(text.readline().decode("utf-8", "replace"), self.delimiter)
        require_columns(names, source)
        names = [attribute_name(name) for name in names]
        bad_rows: dict[int, str] = {}
        lines = _Lines()

        def note(row: pyarrow.csv.InvalidRow) -> str:
            bad_rows[row.number] = row.text
            lines.breaks.extend([row.number] * row.text.count("\n"))
            return "skip"

        taken = 0
        try:
            for block in self._blocks(text, names, note):
                numbers = _numbers_after(taken, len(block), bad_rows)
                taken = int(numbers[-1]) if len(numbers) else taken
                rows = _text_rows(block, numbers, lines, report)
                yield _inferring(raw_batch(rows, source, options, report))
        except pa.ArrowException as problem:
            raise LogFormatError(f"{source}: damaged {self.name.upper()}: {problem}") from problem
        finally:
            _report_bad_rows(bad_rows, lines, len(names), source, report)

    def _blocks(self, text: IO[bytes], names: list[str], note: Any) -> Iterator[pa.RecordBatch]:
        if not text.peek(1):  # type: ignore[attr-defined]
            return iter(())
        return iter(
            pyarrow.csv.open_csv(
                text,
                pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names),
                pyarrow.csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=False,
                    invalid_row_handler=note,
                ),
                pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.binary()),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        )


def _header(line: str, delimiter: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])]


def _numbers_after(taken: int, count: int, skipped: dict[int, str]) -> Numbers:
    """Numbers of the next `count` rows of the file: the rows that were skipped have numbers, too."""
    passed = np.array(sorted(number for number in skipped if number > taken), dtype=np.int64)
    numbers = taken + 1 + np.arange(count, dtype=np.int64)
    # The i-th skipped row pushes back every row that would have stood at or after it.
    threshold = passed - np.arange(len(passed))
    return numbers + np.searchsorted(threshold, numbers, side="right")


@dataclass
class _Lines:
    """Lines of rows: the header is line 1, and a row with quoted line breaks takes several."""

    breaks: list[int] = field(default_factory=list)

    def note(self, numbers: Numbers, columns: Iterable[pa.Array]) -> None:
        """Remember the rows, by number, that hold line breaks, once for every break."""
        for column in columns:
            counts = pc.fill_null(pc.count_substring(column, "\n"), 0).to_numpy(zero_copy_only=False)
            if counts.any():
                self.breaks.extend(np.repeat(numbers, counts).tolist())

    def of(self, numbers: Numbers) -> Numbers:
        """First lines of the rows with these numbers, counted from 1."""
        before = np.searchsorted(np.array(sorted(self.breaks), dtype=np.int64), numbers, side="left")
        return numbers + 1 + before


def _text_rows(block: pa.RecordBatch, numbers: Numbers, lines: _Lines, report: ReadReport) -> Rows:
    """Columns of one block as text, without the rows of blank lines."""
    columns = {name: _asutf8_stream(block.column(name), report) for name in block.schema.names}
    nulls = np.zeros(len(numbers), dtype=np.int64)
    for column in columns.values():
        nulls += column.is_null().to_numpy(zero_copy_only=False)
    kept = nulls < len(columns)
    if not kept.all():
        columns = {name: column.filter(pa.array(kept)) for name, column in columns.items()}
        numbers = numbers[kept]
    lines.note(numbers, columns.values())
    return Rows(columns, numbers, lines.of(numbers))


def _asutf8_stream(column: pa.Array, report: ReadReport) -> pa.Array:
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        warning = "some text is no valid UTF-8; the bad bytes were replaced"
        if warning not in report.warnings:
            report.warnings.append(warning)
        return pa.array(
            [value if value is None else value.decode("utf-8", "replace") for value in column.to_pylist()],
            pa.string(),
        )


def _inferring(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Mark the attributes of a batch as text whose type is yet to be told."""
    return batch.cast(
        pa.schema(
            field if field.name in _NOT_ATTRIBUTES else field.with_metadata(INFERRED)
            for field in batch.schema
        )
    )


def _report_bad_rows(
    bad_rows: dict[int, str], lines: _Lines, width: int, source: str, report: ReadReport
) -> None:
    report.records += len(bad_rows)
    numbers = np.array(sorted(bad_rows), dtype=np.int64)
    for number, line in zip(numbers.tolist(), lines.of(numbers).tolist(), strict=True):
        cause = f"the row has not {width} fields as the header has"
        report.rejects.append(Reject(source, line, cause, bad_rows[number][:_SHOWN]))
