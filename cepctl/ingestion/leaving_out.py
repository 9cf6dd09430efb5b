"""Events of a dataset that are left out because another one is there already.

Keys of all events are looked at only where the input gives ids of its own or files of a format may show the
same events again, as polls of Ganglia do; where they do not fit in memory, part by part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.ingestion.ascending_ids import BEFORE_ALL, Place, last_ascending
from cepctl.ingestion.chunk_files import read_chunk
from cepctl.ingestion.chunks import Chunk
from cepctl.ingestion.key_partitions import PLACE, ROW, key_partitions
from cepctl.ingestion.results import FileResult
from cepctl.io.contract.log_format import Repeats
from cepctl.io.contract.reader import Reject
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.schema import RECORD

Chunks = Sequence[tuple[int, Chunk]]
_REJECTS_AT_ONCE = 10_000
_NONE: Indexes = np.array([], dtype=np.int64)
_NO_DUPLICATES = pa.schema(
    [
        ("file", pa.int64()), ("number", pa.int64()), ("event_id", pa.string()), ("event_type", pa.string()),
        (PLACE, pa.int32()), (ROW, pa.int64()),
    ]
).empty_table()  # fmt: skip


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


def left_out(results: Sequence[FileResult], chunks: Chunks, filesystem: fs.FileSystem, room: int) -> LeftOut:
    """Find repeated events, then events whose id an earlier event has; chunks come with their file.

    Keys of about `room` bytes are in memory at a time.
    """
    gone: dict[int, Indexes] = {}
    for repeats, shown in _repeating(results, chunks).items():
        gone |= _repeated(repeats, [(place, chunks[place][1]) for place in shown], filesystem, room)
    repeated = Counter[int]()
    for place, rows in gone.items():
        repeated[chunks[place][0]] += len(rows)
    if not any(result.ids_given for result in results):
        return LeftOut(gone, dict(repeated))
    duplicates = _duplicates(chunks, gone, filesystem, room)
    for place, rows in _by_chunk(duplicates).items():
        gone[place] = np.union1d(gone.get(place, _NONE), rows)
    return LeftOut(gone, dict(repeated), duplicates.drop_columns([PLACE, ROW]))


def _repeating(results: Sequence[FileResult], chunks: Chunks) -> dict[Repeats, list[int]]:
    """What several files may show again, with the places of their chunks."""
    found: dict[Repeats, list[int]] = {}
    for place, (file, _) in enumerate(chunks):
        repeats = results[file].repeats
        if repeats is not None:
            found.setdefault(repeats, []).append(place)
    return {repeats: shown for repeats, shown in found.items() if len({chunks[at][0] for at in shown}) > 1}


def _duplicates(
    chunks: Chunks, gone: Mapping[int, Indexes], filesystem: fs.FileSystem, room: int
) -> pa.Table:
    """Events whose id an earlier event (in order of files, then of numbers) has, those `gone` left aside."""
    if _ascending(piece for _, chunk in chunks for piece in _ids(chunk, filesystem)):
        return _NO_DUPLICATES
    placed = [(place, chunk) for place, (_, chunk) in enumerate(chunks)]
    files = np.array([file for file, _ in chunks], np.int64)
    found = [_NO_DUPLICATES]
    for keys in key_partitions(placed, [RECORD, "event_id", "event_type"], ["event_id"], filesystem, room):
        own = keys.rename_columns(["number", "event_id", "event_type", PLACE, ROW])
        own = own.add_column(0, "file", pa.array(files[own.column(PLACE).to_numpy()]))
        encoded = own.column("event_id").combine_chunks().dictionary_encode()
        if len(encoded.dictionary) == len(own):
            continue
        stay = np.flatnonzero(~_among(own, gone))
        ids = encoded.indices.to_numpy()[stay]
        number = pc.fill_null(own.column("number"), -1).to_numpy()[stay]
        file = own.column("file").to_numpy()[stay]
        order = np.lexsort((number, file, ids))
        again = np.flatnonzero(ids[order][1:] == ids[order][:-1]) + 1
        found.append(own.take(pa.array(np.sort(stay[order[again]]))))
    return pa.concat_tables(found).sort_by([("file", "ascending"), ("number", "ascending")])


def _ids(chunk: Chunk, filesystem: fs.FileSystem) -> Sequence[pa.Array]:
    pieces: Sequence[pa.Array] = read_chunk(chunk.path, filesystem, ["event_id"]).column("event_id").chunks
    return pieces


def _ascending(ids: Iterable[pa.Array]) -> bool:
    """Whether each id is longer than the one before, or as long and greater."""
    last: Place | None = BEFORE_ALL
    for piece in ids:
        last = None if last is None else last_ascending(piece, last)
    return last is not None


def _repeated(
    repeats: Repeats, shown: Sequence[tuple[int, Chunk]], filesystem: fs.FileSystem, room: int
) -> dict[int, Indexes]:
    """The rows that are shown again, by place of their chunk, of the chunks that may."""
    # Times that differ a little may be of the same event.
    equal = [name for name in repeats.columns if name != "time"]
    found = []
    for events in key_partitions(shown, repeats.columns, equal, filesystem, room):
        numbered = events.append_column("key", pa.array(np.arange(len(events), dtype=np.int64)))
        stay, _ = repeats.drop(numbered)
        repeated = np.setdiff1d(np.arange(len(events)), stay.column("key").to_numpy())
        found.append(events.select([PLACE, ROW]).take(pa.array(repeated)))
    return _by_chunk(pa.concat_tables(found))


def _among(keys: pa.Table, gone: Mapping[int, Indexes]) -> Flags:
    """Which keys are of rows that are gone."""
    found = np.zeros(len(keys), np.bool_)
    places, rows = keys.column(PLACE).to_numpy(), keys.column(ROW).to_numpy()
    for place, left in gone.items():
        own = np.flatnonzero(places == place)
        found[own] = np.isin(rows[own], left)
    return found


def _by_chunk(keys: pa.Table) -> dict[int, Indexes]:
    """The rows of some keys, ascending, by place of their chunk."""
    places, rows = keys.column(PLACE).to_numpy(), keys.column(ROW).to_numpy()
    order = np.lexsort((rows, places))
    places, rows = places[order], rows[order]
    firsts = np.flatnonzero(np.diff(places, prepend=-1))
    pieces = np.split(rows, firsts[1:]) if len(rows) else []
    return {int(place): piece for place, piece in zip(places[firsts].tolist(), pieces, strict=True)}
