"""Writing a sketch: sections into Parquet files, and a manifest, in place at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.atomic.folders import folder_beside, temporary_folder
from cepctl.atomic.replacing import NEW, put_in_place
from cepctl.errors import JobError, UsageError
from cepctl.io.source.locations import first_line
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.listing import LIST_SCHEMA, Indexed, listed_schema
from cepctl.sketches.manifest import (
    FILES,
    LISTED,
    LISTS,
    MANIFEST,
    SPANS,
    TYPES,
    VALUES,
    Blocks,
    Manifest,
    SketchedDataset,
    SketchedPart,
    SketchFile,
)
from cepctl.sketches.places import SPAN_SCHEMA, TYPE_SCHEMA, VALUE_SCHEMA, PartPlaces
from cepctl.sketches.sections import Section, gathered, section_of

BLOCK_PLACES = 16_384
BLOCK_LISTED = 8_192
_OF_PART = pa.field("part", pa.int32())


def write_sketch(
    target: SketchFolder, indexed: Indexed, datasets: Sequence[SketchedDataset], parts: Iterable[PartPlaces]
) -> None:
    """Write a sketch, in the place of another one if there is one; `parts` are those of all datasets.

    On this machine it appears as a whole.  Elsewhere, where folders can often not be renamed, the files are
    replaced one by one, the manifest goes first and comes last: until then there is no sketch.

    Raises
    ------
    UsageError
        If something else is there.
    JobError
        If it cannot be written.
    """
    refuse_foreign(target)
    try:
        if not target.is_local:
            with temporary_folder() as folder:
                manifest = _written(folder, indexed, datasets, parts)
                _copy(folder, target, manifest)
            return
        place = Path(target.path)
        with folder_beside(place) as folder:
            new = folder / NEW
            new.mkdir()
            (new / MANIFEST).write_bytes(_written(new, indexed, datasets, parts).to_bytes())
            put_in_place(folder, place)
    except (OSError, pa.ArrowException) as problem:
        reason = getattr(problem, "strerror", None) or first_line(problem)
        raise JobError(f"cannot write {target}: {reason}") from problem


def _copy(folder: Path, target: SketchFolder, manifest: Manifest) -> None:
    """Copy the files of a sketch to another filesystem."""
    if target.holds(MANIFEST):
        target.remove(MANIFEST)
    target.make()
    for name in FILES:
        target.copy(folder / name)
    target.write(MANIFEST, manifest.to_bytes())


def refuse_foreign(target: SketchFolder) -> None:
    """Raise UsageError where something is that is not a sketch, so that it may not be replaced."""
    if target.is_there():
        if not set(target.files()) <= {MANIFEST, *FILES}:
            raise UsageError(
                f"{target} is not a sketch, so it is not replaced; move it away, or name another"
            )
    elif not target.is_free():
        raise UsageError(f"{target} is a file, and a sketch is a directory; name another")


def _written(
    folder: Path, indexed: Indexed, datasets: Sequence[SketchedDataset], parts: Iterable[PartPlaces]
) -> Manifest:
    """Write the Parquet files; returns what is kept of them and of the parts."""
    schemas = {
        SPANS: SPAN_SCHEMA.append(_OF_PART),
        TYPES: TYPE_SCHEMA,
        VALUES: VALUE_SCHEMA,
        LISTS: LIST_SCHEMA.append(_OF_PART),
        LISTED: listed_schema(indexed),
    }
    sizes: list[tuple[int, int, bool]] = []
    sections: list[int] = []
    distinct = dict.fromkeys(indexed.values, 0)
    with ExitStack() as opened:
        files = {
            name: opened.enter_context(_Writer(folder / name, schema)) for name, schema in schemas.items()
        }
        for number, together in enumerate(gathered(parts)):
            sizes += [(len(part.spans), part.row_groups, part.lasting) for part in together]
            sections.append(len(together))
            section = section_of(together)
            for name, values in zip(indexed.values, section.values, strict=True):
                distinct[name] += _distinct(values)
            _write_section(files, section, number)
    return Manifest(
        indexed,
        _filled(datasets, sizes),
        tuple(sections),
        distinct,
        {name: file.written() for name, file in files.items()},
    )


def _filled(
    datasets: Sequence[SketchedDataset], sizes: Iterable[tuple[int, int, bool]]
) -> tuple[SketchedDataset, ...]:
    """The datasets, of whose parts the numbers of spans and row groups are known, and whether events last."""
    counted = iter(sizes)
    return tuple(
        replace(each, parts=tuple(_with_sizes(part, *next(counted)) for part in each.parts))
        for each in datasets
    )


def _with_sizes(part: SketchedPart, spans: int, row_groups: int, lasting: bool) -> SketchedPart:
    return replace(part, spans=spans, row_groups=row_groups, lasting=lasting)


def _distinct(places: pa.Table) -> int:
    hashes = places.column("hash").to_numpy()
    return int(np.count_nonzero(np.diff(hashes))) + bool(len(hashes))


def _write_section(files: dict[str, _Writer], section: Section, number: int) -> None:
    files[SPANS].write(section.spans, number)
    files[LISTS].write(section.lists, number)
    files[LISTED].write(section.listed, number, BLOCK_LISTED)
    files[TYPES].write_places(section.types, number, -1)
    for listed, values in enumerate(section.values):
        files[VALUES].write_places(values, number, listed)


@dataclass
class _Writer:
    """One Parquet file, and of its row groups what they are of: section, attribute, first and last."""

    path: Path
    schema: pa.Schema
    blocks: list[tuple[int, int, int, int]] = field(default_factory=list)

    def __enter__(self) -> _Writer:
        self._writer = pq.ParquetWriter(
            self.path,
            self.schema,
            compression="zstd",
            use_dictionary=False,
            column_encoding={
                each.name: "DELTA_BINARY_PACKED"
                for each in self.schema
                if pa.types.is_integer(each.type) and each.type not in (pa.uint8(), pa.uint64())
            },
            write_statistics=False,
        )
        return self

    def __exit__(self, *problem: object) -> None:
        self._writer.close()

    def write(self, table: pa.Table, section: int, rows: int | None = None) -> None:
        """Write a table as row groups of so many rows, or as one; an empty one is not written."""
        step = rows or max(len(table), 1)
        for start in range(0, len(table), step):
            piece = table.slice(start, step)
            self._writer.write_table(piece, len(piece))
            self.blocks.append((section, -1, start, start + len(piece) - 1))

    def write_places(self, places: pa.Table, section: int, listed: int) -> None:
        """Write places in the order of their hashes as row groups."""
        for start in range(0, len(places), BLOCK_PLACES):
            piece = places.slice(start, BLOCK_PLACES)
            hashes = piece.column("hash")
            self._writer.write_table(piece, len(piece))
            self.blocks.append((section, listed, hashes[0].as_py(), hashes[len(piece) - 1].as_py()))

    def written(self) -> SketchFile:
        """What is kept of the file when it is closed."""
        edges = _edges(self.path)
        with self.path.open("rb") as file:
            sums = [zlib.crc32(file.read(stop - start)) for start, stop in pairwise(edges)]
        rows = [
            (*block, start, stop, checksum)
            for block, (start, stop), checksum in zip(self.blocks, pairwise(edges), sums, strict=False)
        ]
        columns = zip(*rows, strict=True) if rows else [()] * 7
        return SketchFile(edges[-1], sums[-1], Blocks(*columns))


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
