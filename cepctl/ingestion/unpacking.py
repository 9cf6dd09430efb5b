"""Archives of several files as those files, each with its own name, format and account.

A member is called ARCHIVE/NAME, as if the archive were a folder; what is passed over in folders is passed
over here, too.  Members are copied, in one pass, to files whose names are numbers: what an archive calls
them leads nowhere.  So are large files that are packed by themselves, where there are fewer of them than can
be read at once: parts of the copy are read side by side.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath

from pyarrow import fs

from cepctl.errors import LogFormatError
from cepctl.io.formats import open_log, open_members
from cepctl.io.source.archives import Member
from cepctl.io.source.directories import is_hidden
from cepctl.io.source.locations import InputFile, Location

LEAST_PACKED_BYTES, MOST_PACKED_BYTES = 4 << 20, 256 << 20
"""Others are unpacked as they are read: to copy a huge one would take long, and nothing is told meanwhile."""
_PIECE_BYTES = 1 << 20
_MOST_MEMBERS = 100_000
_SHARE_OF_DISK = 0.5
_REMEDY = "unpack it, and name the folder"
_NO_TEXT = re.compile("[\ud800-\udfff]")


def unpacked(files: Sequence[InputFile], scratch: Location, at_once: int = 1) -> list[InputFile]:
    """The files by name, and for each archive of several its members; those of one file are left as they are.

    Where more can be read `at_once` than there are files, large ones are plain copies of what was packed.

    Raises
    ------
    LogFormatError
        If a file that was named cannot be opened, or is an archive that cannot be unpacked.
    """
    found: list[InputFile] = []
    for number, file in enumerate(files):
        if file.left_out is not None or file.part is not None:
            found.append(file)
            continue
        try:
            members = _Archive(file, scratch, number).files()
            found += (
                [_plain(file, scratch, number)] if members == [file] and len(files) < at_once else members
            )
        except LogFormatError as problem:
            if not file.found:
                raise
            found.append(replace(file, left_out=str(problem)))
    return sorted(found, key=lambda file: file.name)


def _plain(file: InputFile, scratch: Location, number: int) -> InputFile:
    """A copy of what is packed in a file; the file if it is plain, small, huge or damaged, or has no room."""
    if not LEAST_PACKED_BYTES <= (file.size or 0) <= MOST_PACKED_BYTES or not scratch.is_local:
        return file
    filesystem, directory = scratch.resolve()
    path, room, size = f"{directory}/unpacked-{number}", _room_on_disk(scratch), 0
    with open_log(file.location) as log:
        if log.stream.seekable():
            return file
        with filesystem.open_output_stream(path) as copy:
            while size < room and (piece := log.stream.read(_PIECE_BYTES)):
                copy.write(piece)
                size += len(piece)
        if size < room and log.damage is None:
            return replace(file, location=scratch.beside(path), size=size)
    filesystem.delete_file(path)
    return file


def _room_on_disk(scratch: Location) -> float:
    """How many bytes copies may take."""
    filesystem, directory = scratch.resolve()
    local = isinstance(filesystem, fs.LocalFileSystem)
    return shutil.disk_usage(directory).free * _SHARE_OF_DISK if local else float("inf")


@dataclass
class _Archive:
    """A file that may be an archive, and what has been taken of it."""

    file: InputFile
    scratch: Location
    number: int
    members: list[InputFile] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    taken: int = 0
    room: float = field(init=False)

    def __post_init__(self) -> None:
        self.room = _room_on_disk(self.scratch)

    def files(self) -> list[InputFile]:
        """The members, or the file itself where there are not several of them."""
        with open_members(self.file.location) as members:
            if members is None:
                return [self.file]
            try:
                for member in members:
                    self._take(member)
            except (OSError, EOFError) as problem:
                if getattr(problem, "errno", None) is not None:
                    raise LogFormatError(f"cannot unpack {self.file.name}: {problem}; {_REMEDY}") from problem
                if not self.members:
                    raise LogFormatError(f"{self.file.name}: {problem}") from None
                self._note_damage(str(problem))
        self.members = [_without_archives(each) for each in self.members]
        if len(self.members) == 1 and self.taken == 1:
            return [replace(self.members[0], name=self.file.name, found=self.file.found)]
        return self.members or [self.file]

    def _note_damage(self, problem: str) -> None:
        """The archive is damaged in its last member, of which something may have come before."""
        last = self.members[-1]
        if last.size:
            self.members[-1] = replace(last, damage=problem)
        else:
            left_out = f"{last.name}: the archive is damaged from here on: {problem}"
            self.members[-1] = replace(last, left_out=left_out)

    def _take(self, member: Member) -> None:
        self.taken += 1
        if self.taken > _MOST_MEMBERS:
            raise LogFormatError(
                f"{self.file.name}: an archive of more than {_MOST_MEMBERS:,} files; {_REMEDY}"
            )
        if any(map(is_hidden, _steps(member.name))):
            return
        filesystem, directory = self.scratch.resolve()
        folder = f"{directory}/archive-{self.number}"
        filesystem.create_dir(folder)
        path = f"{folder}/{len(self.members):06d}"
        self.members.append(InputFile(self.scratch.beside(path), self._name(member.name), found=True))
        with filesystem.open_output_stream(path) as copy:
            for piece in member.pieces:
                self._require_room(len(piece))
                copy.write(piece)
                self.members[-1] = replace(self.members[-1], size=(self.members[-1].size or 0) + len(piece))

    def _require_room(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise LogFormatError(
                f"{self.file.name}: its unpacked content takes more than half of the free disk space; "
                f"{_REMEDY}"
            )

    def _name(self, written: str) -> str:
        # What is no UTF-8 in it is shown as U+FFFD: the copy has a name of its own.
        name = _NO_TEXT.sub("\ufffd", "/".join([self.file.name, *_steps(written)]))
        name = next(each for each in _numbered(name) if each not in self.names)
        self.names.add(name)
        return name


def _without_archives(member: InputFile) -> InputFile:
    """The member, left out where it is an archive of several files itself: those may lie ever deeper."""
    if member.left_out is not None:
        return member
    with open_members(member.location) as inside, suppress(OSError, EOFError):
        if inside is not None and len(list(islice(inside, 2))) == 2:
            return replace(member, left_out=f"{member.name}: an archive in an archive; {_REMEDY}")
    return member


def _steps(written: str) -> list[str]:
    """The parts of a name in an archive, none of which leads out of it."""
    return [part for part in PurePosixPath(written.replace("\\", "/")).parts if part not in ("/", "..")]


def _numbered(name: str) -> Iterator[str]:
    """The name, then name@2, name@3, ..."""
    yield name
    number = 2
    while True:
        yield f"{name}@{number}"
        number += 1
