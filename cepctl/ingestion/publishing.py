"""Where a dataset is written, how it gets to its place, and what it may replace there: a dataset alone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.atomic.files import real_place
from cepctl.atomic.folders import folder_beside
from cepctl.atomic.replacing import NEW, OLD, put_in_place, restore
from cepctl.datasets.marker import SUCCESS, is_part_name
from cepctl.errors import CepctlError, JobError, UsageError
from cepctl.io.source.locations import Location
from cepctl.schema import META_TIME_UNIT

_CHUNKS = "chunks"


def refuse_existing(target: Location, *, overwrite: bool) -> None:
    """Refuse to write a dataset over what is there; with `overwrite`, over what is not a dataset.

    Raises
    ------
    UsageError
        If something is there that may not be replaced.
    """
    filesystem, path = target.resolve()
    if isinstance(filesystem, fs.LocalFileSystem):
        restore(real_place(Path(path)))
    kind = filesystem.get_file_info(path).type
    if kind is fs.FileType.NotFound:
        return
    if not overwrite:
        raise UsageError(f"{target.uri} exists; choose another output, or replace it with --overwrite")
    if kind is not fs.FileType.Directory:
        raise UsageError(f"{target.uri} is not an event dataset, so --overwrite does not replace it")
    entries = filesystem.get_file_info(fs.FileSelector(path))
    foreign = next((entry.base_name for entry in entries if not _is_ours(entry, filesystem)), None)
    if foreign is None and entries and not any(is_part_name(entry.base_name) for entry in entries):
        foreign = SUCCESS
    if foreign is not None:
        raise UsageError(
            f"{target.uri} is not an event dataset, so --overwrite does not replace it: it holds {foreign}, "
            "which cepctl has not written; move that away, or choose another output"
        )


def _is_ours(entry: fs.FileInfo, filesystem: fs.FileSystem) -> bool:
    """Whether an entry of a folder is of a dataset of events, or a checksum that Hadoop keeps of such."""
    name = entry.base_name
    if entry.type is not fs.FileType.File:
        return False
    if name == SUCCESS:
        return bool(entry.size == 0)
    if name.startswith(".") and name.endswith(".crc"):
        return name[1:-4] == SUCCESS or is_part_name(name[1:-4])
    if not name.endswith(".parquet"):
        return False
    try:
        metadata = pq.read_schema(entry.path, filesystem=filesystem).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return META_TIME_UNIT in metadata


@contextmanager
def aside(target: Location) -> Iterator[tuple[Location, Location]]:
    """Directories beside the target for chunks and for the finished dataset; gone afterwards.

    Raises
    ------
    JobError
        If they cannot be written.
    """
    filesystem, path = target.resolve()
    try:
        if isinstance(filesystem, fs.LocalFileSystem):
            with folder_beside(real_place(Path(path))) as folder:
                yield _made(target, str(folder))
        else:
            yield from _aside_on(filesystem, target, path)
    except CepctlError:
        raise
    except OSError as problem:
        raise JobError(f"cannot write {target.uri}: {problem}") from problem


def _aside_on(filesystem: fs.FileSystem, target: Location, path: str) -> Iterator[tuple[Location, Location]]:
    """As `aside`, where there are no locks: what a killed run leaves stays, under a hidden name."""
    place = PurePosixPath(path)
    base = str(place.with_name(f".{place.name}.partial-{uuid.uuid4().hex[:12]}"))
    try:
        yield _made(target, base)
    finally:
        if filesystem.get_file_info(base).type is fs.FileType.Directory:
            filesystem.delete_dir(base)


def _made(target: Location, base: str) -> tuple[Location, Location]:
    filesystem, _ = target.resolve()
    for name in (_CHUNKS, NEW):
        filesystem.create_dir(f"{base}/{name}", recursive=True)
    return target.beside(f"{base}/{_CHUNKS}"), target.beside(f"{base}/{NEW}")


def publish(events: Location, target: Location, *, overwrite: bool) -> None:
    """Put the finished dataset in its place; an old one is only deleted once the new one is there.

    Raises
    ------
    UsageError
        If something has come there meanwhile that may not be replaced.
    """
    refuse_existing(target, overwrite=overwrite)
    filesystem, source = events.resolve()
    _, path = target.resolve()
    path = path.rstrip("/")
    if isinstance(filesystem, fs.LocalFileSystem):
        put_in_place(Path(source).parent, real_place(Path(path)))
        return
    if filesystem.get_file_info(path).type is fs.FileType.NotFound:
        filesystem.move(source, path)
        return
    old = str(PurePosixPath(source).with_name(OLD))
    filesystem.move(path, old)
    filesystem.move(source, path)
    filesystem.delete_dir(old)
