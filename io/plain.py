"""Plain event files: JSON lines and Parquet here, CSV and TSV in plain_delimited.py, all in READERS."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.errors import LogFormatError
from cepctl.io.batches import natural_array
from cepctl.io.plain_columns import Rows, attribute_name, raw_batch
from cepctl.io.plain_delimited import DelimitedReader
from cepctl.io.plain_text import decoded, require_columns, utf8_stream
from cepctl.io.reading import ReadOptions, ReadReport, Reject
from cepctl.io.rescaling import rescaled
from cepctl.schema import META_TIME_UNIT, TimeUnit

_KEPT_OF_DATASETS = ("source", "zone_seconds")
_BLOCK_ROWS = 65_536
_SHOWN = 200


class JsonLinesReader:
    """One JSON object per line."""

    name = "jsonl"
    description = "JSON lines with event_type, and time or lower and upper"

    def recognises(self, head: bytes) -> bool:
        line = decoded(head).lstrip().split("\n", 1)[0]
        return line.startswith("{") and '"event_type"' in line

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        numbered = enumerate(utf8_stream(stream), start=1)
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
        except (pa.ArrowException, OSError) as problem:
            raise LogFormatError(f"{source}: damaged Parquet: {problem}") from problem


READERS = (
    DelimitedReader("csv", ",", "comma-separated values with event_type, and time or lower and upper"),
    DelimitedReader("tsv", "\t", "tab-separated values with event_type, and time or lower and upper"),
    JsonLinesReader(),
    ParquetReader(),
)
