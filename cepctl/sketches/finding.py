"""The sketch that belongs to a dataset: beside it, whole, and of just these parts."""

from __future__ import annotations

import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.stored import StoredDataset
from cepctl.errors import EventSchemaError, SketchError
from cepctl.io.source.locations import first_line
from cepctl.sketches.folder import SUFFIX, SketchFolder, place_beside
from cepctl.sketches.manifest import MANIFEST, PartIdentity, remedy
from cepctl.sketches.reading import Sketch


def is_sketch(path: str) -> bool:
    """Whether a path names a sketch, by its name or by what is there."""
    folder = SketchFolder.at(path)
    return folder.is_there() and (folder.path.endswith(SUFFIX) or folder.holds(MANIFEST))


def sketch_of(dataset: StoredDataset) -> Sketch | None:
    """The sketch that stands beside a dataset; None where there is none.

    Raises
    ------
    SketchError
        If it is damaged, of a newer version, or not of these parts.
    """
    folder = SketchFolder.at(place_beside(dataset.location))
    if folder.is_free():
        return None
    sketch = Sketch.at(folder.uri)
    sketched = [part.identity for each in sketch.manifest.datasets for part in each.parts]
    if sketched != identities(dataset):
        raise SketchError(
            f"{folder}: the sketch is not of the events that are in {dataset.location.uri} now; "
            f"{remedy(folder)}"
        )
    return sketch


def missing(dataset: StoredDataset) -> SketchError:
    """What is said where a dataset has no sketch."""
    folder = SketchFolder.at(place_beside(dataset.location))
    return SketchError(f"{dataset.location.uri} has no sketch; {remedy(folder)}")


_FOOTERS_AT_ONCE = 16
_TAIL = 8


def identities(dataset: StoredDataset) -> list[PartIdentity]:
    """What tells the parts of a dataset from all others.

    Raises
    ------
    EventSchemaError
        If one cannot be read.
    """
    filesystem, _ = dataset.location.resolve()
    with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as threads:
        return list(threads.map(partial(_identity, filesystem), dataset.parts))


def _identity(filesystem: fs.FileSystem, part: str) -> PartIdentity:
    try:
        with filesystem.open_input_file(part) as file:
            size = file.size()
            length = int.from_bytes(file.read_at(4, size - _TAIL), "little")
            footer = file.read_at(length + _TAIL, size - length - _TAIL)
        rows = pq.read_metadata(pa.BufferReader(b"PAR1" + footer)).num_rows
    except (OSError, pa.ArrowInvalid, ValueError, OverflowError) as problem:
        raise EventSchemaError(
            f"cannot read {part}: {first_line(problem)}; the dataset is not whole, ingest it again"
        ) from problem
    return PartIdentity(PurePosixPath(part).name, rows, size, zlib.crc32(footer))
