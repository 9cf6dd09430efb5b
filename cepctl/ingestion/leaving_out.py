"""Events of a dataset that are left out because another one is there already.

Only here are keys of all events held in memory at once, and only where the input gives ids of its own or
several polls of Ganglia may show the same sample.
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
from cepctl.io.contract.reader import Reject
from cepctl.io.ganglia.gmond_xml import drop_repeated_samples

Chunks = Sequence[tuple[int, Chunk]]
_REJECTS_AT_ONCE = 10_000


@dataclass(frozen=True)
class LeftOut:
    """What is left out: rows by place of their chunk, repeated samples by place of their file.

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
    """Find repeated samples, then events whose id an earlier event has; chunks come with their file."""
    polled = [place for place, (file, _) in enumerate(chunks) if results[file].format == "ganglia"]
    several_polls = len({chunks[place][0] for place in polled}) > 1
    ids_given = any(result.ids_given for result in results)
    if not several_polls and not ids_given:
        return LeftOut()
    places = np.repeat(np.arange(len(chunks)), [chunk.rows for _, chunk in chunks])
    files = np.array([file for file, _ in chunks], np.int64)[places]
    keep = np.ones(len(places), np.bool_)
    if several_polls:
        keep &= ~_repeated_samples(polled, chunks, len(places), filesystem)
    counted = zip(*map(np.ndarray.tolist, np.unique(files[~keep], return_counts=True)), strict=True)
    duplicates = None
    if ids_given:
        keys = _keys(chunks, files, filesystem)
        duplicate = _duplicates(keys, keep)
        keep &= ~duplicate
        found = keys.filter(pa.array(duplicate))
        duplicates = found.sort_by([("file", "ascending"), ("number", "ascending")])
    return LeftOut(_rows_of_chunks(np.flatnonzero(~keep), places, chunks), dict(counted), duplicates)


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


def _repeated_samples(polled: Sequence[int], chunks: Chunks, count: int, filesystem: fs.FileSystem) -> Flags:
    """Samples of Ganglia that polls in several files show again."""
    repeated = np.zeros(count, dtype=np.bool_)
    starts = np.cumsum([0, *(chunk.rows for _, chunk in chunks)])
    tables = []
    for place in polled:
        names = ["node", "metric", "time"]
        table = pq.read_table(chunks[place][1].path, columns=names, filesystem=filesystem)
        rows = starts[place] + np.arange(len(table), dtype=np.int64)
        tables.append(table.append_column("key", pa.array(rows)))
    samples = pa.concat_tables(tables)
    stay, _ = drop_repeated_samples(samples)
    repeated[samples.column("key").to_numpy()] = True
    repeated[stay.column("key").to_numpy()] = False
    return repeated


def _rows_of_chunks(gone: Indexes, places: Indexes, chunks: Chunks) -> dict[int, Indexes]:
    """Rows among all events as rows of their chunks."""
    starts = np.cumsum([0, *(chunk.rows for _, chunk in chunks)])
    firsts = np.flatnonzero(np.diff(places[gone], prepend=-1))
    pieces = np.split(gone, firsts[1:]) if len(gone) else []
    return {int(places[piece[0]]): piece - starts[places[piece[0]]] for piece in pieces}
