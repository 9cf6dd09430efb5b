"""What a sketch says of itself: its version, of which parts of datasets it is, where its blocks stand.

The manifest is a JSON file with a checksum of its own; it has those of every block of the Parquet files
beside it, so that a flipped bit is found where it is read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from cepctl.errors import SketchError
from cepctl.io.source.locations import first_line
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.listing import Indexed

VERSION = 2
MANIFEST = "sketch.json"
SPANS, TYPES, VALUES = "spans.parquet", "types.parquet", "values.parquet"
LISTS, LISTED = "lists.parquet", "listed.parquet"
FILES = (SPANS, TYPES, VALUES, LISTS, LISTED)
SEGMENTS = "segments"
"""The folder of the sketches that a state keeps."""
_KEY = "cepctl.sketch"


@dataclass(frozen=True)
class PartIdentity:
    """What tells a part of a dataset from all others: `footer` is the CRC-32 of its Parquet footer."""

    name: str
    rows: int
    size: int
    footer: int


@dataclass(frozen=True)
class SketchedPart:
    """A part of a dataset, and of the sketch of it: how many spans and row groups, which share is listed.

    `lasting`: whether some event has an end.
    """

    identity: PartIdentity
    share: float
    spans: int = 0
    row_groups: int = 0
    lasting: bool = False


@dataclass(frozen=True)
class SketchedDataset:
    """What a sketch knows of one dataset: unit, counts of types, kinds of attributes, parts in order."""

    name: str
    time_unit: str
    clocked: bool
    types: Mapping[str, int]
    attributes: Mapping[str, str]
    parts: tuple[SketchedPart, ...]


@dataclass(frozen=True)
class Blocks:
    """The row groups of a file of the sketch as columns: bytes [start, stop) of it, and their checksums.

    Each is of a section.  Where it holds places, `listed` numbers the attribute (-1 for types), and `first`
    and `last` are the hashes between which they are; where it holds listed events, their rows in the section.
    """

    section: tuple[int, ...]
    listed: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    start: tuple[int, ...]
    stop: tuple[int, ...]
    checksum: tuple[int, ...]


@dataclass(frozen=True)
class SketchFile:
    """One Parquet file of a sketch: its size, the CRC-32 of its footer, its row groups in order."""

    size: int
    footer: int
    blocks: Blocks


@dataclass(frozen=True)
class Manifest:
    """What a sketch says of itself.

    `sections` has the number of parts of each section, `distinct` of each attribute that is known by values
    how many hashes it has at most.
    """

    indexed: Indexed
    datasets: tuple[SketchedDataset, ...]
    sections: tuple[int, ...]
    distinct: Mapping[str, int]
    files: Mapping[str, SketchFile]

    @property
    def parts(self) -> tuple[SketchedPart, ...]:
        """The parts of all datasets."""
        return tuple(part for dataset in self.datasets for part in dataset.parts)

    def to_bytes(self) -> bytes:
        """The JSON file, with its checksum."""
        held = json.dumps({"version": VERSION} | vars(self), default=vars, sort_keys=True)
        return f'{{"{_KEY}": {held},\n"crc32": {zlib.crc32(held.encode())}}}\n'.encode()


def read_manifest(folder: SketchFolder) -> Manifest:
    """The manifest of the sketch in a folder.

    Raises
    ------
    SketchError
        If there is none, or it is damaged or of a newer version.
    """
    try:
        text = folder.read(MANIFEST)
    except (OSError, pa.ArrowException) as problem:
        if folder.holds(MANIFEST):
            raise SketchError(f"cannot read {folder}: {first_line(problem)}; {remedy(folder)}") from problem
        raise SketchError(f"{folder} is not a sketch: it has no {MANIFEST}; {remedy(folder)}") from None
    held, found, rest = text.partition(b',\n"crc32": ')
    held = held.removeprefix(f'{{"{_KEY}": '.encode())
    if not found or rest != b"%d}\n" % zlib.crc32(held):
        raise damaged(folder, MANIFEST)
    said = json.loads(held)
    if said["version"] != VERSION:
        raise SketchError(
            f"{folder}: the sketch has version {said['version']}, and this cepctl reads version {VERSION}; "
            f"{remedy(folder)}"
        )
    return _manifest(said)


def remedy(folder: SketchFolder) -> str:
    """How a sketch is made, as a user does it."""
    above = PurePosixPath(folder.path).parent
    if above.name == SEGMENTS and above.parent.name.startswith("run-"):
        return "the events are gone from the state; sketch their logs: cepctl ingest LOGS -o EVENTS --sketch"
    return f"make it with: cepctl sketch {str(folder).removesuffix('.sketch')}"


def damaged(folder: SketchFolder, name: str) -> SketchError:
    """What is said of a sketch whose file has other bytes than were written."""
    return SketchError(f"{folder}: the sketch is damaged ({name}); {remedy(folder)}")


def _manifest(said: Mapping[str, Any]) -> Manifest:
    indexed = Indexed(tuple(said["indexed"]["values"]), tuple(said["indexed"]["ranges"]))
    datasets = tuple(
        SketchedDataset(**{**each, "parts": tuple(map(_part, each["parts"]))}) for each in said["datasets"]
    )
    files = {
        name: SketchFile(
            each["size"],
            each["footer"],
            Blocks(**{column: tuple(held) for column, held in each["blocks"].items()}),
        )
        for name, each in said["files"].items()
    }
    return Manifest(indexed, datasets, tuple(said["sections"]), said["distinct"], files)


def _part(said: Mapping[str, Any]) -> SketchedPart:
    return SketchedPart(**{**said, "identity": PartIdentity(**said["identity"])})
