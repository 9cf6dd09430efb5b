"""A history whose events are held back until all of it is read: where a task ran may be said at its end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.event_columns import HeldBatch
from cepctl.io.hadoop.events import HistoryEvents, nearly_known
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
    times_complete: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The events of a history, in the order of its records.

    `records` gives the records of a copy of the file, which stands at its start, and fills a report.
    The copy goes to disk where it is large, and so do the events.  `times_complete` says that every record
    has all the times of its kind, so that one which is missing is damage.
    """
    with copy_of(chunks) as copy, tempfile.TemporaryFile() as file:
        facts = HistoryFacts(times_complete=times_complete)
        if options.intervals:
            facts = history_facts(records(copy, ReadReport()), options, times_complete=times_complete)
            copy.seek(0)
        rows = HistoryEvents(options, report)
        held = _Held(file)
        for record in records(copy, report):
            if (near := nearly_known(record.kind)) is not None:
                report.records += 1
                cause = f"not a type of record, but nearly {near}"
                report.rejects.append(Reject(source, record.line, cause, record.kind))
                continue
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
