"""Sketches that grow: what came last is sketched, and merged with those before it that are not much larger.

Where parts of few events are many, they become one, so that neither segments nor their parts are as many as
the runs.  An attribute that some events lack is null there, which stands nowhere, so that all segments know
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import reduce
from itertools import chain
from pathlib import Path

from cepctl.datasets.kinds import Kind, unified
from cepctl.datasets.stored import StoredDataset
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.joining import joined_counts, joined_identities, joined_places
from cepctl.sketches.listing import SHARE, Indexed
from cepctl.sketches.making import places_of_sources, sketched_dataset
from cepctl.sketches.manifest import SketchedDataset
from cepctl.sketches.reading import Sketch
from cepctl.sketches.writing import write_sketch

GROWTH = 2
"""A segment is merged with what comes after it while it has at most so many times the events of that."""


def merged_with(segments: Sequence[int], events: int) -> int:
    """How many of the last segments, told by their events, are merged with so many new events.

    Each event is then written again at most about log2(n) times, and about log2(n) segments are left.

    Examples
    --------
    >>> merged_with([900, 80, 30], 20)
    2
    """
    count, together = 0, events
    while count < len(segments) and segments[-1 - count] <= GROWTH * together:
        together += segments[-1 - count]
        count += 1
    return count


def write_segment(
    target: Path,
    indexed: Indexed,
    kinds: Mapping[str, str],
    before: Sequence[Sketch],
    dataset: StoredDataset,
) -> None:
    """Write one sketch of what some sketches know, and of a dataset that came after.

    `kinds` are those of the attributes that are indexed.

    Raises
    ------
    SketchError
        If a sketch is damaged.
    EventSchemaError
        If a part of the dataset cannot be read.
    JobError
        If the sketch cannot be written.
    """
    known = [each for sketch in before for each in sketch.manifest.datasets]
    datasets = reduce(_joined, [*known, sketched_dataset(dataset, SHARE)], list[SketchedDataset]())
    named = [replace(each, attributes={**each.attributes, **kinds}) for each in datasets]
    counts = [joined_counts([part.identity.rows for part in each.parts]) for each in named]
    joined = [
        replace(each, parts=tuple(joined_identities(each.parts, own)))
        for each, own in zip(named, counts, strict=True)
    ]
    with closing(places_of_sources([*before, dataset], indexed, SHARE, 1)) as places:
        write_sketch(SketchFolder.at(target), indexed, joined, joined_places(places, list(chain(*counts))))


def _joined(before: list[SketchedDataset], new: SketchedDataset) -> list[SketchedDataset]:
    """Datasets in their order; one that counts time as the last one does is joined with it."""
    if not before or before[-1].time_unit != new.time_unit:
        return [*before, new]
    last = before[-1]
    types = {name: last.types.get(name, 0) + new.types.get(name, 0) for name in {**last.types, **new.types}}
    attributes = {
        name: unified({Kind(each[name]) for each in (last.attributes, new.attributes) if name in each}).value
        for name in {**last.attributes, **new.attributes}
    }
    together = replace(
        last,
        clocked=last.clocked or new.clocked,
        types=dict(sorted(types.items())),
        attributes=attributes,
        parts=(*last.parts, *new.parts),
    )
    return [*before[:-1], together]
