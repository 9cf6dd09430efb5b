"""Reading a sketch: what is asked for is checked against its checksum before it is used."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.arrays import Hashes, Indexes
from cepctl.sketches.manifest import (
    SPANS,
    TYPES,
    VALUES,
    Block,
    Manifest,
    SketchFile,
    damaged,
    read_manifest,
)

OF_TYPES = -1


@dataclass(frozen=True)
class Sketch:
    """A sketch on disk; spans are numbered through all parts.

    Every method raises SketchError where what it reads is damaged.
    """

    folder: Path
    manifest: Manifest
    _opened: dict[str, pq.ParquetFile] = field(default_factory=dict, compare=False)

    @classmethod
    def at(cls, folder: Path) -> Sketch:
        """The sketch in a folder; raises SketchError where there is none that can be read."""
        return cls(folder, read_manifest(folder))

    @cached_property
    def first_spans(self) -> Indexes:
        """The number of the first span of each part, and at last how many there are."""
        counts = [part.spans for dataset in self.manifest.datasets for part in dataset.parts]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def spans(self) -> pa.Table:
        """All spans: `row_group`, `first`, `last`, `events`, and the number of the `part` of all parts."""
        tables = []
        for number, block in enumerate(self.manifest.files[SPANS].blocks):
            table = self.block(SPANS, number)
            tables.append(table.append_column("part", pa.array(np.full(len(table), block.part))))
        empty = pa.schema(
            [("row_group", pa.int32()), ("first", pa.int64()), ("last", pa.int64()), ("events", pa.int32())]
        ).append(pa.field("part", pa.int64()))
        return pa.concat_tables([empty.empty_table(), *tables]).combine_chunks()

    def places(self, listed: int, hashes: Hashes | None) -> pa.Table | None:
        """Places of some hashes, None for all, of types or of the attribute number `listed`."""
        name = TYPES if listed == OF_TYPES else VALUES
        tables = []
        for number, block in self._blocks(name, listed):
            if hashes is not None and not ((hashes >= block.first) & (hashes <= block.last)).any():
                continue
            table = self.block(name, number)
            if hashes is not None:
                table = _chosen(table, hashes)
            span = table.column("span").to_numpy().astype(np.int64) + self.first_spans[block.part]
            at = table.column_names.index("span")
            tables.append(table.set_column(at, "span", pa.array(span)))
        return pa.concat_tables(tables).combine_chunks() if tables else None

    def _blocks(self, name: str, listed: int) -> Iterator[tuple[int, Block]]:
        for number, block in enumerate(self.manifest.files[name].blocks):
            if block.listed == listed:
                yield number, block

    def block(self, name: str, number: int) -> pa.Table:
        """One row group of a file, as it was written."""
        block = self.manifest.files[name].blocks[number]
        file = self._file(name)
        if self._checksum(name, block.start, block.stop) != block.checksum:
            raise damaged(self.folder, name)
        try:
            return file.read_row_group(number, use_threads=False)
        except (OSError, pa.ArrowException) as problem:
            raise damaged(self.folder, name) from problem

    def _file(self, name: str) -> pq.ParquetFile:
        if name not in self._opened:
            self._opened[name] = self._checked(name, self.manifest.files[name])
        return self._opened[name]

    def _checked(self, name: str, known: SketchFile) -> pq.ParquetFile:
        path = self.folder / name
        try:
            end = known.blocks[-1].stop if known.blocks else 4
            same = path.stat().st_size == known.size
            if not same or self._checksum(name, min(end, known.size), known.size) != known.footer:
                raise damaged(self.folder, name)
            return pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as problem:
            raise damaged(self.folder, name) from problem

    def _checksum(self, name: str, start: int, stop: int) -> int:
        with (self.folder / name).open("rb") as file:
            file.seek(start)
            return zlib.crc32(file.read(stop - start))


def _chosen(table: pa.Table, hashes: Hashes) -> pa.Table:
    """The places of some hashes; places are in the order of these."""
    held = table.column("hash").to_numpy()
    wanted = np.unique(hashes).astype(held.dtype)
    first, last = (np.searchsorted(held, wanted, side) for side in ("left", "right"))
    rows = np.concatenate(
        [np.empty(0, dtype=np.int64), *(np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a)]
    )
    return table.take(pa.array(rows))
