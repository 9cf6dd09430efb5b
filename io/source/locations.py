"""Where input lies: files, directories and globs on any filesystem that Arrow knows.

A location is a plain path of this machine or a URI (`file:`, `hdfs:`, `s3:`, `gs:`).
"""

from __future__ import annotations

import difflib
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from cepctl.atomic.replacing import restore
from cepctl.errors import LogFormatError
from cepctl.io.source.directories import SKETCH, entries_below, is_hidden, kind_of, wrong_in_name

_GLOB = re.compile(r"[*?\[]")
_MOST_COMPARED = 1_000
"""Names of a folder among which the one is looked for that may have been meant."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """Bytes `start` .. `stop` - 1 of a file, with `header` before them."""

    start: int
    stop: int
    header: bytes = b""

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class RowGroupPart:
    """Row groups `first` .. `stop` - 1 of a Parquet file, which take `size` bytes of it."""

    first: int
    stop: int
    size: int


class PartBytes(io.RawIOBase):
    """The bytes of a part of an open Arrow file.

    `file`: stands anywhere; nobody else may read it meanwhile.
    """

    def __init__(self, file: Any, part: FilePart) -> None:
        super().__init__()
        self._file = file
        self._before = part.header
        self._left = part.stop - part.start
        file.seek(part.start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._before:
            piece, self._before = self._before[: len(buffer)], self._before[len(buffer) :]
            buffer[: len(piece)] = piece
            return len(piece)
        count = int(self._file.readinto(memoryview(buffer)[: self._left]))
        self._left -= count
        return count


_OF_THIS_PROCESS = ("/dev/fd/", "/dev/stdin", "/proc/")


def is_pipe(path: Path) -> bool:
    """Whether a path of this machine is such a one; devices are not, but for terminals and /dev/null."""
    place = path.absolute()
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    if stat.S_ISCHR(mode):
        return str(place) == os.devnull or _is_terminal(place)
    if stat.S_ISREG(mode):
        return str(place).startswith(_OF_THIS_PROCESS)
    return stat.S_ISFIFO(mode)


def _is_terminal(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_WILDCARD = re.compile(r"[*?\[]")


def first_line(problem: Exception) -> str:
    """What went wrong, without the list of all that was tried that Arrow appends."""
    return str(problem).strip().partition("\n")[0] or type(problem).__name__


@dataclass(frozen=True, slots=True)
class Location:
    """A file or directory, by absolute path or URI."""

    uri: str

    @classmethod
    def of(cls, text: str) -> Location:
        """The location that a user wrote; a relative path is relative to the working directory."""
        return cls(text if _SCHEME.match(text) else str(Path(text).absolute()))

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, where reading needs no connection and no threads."""
        return not _SCHEME.match(self.uri) or self.uri.startswith("file:")

    def resolve(self) -> tuple[fs.FileSystem, str]:
        """The filesystem and the path on it.

        Raises
        ------
        LogFormatError
            If the scheme is unknown, or the path is not UTF-8, as those of Arrow are.
        """
        if (wrong := wrong_in_name(self.uri)) is not None:
            shown = self.uri.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in shown)
            raise LogFormatError(f"{shown}: this name {wrong}; rename it")
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


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read and its name: the path below the PATH argument, which made-up ids begin with.

    A file that was `found` in a directory or by a glob was not named by the user.  Where it is the rest of a
    log, `records_before` is how many records stood before it, `id_name` what its ids begin with, and `format`
    and `time_forms` (ReadReport of io/contract) are those of the log, which its rest alone may not tell.
    Where only a `part` of it is meant, `lines_before` are to be added to the lines of that.  `size` is in
    bytes, `modified` when it was last changed, in microseconds since 1970, where they are known.
    `left_out` says why it is not read, as it is not a file, `damage` what is wrong, behind it, with the
    archive that it was taken from.
    """

    location: Location
    name: str
    found: bool = False
    id_name: str | None = None
    records_before: int = 0
    format: str | None = None
    part: FilePart | RowGroupPart | None = None
    lines_before: int = 0
    time_forms: tuple[tuple[str, str], ...] = ()
    size: int | None = field(default=None, compare=False)
    modified: int | None = field(default=None, compare=False)
    left_out: str | None = None
    damage: str | None = None


def list_inputs(paths: Sequence[str], *, follow_links: bool = False) -> tuple[InputFile, ...]:
    """All files that PATHs (files, directories, globs) name, each once, in order of their names.

    In directories, names that begin with `_` or `.` are passed over, except gmetad's folders of
    summaries, and so are sketches (`*.sketch`).  Links in directories are followed once, those that lead
    out of them with `follow_links` alone; what is not a file is listed with the reason for which it is left
    out.

    Raises
    ------
    LogFormatError
        If a PATH names nothing, or if two different files would get the same name.
    """
    found: dict[str, InputFile] = {}
    for path in paths:
        files = list(_files(path, follow_links))
        if not files:
            raise LogFormatError(f"no input at {path}: {_why_none(path)}")
        for file in files:
            place = real_uri(file.location) if file.left_out is None else f"left out: {file.location.uri}"
            first = found.setdefault(place, file)
            if first.found and not file.found:
                found[place] = replace(first, found=False)
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
        return f"there is no such file, directory or match{_nearest(filesystem, path)}"
    if isinstance(filesystem, fs.LocalFileSystem):
        held = [(bool(names), bool(folders)) for _, folders, names in os.walk(path)]
        some, files = any(map(any, held)), any(names for names, _ in held)
    else:
        entries = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
        some, files = bool(entries), any(entry.type is fs.FileType.File for entry in entries)
    if files:
        return "the directory holds only files that are passed over, whose names begin with _ or ."
    return "the directory holds only directories without files" if some else "the directory is empty"


def _nearest(filesystem: fs.FileSystem, path: str) -> str:
    """What may have been meant by a path of this machine that names nothing: a name like it in its folder."""
    missing = Path(path)
    if not isinstance(filesystem, fs.LocalFileSystem) or _GLOB.search(missing.name):
        return ""
    try:
        names = [entry.name for entry in islice(os.scandir(missing.parent), _MOST_COMPARED)]
    except OSError:
        return ""
    near = difflib.get_close_matches(missing.name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def real_uri(location: Location) -> str:
    """What tells a file from all others, however it is named: on this machine its path without links."""
    return location.uri if _SCHEME.match(location.uri) else os.path.realpath(location.uri)


def _path(location: Location) -> Path:
    return Path(location.uri)


def is_stream(text: str) -> bool:
    """Whether a PATH names what can be read once, by this process alone, as `is_pipe` says it."""
    return not _SCHEME.match(text) and is_pipe(Path(text))


def _files(text: str, follow_links: bool) -> Iterator[InputFile]:
    location = Location.of(text)
    filesystem, path = location.resolve()
    if isinstance(filesystem, fs.LocalFileSystem) and not os.path.lexists(path):
        restore(Path(path))
    info = _info(filesystem, path)
    kind = info.type
    if kind is fs.FileType.File:
        yield InputFile(location, PurePosixPath(path).name, size=info.size, modified=_modified(info))
    elif kind is fs.FileType.Directory:
        if path.rstrip("/").endswith(SKETCH) and _info(filesystem, f"{path}/sketch.json").is_file:
            raise LogFormatError(f"{text} is a sketch, which holds no events; cepctl probe asks it")
        yield from _below(location, filesystem, path, follow_links)
    elif _WILDCARD.search(path):
        yield from _matches(location, filesystem, path, follow_links)
    elif isinstance(filesystem, fs.LocalFileSystem) and Path(path).exists():
        raise LogFormatError(f"{text} is {kind_of(Path(path).stat().st_mode)}, not a log")


def _info(filesystem: fs.FileSystem, path: str) -> fs.FileInfo:
    try:
        return filesystem.get_file_info(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise LogFormatError(f"cannot read {path}: {first_line(problem)}") from problem


def _modified(info: fs.FileInfo) -> int | None:
    return None if info.mtime_ns is None else int(info.mtime_ns) // 1_000


def _below(
    location: Location,
    filesystem: fs.FileSystem,
    directory: str,
    follow_links: bool,
    is_named: Callable[[str], bool] = lambda name: False,
) -> Iterator[InputFile]:
    if isinstance(filesystem, fs.LocalFileSystem):
        for own in entries_below(directory, follow_links=follow_links, is_named=is_named):
            place, modified = location.beside(own.path), own.modified or None
            yield InputFile(place, own.name, True, size=own.size, modified=modified, left_out=own.left_out)
        return
    for entry in filesystem.get_file_info(fs.FileSelector(directory, recursive=True)):
        name = PurePosixPath(entry.path).relative_to(directory)
        passed_over = any(map(is_hidden, name.parts)) or any(
            each.endswith(SKETCH) for each in name.parts[:-1]
        )
        if entry.type is fs.FileType.File and not passed_over:
            place = location.beside(entry.path)
            yield InputFile(place, str(name), found=True, size=entry.size, modified=_modified(entry))


def _matches(
    location: Location, filesystem: fs.FileSystem, pattern: str, follow_links: bool
) -> Iterator[InputFile]:
    """Files that match a glob, and the files below directories that do.

    A link that matches, or stands where one of the glob's directories does, is named as by a shell.
    """
    parts = PurePosixPath(pattern).parts
    fixed = next(number for number, part in enumerate(parts) if _WILDCARD.search(part))
    base = str(PurePosixPath(*parts[:fixed])) if fixed else "."
    wanted = _glob(parts[fixed:])
    if _info(filesystem, base).type is not fs.FileType.Directory:
        return
    steps_of = parts[fixed:]
    plain = next((number for number, part in enumerate(steps_of) if part == "**"), len(steps_of))
    leading = [_glob(steps_of[: number + 1]) for number in range(plain)]

    def is_named(name: str) -> bool:
        return any(each.fullmatch(name) for each in (*leading, wanted))

    for file in _below(location, filesystem, base, follow_links, is_named):
        steps = PurePosixPath(file.name).parts
        # What could match lies below it, and nobody can look.
        unseen = file.left_out is not None and plain < len(steps_of) and _path(file.location).is_dir()
        if unseen or any(wanted.fullmatch("/".join(steps[: number + 1])) for number in range(len(steps))):
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
