"""Reading a sketch: what is asked for is checked against its checksum before it is used."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.numeric.arrays import Flags, Hashes, Indexes, Numbers
from cepctl.sketches.folder import Place, SketchFolder
from cepctl.sketches.listing import LIST_SCHEMA, listed_schema
from cepctl.sketches.manifest import (
    LISTED,
    LISTS,
    SPANS,
    TYPES,
    VALUES,
    Manifest,
    SketchFile,
    damaged,
    read_manifest,
)
from cepctl.sketches.places import SPAN_SCHEMA, TYPE_SCHEMA, VALUE_SCHEMA
from cepctl.sketches.sections import Section, runs
from cepctl.sketches.writing import BLOCK_LISTED, BLOCK_PLACES

OF_TYPES = -1
HashRanges = tuple[Hashes, Hashes]
"""First and last hash of each range; ascending and apart."""


@dataclass(frozen=True)
class Lists:
    """Lists of a sketch as columns: the section, where its rows begin in it; see `listing.py`."""

    section: Indexes
    part: Indexes
    type: Hashes
    which: Numbers
    start: Indexes
    rows: Numbers
    bound: Hashes


@dataclass(frozen=True)
class Sketch:
    """A sketch on disk; spans and parts are numbered through all sections.

    Every method raises SketchError where what it reads is damaged.
    """

    folder: SketchFolder
    manifest: Manifest
    _opened: dict[str, _Opened] = field(default_factory=dict, compare=False)

    @classmethod
    def at(cls, place: Place) -> Sketch:
        """The sketch in a folder; raises SketchError where there is none that can be read."""
        folder = SketchFolder.at(place)
        return cls(folder, read_manifest(folder))

    @property
    def events(self) -> int:
        """How many events its parts hold."""
        return sum(part.identity.rows for part in self.manifest.parts)

    @cached_property
    def first_parts(self) -> Indexes:
        """The number of the first part of each section, and at last how many there are."""
        return _summed(self.manifest.sections)

    @cached_property
    def first_spans(self) -> Indexes:
        """The number of the first span of each part, and at last how many there are."""
        return _summed([part.spans for part in self.manifest.parts])

    @cached_property
    def first_groups(self) -> Indexes:
        """The number of the first row group of each part, and at last how many there are."""
        return _summed([part.row_groups for part in self.manifest.parts])

    @cached_property
    def spans(self) -> pa.Table:
        """All spans: `row_group`, `first`, `last`, `events`, and the number of the `part` of all parts."""
        return self._of_sections(SPANS, SPAN_SCHEMA)

    def _of_sections(self, name: str, schema: pa.Schema) -> pa.Table:
        """A file that has one row group for each section, if that has rows, with parts of all sections."""
        tables = []
        for number, section in enumerate(self.manifest.files[name].blocks.section):
            table = self._block(name, number)
            part = table.column("part").to_numpy().astype(np.int64) + self.first_parts[section]
            tables.append(table.set_column(table.column_names.index("part"), "part", pa.array(part)))
        empty = schema.append(pa.field("part", pa.int64())).empty_table()
        return pa.concat_tables([empty, *tables]).combine_chunks()

    @cached_property
    def lists(self) -> Lists:
        """All lists."""
        table = self._of_sections(LISTS, LIST_SCHEMA)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        part, rows = columns["part"], columns["rows"].astype(np.int64)
        section = np.searchsorted(self.first_parts, part, "right") - 1
        before = np.cumsum(rows) - rows
        # The lists of a section follow one another.
        begins = np.searchsorted(section, np.arange(len(self.manifest.sections)))
        start = before - np.append(before, 0)[begins][section]
        return Lists(
            section, part, columns["type"].astype(np.uint64), columns["which"], start, rows, columns["bound"]
        )

    def listed(self, chosen: Indexes, columns: Sequence[str]) -> pa.Table:
        """The events of some lists, ascending numbers, one list after the other."""
        lists, sections = self.lists, np.asarray(self.manifest.files[LISTED].blocks.section)
        tables = [listed_schema(self.manifest.indexed).empty_table().select(columns)]
        for section in np.unique(lists.section[chosen]).tolist():
            own = chosen[lists.section[chosen] == section]
            rows = runs(lists.start[own], lists.rows[own])
            needed, place = np.unique(rows // BLOCK_LISTED, return_inverse=True)
            if len(needed):
                first = int(np.searchsorted(sections, section))
                read = [self._block(LISTED, first + number, columns) for number in needed.tolist()]
                at = pa.array(place * BLOCK_LISTED + rows % BLOCK_LISTED)
                tables.append(pa.concat_tables(read).take(at))
        return pa.concat_tables(tables).combine_chunks()

    def places(self, listed: int, wanted: HashRanges | None) -> pa.Table:
        """Places of hashes in some ranges, None for all, of types or of the attribute number `listed`."""
        name, schema = (TYPES, TYPE_SCHEMA) if listed == OF_TYPES else (VALUES, VALUE_SCHEMA)
        empty = schema.empty_table()
        at = empty.column_names.index("span")
        tables = [empty.set_column(at, "span", pa.array([], pa.int64()))]
        for number in np.flatnonzero(self._touched(name, listed, wanted)).tolist():
            if wanted is None:
                table = self._block(name, number)
            else:
                # Most blocks that may hold a hash do not: this column alone tells.
                rows = _rows_of(self._block(name, number, ["hash"]), wanted)
                if not len(rows):
                    continue
                table = self._block(name, number).take(pa.array(rows))
            part = self.first_parts[self.manifest.files[name].blocks.section[number]]
            span = table.column("span").to_numpy().astype(np.int64) + self.first_spans[part]
            tables.append(table.set_column(at, "span", pa.array(span)))
        return pa.concat_tables(tables).combine_chunks()

    def rows_of_places(self, listed: int, wanted: HashRanges | None) -> int:
        """How many places `places` reads, at most."""
        name = TYPES if listed == OF_TYPES else VALUES
        return int(np.count_nonzero(self._touched(name, listed, wanted))) * BLOCK_PLACES

    def _touched(self, name: str, listed: int, wanted: HashRanges | None) -> Flags:
        """Which row groups of a file can hold some hashes."""
        blocks = self.manifest.files[name].blocks
        own: Flags = np.asarray(blocks.listed, dtype=np.int64) == listed
        if wanted is None:
            return own
        first, last = (np.asarray(each, dtype=np.uint64) for each in (blocks.first, blocks.last))
        at = np.searchsorted(wanted[1], first)  # the first range that does not end before the block
        begins = np.append(wanted[0], np.uint64(2**64 - 1))[at]
        return own & (begins <= last)

    def section(self, number: int) -> Section:
        """All that is kept of one section."""

        def whole(name: str, schema: pa.Schema, listed: int = OF_TYPES) -> pa.Table:
            blocks = self.manifest.files[name].blocks
            chosen = (np.asarray(blocks.section) == number) & (np.asarray(blocks.listed) == listed)
            read = [self._block(name, block).cast(schema) for block in np.flatnonzero(chosen).tolist()]
            return pa.concat_tables([schema.empty_table(), *read]).combine_chunks()

        of_part = pa.field("part", pa.int32())
        return Section(
            whole(SPANS, SPAN_SCHEMA.append(of_part)),
            whole(TYPES, TYPE_SCHEMA),
            tuple(whole(VALUES, VALUE_SCHEMA, at) for at in range(len(self.manifest.indexed.values))),
            whole(LISTS, LIST_SCHEMA.append(of_part)),
            whole(LISTED, listed_schema(self.manifest.indexed)),
        )

    def _block(self, name: str, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """One row group of a file, or some of its columns, as it was written."""
        blocks = self.manifest.files[name].blocks
        opened = self._file(name)
        try:
            if opened.checksum(blocks.start[number], blocks.stop[number]) != blocks.checksum[number]:
                raise damaged(self.folder, name)
            return opened.parquet.read_row_group(number, columns=columns, use_threads=False)
        except (OSError, pa.ArrowException) as problem:
            raise damaged(self.folder, name) from problem

    def _file(self, name: str) -> _Opened:
        if name not in self._opened:
            self._opened[name] = self._checked(name, self.manifest.files[name])
        return self._opened[name]

    def _checked(self, name: str, known: SketchFile) -> _Opened:
        try:
            file = self.folder.open(name)
            opened = _Opened(file, pq.ParquetFile(file))
            end = known.blocks.stop[-1] if known.blocks.stop else 4
            if file.size() != known.size or opened.checksum(min(end, known.size), known.size) != known.footer:
                raise damaged(self.folder, name)
        except (OSError, pa.ArrowException) as problem:
            raise damaged(self.folder, name) from problem
        return opened


@dataclass(frozen=True)
class _Opened:
    """A Parquet file of a sketch, and its bytes."""

    file: pa.NativeFile
    parquet: pq.ParquetFile

    def checksum(self, start: int, stop: int) -> int:
        return zlib.crc32(self.file.read_at(stop - start, start))


def _summed(counts: Iterable[int]) -> Indexes:
    return np.concatenate([[0], np.cumsum(np.fromiter(counts, dtype=np.int64))]).astype(np.int64)


def just(hashes: Hashes) -> HashRanges:
    """Ranges of one hash each."""
    each = np.unique(hashes)
    return each, each


def _rows_of(table: pa.Table, wanted: HashRanges) -> Indexes:
    """The rows of places of hashes in some ranges; places are in the order of hashes."""
    held = table.column("hash").to_numpy().astype(np.uint64)
    first, last = np.searchsorted(held, wanted[0], "left"), np.searchsorted(held, wanted[1], "right")
    return runs(first, last - first)
