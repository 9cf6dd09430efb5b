"""CSV and TSV with the columns of the event table.

Attributes stay text in the batches, marked as INFERRED: their type follows from all values of the
dataset, so that a column that turns out to be text loses nothing on the way.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from functools import partial
from typing import IO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from cepctl.errors import LogFormatError
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES, REST
from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.line_records import OPEN_QUOTE
from cepctl.io.contract.reader import (
    RAW_COLUMNS,
    ReadOptions,
    ReadReport,
    Reject,
    among_rejects,
)
from cepctl.io.source.streams import LongGaps, ShortenedGaps
from cepctl.io.source.text_encoding import BAD_UTF8, Recoded, decoded, utf8_stream
from cepctl.io.tabular.columns import BlockRows, raw_batch
from cepctl.io.tabular.header import (
    DELIMITERS,
    LINES_LOOKED_AT,
    delimiter_of,
    first_line,
    first_lines,
    has_rows,
    header_names,
    is_cut,
    names_events,
    note_decimal_commas,
)
from cepctl.io.tabular.known_tables import as_known, names_of_rows, with_unnamed
from cepctl.io.tabular.mapping import RESERVED, raw_names
from cepctl.io.tabular.named_columns import delimiter_of_rows
from cepctl.io.tabular.open_quotes import OpenQuotes
from cepctl.io.tabular.preamble import BEFORE_HEADER, cuts_times, lines_before_header
from cepctl.io.tabular.row_ends import DelimitedRows
from cepctl.io.tabular.row_places import RowPlaces
from cepctl.io.tabular.sifting import sifted
from cepctl.io.tabular.transcript import Transcript
from cepctl.io.tabular.wide import wide_rows
from cepctl.numeric.arrays import Numbers

_BLOCK_BYTES = 4 << 20
_LONGEST_HEADER = 16 << 20
# A row of two blocks is one that the parser refuses, so a run of this length stands between rows.
_GAP_BYTES = 2 * _BLOCK_BYTES
_PEEKED_BYTES = 1 << 16
_NOT_ATTRIBUTES = {*RAW_COLUMNS, *RESERVED, REST}


class DelimitedReader:
    """CSV or TSV with a header line."""

    def __init__(self, name: str) -> None:
        self.name = name

    def recognises(self, head: bytes) -> bool:
        if self._names_without_header(head) or lines_before_header(head, self.name, ()):
            return True
        line = first_line(head)
        delimiter = delimiter_of(line, self.name, ())
        named = names_events(header_names(line, delimiter), ()) and has_rows(head, delimiter)
        return named and not cuts_times(decoded(head).partition("\n")[2], delimiter)

    def _names_without_header(self, head: bytes) -> tuple[str, ...]:
        """The columns of a known table that begins so, with a row; none of one with a header."""
        return names_of_rows(decoded(head)) if self.name == "csv" else ()

    def has_header(self, head: bytes) -> bool:
        """Whether the file begins with lines of more than one value: all that a mapping can ask for."""
        lines = first_lines(head, LINES_LOOKED_AT)
        own, of_others = (
            sum(len(header_names(each, delimiter_of(each, name, ()))) > 1 for each in lines)
            for name in (self.name, *(DELIMITERS.keys() - {self.name}))
        )
        line = first_line(head)
        delimiter = delimiter_of(line, self.name, ())
        begins = len(header_names(line, delimiter)) > 1 and has_rows(head, delimiter)
        return 2 * own > len(lines) or (begins and 2 * own >= of_others)

    def rows(self, head: bytes, options: ReadOptions) -> DelimitedRows | None:
        """How a file that begins so, with these columns mapped or named, falls into rows.

        None where lines stand before the header, which are rows of no part.
        """
        if self._names_without_header(head):
            return DelimitedRows(b"", ord(","))
        header = head[: head.find(b"\n") + 1]
        delimiter = self._delimiter_without_header(head, options)
        if delimiter is not None:
            return DelimitedRows(b"", ord(delimiter))
        if lines_before_header(head, self.name, options.columns):
            return None
        return DelimitedRows(header, ord(delimiter_of(first_line(header), self.name, options.columns)))

    def _delimiter_without_header(self, head: bytes, options: ReadOptions, source: str = "") -> str | None:
        """What separates the values of a table that begins with rows; None where it has a header."""
        names = options.column_names
        if not names:
            return None
        lines = first_lines(head, LINES_LOOKED_AT)
        delimiter = delimiter_of_rows(lines, len(names), self.name, source)
        return None if lines and tuple(header_names(lines[0], delimiter)) == names else delimiter

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        text = utf8_stream(stream)
        begin = text.peek(_PEEKED_BYTES)
        named = self._names_without_header(begin)
        delimiter = "," if named else self._delimiter_without_header(begin, options, source)
        if delimiter is not None:
            named = named or options.column_names
            options = as_known(named, options)
            names = raw_names(named, options.columns, source)
            yield from self._narrow(text, names, delimiter, source, options, report, header=0)
            return
        header = lines_before_header(begin, self.name, options.columns) + 1
        _reject_before_header(text, header - 1, source, report)
        names, delimiter = self._header(text, header, source, options)
        options = as_known(names, options)
        names = raw_names(names, options.columns, source)
        if len(names) > MOST_ATTRIBUTES:
            for rows in wide_rows(text, names, delimiter, source, report, header):
                note_decimal_commas(rows, delimiter, report)
                yield _inferring(raw_batch(rows, source, options, report))
            return
        if text.peek(1):
            yield from self._narrow(text, names, delimiter, source, options, report, header)
        else:
            # There are no events, but what they would have is known.
            columns = {name: pa.array([], pa.string()) for name in names}
            yield _inferring(
                raw_batch(BlockRows(columns, np.array([], np.int64), None), source, options, report)
            )

    def _header(
        self, text: io.BufferedReader, number: int, source: str, options: ReadOptions
    ) -> tuple[list[str], str]:
        """The names in the next line of a text, which is its header, and what separates them."""
        first = text.readline(_LONGEST_HEADER + 1)
        if len(first) > _LONGEST_HEADER:
            raise LogFormatError(
                f"{source}:{number}: the header is longer than {_LONGEST_HEADER >> 20} MiB; give the file a "
                "first line with the names of its columns"
            )
        line = first.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
        delimiter = delimiter_of(line, self.name, options.columns)
        if is_cut(line, delimiter):
            raise LogFormatError(
                f"{source}:{number}: a quote is opened in the header and not closed on its line; write the "
                "names of all columns on one line"
            )
        return with_unnamed(header_names(line, delimiter), decoded(text.peek(_PEEKED_BYTES))), delimiter

    def _narrow(
        self,
        text: IO[bytes],
        names: list[str],
        delimiter: str,
        source: str,
        options: ReadOptions,
        report: ReadReport,
        header: int,
    ) -> Iterator[pa.RecordBatch]:
        gaps = LongGaps(_GAP_BYTES)
        transcript = Transcript(cast(IO[bytes], ShortenedGaps(text, gaps)), first_line=1 + header)
        # The parser passes over a byte order mark: this one, and none that belongs to the first value.
        quotes = OpenQuotes(cast(IO[bytes], transcript), delimiter, len(names), lambda: transcript.breaks)
        recoded = Recoded(cast(IO[bytes], quotes), "utf-8", codecs.BOM_UTF8)
        places = RowPlaces(header=header)
        skipped = partial(_skipped, places, transcript, gaps, quotes, len(names), source, report)
        try:
            for block in _blocks(io.BufferedReader(recoded, _BLOCK_BYTES), names, delimiter, places):
                numbers = places.take(len(block))
                rows = _text_rows(block, numbers, places, transcript, gaps)
                note_decimal_commas(rows, delimiter, report)
                rows = sifted(rows, options, report, inferred=True)
                with among_rejects(report, skipped(places.taken)):
                    events = raw_batch(rows, source, options, report)
                transcript.forget_before(places.forget(places.taken))
                yield _inferring(events)
        except pa.ArrowException as problem:
            raise LogFormatError(f"{source}: {self._damage(problem)}") from problem
        finally:
            transcript.hurry()
            report.rejects.extend(skipped(None))
            if recoded.replaced:
                report.warnings.append(BAD_UTF8)

    def _damage(self, problem: Exception) -> str:
        if "straddl" in str(problem) or "out of sync" in str(problem):
            return (
                f'a row is longer than {_BLOCK_BYTES >> 20} MiB, or a quote (") is opened and never closed: '
                "close it, or double the quotes inside of values"
            )
        return f"damaged {self.name.upper()}: {problem}"


def _reject_before_header(text: IO[bytes], count: int, source: str, report: ReadReport) -> None:
    """Take so many lines of a text, which are no part of the table below them."""
    for number in range(1, count + 1):
        raw = text.readline().strip(b"\r\n")
        if raw.strip():
            report.records += 1
            report.rejects.append(Reject(source, number, BEFORE_HEADER, raw))


def _blocks(text: IO[bytes], names: list[str], delimiter: str, places: RowPlaces) -> Iterator[pa.RecordBatch]:
    def skip(row: pyarrow.csv.InvalidRow) -> str:
        places.skip(row.number, row.text.count("\n"))
        return "skip"

    return iter(
        pyarrow.csv.open_csv(
            text,
            pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names),
            pyarrow.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=skip,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    )


def _text_rows(
    block: pa.RecordBatch, numbers: Numbers, places: RowPlaces, transcript: Transcript, gaps: LongGaps
) -> BlockRows:
    """Columns of one block as text, without the rows of blank lines."""
    columns = dict(zip(block.schema.names, block.columns, strict=True))
    nulls = np.zeros(len(numbers), dtype=np.int64)
    for column in columns.values():
        nulls += column.is_null().to_numpy(zero_copy_only=False)
    kept = nulls < len(columns)
    if not kept.all():
        columns = {name: column.filter(pa.array(kept)) for name, column in columns.items()}
        numbers = numbers[kept]
    for column in filter(_may_hold_breaks, columns.values()):
        breaks = pc.fill_null(pc.count_substring(column, "\n"), 0).to_numpy(zero_copy_only=False)
        if breaks.any():
            places.note_breaks(numbers, breaks)
    first, last = places.lines(numbers)
    left_out = gaps.left_out_before(first - places.header - 1)
    return BlockRows(
        columns,
        numbers + left_out,
        first + left_out,
        lambda place: transcript.lines(int(first[place]), int(last[place])),
    )


def _may_hold_breaks(column: pa.Array) -> bool:
    """Whether a line break stands in the memory of a column: far cheaper to tell than in which row."""
    held = column.buffers()[2]
    return held is not None and bool((np.frombuffer(held, np.uint8) == ord("\n")).any())


def _skipped(
    places: RowPlaces,
    transcript: Transcript,
    gaps: LongGaps,
    quotes: OpenQuotes,
    width: int,
    source: str,
    report: ReadReport,
    upto: int | None,
) -> Iterator[Reject]:
    """Rejects for the rows up to this number that the parser skipped; they count as records."""
    skipped = places.skipped(upto)
    report.records += len(skipped)
    cause = f"the row does not have {width} fields like the header"
    firsts, lasts = places.lines(skipped)
    lines = firsts + gaps.left_out_before(firsts - places.header - 1)
    for line, first, last in zip(lines.tolist(), firsts.tolist(), lasts.tolist(), strict=True):
        known = OPEN_QUOTE if first - places.header - 1 in quotes.mended else cause
        yield Reject(source, line, known, transcript.lines(first, last))


def _inferring(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Mark the attributes of a batch as text whose type is not known yet."""
    return batch.cast(
        pa.schema(
            field if field.name in _NOT_ATTRIBUTES else field.with_metadata(INFERRED)
            for field in batch.schema
        )
    )
