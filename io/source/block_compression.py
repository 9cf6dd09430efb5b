"""The compression of Spark's codecs lz4 and snappy, which are blocks of their own kind and no usual files.

    codec    file
    lz4      blocks: `LZ4Block`, method and level, compressed and plain length, checksum (little-endian), data
    snappy   0x82 `SNAPPY` 0, two versions, then blocks: compressed length (big-endian), data

A block of lz4 with the plain length 0 ends a stream; another may follow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import IO

import pyarrow as pa

LZ4_MAGIC = b"LZ4Block"
SNAPPY_MAGIC = b"\x82SNAPPY\x00"
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_STORED, _LZ4_PACKED = 0x10, 0x20
_SNAPPY_VERSIONS = 8
_LARGEST_BLOCK = 64 << 20
_MOST_VARINT_BYTES = 5


class BlockStream:
    """The plain bytes of such a file, block by block; raises OSError where it is damaged."""

    def __init__(self, file: IO[bytes], block_of: Callable[[IO[bytes]], bytes]) -> None:
        self._file = file
        self._block_of = block_of
        self._ready = b""

    def read1(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while not self._ready:
            self._ready = self._block_of(self._file)
            if not self._ready:
                return b""
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece

    read = read1


def lz4_stream(file: IO[bytes]) -> BlockStream:
    """The plain bytes of a file that begins with LZ4_MAGIC."""
    return BlockStream(file, _lz4_block)


def snappy_stream(file: IO[bytes]) -> BlockStream:
    """The plain bytes of a file that begins with SNAPPY_MAGIC."""
    _exactly(file, len(SNAPPY_MAGIC) + _SNAPPY_VERSIONS)
    return BlockStream(file, _snappy_block)


def _lz4_block(file: IO[bytes]) -> bytes:
    while True:
        header = file.read(_LZ4_HEADER.size)
        if not header:
            return b""
        if len(header) < _LZ4_HEADER.size:
            raise EOFError("the compressed data ends too early")
        magic, token, packed, plain, _ = _LZ4_HEADER.unpack(header)
        if magic != LZ4_MAGIC or not (0 <= packed <= _LARGEST_BLOCK and 0 <= plain <= _LARGEST_BLOCK):
            raise OSError("a block of lz4 is damaged")
        data = _exactly(file, packed)
        if plain == 0:
            continue
        method = token & 0xF0
        if method == _LZ4_STORED and packed == plain:
            return data
        if method != _LZ4_PACKED:
            raise OSError("a block of lz4 is damaged")
        return _decompressed("lz4_raw", data, plain)


def _snappy_block(file: IO[bytes]) -> bytes:
    while header := file.read(4):
        if header == SNAPPY_MAGIC[:4]:
            # Streams one after the other, as files that were joined have them.
            _exactly(file, len(SNAPPY_MAGIC) - 4 + _SNAPPY_VERSIONS)
            continue
        size = int.from_bytes(header, "big")
        if len(header) < 4 or size > _LARGEST_BLOCK:
            raise OSError("a block of snappy is damaged")
        data = _exactly(file, size)
        if plain := _decompressed("snappy", data, _varint(data)):
            return plain
    return b""


def _varint(data: bytes) -> int:
    value = 0
    for place, byte in enumerate(data[:_MOST_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value
    raise OSError("a block of snappy is damaged")


def _decompressed(codec: str, data: bytes, plain: int) -> bytes:
    if plain > _LARGEST_BLOCK:
        raise OSError(f"a block of {codec} is larger than {_LARGEST_BLOCK >> 20} MiB")
    try:
        found = pa.Codec(codec).decompress(data, decompressed_size=plain, asbytes=True)
    except (pa.ArrowException, OSError) as problem:
        raise OSError(f"a block of {codec} is damaged: {problem}") from None
    return bytes(found)


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError("the compressed data ends too early")
    return data
