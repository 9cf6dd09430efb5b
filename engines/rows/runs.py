"""Sorted runs of rows on disk, and their merge: whole batches at a time, in bounded memory.

Of every run some rows are held.  Up to the smallest last key among those that go on, all rows are at hand:
they are sorted and handed out, and what is used up is read on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.rows.order import in_order, rounded_column
from cepctl.errors import JobError
from cepctl.numeric.arrays import Indexes

BATCH_BYTES = 1 << 18
"""Size of the batches of a run: the least that is read of it at a time."""
Key = tuple[float, int, str]
INDEX = pa.schema(
    [("rank", pa.float64()), ("start", pa.int64()), ("match", pa.string()), ("rows", pa.int64())]
)
"""Of each batch of a run the key of its first row, and how many rows it has."""


@dataclass(frozen=True)
class SortedRun:
    """A file of rows in the order of the output, and the INDEX of its batches; picklable."""

    path: Path
    rows: int
    size: int
    index: pa.RecordBatch


@dataclass(frozen=True)
class Opening:
    """Where a run is opened: at a batch, before which it has some rows; picklable."""

    path: Path
    batch: int = 0
    rows_before: int = 0


def write_run(path: Path, blocks: Iterator[pa.Table]) -> SortedRun:
    """Write blocks of rows, which are in order, as one run.

    Raises
    ------
    JobError
        If the disk is full or cannot be written.
    """
    rows = size = 0
    index: list[pa.RecordBatch] = []
    writer: pa.ipc.RecordBatchFileWriter | None = None
    try:
        with ExitStack() as stack:
            for block in blocks:
                if writer is None:
                    options = pa.ipc.IpcWriteOptions(compression="lz4")
                    writer = stack.enter_context(pa.ipc.new_file(path, block.schema, options=options))
                each = max(block.nbytes // max(block.num_rows, 1), 1)
                for batch in block.to_batches(max_chunksize=max(BATCH_BYTES // each, 1)):
                    writer.write_batch(batch)
                    index.append(_indexed(batch))
                rows, size = rows + block.num_rows, size + block.nbytes
    except OSError as problem:
        if not path.parent.is_dir():
            raise JobError(
                f"a worker does not see {path.parent}; on a cluster write rows to a place that all machines "
                "share"
            ) from None
        raise JobError(
            f"cannot write rows that do not fit in memory to {path.parent}: {problem.strerror or problem}; "
            "free some disk, name a roomier folder in TMPDIR, or raise --max-memory"
        ) from None
    return SortedRun(path, rows, size, pa.concat_batches(index))


def _indexed(batch: pa.RecordBatch) -> pa.RecordBatch:
    first = batch.slice(0, 1)
    rank = pc.negate(rounded_column(first.column("confidence")))
    columns = [rank, first.column("start"), first.column("match"), pa.array([batch.num_rows])]
    return pa.record_batch(
        [column.cast(kind) for column, kind in zip(columns, INDEX.types, strict=True)], INDEX
    )


def merged(runs: Sequence[SortedRun], held_bytes: int) -> Iterator[pa.Table]:
    """The rows of all runs in their order, block by block, holding about this many bytes of the runs."""
    for _, block in merged_after([Opening(run.path) for run in runs], None, held_bytes):
        yield block


def merged_after(
    openings: Sequence[Opening], after: Key | None, held_bytes: int
) -> Iterator[tuple[int, pa.Table]]:
    """The rows of all runs after a key (None: all) in their order, each block with how many come before it.

    Every run is opened at a batch whose first row does not come after the key, while that of the next does.
    """
    with ExitStack() as stack:
        each = max(held_bytes // max(len(openings), 1), BATCH_BYTES)
        files = [stack.enter_context(pa.OSFile(str(opening.path))) for opening in openings]
        left = [_Cursor(file, each, opening.batch) for file, opening in zip(files, openings, strict=True)]
        left = [cursor for cursor in left if cursor.read_on()]
        before = sum(opening.rows_before for opening in openings)
        if after is not None:
            before += sum(cursor.skip(after) for cursor in left)
            left = [cursor for cursor in left if len(cursor) or cursor.read_on()]
        while left:
            bound = min((cursor.last for cursor in left if cursor.goes_on), default=None)
            found = [part for cursor in left for part in cursor.until(bound)]
            block = in_order(pa.Table.from_batches(found).combine_chunks())
            yield before, block
            before += block.num_rows
            left = [cursor for cursor in left if len(cursor) or cursor.read_on()]


class _Cursor:
    """The rows of a run that are held and not handed out yet."""

    def __init__(self, file: pa.NativeFile, held_bytes: int, batch: int = 0) -> None:
        self._reader = pa.ipc.open_file(file)
        self._held_bytes = held_bytes
        self._next = batch

    @property
    def goes_on(self) -> bool:
        """Whether there are rows that are not held."""
        return self._next < int(self._reader.num_record_batches)

    def __len__(self) -> int:
        return len(self._held) - self._begin

    def read_on(self) -> bool:
        """Hold the next rows; False when there are none."""
        batches: list[pa.RecordBatch] = []
        size = 0
        while self.goes_on and size < self._held_bytes:
            batches.append(self._reader.get_batch(self._next))
            size += batches[-1].nbytes
            self._next += 1
        if not batches:
            return False
        self._begin = 0
        self._held = pa.concat_batches(batches)
        self._rank = -rounded_column(self._held.column("confidence")).to_numpy()
        self._start = self._held.column("start").to_numpy()
        self._match = self._held.column("match")
        self.last = self._key(len(self._held) - 1)
        return True

    def _key(self, row: int) -> Key:
        return float(self._rank[row]), int(self._start[row]), self._match[row].as_py()

    def until(self, bound: Key | None) -> list[pa.RecordBatch]:
        """Hand out the rows up to a key, itself included; None for all that are held."""
        end = len(self._held) if bound is None else self._after(bound)
        if end <= self._begin:
            return []
        part = self._held.slice(self._begin, end - self._begin)
        self._begin = end
        return [part]

    def skip(self, bound: Key) -> int:
        """Leave out the rows up to a key, itself included; returns how many."""
        self._begin = self._after(bound)
        return self._begin

    def _after(self, bound: Key) -> int:
        """Where the rows after a key begin: among those of its confidence by start, among those by match."""
        low, high = self._begin, len(self._held)
        for column, value in ((self._rank, bound[0]), (self._start, bound[1])):
            ends = [int(np.searchsorted(column[low:high], value, side)) for side in ("left", "right")]
            low, high = low + ends[0], low + ends[1]
        return bisect_right(
            range(len(self._held)), bound[2], low, high, key=lambda row: self._match[row].as_py()
        )


@dataclass(frozen=True)
class MergedPart:
    """The rows `first` to `last`, the latter not included, of the merged runs; picklable.

    The runs are opened `after` a key; None where nothing lies before.
    """

    number: int
    first: int
    last: int
    openings: tuple[Opening, ...]
    after: Key | None

    def blocks(self, held_bytes: int) -> Iterator[pa.Table]:
        """The rows in their order, holding about this many bytes of the runs."""
        for before, block in merged_after(self.openings, self.after, held_bytes):
            first, last = max(before, self.first), min(before + block.num_rows, self.last)
            if first < last:
                yield block.slice(first - before, last - first)
            if last == self.last:
                return


def parts_of(runs: Sequence[SortedRun], rows_of_part: int) -> list[MergedPart]:
    """Parts of so many rows, the last one of fewer."""
    batches = pa.Table.from_batches([run.index for run in runs]).combine_chunks()
    order = pc.sort_indices(batches, [(name, "ascending") for name in ("rank", "start", "match")]).to_numpy()
    # Up to a key there are at most the rows of all batches that begin not after it.
    most = np.cumsum(batches.column("rows").to_numpy()[order])
    begun = _begun(runs, order)
    parts = []
    for number, first in enumerate(range(0, int(most[-1]), rows_of_part)):
        at = int(np.searchsorted(most, first, "right")) - 1
        key = None if at < 0 else _key(batches, int(order[at]))
        openings = tuple(_opening(run, places, at) for run, places in zip(runs, begun, strict=True))
        parts.append(MergedPart(number, first, min(first + rows_of_part, int(most[-1])), openings, key))
    return parts


def _begun(runs: Sequence[SortedRun], order: Indexes) -> list[Indexes]:
    """For each run where its batches come in the order of all batches by their first rows."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    ends = np.cumsum([len(run.index) for run in runs])
    return np.split(places, ends[:-1])


def _opening(run: SortedRun, places: Indexes, at: int) -> Opening:
    """The last batch of a run that begins not after the batch at this place of the order."""
    batch = max(int(np.searchsorted(places, at, "right")) - 1, 0)
    return Opening(run.path, batch, int(run.index.column("rows").to_numpy()[:batch].sum()))


def _key(batches: pa.Table, row: int) -> Key:
    rank, start, match = (batches.column(name)[row].as_py() for name in ("rank", "start", "match"))
    return rank, start, match
