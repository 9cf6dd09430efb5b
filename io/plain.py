"""Plain event files: CSV, TSV, JSONL and Parquet with the columns of the event table.

Text columns of CSV and TSV stay text in the batches, marked as INFERRED: their type follows from
all values of the dataset, so that a column that turns out to be text loses nothing on the way.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from cepctl.errors import EventSchemaError, LogFormatError
from cepctl.io.batches import natural_array
from cepctl.io.plain_columns import RESERVED, Rows, attribute_name, raw_batch
from cepctl.io.plain_histograms import Numbers
from cepctl.io.reading import RAW_COLUMNS, ReadOptions, ReadReport, Reject
from cepctl.io.rescaling import rescaled
from cepctl.schema import META_TIME_UNIT, TimeUnit

INFERRED = {b"cepctl.infer": b"type"}
_KEPT_OF_DATASETS = ("source", "zone_seconds")
_BLOCK_BYTES = 4 << 20
_BLOCK_ROWS = 65_536
_SHOWN = 200
_NOT_ATTRIBUTES = {*RAW_COLUMNS, *RESERVED}


def require_columns(names: list[str], source: str) -> None:
    """Raise EventSchemaError unless the names can be those of an event file."""
    if "event_type" not in names:
        raise EventSchemaError(
            f"{source}: no column event_type (found {', '.join(names) or 'none'}); rename the column "
            "that holds the kind of event to event_type"
        )
    if "time" not in names and not {"lower", "upper"} <= set(names) and "pmf" not in names:
        raise EventSchemaError(
            f"{source}: no column time, and not both lower and upper (found {', '.join(names)}); "
            "an event needs one or the other"
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise EventSchemaError(f"{source}: two columns are named '{repeated[0]}'; rename one of them")


def _decoded(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="replace")
    return head.decode("utf-8-sig", errors="replace")


def _utf8(stream: IO[bytes]) -> IO[bytes]:
    """The same text in UTF-8 without byte order mark."""
    buffered = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
    )
    head = buffered.peek(3)[:3]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.BufferedReader(_Recoded(buffered))
    if head == codecs.BOM_UTF8:
        buffered.read(3)
    return buffered


class _Recoded(io.RawIOBase):
    """UTF-16 text as UTF-8 bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            raw = self._stream.read(_BLOCK_BYTES)
            self._ready = self._decoder.decode(raw, final=not raw).encode()
            if not raw and not self._ready:
                return 0
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


class DelimitedReader:
    """CSV or TSV with a header line."""

    def __init__(self, name: str, delimiter: str, description: str) -> None:
        self.name = name
        self.delimiter = delimiter
        self.description = description

    def recognises(self, head: bytes) -> bool:
        names = _header(_decoded(head).split("\n", 1)[0], self.delimiter)
        timed = "time" in names or {"lower", "upper"} <= set(names) or "pmf" in names
        return "event_type" in names and timed

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        text = _utf8(stream)
        names = _header(text.readline().decode("utf-8", "replace"), self.delimiter)
        require_columns(names, source)
        names = [attribute_name(name) for name in names]
        bad_rows: dict[int, str] = {}

        def note(row: pyarrow.csv.InvalidRow) -> str:
            bad_rows[row.number] = row.text
            return "skip"

        taken = 0
        try:
            for block in self._blocks(text, names, note):
                numbers = _numbers_after(taken, len(block), bad_rows)
                taken = int(numbers[-1]) if len(numbers) else taken
                yield _inferring(raw_batch(_text_rows(block, numbers, report), source, options, report))
        except pa.ArrowInvalid as problem:
            raise LogFormatError(f"{source}: damaged {self.name.upper()}: {problem}") from problem
        finally:
            _report_bad_rows(bad_rows, len(names), source, report)

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


def _text_rows(block: pa.RecordBatch, numbers: Numbers, report: ReadReport) -> Rows:
    """Columns of one block as text, without the rows of blank lines."""
    columns = {name: _as_utf8(block.column(name), report) for name in block.schema.names}
    nulls = np.zeros(len(numbers), dtype=np.int64)
    for column in columns.values():
        nulls += column.is_null().to_numpy(zero_copy_only=False)
    kept = nulls < len(columns)
    if not kept.all():
        columns = {name: column.filter(pa.array(kept)) for name, column in columns.items()}
        numbers = numbers[kept]
    return Rows(columns, numbers, numbers + 1)


