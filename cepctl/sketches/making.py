"""Making the sketch of datasets: their parts are read on all cores, a row group at a time.

Parts of a sketch that is there already, on their way into another one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.stored import StoredDataset
from cepctl.datasets.stored_events import KINDS
from cepctl.errors import EventSchemaError, UsageError
from cepctl.event_table import is_attribute
from cepctl.io.source.locations import first_line
from cepctl.sketches.finding import identities
from cepctl.sketches.folder import Place, SketchFolder
from cepctl.sketches.listing import ALL_OF_TYPE, SHARE, Indexed, above, below, listed_schema
from cepctl.sketches.manifest import SketchedDataset, SketchedPart
from cepctl.sketches.places import PartPlaces, places_of
from cepctl.sketches.reading import Sketch
from cepctl.sketches.sections import parted, runs
from cepctl.sketches.writing import refuse_foreign, write_sketch

RANGE = ":range"
_COLUMNS = ("event_type", "lower", "upper", "end_upper")


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


def require_share(share: float) -> None:
    """Raise UsageError where a share is none."""
    if not 0 < share <= 1:
        raise UsageError(f"--share {share:g} is not more than 0 and at most 1; {SHARE:g} is usual")


def make_sketch(
    sources: Sequence[StoredDataset | Sketch],
    indexed: Indexed,
    target: Place,
    threads: int,
    share: float = SHARE,
) -> Made:
    """Write one sketch of datasets and of what other sketches know.

    Of datasets the rarest types, at most `share` of the events of a part, are listed one by one.  The sketch
    has the attributes that are asked for and those of the sketches.  Those that some source does not have, or
    has as another kind, are left out, and named in what is returned.

    Raises
    ------
    UsageError
        If no source has an attribute, `:range` is asked of a text, or the share is not in (0, 1].
    EventSchemaError
        If a part cannot be read.
    SketchError
        If a sketch is damaged.
    JobError
        If the sketch cannot be written.
    """
    require_share(share)
    folder = SketchFolder.at(target)
    refuse_foreign(folder)
    kept, dropped = _kept(indexed, sources)
    sketched = tuple(dataset for source in sources for dataset in _sketched(source, share))
    with closing(places_of_sources(sources, kept, share, threads)) as places:
        write_sketch(folder, kept, sketched, places)
    size = sum(folder.files().values())
    events = sum(part.identity.rows for dataset in sketched for part in dataset.parts)
    return Made(folder.uri, events, size, kept, dropped)


def _sketched(source: StoredDataset | Sketch, share: float) -> tuple[SketchedDataset, ...]:
    if isinstance(source, Sketch):
        return source.manifest.datasets
    return (sketched_dataset(source, share),)


def sketched_dataset(dataset: StoredDataset, share: float) -> SketchedDataset:
    """What a sketch of a dataset knows of it, before its parts are read."""
    return SketchedDataset(
        PurePosixPath(dataset.location.uri).name,
        str(dataset.time_unit),
        bool(dataset.clocks),
        dict(sorted(dataset.type_counts.items())),
        _attributes(dataset),
        tuple(SketchedPart(each, share) for each in identities(dataset)),
    )


def _attributes(dataset: StoredDataset) -> dict[str, str]:
    """The attributes of a dataset and their kinds."""
    kinds = {each.name: KINDS.get(each.type) for each in dataset.schema if is_attribute(each)}
    return {name: kind.value for name, kind in kinds.items() if kind is not None}


def _kept(indexed: Indexed, sources: Sequence[StoredDataset | Sketch]) -> tuple[Indexed, tuple[str, ...]]:
    """What can be indexed of all sources, and what is left out."""
    known = [
        kinds
        for source in sources
        for kinds in (
            [each.attributes for each in source.manifest.datasets]
            if isinstance(source, Sketch)
            else [_attributes(source)]
        )
    ]
    require_indexable(indexed, known)
    sketches = [source.manifest.indexed for source in sources if isinstance(source, Sketch)]
    values = dict.fromkeys([*indexed.values, *(name for each in sketches for name in each.values)])
    ranges = dict.fromkeys([*indexed.ranges, *(name for each in sketches for name in each.ranges)])
    comparable = {
        name
        for name in (*values, *ranges)
        if len({kinds.get(name, "none") == "string" for kinds in known}) == 1
        and all(name in kinds for kinds in known)
    }
    kept = Indexed(
        tuple(
            name for name in values if name in comparable and all(name in each.values for each in sketches)
        ),
        tuple(
            name for name in ranges if name in comparable and all(name in each.ranges for each in sketches)
        ),
    )
    left_out = [name for name in values if name not in kept.values]
    left_out += [f"{name}{RANGE}" for name in ranges if name not in kept.ranges]
    return kept, tuple(left_out)


def require_indexable(indexed: Indexed, known: Sequence[Mapping[str, str]]) -> None:
    """Raise UsageError where no dataset has an attribute, or `:range` is asked of a text.

    `known` has the kinds of the attributes of each dataset.
    """
    for name in (*indexed.values, *indexed.ranges):
        if not any(name in kinds for kinds in known):
            raise UsageError(_missing(name, sorted({each for kinds in known for each in kinds})))
    for name in indexed.ranges:
        if any(kinds.get(name) == "string" for kinds in known):
            raise UsageError(
                f"--on {name}{RANGE} asks for the least and the largest, and '{name}' is text; "
                f"write --on {name}"
            )


def _missing(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    if near:
        return f"no event has the attribute '{name}'; did you mean '{near[0]}'?"
    return f"no event has the attribute '{name}' (attributes: {', '.join(known) or 'none'})"


def places_of_sources(
    sources: Sequence[StoredDataset | Sketch], indexed: Indexed, share: float, threads: int
) -> Generator[PartPlaces, None, None]:
    """The places of parts, in their order; no more parts are at work than there are threads."""
    with ThreadPoolExecutor(threads) as pool:
        for source in sources:
            if isinstance(source, Sketch):
                yield from parts_of_sketch(source, indexed)
                continue
            waiting: deque[Future[PartPlaces]] = deque()
            filesystem, _ = source.location.resolve()
            for part in source.parts:
                waiting.append(pool.submit(partial(_part_places, filesystem, part, indexed, share)))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


def _part_places(filesystem: fs.FileSystem, part: str, indexed: Indexed, share: float) -> PartPlaces:
    try:
        return places_of(_row_groups(filesystem, part, indexed), indexed, share)
    except (OSError, pa.ArrowInvalid) as problem:
        raise EventSchemaError(
            f"cannot read {part}: {first_line(problem)}; the dataset is not whole, ingest it again"
        ) from problem


def _row_groups(filesystem: fs.FileSystem, part: str, indexed: Indexed) -> Iterator[tuple[int, pa.Table]]:
    metadata = pq.read_metadata(part, filesystem=filesystem)
    present = set(metadata.schema.to_arrow_schema().names)
    texts = [name for name in ("event_type", *indexed.values) if name in present]
    names = dict.fromkeys([*_COLUMNS, *indexed.values, *indexed.ranges])
    columns = [name for name in names if name in present]
    with pq.ParquetFile(part, filesystem=filesystem, metadata=metadata, read_dictionary=texts) as file:
        for number in range(file.num_row_groups):
            yield number, file.read_row_group(number, columns=columns, use_threads=False)


def parts_of_sketch(sketch: Sketch, indexed: Indexed) -> Iterator[PartPlaces]:
    """What a sketch keeps of each part of its datasets, with some of its attributes alone."""
    known = sketch.manifest.indexed
    chosen = [known.values.index(name) for name in indexed.values]
    before = 0
    for number, count in enumerate(sketch.manifest.sections):
        parts = sketch.manifest.parts[before : before + count]
        before += count
        sizes = [(part.spans, part.row_groups, part.lasting) for part in parts]
        for part in parted(sketch.section(number), sizes):
            yield _with_lists_of(
                replace(part, values=tuple(part.values[at] for at in chosen)), known, indexed
            )


def _with_lists_of(part: PartPlaces, known: Indexed, indexed: Indexed) -> PartPlaces:
    """The part with the lists of some attributes alone, by their new numbers."""
    renamed = {ALL_OF_TYPE: ALL_OF_TYPE}
    for number, name in enumerate(indexed.ranges):
        old = known.ranges.index(name)
        renamed |= {below(old): below(number), above(old): above(number)}
    which = part.lists.column("which").to_numpy()
    rows = part.lists.column("rows").to_numpy()
    own = np.isin(which, list(renamed))
    lists = part.lists.filter(pa.array(own))
    numbers = np.array([renamed[each] for each in lists.column("which").to_pylist()], dtype=np.int32)
    lists = lists.set_column(lists.column_names.index("which"), "which", pa.array(numbers))
    listed = part.listed.filter(pa.array(np.repeat(own, rows))).select(listed_schema(indexed).names)
    if known.ranges == indexed.ranges:
        return replace(part, lists=lists, listed=listed)
    return replace(part, **_in_order(lists, listed))


def _in_order(lists: pa.Table, listed: pa.Table) -> dict[str, pa.Table]:
    """Lists whose numbers have changed, in the order of these."""
    order = pc.sort_indices(lists, [("type", "ascending"), ("which", "ascending")]).to_numpy()
    rows = lists.column("rows").to_numpy().astype(np.int64)
    begins = np.cumsum(rows) - rows
    return {
        "lists": lists.take(pa.array(order)),
        "listed": listed.take(pa.array(runs(begins[order], rows[order]))),
    }
