"""Plain event files: Parquet here, the others in modules of their own, all in FORMATS."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.clocks.shared import clocks_of
from cepctl.errors import LogFormatError, UncertaintyModelError
from cepctl.event_table import ORIGIN_COLUMNS
from cepctl.io.contract.clock_offsets import rescaled_with_clocks
from cepctl.io.contract.log_format import WORDED, WRITTEN, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.source.text_encoding import BAD_UTF8
from cepctl.io.tabular.any_json import AnyJsonReader
from cepctl.io.tabular.columns import BlockRows, raw_batch
from cepctl.io.tabular.delimited import DelimitedReader
from cepctl.io.tabular.json_lines import JsonLinesReader
from cepctl.io.tabular.known_tables import as_known
from cepctl.io.tabular.logfmt import LogfmtReader
from cepctl.io.tabular.mapping import raw_name, raw_names, require_events
from cepctl.io.tabular.parquet_limits import BLOCK_ROWS, bytes_of_group, open_parquet, rows_of_groups
from cepctl.io.tabular.parquet_pieces import LONGEST_ROW, ROW_TOO_LONG, pieces
from cepctl.io.tabular.sifting import sifted
from cepctl.io.tabular.unread_columns import columns_to_read
from cepctl.schema import CLOCK_OFFSET, META_TIME_UNIT, RECORD, TimeUnit

_KEPT_OF_DATASETS = (*ORIGIN_COLUMNS, "zone_seconds")


class ParquetReader:
    """Any Parquet file with the columns of an event file.

    A part of an ingested dataset keeps `source` and the zones of its times; its ticks are counted in
    its own time unit.
    """

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def row_groups(self, stream: IO[bytes]) -> list[int]:
        """How many bytes each row group of a file takes; none where that cannot be told."""
        try:
            metadata = pq.read_metadata(stream)
        except (pa.ArrowException, OSError):
            return []  # reading will say what is wrong
        return [bytes_of_group(metadata, number) for number in range(metadata.num_row_groups)]

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        try:
            groups = None if options.row_groups is None else range(*options.row_groups)
            file = open_parquet(stream if stream.seekable() else io.BytesIO(stream.read()), source, groups)
            own_unit = (file.schema_arrow.metadata or {}).get(META_TIME_UNIT)
            unit = _unit(own_unit, source) if own_unit else options.time_unit
            own_options = replace(options, time_unit=unit)
            held = file.schema_arrow.names
            own_options = own_options if own_unit else as_known(held, own_options)
            names = _names_of_part(held, source) if own_unit else raw_names(held, options.columns, source)
            clocks = clocks_of(file.schema_arrow.metadata)
            before = taken = rows_of_groups(file.metadata, range(0 if groups is None else groups.start))
            nothing = pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
            # Threads would take half as much processor time again, and files are read beside each other.
            read = range(file.metadata.num_row_groups) if groups is None else groups
            wanted = columns_to_read(file, read, names, None if own_unit else own_options.sieve)
            raw = dict(zip(held, names, strict=True))
            batches = file.iter_batches(BLOCK_ROWS, row_groups=groups, columns=wanted, use_threads=False)
            for batch in batches if file.metadata.num_rows else [nothing]:
                numbers = taken + 1 + np.arange(len(batch), dtype=np.int64)
                columns = {raw[own]: batch.column(own) for own in batch.schema.names}
                block = BlockRows(columns, numbers, None, clocks=clocks)
                block = sifted(block, own_options, report) if _is_plain(block) else block
                too_long, cut = pieces(block.columns)
                report.records += len(too_long)
                report.rejects += [
                    Reject(source, None, ROW_TOO_LONG, f"record {block.numbers[place]:,}")
                    for place in too_long
                ]
                for piece in cut:
                    columns = {name: _valid_text(column, report) for name, column in piece.columns.items()}
                    rows = replace(block, columns=columns, numbers=block.numbers[piece.places])
                    events = raw_batch(rows, source, own_options, report)
                    table = pa.Table.from_batches([events])
                    if own_unit is not None and RECORD not in held:  # an earlier version wrote the dataset
                        table = table.append_column(RECORD, pa.nulls(len(table), ORIGIN_COLUMNS[RECORD]))
                    table = rescaled_with_clocks(table, unit, options.time_unit, CLOCK_OFFSET)
                    yield from table.to_batches() or [events]
                taken += len(batch)
            _report_missing(file.metadata, groups, taken - before, source, report)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise LogFormatError(f"{source}: damaged Parquet: {problem}") from problem


def _names_of_part(names: Sequence[str], source: str) -> list[str]:
    """The columns of a part of a dataset as columns of raw events, its own names kept."""
    found = [name if name in _KEPT_OF_DATASETS else raw_name(name, ()) for name in names]
    require_events(found, names, source)
    return found


def _report_missing(
    metadata: pq.FileMetaData, groups: range | None, taken: int, source: str, report: ReadReport
) -> None:
    """Compare the rows that were read with both counts of the footer, of which damage may lower one."""
    every = range(metadata.num_row_groups)
    counted = rows_of_groups(metadata, every if groups is None else groups)
    if groups is None or groups.stop == every.stop:
        counted += max(metadata.num_rows - rows_of_groups(metadata, every), 0)
    if taken < counted:
        cause = f"rows are missing: the file counts {counted:,}, and gives {taken:,}"
        report.records += counted - taken
        report.rejects.append(Reject(source, None, cause, records=counted - taken))


def _unit(written: bytes, source: str) -> TimeUnit:
    try:
        return TimeUnit.parse(written.decode())
    except UncertaintyModelError as problem:
        raise LogFormatError(f"{source}: damaged Parquet: its time unit is not valid: {problem}") from problem


def _is_plain(rows: BlockRows) -> bool:
    """Whether all text of a block is text, and no row of it can be too long."""
    columns = rows.columns.values()
    if sum(column.nbytes for column in columns) > LONGEST_ROW:
        return False
    try:
        for column in columns:
            (column.dictionary if pa.types.is_dictionary(column.type) else column).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _valid_text(column: pa.Array, report: ReadReport) -> pa.Array:
    """The column, bytes of its text that are not UTF-8 replaced: Parquet says it is, and nobody looks."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            raise
        if BAD_UTF8 not in report.warnings:
            report.warnings.append(BAD_UTF8)
        raw = pa.Array.from_buffers(
            pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary(),
            len(column),
            column.buffers(),
            offset=column.offset,
        )
        raw.validate(full=True)
        texts = [value if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()]
        return pa.array(texts, column.type)
    return column


