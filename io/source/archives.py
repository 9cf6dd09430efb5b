"""xz, and archives: zip and tar, also compressed ones.

An archive of one file is read as that file.  One of several holds logs with formats and names of their own:
an ingest takes its members one by one; where a single stream is asked for, it is refused.
"""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from tarfile import ReadError
from typing import IO, Protocol

from cepctl.errors import LogFormatError

XZ_MAGIC = b"\xfd7zXZ\x00"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MARK, _TAR_PLACE = b"ustar", 257
TAR_HEAD_BYTES = _TAR_PLACE + len(_TAR_MARK)
_XZ_MEMORY = 256 << 20
_READ_BYTES = 1 << 16
_ENCRYPTED = 0x1
_PADDING = b"\0" * 4
# The record that ends a zip archive: of its 22 bytes, the number of entries stands at the tenth.
_ZIP_END = struct.Struct("<10sH10x")
_COUNTED_ELSEWHERE = 0xFFFF
_ZIP_PROBLEMS = (zipfile.BadZipFile, NotImplementedError, zlib.error, ValueError, OverflowError)
# How documents of office programs, of OpenDocument and archives of Java begin.
_PACKED_PROGRAMS = ("[Content_Types].xml", "mimetype", "META-INF/")


class Plain(Protocol):
    """Bytes as they were before they were packed."""

    def read1(self, size: int, /) -> bytes: ...


class XzStream:
    """The plain bytes of xz, of one stream or several; raises EOFError or OSError where it is damaged."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def read1(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while True:
            packed = b""
            if self._decoder.eof:
                packed = self._next_stream()
                if not packed:
                    return b""
            elif self._decoder.needs_input:
                packed = self._file.read(_READ_BYTES)
                if not packed:
                    raise EOFError("the compressed data ends too early")
            try:
                plain = self._decoder.decompress(packed, size)
            except lzma.LZMAError as problem:
                raise OSError(f"damaged xz: {problem}") from None
            if plain:
                return plain

    read = read1

    def _next_stream(self) -> bytes:
        rest = self._decoder.unused_data or self._file.read(_READ_BYTES)
        while rest.startswith(_PADDING):
            rest = rest.lstrip(b"\0") or self._file.read(_READ_BYTES)
        if rest:
            self._decoder = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        return rest


class ZipStream:
    """The plain bytes of a file in a zip archive; raises EOFError or OSError where it is damaged."""

    def __init__(self, file: IO[bytes]) -> None:
        self._pieces = _pieces(file, "zip")

    def read1(self, size: int) -> bytes:
        """At most `size` bytes (never more than a piece); none at the end."""
        return next(self._pieces, b"")

    read = read1


def zip_stream(file: IO[bytes], name: str) -> ZipStream:
    """The one file of a zip archive.

    Raises
    ------
    LogFormatError
        If the archive holds several files, none, or one that cannot be unpacked.
    """
    try:
        archive, inside = _zip_files(file)
        _require_one(
            [each.filename for each in inside], name, "zip archive", f"unzip {_last(name)} -d FOLDER"
        )
        if inside[0].flag_bits & _ENCRYPTED:
            raise LogFormatError(f"{name}: the zip archive is encrypted; unpack it")
        return ZipStream(archive.open(inside[0]))
    except (*_ZIP_PROBLEMS, EOFError, OSError) as problem:
        if getattr(problem, "errno", None) is not None:
            raise
        raise LogFormatError(
            f"{name}: a damaged zip archive, or one of a kind that is not read: {problem}"
        ) from None


def _zip_files(file: IO[bytes]) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """A zip archive and its files; raises BadZipFile where its directory lists fewer entries than it says."""
    archive = zipfile.ZipFile(file)
    said = _zip_count(file, len(archive.comment))
    if said not in (len(archive.infolist()), _COUNTED_ELSEWHERE):
        raise zipfile.BadZipFile(f"{said} entries announced, {len(archive.infolist())} listed")
    return archive, [each for each in archive.infolist() if not each.filename.endswith("/")]


def _zip_count(file: IO[bytes], comment_bytes: int) -> int:
    """How many entries the end of a zip archive says that there are."""
    file.seek(-comment_bytes - _ZIP_END.size, io.SEEK_END)
    _, count = _ZIP_END.unpack(file.read(_ZIP_END.size))
    return int(count)


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive."""
    return head[_TAR_PLACE:TAR_HEAD_BYTES] == _TAR_MARK


