"""The sketch of all events that the runs of a state have taken in, also of those that it no longer keeps.

    DIR/run-000007/segments/
        000001-000004.sketch    of what the runs 1 to 4 have taken in
        000005-000007.sketch    of what came after

A run sketches its own events, merges that with the last segments as their sizes say, and takes the others
over.  They lie in the folder of the run, so that they are valid when it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cepctl.datasets.stored import StoredDataset
from cepctl.errors import SketchError
from cepctl.sketches.listing import Indexed
from cepctl.sketches.reading import Sketch
from cepctl.sketches.segments import merged_with, write_segment

_RUN_DIGITS = 6


@dataclass(frozen=True)
class Segment:
    """The sketch of what some successive runs have taken in: the name of its folder, how many events."""

    name: str
    events: int


@dataclass(frozen=True)
class KeptSketch:
    """What the sketch of a state knows beside types, `kinds` of what attributes; its segments in order."""

    indexed: Indexed
    kinds: Mapping[str, str]
    segments: tuple[Segment, ...] = ()

    @property
    def events(self) -> int:
        """How many events have been sketched."""
        return sum(each.events for each in self.segments)


@dataclass(frozen=True)
class Extended:
    """A sketch after a run; `folders` are those of its segments, by name, to be taken over.

    `problem` says why segments were not merged.
    """

    sketch: KeptSketch
    folders: Mapping[str, Path]
    problem: str | None = None


def carried(before: KeptSketch, place: Path) -> Extended:
    """The sketch after a run without events; `place` has its segments."""
    return Extended(before, {each.name: place / each.name for each in before.segments})


def extended(before: KeptSketch, place: Path, dataset: StoredDataset, run: int, scratch: Path) -> Extended:
    """The sketch after a run that has taken in a dataset.

    `before`, `place`: the sketch, with the kinds that are known now, and the folder of its segments.
    `dataset`, `run`: all events of the run, and its number.  `scratch`: a folder for new segments.

    Raises
    ------
    EventSchemaError
        If the dataset cannot be read.
    JobError
        If the segment cannot be written.
    """
    events = dataset.events or 0
    merged = merged_with([each.events for each in before.segments], events)
    try:
        return _with_segment(before, place, dataset, run, scratch, merged)
    except SketchError as problem:
        # What is damaged stays for a probe to tell of it.
        return replace(_with_segment(before, place, dataset, run, scratch, 0), problem=str(problem))


def _with_segment(
    before: KeptSketch, place: Path, dataset: StoredDataset, run: int, scratch: Path, merged: int
) -> Extended:
    left = before.segments[: len(before.segments) - merged]
    together = before.segments[len(left) :]
    first = together[0].name[:_RUN_DIGITS] if together else f"{run:0{_RUN_DIGITS}d}"
    events = sum(each.events for each in together) + (dataset.events or 0)
    new = Segment(f"{first}-{run:0{_RUN_DIGITS}d}.sketch", events)
    sketches = [Sketch.at(place / each.name) for each in together]
    write_segment(scratch / new.name, before.indexed, before.kinds, sketches, dataset)
    kept = replace(before, segments=(*left, new))
    return Extended(kept, {**{each.name: place / each.name for each in left}, new.name: scratch / new.name})
