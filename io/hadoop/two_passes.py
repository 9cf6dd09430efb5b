"""A history whose records are read twice: what they say of each other has to be known first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa

from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.hadoop.events import add_events, history_facts
from cepctl.io.hadoop.records import Record
from cepctl.io.source.copies import copy_of
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
    The copy goes to disk where it is large: a stream can be read only once.  `times_complete` says that
    every record has all the times of its kind, so that one which is missing is damage.
    """
    with copy_of(chunks) as copy:
        facts = history_facts(records(copy, ReadReport()), options, times_complete=times_complete)
        copy.seek(0)
        rows = EventBatches(options)
        for record in records(copy, report):
            try:
                add_events(record, facts, rows, report)
            except RecursionError:
                report.rejects.append(Reject(source, record.line, "nested too deeply", record.kind))
            if rows.full:
                yield rows.take()
        if len(rows):
            yield rows.take()
        if facts.spans is not None:
            facts.spans.count_open(report)
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))