class _Header(tarfile.TarInfo):
    """A header of a tar archive: without this, a damaged one ends the archive as if nothing came after it."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as problem:
            if buf and not any(buf):
                raise
            raise ReadError(f"{problem} where a file or the end should be") from None


def _require_end(archive: tarfile.TarFile) -> None:
    """Raises ReadError where something comes after the end of a tar archive."""
    while rest := archive.fileobj.read(_READ_BYTES):
        if rest.strip(b"\0"):
            raise ReadError(f"something comes after its end, from byte {archive.offset:,} on")


class TarStream:
    """The one file of a tar archive; that there is no other shows at its end."""

    def __init__(self, packed: IO[bytes], name: str) -> None:
        self._name = name
        self._pieces = self._read(packed)

    def read1(self, size: int) -> bytes:
        """At most `size` bytes (never more than a piece); none at the end."""
        return next(self._pieces, b"")

    read = read1

    def _read(self, packed: IO[bytes]) -> Iterator[bytes]:
        found: list[str] = []
        try:
            with tarfile.open(fileobj=packed, mode="r|", tarinfo=_Header) as archive:
                for member in archive:
                    if not member.isfile():
                        continue
                    found.append(member.name)
                    if len(found) > 1:
                        break
                    file = archive.extractfile(member)
                    while file is not None and (piece := file.read(_READ_BYTES)):
                        yield piece
                else:
                    _require_end(archive)
        except (tarfile.TarError, zlib.error, ValueError, OverflowError) as problem:
            raise OSError(f"damaged tar: {problem}") from None
        _require_one(found, self._name, "tar archive", f"tar -xf {_last(self._name)} -C FOLDER")


@dataclass(frozen=True)
class Member:
    """A file in an archive: its name there, and its bytes in pieces, to be taken before the next member."""

    name: str
    pieces: Iterator[bytes]


def zip_members(file: IO[bytes]) -> Iterator[Member]:
    """The files of a zip archive; none where it holds one, or is a document or a program packed as zip.

    Raises OSError where it is damaged, encrypted, or of a kind that is not read.
    """
    try:
        archive, inside = _zip_files(file)
        if len(inside) < 2 or inside[0].filename.startswith(_PACKED_PROGRAMS):
            return
        if any(each.flag_bits & _ENCRYPTED for each in inside):
            raise OSError("the zip archive is encrypted; unpack it")
        for each in inside:
            with archive.open(each) as opened:
                yield Member(each.filename, _pieces(opened, "zip"))
    except (*_ZIP_PROBLEMS, EOFError) as problem:
        raise OSError(f"damaged zip, or one of a kind that is not read: {problem}") from None


def tar_members(packed: IO[bytes]) -> Iterator[Member]:
    """The files of a tar archive, in their order; raises OSError or EOFError where it is damaged."""
    try:
        with tarfile.open(fileobj=packed, mode="r|", tarinfo=_Header) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    yield Member(member.name, _pieces(file, "tar"))
            _require_end(archive)
    except (tarfile.TarError, zlib.error, ValueError, OverflowError) as problem:
        raise OSError(f"damaged tar: {problem}") from None


def _pieces(file: IO[bytes], kind: str) -> Iterator[bytes]:
    """The bytes of a member; raises OSError or EOFError where they are damaged."""
    try:
        while piece := file.read(_READ_BYTES):
            yield piece
    except (tarfile.TarError, *_ZIP_PROBLEMS) as problem:
        raise OSError(f"damaged {kind}: {problem}") from None


def _require_one(names: list[str], name: str, kind: str, unpack: str) -> None:
    if len(names) == 1:
        return
    what = f"with {names[0]}, {names[1]}, ..." if names else "without a file"
    raise LogFormatError(f"{name}: a {kind} {what}; unpack it ({unpack}) and name the folder")


def _last(name: str) -> str:
    return name.rpartition("/")[2] or name
