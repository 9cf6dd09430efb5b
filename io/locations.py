"""Where input lies: files, directories and globs on any filesystem that Arrow knows.

A location is a plain path of this machine or a URI (`file:`, `hdfs:`, `s3:`, `gs:`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from cepctl.errors import LogFormatError
from cepctl.io.file_parts import FilePart

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SHOWN = frozenset({"__SummaryInfo__"})
_WILDCARD = re.compile(r"[*?\[]")


def first_line(problem: Exception) -> str:
    """What went wrong, without the list of all that was tried that Arrow appends."""
    return str(problem).strip().partition("\n")[0] or type(problem).__name__


@dataclass(frozen=True)
class Location:
    """A file or directory, by absolute path or URI."""

    uri: str

    @classmethod
    def of(cls, text: str) -> Location:
        """The location that a user wrote; a relative path is relative to the working directory."""
        return cls(text if _SCHEME.match(text) else str(Path(text).absolute()))

    def resolve(self) -> tuple[fs.FileSystem, str]:
        """The filesystem and the path on it; raises LogFormatError for an unknown scheme."""
        if not _SCHEME.match(self.uri):
            return fs.LocalFileSystem(), self.uri
        try:
            filesystem, path = fs.FileSystem.from_uri(self.uri)
        except (pa.ArrowException, OSError) as problem:
            raise LogFormatError(f"cannot open {self.uri}: {first_line(problem)}") from problem
        return filesystem, path

    def beside(self, path: str) -> Location:
        """The location of another path on the same filesystem."""
        if not _SCHEME.match(self.uri):
            return Location(path)
        own = self.resolve()[1]
        for spelling in (str, quote):
            before, found, after = self.uri.rpartition(spelling(own))
            if found:
                return Location(f"{before}{spelling(path)}{after}")
        raise LogFormatError(f"cannot tell the path in {self.uri}; write it without escapes")


@dataclass(frozen=True)
class InputFile:
    """A file to read and its name: the path below the PATH argument, which made-up ids begin with.

    A file that was `found` in a directory or by a glob was not named by the user.  Where it is the rest of a
    log, `records_before` is how many records stood before it, `id_name` what its ids begin with, and `format`
    that of the log, which its rest alone may not tell.  Where only a `part` of it is meant, `lines_before`
    are to be added to the lines of that.  `size` is in bytes, where it is known.
    """

    location: Location
    name: str
    found: bool = False
    id_name: str | None = None
    records_before: int = 0
    format: str | None = None
    part: FilePart | None = None
    lines_before: int = 0
    size: int | None = field(default=None, compare=False)


def list_inputs(paths: Sequence[str]) -> tuple[InputFile, ...]:
    """All files that PATHs (files, directories, globs) name, each once, in order of their names.

    In directories, names that begin with `_` or `.` are passed over, except gmetad's folders of
    summaries.

    Raises
    ------
    LogFormatError
        If a PATH names nothing, or if two different files would get the same name.
    """
    found: dict[str, InputFile] = {}
    for path in paths:
        files = list(_files(path))
        if not files:
            raise LogFormatError(f"no input at {path}: {_why_none(path)}")
        for file in files:
            first = found.setdefault(file.location.uri, file)
            if first.found and not file.found:
                found[file.location.uri] = replace(first, found=False)
    by_name: dict[str, InputFile] = {}
    for file in found.values():
        other = by_name.setdefault(file.name, file)
        if other is not file:
            raise LogFormatError(
                f"{other.location.uri} and {file.location.uri} would both be called '{file.name}', and "
                "their events could not be told apart; give their common directory instead"
            )
    return tuple(by_name[name] for name in sorted(by_name))


def _why_none(text: str) -> str:
    """Why a PATH names no file to read."""
    filesystem, path = Location.of(text).resolve()
    if _info(filesystem, path).type is not fs.FileType.Directory:
        return "there is no such file, directory or match"
    held = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    if any(entry.type is fs.FileType.File for entry in held):
        return "the directory holds only files that are passed over, whose names begin with _ or ."
    return "the directory is empty" if not held else "the directory holds only directories without files"


def _files(text: str) -> Iterator[InputFile]:
    location = Location.of(text)
    filesystem, path = location.resolve()
    info = _info(filesystem, path)
    kind = info.type
    if kind is fs.FileType.File:
        yield InputFile(location, PurePosixPath(path).name, size=info.size)
    elif kind is fs.FileType.Directory:
        yield from _below(location, filesystem, path)
    elif _WILDCARD.search(path):
        yield from _matches(location, filesystem, path)


def _info(filesystem: fs.FileSystem, path: str) -> fs.FileInfo:
    try:
        return filesystem.get_file_info(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise LogFormatError(f"cannot read {path}: {first_line(problem)}") from problem


def _below(location: Location, filesystem: fs.FileSystem, directory: str) -> Iterator[InputFile]:
    for entry in filesystem.get_file_info(fs.FileSelector(directory, recursive=True)):
        name = PurePosixPath(entry.path).relative_to(directory)
        hidden = any(part.startswith(("_", ".")) and part not in _SHOWN for part in name.parts)
        if entry.type is fs.FileType.File and not hidden:
            yield InputFile(location.beside(entry.path), str(name), found=True, size=entry.size)


def _matches(location: Location, filesystem: fs.FileSystem, pattern: str) -> Iterator[InputFile]:
    """Files that match a glob, and the files below directories that do."""
    parts = PurePosixPath(pattern).parts
    fixed = next(number for number, part in enumerate(parts) if _WILDCARD.search(part))
    base = str(PurePosixPath(*parts[:fixed])) if fixed else "."
    wanted = _glob(parts[fixed:])
    if _info(filesystem, base).type is not fs.FileType.Directory:
        return
    for file in _below(location, filesystem, base):
        steps = PurePosixPath(file.name).parts
        if any(wanted.fullmatch("/".join(steps[: number + 1])) for number in range(len(steps))):
            yield file


def _glob(parts: Sequence[str]) -> re.Pattern[str]:
    """A glob as a regular expression over a path: `*` stays within a name, `**` is any directories."""
    text = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            text += ".*" if last else "(?:[^/]+/)*"
        else:
            text += _glob_name(part) + ("" if last else "/")
    return re.compile(text, re.DOTALL)


def _glob_name(part: str) -> str:
    pieces = re.findall(r"\*|\?|\[[!^]?\]?[^\]]*\]|.", part, re.DOTALL)
    return "".join(
        "[^/]*" if piece == "*"
        else "[^/]" if piece == "?"
        else "[" + ("^" if piece[1] in "!^" else "") + piece[1:-1].lstrip("!^").replace("\\", r"\\") + "]"
        if len(piece) > 2
        else re.escape(piece)
        for piece in pieces
    )  # fmt: skip
