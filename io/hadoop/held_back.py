"""A history whose events are held back until all of it is read: where a task ran may be said at its end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.event_columns import HeldBatch
from cepctl.io.hadoop.events import HistoryEvents
from cepctl.io.hadoop.facts import HistoryFacts, history_facts
from cepctl.io.hadoop.records import Record
from cepctl.io.source.copies import IN_MEMORY_BYTES, copy_of
from cepctl.io.source.streams import Chunks

Records = Callable[[IO[bytes], ReadReport], Iterator[Record]]


def history_events(
    chunks: Chunks,
    records: Records,
    source: str,
    options: ReadOptions,
    report: ReadReport,
    *,
    untold: frozenset[str] = frozenset(),
) -> Iterator[pa.RecordBatch]:
    """The events of a history, in the order of its records.

    `records` gives the records of a copy of the file, which stands at its start, and fills a report.
    The copy goes to disk where it is large, and so do the events.  `untold` are the times that records of
    this kind of history do not have; any other that is missing is damage.
    """
    with copy_of(chunks) as copy, tempfile.TemporaryFile() as file:
        facts = HistoryFacts(untold=untold)
        if options.intervals:
            facts = history_facts(records(copy, ReadReport()), options, untold=untold)
            copy.seek(0)
        rows = HistoryEvents(source, options, report)
        held = _Held(file)
        for record in records(copy, report):
            if facts.spans is None:
                facts.see(record)
            try:
                rows.add(record, facts)
            except RecursionError:
                report.rejects.append(Reject(source, record.line, "nested too deeply", record.kind))
            if rows.full:
                held.put(rows.take())
        if len(rows):
            held.put(rows.take())
        for batch in held.taken():
            yield batch.with_hosts(options)
        if facts.spans is not None:
            facts.spans.count_open(report)
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


class _Held:
    """Batches in the order in which they came; those beyond so many bytes are in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._bytes = 0
        self._batches: list[tuple[HeldBatch, int]] = []

    def put(self, held: HeldBatch) -> None:
        self._bytes += held.batch.nbytes
        if self._bytes <= IN_MEMORY_BYTES:
            self._batches.append((held, 0))
            return
        start = self._file.tell()
        with pa.ipc.new_stream(self._file, held.batch.schema) as stream:
            stream.write_batch(held.batch)
        # Of a slice Arrow would keep the whole.
        empty = pa.RecordBatch.from_pylist([], held.batch.schema)
        self._batches.append((replace(held, batch=empty), self._file.tell() - start))

    def taken(self) -> Iterator[HeldBatch]:
        self._file.seek(0)
        for held, size in self._batches:
            if not size:
                yield held
                continue
            with pa.ipc.open_stream(pa.py_buffer(self._file.read(size))) as stream:
                yield replace(held, batch=stream.read_next_batch())
