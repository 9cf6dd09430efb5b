"""Making the sketch of datasets: their parts are read on all cores, a row group at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.stored import StoredDataset
from cepctl.datasets.stored_events import KINDS
from cepctl.errors import EventSchemaError, UsageError
from cepctl.io.source.locations import first_line
from cepctl.schema import CLOCK, END_TIME, FIXED_COLUMNS
from cepctl.sketches.identity import identities
from cepctl.sketches.manifest import SketchedDataset, SketchedPart
from cepctl.sketches.places import Indexed, PartPlaces, places_of
from cepctl.sketches.writing import refuse_foreign, write_sketch

RANGE = ":range"
_COLUMNS = ("event_type", "lower", "upper", "end_upper")
NUMBERS = ("int", "float", "bool")


@dataclass(frozen=True)
class Made:
    """A sketch that was written: of how many events, in how many bytes."""

    path: str
    events: int
    size: int
    indexed: Indexed
    dropped: tuple[str, ...]


def parse_on(texts: Sequence[str]) -> Indexed:
    """The attributes of `ATTR,ATTR:range`; raises UsageError where a text names none."""
    names = [name.strip() for text in texts for name in text.split(",")]
    if not all(names) or RANGE in names:
        raise UsageError("--on needs names of attributes: --on task,size:range")
    ranges = dict.fromkeys(name.removesuffix(RANGE) for name in names if name.endswith(RANGE))
    return Indexed(tuple(dict.fromkeys(name for name in names if not name.endswith(RANGE))), tuple(ranges))


def make_sketch(datasets: Sequence[StoredDataset], indexed: Indexed, target: Path, threads: int) -> Made:
    """Write the sketch of datasets.

    Attributes that some of several datasets lack are left out, and named in what is returned.

    Raises
    ------
    UsageError
        If no dataset has an attribute, or `:range` is asked of a text.
    EventSchemaError
        If a part cannot be read.
    JobError
        If the sketch cannot be written.
    """
    refuse_foreign(target)
    known = [_attributes(dataset) for dataset in datasets]
    kept, dropped = _kept(indexed, known)
    sketched = tuple(
        SketchedDataset(
            PurePosixPath(dataset.location.uri).name,
            str(dataset.time_unit),
            bool(dataset.clocks),
            dict(sorted(dataset.type_counts.items())),
            kinds,
            tuple(SketchedPart(each) for each in identities(dataset)),
        )
        for dataset, kinds in zip(datasets, known, strict=True)
    )
    parts = [(dataset.location.resolve()[0], part) for dataset in datasets for part in dataset.parts]
    with closing(_places(parts, kept, threads)) as places:
        write_sketch(target, kept, sketched, places)
    size = sum(each.stat().st_size for each in target.iterdir())
    events = sum(part.identity.rows for dataset in sketched for part in dataset.parts)
    return Made(os.fspath(target), events, size, kept, dropped)


def _attributes(dataset: StoredDataset) -> dict[str, str]:
    """The attributes of a dataset and their kinds."""
    fixed = {*FIXED_COLUMNS, END_TIME, CLOCK}
    return {each.name: KINDS[each.type].value for each in dataset.schema if each.name not in fixed}


def _kept(indexed: Indexed, known: Sequence[dict[str, str]]) -> tuple[Indexed, tuple[str, ...]]:
    """What can be indexed of all datasets, and what is left out as some lack it."""
    for name in (*indexed.values, *indexed.ranges):
        if not any(name in kinds for kinds in known):
            raise UsageError(_missing(name, sorted({each for kinds in known for each in kinds})))
    for name in indexed.ranges:
        if any(kinds.get(name) == "string" for kinds in known):
            raise UsageError(
                f"--on {name}{RANGE} asks for the least and the largest, and '{name}' is text; "
                f"write --on {name}"
            )
    common = set.intersection(*(set(kinds) for kinds in known))
    kept = Indexed(
        tuple(name for name in indexed.values if name in common),
        tuple(name for name in indexed.ranges if name in common),
    )
    return kept, tuple(name for name in (*indexed.values, *indexed.ranges) if name not in common)


def _missing(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    if near:
        return f"no event has the attribute '{name}'; did you mean '{near[0]}'?"
    return f"no event has the attribute '{name}' (attributes: {', '.join(known) or 'none'})"


def _places(
    parts: Sequence[tuple[fs.FileSystem, str]], indexed: Indexed, threads: int
) -> Generator[PartPlaces, None, None]:
    """The places of parts, in their order; no more parts are at work than there are threads."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[PartPlaces]] = deque()
        for filesystem, part in parts:
            waiting.append(pool.submit(partial(_part_places, filesystem, part, indexed)))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _part_places(filesystem: fs.FileSystem, part: str, indexed: Indexed) -> PartPlaces:
    try:
        return places_of(_row_groups(filesystem, part, indexed), indexed)
    except (OSError, pa.ArrowInvalid) as problem:
        raise EventSchemaError(
            f"cannot read {part}: {first_line(problem)}; the dataset is not whole, ingest it again"
        ) from problem


def _row_groups(filesystem: fs.FileSystem, part: str, indexed: Indexed) -> Iterator[tuple[int, pa.Table]]:
    with pq.ParquetFile(part, filesystem=filesystem, read_dictionary=["event_type"]) as file:
        present = set(file.schema_arrow.names)
        names = dict.fromkeys([*_COLUMNS, *indexed.values, *indexed.ranges])
        for number in range(file.num_row_groups):
            columns = [name for name in names if name in present]
            yield number, file.read_row_group(number, columns=columns, use_threads=False)
