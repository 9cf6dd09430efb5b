"""Ingested datasets on disk: recognised by their metadata, whole only with their completion marker."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.atomic.replacing import restore
from cepctl.clocks.shared import Clocks, clocks_of
from cepctl.datasets.arrow_files import SUFFIX, arrow_schema_of, read_arrow
from cepctl.datasets.left_behind import LeftBehind, left_behind_in
from cepctl.datasets.marker import SUCCESS, incomplete
from cepctl.datasets.observed import observed_in
from cepctl.errors import EventSchemaError
from cepctl.io.contract.message_template import MessageTemplate, templates_in
from cepctl.io.source.directories import entries_in
from cepctl.io.source.locations import Location
from cepctl.laws.law import OrderLaw
from cepctl.laws.storing import laws_in
from cepctl.schema import (
    END_TIME,
    META_ASSUMED_ORDER,
    META_GIVEN,
    META_LAWS,
    META_LAYOUTS,
    META_LEFT_BEHIND,
    META_OBSERVED,
    META_TEMPLATES,
    META_TIME_UNIT,
    META_TYPE_COUNTS,
    META_WRITTEN_UNITS,
    Observed,
    TimeUnit,
)

STANDARD_INPUT = "-"
"""The path that names standard input."""


@dataclass(frozen=True)
class StoredDataset:
    """A dataset on disk: its Parquet parts in order, their schema and what their metadata says.

    `layouts` are pairs of a file and the layout that was learned from it.  It `assumes_order` of lines of
    logs, if nobody said that they are in order; records of a writer are `in_units` where they overlap in time
    only if they share a stamp.  `observed`: until when its events tell what happened, if its model says it.
    One that was made for one query has `left_behind` what cannot matter to that.
    """

    location: Location
    parts: tuple[str, ...]
    schema: pa.Schema
    time_unit: TimeUnit
    type_counts: dict[str, int]
    clocks: Clocks = field(default_factory=dict)
    given: tuple[str, ...] = ()
    templates: tuple[MessageTemplate, ...] = ()
    layouts: tuple[tuple[str, str], ...] = ()
    laws: tuple[OrderLaw, ...] = ()
    assumes_order: bool = False
    in_units: bool = False
    observed: Observed | None = None
    left_behind: LeftBehind | None = None

    @property
    def in_arrow(self) -> bool:
        """Whether the parts are files of Arrow's own format, as those of a temporary dataset may be."""
        return self.parts[0].endswith(SUFFIX)

    @property
    def events(self) -> int | None:
        """How many events it holds; None where the metadata do not say."""
        left = 0 if self.left_behind is None else self.left_behind.events
        return sum(self.type_counts.values()) - left if self.type_counts else None


def some_event_lasts(dataset: StoredDataset) -> bool:
    """Whether some event of a dataset has an end, as the statistics of its parts tell."""
    if END_TIME in dataset.schema.names or (dataset.left_behind and dataset.left_behind.lasting):
        return True
    filesystem, _ = dataset.location.resolve()
    if dataset.in_arrow:
        columns = [read_arrow(part, filesystem, ["end_lower"]).column(0) for part in dataset.parts]
        return any(column.null_count < len(column) for column in columns)
    return any(_holds_ends(pq.read_metadata(part, filesystem=filesystem)) for part in dataset.parts)


def _holds_ends(metadata: pq.FileMetaData) -> bool:
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = (group.column(place) for place in range(group.num_columns))
        column = next((each for each in columns if each.path_in_schema == "end_lower"), None)
        if column is None or not group.num_rows:
            continue
        known = column.is_stats_set and column.statistics.has_null_count
        if not known or column.statistics.null_count < column.num_values:
            return True
    return False


def stored_dataset(path: str) -> StoredDataset | None:
    """The ingested dataset at a path; None when something else, or nothing, is there.

    Raises
    ------
    EventSchemaError
        If the dataset has no completion marker, so that parts may be missing, or a part of it is a link, a
        named pipe or the like.
    """
    if path == STANDARD_INPUT:
        return None
    location = Location.of(path)
    filesystem, directory = location.resolve()
    if isinstance(filesystem, fs.LocalFileSystem) and not os.path.lexists(directory):
        restore(Path(os.path.realpath(directory)))
    if filesystem.get_file_info(directory).type is not fs.FileType.Directory:
        return None
    entries = _entries(filesystem, directory)
    parts = sorted(path for path, other in entries.items() if path.endswith(".parquet") and other is None)
    if not parts:
        return None
    try:
        schema = pq.read_schema(parts[0], filesystem=filesystem)
    except (pa.ArrowInvalid, OSError):
        return None
    if META_TIME_UNIT not in (schema.metadata or {}):
        return None
    for part, other in entries.items():
        if other is not None and part.endswith(".parquet"):
            raise EventSchemaError(
                f"{part} is {other}, and no file of the dataset: put the file itself there, or take it out "
                "and ingest the log again"
            )
    if entries.get(f"{directory}/{SUCCESS}", "missing") is not None:
        raise EventSchemaError(incomplete(path))
    return _described(location, parts, schema)


def _entries(filesystem: fs.FileSystem, directory: str) -> dict[str, str | None]:
    """The paths in a directory, each with what it is if it is no file."""
    if isinstance(filesystem, fs.LocalFileSystem):
        # Arrow cannot tell names that are not UTF-8, which other files in the directory may have.
        return {f"{directory}/{name}": other for name, other in entries_in(directory).items()}
    found = filesystem.get_file_info(fs.FileSelector(directory))
    return {each.path: None if each.is_file else "a directory" for each in found}


def temporary_dataset(directory: str) -> StoredDataset:
    """A dataset that has just been written for this run, of Parquet or in Arrow's own format."""
    location = Location.of(directory)
    parts = sorted(str(path) for path in Path(directory).iterdir() if path.name != SUCCESS)
    filesystem, _ = location.resolve()
    read_schema = arrow_schema_of if parts[0].endswith(SUFFIX) else _schema_of_parquet
    return _described(location, parts, read_schema(parts[0], filesystem))


def _schema_of_parquet(part: str, filesystem: fs.FileSystem) -> pa.Schema:
    return pq.read_schema(part, filesystem=filesystem)


def _described(location: Location, parts: Sequence[str], schema: pa.Schema) -> StoredDataset:
    metadata = schema.metadata
    counts = json.loads(metadata.get(META_TYPE_COUNTS, b"{}"))
    unit = TimeUnit.parse(metadata[META_TIME_UNIT].decode())
    given = tuple(json.loads(metadata.get(META_GIVEN, b"[]")))
    templates = templates_in(metadata.get(META_TEMPLATES, b"[]"))
    layouts = tuple(json.loads(metadata.get(META_LAYOUTS, b"{}")).items())
    laws = laws_in(metadata.get(META_LAWS, b"[]"))
    return StoredDataset(
        *(location, tuple(parts), schema, unit, counts, clocks_of(metadata), given, templates, layouts, laws),
        assumes_order=META_ASSUMED_ORDER in metadata,
        in_units=META_WRITTEN_UNITS in metadata,
        observed=observed_in(metadata.get(META_OBSERVED)),
        left_behind=left_behind_in(metadata.get(META_LEFT_BEHIND)),
    )
