"""Ingested datasets on disk: recognised by their metadata, whole only with their completion marker."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.atomic.replacing import restore
from cepctl.clocks import Clocks, clocks_of
from cepctl.datasets.marker import SUCCESS, incomplete
from cepctl.errors import EventSchemaError
from cepctl.io.source.locations import Location
from cepctl.schema import META_TIME_UNIT, META_TYPE_COUNTS, TimeUnit

STANDARD_INPUT = "-"
"""The path that names standard input."""


@dataclass(frozen=True)
class StoredDataset:
    """A dataset on disk: its Parquet parts in order, their schema and what their metadata says."""

    location: Location
    parts: tuple[str, ...]
    schema: pa.Schema
    time_unit: TimeUnit
    type_counts: dict[str, int]
    clocks: Clocks = field(default_factory=dict)

    @property
    def events(self) -> int | None:
        """How many events its ingest wrote; None where the metadata do not say."""
        return sum(self.type_counts.values()) if self.type_counts else None


def stored_dataset(path: str) -> StoredDataset | None:
    """The ingested dataset at a path; None when something else, or nothing, is there.

    Raises
    ------
    EventSchemaError
        If the dataset has no completion marker, so that parts may be missing.
    """
    if path == STANDARD_INPUT:
        return None
    location = Location.of(path)
    filesystem, directory = location.resolve()
    if isinstance(filesystem, fs.LocalFileSystem) and not os.path.lexists(directory):
        restore(Path(os.path.realpath(directory)))
    if filesystem.get_file_info(directory).type is not fs.FileType.Directory:
        return None
    if isinstance(filesystem, fs.LocalFileSystem):
        # Arrow cannot tell names that are not UTF-8, which other files in the directory may have.
        entries = [f"{directory}/{entry.name}" for entry in Path(directory).iterdir()]
    else:
        entries = [entry.path for entry in filesystem.get_file_info(fs.FileSelector(directory))]
    parts = sorted(path for path in entries if path.endswith(".parquet"))
    if not parts:
        return None
    try:
        schema = pq.read_schema(parts[0], filesystem=filesystem)
    except (pa.ArrowInvalid, OSError):
        return None
    metadata = schema.metadata or {}
    if META_TIME_UNIT not in metadata:
        return None
    if f"{directory}/{SUCCESS}" not in entries:
        raise EventSchemaError(incomplete(path))
    counts = json.loads(metadata.get(META_TYPE_COUNTS, b"{}"))
    unit = TimeUnit.parse(metadata[META_TIME_UNIT].decode())
    return StoredDataset(location, tuple(parts), schema, unit, counts, clocks_of(metadata))
