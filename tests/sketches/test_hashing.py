"""Hashes of whole columns against the published values of XXH64, and codes that keep the order of numbers."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from cepctl.sketches.hashing import order_codes, text_hashes, value_hashes

# Of the specification and of the README of python-xxhash, seed 0.
KNOWN = {
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}


def test_texts_of_all_lengths_at_once_have_the_hashes_of_xxh64() -> None:
    array = pa.array(["before", *KNOWN, None])[1:]
    assert text_hashes(array)[:-1].tolist() == [known & 0xFFFFFFFF for known in KNOWN.values()]


@pytest.mark.parametrize("length", [*range(1, 40), 64, 100])
def test_a_hash_depends_on_no_neighbour(length: int) -> None:
    text = "x" * length
    alone = text_hashes(pa.array([text]))
    assert text_hashes(pa.array(["é" * 50, text, "", "y"]))[1] == alone[0]


def test_equal_numbers_have_equal_hashes_whatever_their_type() -> None:
    whole, _ = value_hashes(pa.array([0, 5, None]))
    real, valid = value_hashes(pa.array([-0.0, 5.0, None]))
    assert whole[:2].tolist() == real[:2].tolist()
    assert valid.tolist() == [True, True, False]
    assert len({*value_hashes(pa.array([True, False, True]))[0].tolist()}) == 2


def test_numbered_texts_have_the_hashes_of_their_texts() -> None:
    texts = pa.array(["b", None, "a", "b"])
    numbered, valid = value_hashes(texts.dictionary_encode())
    assert numbered[valid].tolist() == value_hashes(texts)[0][valid].tolist()


def test_codes_of_numbers_keep_their_order() -> None:
    numbers = np.array(
        [-math.inf, -1e300, -1.5, -1e-300, 0.0, 5e-324, 1.0, 1.0001, 3.0, 2e18, math.inf, math.nan]
    )
    codes = order_codes(numbers)
    assert (codes[:-1] <= codes[1:]).all()
    assert order_codes(np.array([-0.0]))[0] == codes[4]
