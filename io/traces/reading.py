"""Reads files of spans: documents of JSON whose large arrays come element by element, or one large array.

An array at the outside is read as the member ELEMENTS of one document (json_documents.py).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.source.json_documents import Document, Element, as_documents, read_documents
from cepctl.io.source.json_recovery import Records
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.traces.spans import SpanRows, TracedSpan

SpansOf = Callable[[Any], Iterable[tuple[TracedSpan | None, Any]]]
"""The spans that a value holds, each with what it was read from; None for what is none."""

_KEY = re.compile(rb'"((?:[^"\\\n]|\\.){1,40})"\s*:')
_LARGEST_BATCH = 20_000


@dataclass(frozen=True)
class SpanReader:
    """Reader of the spans of one tool: those in its arrays called `streamed`, and documents that are spans.

    `telling` are keys that the beginning of every such file has; `records` tells spans in damaged text.
    """

    streamed: tuple[str, ...]
    spans_of: SpansOf
    telling: tuple[bytes, ...]
    records: Records

    def recognises(self, head: bytes) -> bool:
        return begins_with_keys(head, self.telling)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of the spans of one file."""
        chunks = Chunks(utf8_stream(stream))
        rows = SpanRows(source, options, report, self.records.sign)
        for part in read_documents(as_documents(chunks), self.streamed, source, report, self.records):
            value, line = _value(part, self.streamed)
            if value is None:
                if isinstance(part, Document) and part.hidden:
                    rows.reject_hidden(part.hidden, line)
                continue
            try:
                for span, raw in self.spans_of(value):
                    rows.add(span, raw, line)
                    if len(rows.rows) >= _LARGEST_BATCH or rows.rows.full:
                        yield rows.rows.take()
            except RecursionError:
                report.records += 1
                report.rejects.append(Reject(source, line, "nested too deeply", ""))
        if len(rows.rows):
            yield rows.rows.take()
        chunks.tell_damage(source, report)


def begins_with_keys(head: bytes, telling: Sequence[bytes]) -> bool:
    """Whether a file of JSON that begins so has all of these keys there."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return text[:1] in (b"{", b"[") and {found[1] for found in _KEY.finditer(text)} >= set(telling)


def _value(part: Element | Document, streamed: Sequence[str]) -> tuple[Any, int | None]:
    """What may hold spans: an element of an array, or a whole document without any such array.

    What stands beside an array (totals, errors) should hold none.
    """
    if isinstance(part, Element):
        return part.value, part.line
    alone = part.whole and len(part.missing) == len(streamed) and part.members
    return (part.members if alone else None), part.line
