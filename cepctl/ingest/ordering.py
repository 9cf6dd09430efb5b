"""The order of a dataset: which rows of which chunk make up which part, without repeated events.

Only the keys of all events are held in memory here: lower, event id and type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.ingest.chunks import RAW_NUMBER, SORT_KEYS, Chunk
from cepctl.ingest.results import FileResult
from cepctl.io.ganglia_xml import drop_repeated_samples
from cepctl.io.reading import Reject

PART_EVENTS = 1_000_000
_REJECTS_AT_ONCE = 10_000

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Rows start .. stop - 1 of a chunk, without the `dropped` ones."""

    path: str
    start: int
    stop: int
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Order:
    """The parts of a dataset in order, each as slices of chunks; what was left out, and the counts.

    By place of the file among the results: `type_counts` of the events that stay, `repeated` samples,
    and `duplicates`, the events (columns file, number, event_id, event_type) whose id was taken.
    """

    parts: tuple[tuple[Slice, ...], ...]
    type_counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
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


def order(results: Sequence[FileResult], filesystem: fs.FileSystem) -> Order:
    """Sort all events by (lower, event id) and cut them into parts of PART_EVENTS."""
    chunks = [(number, chunk) for number, result in enumerate(results) for chunk in result.chunks]
    if not chunks:
        return Order(((),))
    keys = _keys(chunks, filesystem)
    keep = np.ones(len(keys), dtype=np.bool_)
    repeated = _repeated_samples(keys, results, chunks, filesystem)
    if repeated.any():
        keep &= ~repeated
    duplicates = None
    if any(result.ids_given for result in results):
        duplicate = _duplicates(keys, keep)
        keep &= ~duplicate
        duplicates = _listed(keys, duplicate)
    kept = np.flatnonzero(keep)
    # Chunks come in order of file names, so equal keys cannot depend on the runner either.
    ordered = kept[pc.sort_indices(keys.select(["lower", "event_id"]).take(kept), sort_keys=SORT_KEYS)]
    parts = _parts(ordered, keys, keep, chunks)
    return Order(parts, _type_counts(keys.take(kept)), _counts_by_file(keys, repeated), duplicates)


def _type_counts(keys: pa.Table) -> dict[int, dict[str, int]]:
    counts = keys.group_by(["file", "event_type"]).aggregate([([], "count_all")])
    by_file: dict[int, dict[str, int]] = {}
    for row in counts.sort_by([("file", "ascending"), ("event_type", "ascending")]).to_pylist():
        by_file.setdefault(row["file"], {})[row["event_type"]] = row["count_all"]
    return by_file


def _counts_by_file(keys: pa.Table, chosen: Flags) -> dict[int, int]:
    files, counts = np.unique(keys.column("file").to_numpy()[chosen], return_counts=True)
    return dict(zip(files.tolist(), counts.tolist(), strict=True))


def _keys(chunks: Sequence[tuple[int, Chunk]], filesystem: fs.FileSystem) -> pa.Table:
    """Keys of all events, in the order of files and chunks, with the place of each."""
    tables = []
    for place, (file, chunk) in enumerate(chunks):
        names = ["lower", "event_id", "event_type", RAW_NUMBER]
        table = pq.read_table(chunk.path, columns=names, filesystem=filesystem)
        rows = np.arange(len(table), dtype=np.int64)
        table = table.append_column("chunk", pa.array(np.full(len(table), place, np.int64)))
        table = table.append_column("file", pa.array(np.full(len(table), file, np.int64)))
        tables.append(table.append_column("row", pa.array(rows)))
    return pa.concat_tables(tables).combine_chunks()


def _duplicates(keys: pa.Table, keep: Flags) -> Flags:
    """Events whose id an earlier event (in order of files, then of numbers) already has."""
    duplicate = np.zeros(len(keys), dtype=np.bool_)
    rows = np.flatnonzero(keep)
    ids = keys.column("event_id").combine_chunks().dictionary_encode().indices.to_numpy()[rows]
    ordered = np.lexsort(
        (keys.column(RAW_NUMBER).to_numpy()[rows], keys.column("file").to_numpy()[rows], ids)
    )
    again = np.flatnonzero(ids[ordered][1:] == ids[ordered][:-1]) + 1
    duplicate[rows[ordered[again]]] = True
    return duplicate


def _listed(keys: pa.Table, duplicate: Flags) -> pa.Table:
    found = keys.select(["file", RAW_NUMBER, "event_id", "event_type"]).filter(pa.array(duplicate))
    found = found.rename_columns(["file", "number", "event_id", "event_type"])
    return found.sort_by([("file", "ascending"), ("number", "ascending")])


def _repeated_samples(
    keys: pa.Table,
    results: Sequence[FileResult],
    chunks: Sequence[tuple[int, Chunk]],
    filesystem: fs.FileSystem,
) -> Flags:
    """Samples of Ganglia that polls in several files show again."""
    repeated = np.zeros(len(keys), dtype=np.bool_)
    polled = [place for place, (file, _) in enumerate(chunks) if results[file].format == "ganglia"]
    if len({chunks[place][0] for place in polled}) < 2:
        return repeated
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


def _parts(
    ordered: npt.NDArray[np.int64], keys: pa.Table, keep: Flags, chunks: Sequence[tuple[int, Chunk]]
) -> tuple[tuple[Slice, ...], ...]:
    places, rows = keys.column("chunk").to_numpy(), keys.column("row").to_numpy()
    dropped = dict(_rows_of_chunks(np.flatnonzero(~keep), places, rows))
    none = np.array([], dtype=np.int64)
    parts = []
    for start in range(0, max(len(ordered), 1), PART_EVENTS):
        slices = []
        for place, own in _rows_of_chunks(ordered[start : start + PART_EVENTS], places, rows):
            first, last = int(own.min()), int(own.max())
            gone = dropped.get(place, none)
            inside = tuple(gone[(gone > first) & (gone < last)].tolist())
            slices.append(Slice(chunks[place][1].path, first, last + 1, inside))
        parts.append(tuple(slices))
    return tuple(parts)


def _rows_of_chunks(
    members: npt.NDArray[np.int64], places: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Every chunk that has some of the events, in order, with their rows there: one sort for all."""
    grouped = members[np.argsort(places[members], kind="stable")]
    firsts = np.flatnonzero(np.diff(places[grouped], prepend=-1))
    for own in np.split(grouped, firsts[1:]) if len(grouped) else []:
        yield int(places[own[0]]), rows[own]
