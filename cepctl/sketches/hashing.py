"""Hashes of values by whole columns: XXH64 or 32 bits of it, and codes of numbers that keep their order.

XXH64 (Collet, xxHash specification 0.1.1) is computed word by word for all texts at once: step w handles the
w-th word of every text that is long enough, so the number of steps is that of the longest text.

    name here    in the specification
    _P1.._P5     PRIME64_1 to PRIME64_5
    lanes        acc1 to acc4, of texts of 32 bytes or more
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cepctl.numeric.arrays import Hashes, Indexes, Numbers, Reals

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        11400714785074694791,
        14029467366897019727,
        1609587929392839161,
        9650029242287828579,
        2870177450012600261,
    )
)
_LOW = np.uint64(0xFFFFFFFF)
_PADDING = bytes(8)


def value_hashes(values: pa.ChunkedArray | pa.Array) -> tuple[Hashes, NDArray[np.bool_]]:
    """32 bits of the hash of each value, and which are not null; shape (n,) both.

    Texts are hashed as UTF-8, numbers and booleans as float64, where -0 is 0 and all NaN are one.

    Examples
    --------
    >>> [hex(each) for each in value_hashes(pa.array(["abc", ""]))[0]]
    ['0xad770999', '0x51d8e999']
    """
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(array.type):
        known, _ = value_hashes(array.dictionary)
        if not array.indices.null_count:
            return known[array.indices.to_numpy()], valid
        return np.append(known, np.uint64(0))[_places(array)], valid
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return text_hashes(array), valid
    return _hashes_of_words(_normal(floats(array)).view(np.uint64)), valid


def _places(array: pa.DictionaryArray) -> Indexes:
    return np.asarray(pc.fill_null(array.indices, len(array.dictionary)).to_numpy(zero_copy_only=False))


def floats(array: pa.Array) -> Reals:
    """Numbers and booleans as float64; null is NaN."""
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def order_codes(values: Reals) -> Hashes:
    """Numbers as 64 bits such that a <= b gives code(a) <= code(b); NaN comes last.

    Examples
    --------
    >>> codes = order_codes(np.array([-1e9, -0.0, 0.0, 1.0, 1.5, np.inf, np.nan]))
    >>> bool((codes[:-1] <= codes[1:]).all()), int(codes[1]) == int(codes[2])
    (True, True)
    """
    bits = _normal(values).view(np.uint64)
    negative = (bits >> np.uint64(63)).astype(np.bool_)
    return np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _normal(values: Reals) -> Reals:
    """-0 as 0, and every NaN as the same."""
    return np.where(np.isnan(values), np.nan, values + 0.0)


def text_hashes(array: pa.Array) -> Hashes:
    """The low 32 bits of the XXH64 of each text's UTF-8; null counts as the empty text."""
    return whole_text_hashes(array) & _LOW


def whole_text_hashes(array: pa.Array) -> Hashes:
    """All 64 bits of the same.

    Examples
    --------
    >>> [hex(each) for each in whole_text_hashes(pa.array(["abc", ""]))]
    ['0x44bc2cf5ad770999', '0xef46db3751d8e999']
    """
    if not len(array):
        return np.empty(0, dtype=np.uint64)
    array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    held = b"" if data is None else memoryview(data)[starts[0] : starts[-1]]
    text = np.frombuffer(bytes(held) + _PADDING, np.uint8)
    ends = starts - starts[0]
    with np.errstate(over="ignore"):
        return _xxh64(text, ends[:-1].astype(np.int64), np.diff(ends).astype(np.int64))


def _hashes_of_words(words: Hashes) -> Hashes:
    """The hashes of values of eight bytes each."""
    with np.errstate(over="ignore"):
        hashed = np.full(len(words), _P5 + np.uint64(8), dtype=np.uint64)
        return _avalanche(_with_word(hashed, words)) & _LOW


def _xxh64(text: NDArray[np.uint8], start: Indexes, length: Numbers) -> Hashes:
    """XXH64 with seed 0 of texts that lie in one array of bytes, with 8 more bytes after the last."""
    words = np.ndarray((len(text) - 7,), np.dtype("<u8"), text.data, strides=(1,))
    hashed = np.full(len(start), _P5, dtype=np.uint64)
    at = start.copy()
    long = np.flatnonzero(length >= 32)
    if len(long):
        hashed[long], at[long] = _stripes(words, start[long], length[long])
    hashed += length.astype(np.uint64)
    end = start + length
    while len(rows := np.flatnonzero(at + 8 <= end)):
        hashed[rows] = _with_word(hashed[rows], words[at[rows]])
        at[rows] += 8
    rows = np.flatnonzero(at + 4 <= end)
    mixed = hashed[rows] ^ ((words[at[rows]] & _LOW) * _P1)
    hashed[rows] = _rotated(mixed, 23) * _P2 + _P3
    at[rows] += 4
    while len(rows := np.flatnonzero(at < end)):
        hashed[rows] = _rotated(hashed[rows] ^ (text[at[rows]].astype(np.uint64) * _P5), 11) * _P1
        at[rows] += 1
    return _avalanche(hashed)


def _stripes(words: Hashes, start: Indexes, length: Numbers) -> tuple[Hashes, Indexes]:
    """The hash of all whole stripes of 32 bytes, and where they end."""
    zero = np.uint64(0)
    lanes = np.empty((4, len(start)), dtype=np.uint64)
    lanes.T[:] = [_P1 + _P2, _P2, zero, zero - _P1]
    at, last = start.copy(), start + length - 32
    while len(rows := np.flatnonzero(at <= last)):
        for lane in range(4):
            lanes[lane, rows] = _round(lanes[lane, rows], words[at[rows] + 8 * lane])
        at[rows] += 32
    joined = np.zeros(len(start), dtype=np.uint64)
    for lane, bits in enumerate((1, 7, 12, 18)):
        joined += _rotated(lanes[lane], bits)
    for lane in range(4):
        joined = (joined ^ _round(np.zeros_like(joined), lanes[lane])) * _P1 + _P4
    return joined, at


def _round(lane: Hashes, word: Hashes) -> Hashes:
    return _rotated(lane + word * _P2, 31) * _P1


def _with_word(hashed: Hashes, word: Hashes) -> Hashes:
    return _rotated(hashed ^ _round(np.zeros_like(hashed), word), 27) * _P1 + _P4


def _avalanche(hashed: Hashes) -> Hashes:
    hashed = (hashed ^ (hashed >> np.uint64(33))) * _P2
    hashed = (hashed ^ (hashed >> np.uint64(29))) * _P3
    return hashed ^ (hashed >> np.uint64(32))


def _rotated(value: Hashes, bits: int) -> Hashes:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))