def _as_utf8(column: pa.Array, report: ReadReport) -> pa.Array:
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


def _report_bad_rows(bad_rows: dict[int, str], width: int, source: str, report: ReadReport) -> None:
    report.records += len(bad_rows)
    for number, text in sorted(bad_rows.items()):
        cause = f"the row has not {width} fields as the header has"
        report.rejects.append(Reject(source, number + 1, cause, text[:_SHOWN]))


class JsonLinesReader:
    """One JSON object per line."""

    name = "jsonl"
    description = "JSON lines with event_type, and time or lower and upper"

    def recognises(self, head: bytes) -> bool:
        line = _decoded(head).lstrip().split("\n", 1)[0]
        return line.startswith("{") and '"event_type"' in line

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        numbered = enumerate(_utf8(stream), start=1)
        while lines := list(islice(numbered, _BLOCK_ROWS)):
            records = [(number, _json_object(line)) for number, line in lines if line.strip()]
            for (number, record), text in zip(records, (t for _, t in lines if t.strip()), strict=True):
                if record is None:
                    report.records += 1
                    shown = text.decode("utf-8", "replace").strip()[:_SHOWN]
                    report.rejects.append(Reject(source, number, "the line is no JSON object", shown))
            good = [(number, record) for number, record in records if record is not None]
            if good:
                yield raw_batch(_json_rows(good), source, options, report)


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _json_rows(records: list[tuple[int, dict[str, Any]]]) -> Rows:
    names = list(dict.fromkeys(chain.from_iterable(record for _, record in records)))
    lines = np.array([number for number, _ in records], dtype=np.int64)
    columns = {}
    for name in names:
        values = [record.get(name) for _, record in records]
        columns[attribute_name(name)] = _histogram_texts(values) if name == "pmf" else _json_column(values)
    columns.setdefault("event_type", pa.nulls(len(records), pa.string()))
    return Rows(columns, lines, lines)


def _histogram_texts(values: list[Any]) -> pa.Array:
    return pa.array(
        [value if value is None or isinstance(value, str) else "?" for value in values], pa.string()
    )


def _json_column(values: list[Any]) -> pa.Array:
    """Values of one key in their natural type; nested ones as JSON text."""
    return natural_array([json.dumps(v) if isinstance(v, dict | list) else v for v in values])


class ParquetReader:
    """Any Parquet file with the columns of an event file.

    A part of an ingested dataset keeps `source` and the zones of its times; its ticks are counted in
    its own time unit.
    """

    name = "parquet"
    description = "Parquet with event_type, and time or lower and upper"

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        try:
            file = pq.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
            require_columns(file.schema_arrow.names, source)
            own_unit = (file.schema_arrow.metadata or {}).get(META_TIME_UNIT)
            unit = TimeUnit.parse(own_unit.decode()) if own_unit else options.time_unit
            own_options = replace(options, time_unit=unit)
            taken = 0
            for batch in file.iter_batches(_BLOCK_ROWS):
                names = [
                    name if own_unit and name in _KEPT_OF_DATASETS else attribute_name(name)
                    for name in batch.schema.names
                ]
                numbers = taken + 1 + np.arange(len(batch), dtype=np.int64)
                taken += len(batch)
                columns = dict(zip(names, batch.columns, strict=True))
                events = raw_batch(Rows(columns, numbers, None), source, own_options, report)
                yield from rescaled(pa.Table.from_batches([events]), unit, options.time_unit).to_batches()
        except (pa.ArrowInvalid, OSError) as problem:
            raise LogFormatError(f"{source}: damaged Parquet: {problem}") from problem


READERS = (
    DelimitedReader("csv", ",", "comma-separated values with event_type, and time or lower and upper"),
    DelimitedReader("tsv", "\t", "tab-separated values with event_type, and time or lower and upper"),
    JsonLinesReader(),
    ParquetReader(),
)
