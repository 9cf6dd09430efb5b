"""Sketches of events in memory: written as those of a dataset, of row groups of a few events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from cepctl.datasets.kinds import Kind
from cepctl.datasets.stored_events import KINDS
from cepctl.event_table import FIXED_COLUMNS, LENGTH_COLUMNS
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import CLOCK, MILLISECOND, TimeUnit
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.joining import joined_identities, joined_places
from cepctl.sketches.listing import SHARE, Indexed
from cepctl.sketches.manifest import PartIdentity, SketchedDataset, SketchedPart
from cepctl.sketches.places import places_of
from cepctl.sketches.reading import Sketch
from cepctl.sketches.writing import write_sketch
from tests.event_sources import IN_ORDER

GROUPS_OF_PART = 2


def kinds_of(table: pa.Table) -> dict[str, Kind]:
    """The attributes of an event table."""
    fixed = {*FIXED_COLUMNS, *LENGTH_COLUMNS, CLOCK}
    return {each.name: KINDS[each.type] for each in table.schema if each.name not in fixed}


def row_groups(table: pa.Table, size: int) -> list[pa.Table]:
    """The events in the order of a dataset, so many to a row group."""
    ordered = table.sort_by(IN_ORDER)
    return [ordered.slice(start, size) for start in range(0, len(ordered), size)]


def sketch_of_table(
    folder: Path,
    table: pa.Table,
    indexed: Indexed,
    size: int,
    unit: TimeUnit = MILLISECOND,
    share: float = SHARE,
    *,
    joined: bool = False,
) -> Sketch:
    """The sketch of events that would be stored in row groups of `size`, two to a part.

    `joined`: all parts are one, as those of many short runs are.
    """
    groups = row_groups(table, size)
    parts = [groups[start : start + GROUPS_OF_PART] for start in range(0, len(groups), GROUPS_OF_PART)]
    identities = [
        SketchedPart(PartIdentity(f"part-{number:05d}.parquet", 1, 1, 1), share)
        for number in range(len(parts))
    ]
    kinds = {name: kind.value for name, kind in kinds_of(table).items()}
    dataset = SketchedDataset("events", str(unit), False, {}, kinds, tuple(identities))
    places = [places_of(enumerate(part), indexed, share) for part in parts]
    if joined and len(parts) > 1:
        counts = [len(parts)]
        dataset = replace(dataset, parts=tuple(joined_identities(dataset.parts, counts)))
        places = list(joined_places(iter(places), counts))
    write_sketch(SketchFolder.at(folder), indexed, [dataset], places)
    return Sketch.at(folder)


def archive_of(sketches: Sequence[Sketch], schema: EventSchema) -> SketchArchive:
    """The sketches, to be asked together."""
    return SketchArchive(tuple(sketches), schema)


def kept_events(table: pa.Table, size: int, groups: frozenset[tuple[int, int]]) -> pa.Table:
    """The events of some row groups, by the numbers of their part and of the row group in it."""
    kept = [
        group
        for number, group in enumerate(row_groups(table, size))
        if divmod(number, GROUPS_OF_PART) in groups
    ]
    return pa.concat_tables([table.slice(0, 0), *kept])
