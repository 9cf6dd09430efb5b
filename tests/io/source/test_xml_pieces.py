"""Pieces of damaged XML are mended in a time that grows with their bytes."""

from __future__ import annotations

from time import process_time

from cepctl.io.source.xml_pieces import gently_mended


def test_bytes_that_are_not_utf_8_are_taken_for_latin_1() -> None:
    assert gently_mended(b"caf\xe9 \xe2\x82\xac \xe2\x82", "utf-8") == "caf\u00e9 \u20ac \u00e2\x82".encode()
    assert gently_mended(b"\xed\xa0\x80", "utf-8") is None


def test_as_many_as_there_are_bytes_take_no_longer() -> None:
    begun = process_time()
    assert gently_mended(b"\xff\xfe" * 500_000, "utf-8") == "\u00ff\u00fe".encode() * 500_000
    assert process_time() - begun < 2
