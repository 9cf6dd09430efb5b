"""Records of a log that share a stamp with others of their file, whose order could decide who was first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import fs

from cepctl.ingestion.chunk_files import read_chunk
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.written_records import WrittenRecords
from cepctl.io.formats import format_named
from cepctl.schema import RECORD

_LOOKED_AT = 200_000
"""Events that are looked at, from the first on."""
_MOST_STEPS_BACK = 0.01


def told_of_shared_stamps(results: Sequence[FileResult], files: fs.FileSystem) -> Iterator[str]:
    """What settles the order of records that a process appended in one unit; `files` holds their chunks."""
    sharing = events = 0
    names = []
    for result in _first_events(results):
        records = _records(result, files)
        own = int((records.sharing > 1).sum())
        if own and len(records.steps) <= _MOST_STEPS_BACK * len(records.row):
            sharing, events = sharing + own, events + len(records.row)
            names.append(result.name)
    if sharing:
        where = names[0] if len(names) == 1 else f"{len(names):,} files"
        yield (
            f"{sharing:,} of {events:,} events in {where} share the stamp of another one of their file, so "
            "that who was first is open; --writer source takes the order in which they stand as evidence"
        )


def _records(result: FileResult, files: fs.FileSystem) -> WrittenRecords:
    """The events of a file as one process wrote them."""
    names = [RECORD, "lower", "upper"]
    table = pa.concat_tables(read_chunk(chunk.path, files, names) for chunk in result.chunks)
    record, lower, upper = (table.column(name).to_numpy() for name in names)
    return WrittenRecords.of(np.zeros(len(table), np.int64), record, lower, upper)


def _first_events(results: Sequence[FileResult]) -> Iterator[FileResult]:
    """Logs to which processes append, with no more chunks than are looked at."""
    left = _LOOKED_AT
    for result in results:
        chunks = []
        for chunk in result.chunks:
            if left > 0 and chunk.rows:
                chunks.append(chunk)
                left -= chunk.rows
        if chunks and format_named(result.format).appended:
            yield replace(result, chunks=tuple(chunks))
