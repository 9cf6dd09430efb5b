"""The order of a dataset: which rows of which chunk make up which part, without repeated events.

Chunks are sorted, so a part is a range of keys (lower, event id) and one slice of every chunk.  Where the
ranges end is found from a sample of the keys, which does not depend on how they lie in chunks; only the keys
of one chunk are in memory at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.ingestion.chunk_files import read_chunk
from cepctl.ingestion.chunks import SORT_KEYS, numbers_of
from cepctl.ingestion.leaving_out import Chunks, LeftOut, left_out
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.room import key_bytes, piece_bytes, return_freed
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.process.memory import MemoryBudget
from cepctl.schema import RECORD

PART_EVENTS = 1_000_000
PART_BYTES = 256 << 20
_SAMPLES_PER_PART = 10_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_COLUMN_BYTES = 8
Key = tuple[int, bytes]


@dataclass(frozen=True)
class Slice:
    """Rows start .. stop - 1 of a chunk, without the `dropped` ones."""

    path: str
    start: int
    stop: int
    dropped: tuple[int, ...] = ()


Piece = tuple[Slice, ...]
"""Rows of a part that are put in order at a time, those of one range of keys."""


@dataclass(frozen=True)
class SortedParts:
    """The parts of a dataset in order, each in pieces, which are slices of chunks.

    `type_counts` is by place of the file among the results, of the events that stay and those left behind.
    """

    parts: tuple[tuple[Piece, ...], ...]
    type_counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)


def order(
    results: Sequence[FileResult], filesystem: fs.FileSystem, columns: int, memory: MemoryBudget
) -> SortedParts:
    """Sort all events by (lower, event id) and cut them into parts of PART_EVENTS or PART_BYTES.

    `columns` is how many attributes the dataset has: each takes memory in every row of a part.  What `memory`
    there is decides alone in how many pieces a part is put in order.
    """
    chunks = [(number, chunk) for number, result in enumerate(results) for chunk in result.chunks]
    if not chunks:
        return SortedParts((((),),))
    return_freed(memory)
    out = left_out(results, chunks, filesystem, key_bytes(memory))
    row_bytes = sum(result.size for result in results) // max(sum(chunk.rows for _, chunk in chunks), 1)
    row_bytes += columns * _COLUMN_BYTES
    part_events = max(1, min(PART_EVENTS, PART_BYTES // row_bytes))
    most = max(1, -(-part_events * row_bytes // piece_bytes(memory)))
    bounds, pieces, type_counts = _bounds(chunks, out, filesystem, part_events, most)
    for number, result in enumerate(results):
        if result.unneeded.events:
            counts = Counter(type_counts.get(number, {})) + Counter(result.unneeded.types)
            type_counts[number] = dict(sorted(counts.items()))
    slices = _slices(chunks, out, filesystem, bounds)
    parts = tuple(slices[start : start + pieces] for start in range(0, len(slices), pieces))
    return SortedParts(parts, type_counts, out)


def _bounds(
    chunks: Chunks, out: LeftOut, filesystem: fs.FileSystem, part_events: int, most_pieces: int
) -> tuple[list[Key], int, dict[int, dict[str, int]]]:
    """The last key of every piece but the last, how many make a part, and the event types of every file."""
    step = max(1, part_events // _SAMPLES_PER_PART)
    before = _events_before([file for file, _ in chunks], [chunk.rows for _, chunk in chunks])
    samples: list[pa.Table] = []
    counts: dict[int, list[pa.StructArray]] = {}
    total = sum(chunk.rows for _, chunk in chunks) - sum(map(len, out.rows.values()))
    whole = total <= part_events and most_pieces == 1
    names = ["event_type"] if whole else ["lower", "event_id", "event_type", RECORD]
    for place, (file, chunk) in enumerate(chunks):
        keys = read_chunk(chunk.path, filesystem, names, few_values=["event_type"]).unify_dictionaries()
        if place in out.rows:
            keys = keys.take(np.setdiff1d(np.arange(len(keys)), out.rows[place]))
        counts.setdefault(file, []).append(pc.value_counts(keys.column("event_type")))
        if whole:
            continue
        chosen = _chosen(before[place] + numbers_of(keys), step)
        samples.append(keys.select(["lower", "event_id"]).filter(pa.array(chosen)))
    type_counts = {file: _summed(types) for file, types in sorted(counts.items())}
    if whole:
        return [], 1, type_counts
    parts = -(-total // part_events) if any(map(len, samples)) else 1
    ordered = pa.concat_tables(samples).sort_by(SORT_KEYS)
    pieces = max(1, min(most_pieces, len(ordered) // max(parts, 1)))
    # Every so many-th bound is that of a part, and the same in however many pieces.
    last = np.arange(1, parts * pieces, dtype=np.int64) * len(ordered) // max(parts * pieces, 1) - 1
    lower, ids = (ordered.column(name).take(last).to_pylist() for name in ("lower", "event_id"))
    bounds = [(tick, event_id.encode()) for tick, event_id in zip(lower, ids, strict=True)]
    return bounds, pieces, type_counts


def _summed(counts: Sequence[pa.StructArray]) -> dict[str, int]:
    """How many events each type has, by code point; in columns, as there may be millions of types."""
    names = pa.chunked_array([each.field("values").cast(pa.string()) for each in counts])
    table = pa.table({"type": names, "count": pa.chunked_array([each.field("counts") for each in counts])})
    if len(counts) > 1:
        table = table.group_by("type").aggregate([("count", "sum")]).rename_columns(["type", "count"])
    table = table.sort_by("type")
    return dict(zip(table.column("type").to_pylist(), table.column("count").to_pylist(), strict=True))


def _events_before(files: Sequence[int], rows: Sequence[int]) -> Indexes:
    """For every chunk, how many events the files before its own have; chunks come in order of files."""
    before: dict[int, int] = {}
    total = 0
    for file, count in zip(files, rows, strict=True):
        before.setdefault(file, total)
        total += count
    return np.array([before[file] for file in files], np.int64)


def _chosen(places: Indexes, step: int) -> Flags:
    """About every step-th of some places, scattered, and the same ones whatever else is there."""
    scattered = places.astype(np.uint64) * _GOLDEN >> np.uint64(32)
    return np.asarray(scattered % np.uint64(step) == 0)


def _slices(
    chunks: Chunks, out: LeftOut, filesystem: fs.FileSystem, bounds: Sequence[Key]
) -> tuple[Piece, ...]:
    """What lies between the bounds, in every chunk."""
    pieces: list[list[Slice]] = [[] for _ in range(len(bounds) + 1)]
    none: Indexes = np.array([], dtype=np.int64)
    for place, (_, chunk) in enumerate(chunks):
        cuts = [0, chunk.rows]
        if bounds:
            keys = read_chunk(chunk.path, filesystem, ["lower", "event_id"])
            cuts = [0, *_positions(keys, bounds), chunk.rows]
        gone = out.rows.get(place, none)
        for piece, start, stop in zip(pieces, cuts, cuts[1:], strict=False):
            inside = tuple(gone[(gone >= start) & (gone < stop)].tolist())
            if stop - start > len(inside):
                piece.append(Slice(chunk.path, start, stop, inside))
    return tuple(map(tuple, pieces))


def _positions(keys: pa.Table, bounds: Sequence[Key]) -> list[int]:
    """How many rows of a sorted chunk have a key that is at most each of the bounds."""
    lower = keys.column("lower").to_numpy()
    ids = keys.column("event_id")
    positions = []
    for tick, event_id in bounds:
        first, end = (int(np.searchsorted(lower, tick, side)) for side in ("left", "right"))
        tied = [text.encode() for text in ids.slice(first, end - first).to_pylist()]
        positions.append(first + bisect_right(tied, event_id))
    return positions
