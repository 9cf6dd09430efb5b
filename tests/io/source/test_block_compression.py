"""Spark's framings of lz4 and snappy: unpacked block by block, and damage loses only what follows it."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from cepctl.io.formats import open_bytes
from cepctl.io.source.block_compression import LZ4_MAGIC, SNAPPY_MAGIC

PIECES = [b"event_type,time\n", b"A,5\n" * 5_000, b"B,7\n"]
TEXT = b"".join(PIECES)


def lz4_block(data: bytes, *, stored: bool = False) -> bytes:
    packed = data if stored else pa.Codec("lz4_raw").compress(data, asbytes=True)
    return struct.pack("<8sBiii", LZ4_MAGIC, 0x16 if stored else 0x26, len(packed), len(data), 7) + packed


def lz4(pieces: list[bytes]) -> bytes:
    blocks = [lz4_block(piece, stored=len(piece) < 20) for piece in pieces]
    return b"".join(blocks) + lz4_block(b"", stored=True)


def snappy(pieces: list[bytes]) -> bytes:
    blocks = [pa.Codec("snappy").compress(piece, asbytes=True) for piece in pieces]
    return SNAPPY_MAGIC + bytes(8) + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


def unpacked(data: bytes) -> tuple[bytes, str | None]:
    with open_bytes(data, "log") as log:
        return log.stream.read(), log.damage


@pytest.mark.parametrize("pack", [lz4, snappy])
def test_files_are_unpacked_also_several_of_them_joined(pack: object) -> None:
    assert callable(pack)
    assert unpacked(pack(PIECES)) == (TEXT, None)
    assert unpacked(pack(PIECES) + pack([*PIECES[1:], b""])) == (TEXT + TEXT[len(PIECES[0]) :], None)


@pytest.mark.parametrize("pack", [lz4, snappy])
def test_a_file_that_ends_too_early_keeps_the_blocks_before(pack: object) -> None:
    assert callable(pack)
    found, damage = unpacked(pack(PIECES)[:-30])
    assert damage
    assert TEXT.startswith(found)
    assert len(found) >= len(PIECES[0])


@pytest.mark.parametrize(
    "data",
    [
        LZ4_MAGIC + bytes([0x26]) + struct.pack("<iii", 4, 1 << 30, 0) + b"1234",
        LZ4_MAGIC + bytes([0x26]) + struct.pack("<iii", -1, 5, 0),
        LZ4_MAGIC + bytes([0x77]) + struct.pack("<iii", 4, 5, 0) + b"1234",
        SNAPPY_MAGIC + bytes(8) + b"\x00\x00\x00\x05\xff\xff\xff\xff\x7f",
        SNAPPY_MAGIC + bytes(8) + b"\x7f\xff\xff\xff",
        (SNAPPY_MAGIC + bytes(8)) * 5_000 + b"\0",
    ],
)
def test_a_block_that_claims_too_much_is_damage_and_takes_no_memory(data: bytes) -> None:
    found, damage = unpacked(data)
    assert (found, bool(damage)) == (b"", True)
