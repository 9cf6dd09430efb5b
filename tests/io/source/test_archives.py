"""xz, and archives of one file, read as that file; a stream of several is refused."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.formats import open_bytes
from cepctl.io.source.archives import tar_members, zip_members

TEXT = b"event_type,time\n" + b"A,5\n" * 50_000


def zipped(*files: tuple[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("logs")
        for name, data in files:
            archive.writestr(f"logs/{name}", data)
    return sink.getvalue()


def tarred(*files: tuple[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        folder = tarfile.TarInfo("logs")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in files:
            member = tarfile.TarInfo(f"logs/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return sink.getvalue()


def unpacked(data: bytes) -> tuple[bytes, bytes, str | None]:
    with open_bytes(data, "a/b.bin") as log:
        return log.head, log.stream.read(), log.damage


ONE = ("a.csv", TEXT)
PACKED = {
    "xz": lzma.compress(TEXT),
    "xz, two streams": lzma.compress(TEXT[:100]) + bytes(8) + lzma.compress(TEXT[100:]),
    "zip": zipped(ONE),
    "tar": tarred(ONE),
    "tar.gz": gzip.compress(tarred(ONE)),
    "tar.xz": lzma.compress(tarred(ONE)),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_file_is_read_as_what_is_in_it(name: str) -> None:
    assert unpacked(PACKED[name]) == (TEXT[: 1 << 16], TEXT, None)


@pytest.mark.parametrize("name", ["xz", "tar", "tar.gz"])
def test_what_is_cut_short_keeps_what_came_before_and_says_so(name: str) -> None:
    data = PACKED[name]
    _, found, damage = unpacked(data[: len(data) * 2 // 3])
    assert damage
    assert TEXT.startswith(found)
    assert found


SMALL = [(name, b"event_type,time\n" + name.encode() + b",5\n") for name in "abc"]


def members(data: bytes) -> list[bytes] | None:
    """What is in an archive; None where it is called damaged."""
    found = zip_members if data.startswith(b"PK") else tar_members
    try:
        return [b"".join(member.pieces) for member in found(io.BytesIO(data))]
    except (OSError, EOFError):
        return None


@pytest.mark.parametrize("data", [zipped(*SMALL), tarred(*SMALL)], ids=["zip", "tar"])
def test_no_flipped_bit_hides_files_of_an_archive(data: bytes) -> None:
    whole = [text for _, text in SMALL]
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        left = members(bytes(flipped))
        assert left is None or [len(each) for each in left] == [len(each) for each in whole], place


def test_a_file_without_a_name_is_no_reason_to_stop() -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a", TEXT)
    entry = bytearray(sink.getvalue())
    # In the directory, the length of the name, and that of what comes after it: "a" is no longer the name.
    place = entry.index(b"PK\x01\x02")
    entry[place + 28], entry[place + 30] = 0, 1
    with pytest.raises(LogFormatError, match="a damaged zip archive"):
        unpacked(bytes(entry))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (tarred(*SMALL)[: 7 * 512], "empty header where a file or the end should be"),
        (tarred(*SMALL) + tarred(*SMALL), "something comes after its end"),
    ],
    ids=["without an end", "two in one"],
)
def test_a_tar_archive_ends_where_it_says(data: bytes, said: str) -> None:
    with pytest.raises(OSError, match=said):
        list(tar_members(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            zipped(ONE, ("b.csv", b"x")),
            r"a/b\.bin: a zip archive with logs/a\.csv, logs/b\.csv, \.\.\.; "
            r"unpack it \(unzip b\.bin -d FOLDER\)",
        ),
        (zipped(), r"a zip archive without a file"),
        (tarred(ONE, ("b.csv", b"x")), r"a tar archive with .*; unpack it \(tar -xf b\.bin -C FOLDER\)"),
        (b"PK\x03\x04" + bytes(40), "a damaged zip archive"),
    ],
)
def test_an_archive_that_is_not_one_file_is_refused_with_what_to_do(data: bytes, message: str) -> None:
    with pytest.raises(LogFormatError, match=message):
        unpacked(data)
