"""Events of a dataset that are left out because another one is there already.

Only here are keys of all events held in memory at once, and only where the input gives ids of its own or
files of a format may show the same events again, as polls of Ganglia do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.arrays import Flags, Indexes
from cepctl.ingestion.chunks import RAW_NUMBER, Chunk
from cepctl.ingestion.results import FileResult
from cepctl.io.contract.log_format import Repeats
from cepctl.io.contract.reader import Reject

Chunks = Sequence[tuple[int, Chunk]]
_REJECTS_AT_ONCE = 10_000


@dataclass(frozen=True)
class LeftOut:
    """What is left out: rows by place of their chunk, repeated events by place of their file.

    `duplicates` has the events (columns file, number, event_id, event_type) whose id was taken.
    """

    rows: Mapping[int, Indexes] = field(default_factory=dict)
    repeated: Mapping[int, int] = field(default_factory=dict)
    duplicates: pa.Table | None = None

    def duplicate_rejects(self, results: Sequence[FileResult]) -> Iterator[Reject]:
        """One reject for each event whose id an earlier event has."""
        if self.duplicates is None:
            return
        for batch in self.duplicates.to_batches(max_chunksize=_REJECTS_AT_ONCE):
            for row in batch.to_pylist():
                known = f"record {row['number']}: event_id={row['event_id']}, event_type={row['event_type']}"
                yield Reject(results[row["file"]].name, None, "duplicate event_id", known)


def left_out(results: Sequence[FileResult], chunks: Chunks, filesystem: fs.FileSystem) -> LeftOut:
    """Find repeated events, then events whose id an earlier event has; chunks come with their file."""
    repeating = _repeating(results, chunks)
    ids_given = any(result.ids_given for result in results)
    if not repeating and not ids_given:
        return LeftOut()
    places = np.repeat(np.arange(len(chunks)), [chunk.rows for _, chunk in chunks])
    files = np.array([file for file, _ in chunks], np.int64)[places]
    keep = np.ones(len(places), np.bool_)
    for repeats, shown in repeating.items():
        keep &= ~_repeated(repeats, shown, chunks, len(places), filesystem)
    counted = zip(*map(np.ndarray.tolist, np.unique(files[~keep], return_counts=True)), strict=True)
    duplicates = None
    if ids_given:
        keys = _keys(chunks, files, filesystem)
        duplicate = _duplicates(keys, keep)
        keep &= ~duplicate
        found = keys.filter(pa.array(duplicate))
        duplicates = found.sort_by([("file", "ascending"), ("number", "ascending")])
    return LeftOut(_rows_of_chunks(np.flatnonzero(~keep), places, chunks), dict(counted), duplicates)


def _repeating(results: Sequence[FileResult], chunks: Chunks) -> dict[Repeats, list[int]]:
    """What several files may show again, with the places of their chunks."""
    found: dict[Repeats, list[int]] = {}
    for place, (file, _) in enumerate(chunks):
        repeats = results[file].repeats
        if repeats is not None:
            found.setdefault(repeats, []).append(place)
    return {repeats: shown for repeats, shown in found.items() if len({chunks[at][0] for at in shown}) > 1}


def _keys(chunks: Chunks, files: Indexes, filesystem: fs.FileSystem) -> pa.Table:
    names = [RAW_NUMBER, "event_id", "event_type"]
    tables = [pq.read_table(chunk.path, columns=names, filesystem=filesystem) for _, chunk in chunks]
    keys = pa.concat_tables(tables).rename_columns(["number", "event_id", "event_type"])
    return keys.add_column(0, "file", pa.array(files))


def _duplicates(keys: pa.Table, keep: Flags) -> Flags:
    """Events whose id an earlier event (in order of files, then of numbers) already has."""
    duplicate = np.zeros(len(keys), dtype=np.bool_)
    rows = np.flatnonzero(keep)
    ids = keys.column("event_id").combine_chunks().dictionary_encode().indices.to_numpy()[rows]
    ordered = np.lexsort((keys.column("number").to_numpy()[rows], keys.column("file").to_numpy()[rows], ids))
    again = np.flatnonzero(ids[ordered][1:] == ids[ordered][:-1]) + 1
    duplicate[rows[ordered[again]]] = True
    return duplicate


def _repeated(
    repeats: Repeats, shown: Sequence[int], chunks: Chunks, count: int, filesystem: fs.FileSystem
) -> Flags:
    """Which of `count` events are shown again, by the chunks at these places."""
    repeated = np.zeros(count, dtype=np.bool_)
    starts = np.cumsum([0, *(chunk.rows for _, chunk in chunks)])
    tables = []
    for place in shown:
        table = pq.read_table(chunks[place][1].path, columns=list(repeats.columns), filesystem=filesystem)
        rows = starts[place] + np.arange(len(table), dtype=np.int64)
        tables.append(table.append_column("key", pa.array(rows)))
    events = pa.concat_tables(tables)
    stay, _ = repeats.drop(events)
    repeated[events.column("key").to_numpy()] = True
    repeated[stay.column("key").to_numpy()] = False
    return repeated


def _rows_of_chunks(gone: Indexes, places: Indexes, chunks: Chunks) -> dict[int, Indexes]:
    """Rows among all events as rows of their chunks."""
    starts = np.cumsum([0, *(chunk.rows for _, chunk in chunks)])
    firsts = np.flatnonzero(np.diff(places[gone], prepend=-1))
    pieces = np.split(gone, firsts[1:]) if len(gone) else []
    return {int(places[piece[0]]): piece - starts[places[piece[0]]] for piece in pieces}
