"""Where a sketch lies: a folder on any filesystem that Arrow knows, read file by file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from pyarrow import fs

from cepctl.errors import LogFormatError
from cepctl.io.source.locations import Location

Place: TypeAlias = str | os.PathLike[str]
"""A path of this machine, or a URI."""

SUFFIX = ".sketch"
_PIECE = 1 << 24


def place_beside(location: Location) -> str:
    """Where the sketch of a dataset stands, which may still have to be written."""
    _, path = location.resolve()
    return location.beside(path.rstrip("/") + SUFFIX).uri.rstrip("/")


@dataclass(frozen=True)
class SketchFolder:
    """A folder, as messages name it, and the filesystem that it is on.

    Every method but `is_there` raises OSError, or an ArrowException, where what it reads cannot be read.
    """

    uri: str
    filesystem: fs.FileSystem = field(compare=False)
    path: str = field(compare=False)

    @classmethod
    def at(cls, place: Place) -> SketchFolder:
        """The folder at a place; raises LogFormatError where its filesystem is unknown."""
        location = Location.of(os.fspath(place))
        filesystem, path = location.resolve()
        return cls(location.uri.rstrip("/"), filesystem, path.rstrip("/"))

    def __str__(self) -> str:
        return self.uri

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def is_there(self) -> bool:
        """Whether there is such a folder."""
        return self._kind(self.path) is fs.FileType.Directory

    def is_free(self) -> bool:
        """Whether nothing has this name."""
        return self._kind(self.path) is fs.FileType.NotFound

    def holds(self, name: str) -> bool:
        """Whether a file of this name is in it, and no link to one."""
        return not self._is_link(name) and self._kind(self._of(name)) is fs.FileType.File

    def files(self) -> dict[str, int]:
        """What is in it, by name, and how many bytes each has."""
        held = self.filesystem.get_file_info(fs.FileSelector(self.path))
        return {each.base_name: each.size or 0 for each in held}

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        with self.open(name) as file:
            return bytes(file.read())

    def open(self, name: str) -> pa.NativeFile:
        """A file, of which any part can be read; LogFormatError for a link, which may lead anywhere."""
        if self._is_link(name):
            raise LogFormatError(f"{self._of(name)} is a link, and no file of the sketch; make it again")
        return self.filesystem.open_input_file(self._of(name))

    def make(self) -> None:
        """Make it where it is not there."""
        self.filesystem.create_dir(self.path, recursive=True)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self.filesystem.delete_file(self._of(name))

    def copy(self, file: Path) -> None:
        """Write a file of this machine under its own name."""
        with file.open("rb") as held, self.filesystem.open_output_stream(self._of(file.name)) as copied:
            while piece := held.read(_PIECE):
                copied.write(piece)

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        with self.filesystem.open_output_stream(self._of(name)) as file:
            file.write(content)

    def _of(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _is_link(self, name: str) -> bool:
        return self.is_local and Path(self._of(name)).is_symlink()

    def _kind(self, path: str) -> fs.FileType:
        try:
            return self.filesystem.get_file_info(path).type
        except (OSError, pa.ArrowException):
            return fs.FileType.Unknown
