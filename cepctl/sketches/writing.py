"""Writing a sketch: places part by part into three Parquet files and a manifest, in place at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.atomic.folders import folder_beside
from cepctl.atomic.replacing import NEW, put_in_place
from cepctl.errors import JobError, UsageError
from cepctl.sketches.manifest import (
    FILES,
    MANIFEST,
    SPANS,
    TYPES,
    VALUES,
    Block,
    Manifest,
    SketchedDataset,
    SketchedPart,
    SketchFile,
)
from cepctl.sketches.places import SPAN_SCHEMA, VALUE_SCHEMA, Indexed, PartPlaces, type_schema

_BLOCK_PLACES = 131_072


def write_sketch(
    target: Path, indexed: Indexed, datasets: Sequence[SketchedDataset], parts: Iterable[PartPlaces]
) -> None:
    """Write a sketch, in the place of another one if there is one; `parts` are those of all datasets.

    Raises
    ------
    UsageError
        If something else is there.
    JobError
        If it cannot be written.
    """
    refuse_foreign(target)
    try:
        with folder_beside(target) as folder:
            new = folder / NEW
            new.mkdir()
            counted, files = _files(new, indexed, datasets, parts)
            (new / MANIFEST).write_bytes(Manifest(indexed, counted, files).to_bytes())
            put_in_place(folder, target)
    except OSError as problem:
        raise JobError(f"cannot write {target}: {problem.strerror or problem}") from problem


def refuse_foreign(target: Path) -> None:
    """Raise UsageError where something is that is not a sketch, so that it may not be replaced."""
    if target.is_dir():
        if not {each.name for each in target.iterdir()} <= {MANIFEST, *FILES}:
            raise UsageError(
                f"{target} is not a sketch, so it is not replaced; move it away, or name another"
            )
    elif target.exists():
        raise UsageError(f"{target} is a file, and a sketch is a directory; name another")


def _files(
    folder: Path, indexed: Indexed, datasets: Sequence[SketchedDataset], parts: Iterable[PartPlaces]
) -> tuple[tuple[SketchedDataset, ...], dict[str, SketchFile]]:
    """Write the Parquet files; returns the datasets with the numbers of their spans, and what is kept."""
    kept: list[tuple[int, bool]] = []
    schemas = {SPANS: SPAN_SCHEMA, TYPES: type_schema(indexed.ranges), VALUES: VALUE_SCHEMA}
    with ExitStack() as opened:
        files = {
            name: opened.enter_context(_Writer(folder / name, schema)) for name, schema in schemas.items()
        }
        for number, part in enumerate(parts):
            files[SPANS].write(part.spans, number)
            files[TYPES].write_places(part.types, number, -1)
            for listed, values in enumerate(part.values):
                files[VALUES].write_places(values, number, listed)
            kept.append((len(part.spans), part.lasting))
    told = iter(kept)
    counted = tuple(
        replace(each, parts=tuple(SketchedPart(part.identity, *next(told)) for part in each.parts))
        for each in datasets
    )
    return counted, {name: file.written() for name, file in files.items()}


@dataclass
class _Writer:
    """One Parquet file, and of its row groups what they are of."""

    path: Path
    schema: pa.Schema
    blocks: list[Block] = field(default_factory=list)

    def __enter__(self) -> _Writer:
        self._writer = pq.ParquetWriter(
            self.path,
            self.schema,
            compression="zstd",
            use_dictionary=False,
            column_encoding={
                each.name: "DELTA_BINARY_PACKED"
                for each in self.schema
                if pa.types.is_int32(each.type)
                or pa.types.is_int64(each.type)
                or pa.types.is_uint32(each.type)
            },
            write_statistics=False,
        )
        return self

    def __exit__(self, *problem: object) -> None:
        self._writer.close()

    def write(self, table: pa.Table, part: int) -> None:
        """Write a table as one row group; an empty one is not written."""
        if len(table):
            self._writer.write_table(table, len(table))
            self.blocks.append(Block(part, 0, 0, 0))

    def write_places(self, places: pa.Table, part: int, listed: int) -> None:
        """Write places in the order of their hashes as row groups."""
        for start in range(0, len(places), _BLOCK_PLACES):
            piece = places.slice(start, _BLOCK_PLACES)
            hashes = piece.column("hash")
            self._writer.write_table(piece, len(piece))
            self.blocks.append(
                Block(part, 0, 0, 0, listed, hashes[0].as_py(), hashes[len(piece) - 1].as_py())
            )

    def written(self) -> SketchFile:
        """What is kept of the file when it is closed."""
        edges = _edges(self.path)
        with self.path.open("rb") as file:
            sums = [zlib.crc32(file.read(stop - start)) for start, stop in pairwise(edges)]
        blocks = tuple(
            replace(block, start=start, stop=stop, checksum=checksum)
            for block, (start, stop), checksum in zip(self.blocks, pairwise(edges), sums, strict=False)
        )
        return SketchFile(edges[-1], sums[-1], blocks)


def _edges(path: Path) -> list[int]:
    """Where the row groups of a Parquet file begin, the first one with the file; its footer; its end."""
    metadata = pq.read_metadata(path)
    size = path.stat().st_size
    starts = [0]
    for number in range(1, metadata.num_row_groups):
        group = metadata.row_group(number)
        starts.append(min(group.column(at).data_page_offset for at in range(group.num_columns)))
    footer = size - metadata.serialized_size - 8
    return [*starts, footer, size] if metadata.num_row_groups else [footer, size]