_JSON_LINES, _LOGFMT, _ANY_JSON = JsonLinesReader(), LogfmtReader(), AnyJsonReader()
_PARQUET = ParquetReader()
_CSV, _TSV = DelimitedReader("csv"), DelimitedReader("tsv")
_EVENTS = "what event_type says; every other column an attribute"
_UNCERTAINTY = "none; where no time has a fraction, the second, minute or day that each is written to"
_PLAIN = "plain event files"
_OPTIONS = {
    **{"columns": _PLAIN, "epoch_unit": _PLAIN, "time_format": _PLAIN},
    **{"time_zone": ZONELESS, "zone_words": WORDED, "exact_times": WRITTEN},
}
_DELIMITED_OPTIONS = {**_OPTIONS, "column_names": "tables without a header"}
FORMATS = (
    LogFormat(
        name="csv",
        description="values separated by , ; or | with event_type, and time or lower and upper",
        events=_EVENTS,
        uncertainty=_UNCERTAINTY,
        example=("event_type,time,node\nStart,2026-06-14T08:15:04Z,n7\nStop,2026-06-14T08:15:09Z,n7\n"),
        page="logs-plain.md",
        reader=_CSV,
        options=_DELIMITED_OPTIONS,
        lines=_CSV.rows,
        recognises_mapped=_CSV.has_header,
    ),
    # After csv, so asked before it for a mapped file: where a tab would do as well as a comma, it is what
    # separates, because it is rarer.
    LogFormat(
        name="tsv",
        description="tab-separated values with event_type, and time or lower and upper",
        events=_EVENTS,
        uncertainty=_UNCERTAINTY,
        example=("event_type\ttime\tnode\nStart\t2026-06-14T08:15:04Z\tn7\nStop\t2026-06-14T08:15:09Z\tn7\n"),
        page="logs-plain.md",
        reader=_TSV,
        options=_DELIMITED_OPTIONS,
        lines=_TSV.rows,
        recognises_mapped=_TSV.has_header,
    ),
    LogFormat(
        name="jsonl",
        description="JSON lines with event_type, and time or lower and upper",
        events=f"{_EVENTS}, nested ones as JSON",
        uncertainty=_UNCERTAINTY,
        example=('{"event_type": "Start", "time": "2026-06-14T08:15:04Z", "node": "n7"}\n'),
        page="logs-plain.md",
        reader=_JSON_LINES,
        options=_OPTIONS,
        lines=plain_lines,
        recognises_mapped=_JSON_LINES.has_object,
    ),
    LogFormat(
        name="parquet",
        description="Parquet with event_type, and time or lower and upper",
        events=_EVENTS,
        uncertainty=_UNCERTAINTY,
        example=("(binary) a table with the columns event_type, time (or lower and upper), and any others\n"),
        page="logs-plain.md",
        reader=_PARQUET,
        options=_OPTIONS,
        row_groups=_PARQUET.row_groups,
    ),
    LogFormat(
        name="logfmt",
        description="logfmt, lines of KEY=VALUE with a time",
        events="what event says, or the template of msg or message (--map event_type=KEY); all keys",
        uncertainty="as written: 1 s, 1 ms, or none",
        example=('time=2026-06-14T08:15:04.100Z level=info msg="request done" status=200\n'),
        page="logs-plain.md",
        reader=_LOGFMT,
        options=_OPTIONS,
        lines=plain_lines,
        recognises_mapped=_LOGFMT.has_pairs,
        messages=_LOGFMT.messages,
        appended=True,
    ),
)
# Asked when no other format of JSON is.
ANY_JSON = LogFormat(
    name="json",
    description="JSON of any shape: lines, an array, or an array in a document, of objects with a time",
    events="what event.action, eventName, event or the like says, else the template of message or msg; "
    "every field, nested ones with dots; Kubernetes: reason, with --intervals from first to last time",
    uncertainty=_UNCERTAINTY,
    example=(
        '{"Records": [{"eventTime": "2026-06-14T08:15:04Z", "eventName": "GetObject", '
        '"userIdentity": {"userName": "ann"}}]}\n'
    ),
    page="logs-json.md",
    kinds=("CloudTrail", "events of Kubernetes", "logs of applications", "Suricata", "Windows events"),
    reader=_ANY_JSON,
    options={**_OPTIONS, "intervals": "Kubernetes events"},
    recognises_mapped=_ANY_JSON.may_be_mapped,
    lines=_ANY_JSON.lines,
    messages=_ANY_JSON.messages,
)
