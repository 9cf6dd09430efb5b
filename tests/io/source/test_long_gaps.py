"""Of very long runs of empty lines a reader sees the beginning; lines behind them keep their numbers."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.source.streams import LongGaps, ShortenedGaps, empty_lines

PIECE = 1 << 18


def shortened(text: bytes, kept: int) -> tuple[bytes, LongGaps]:
    gaps = LongGaps(kept)
    return io.BufferedReader(ShortenedGaps(io.BytesIO(text), gaps)).read(), gaps


@pytest.mark.parametrize(
    ("piece", "lines"),
    [
        (b"\n\n", 2),
        (b"\r\n\r\n", 2),
        (b"\n\r\n\r", 2),
        (b"", 0),
        (b"\n", 0),
        (b"\r\r", 0),
        (b"\n\n\r\n", 0),
        (b"\n\n\n", 0),
        (b"\n\n\n ", 0),
    ],
)
def test_pieces_of_line_ends_alone_are_told_with_the_number_of_their_lines(piece: bytes, lines: int) -> None:
    assert empty_lines(piece) == lines


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_the_rest_of_a_long_gap_is_left_out_and_lines_behind_it_keep_their_numbers(line_end: bytes) -> None:
    empty = 40 * PIECE // len(line_end)
    text = b"first" + line_end * empty + b"second" + line_end * empty + b"third"
    kept, gaps = shortened(text, kept=2 * PIECE)
    # Of each gap what is kept, and the pieces that hold something else.
    assert len(kept) < 2 * 5 * PIECE
    lines = kept.split(b"\n")
    here = np.flatnonzero(np.array(lines) > b"\r")
    assert [lines[place].strip() for place in here] == [b"first", b"second", b"third"]
    assert (here + gaps.left_out_before(here)).tolist() == [0, empty, 2 * empty]


def test_a_gap_that_is_not_longer_than_what_is_kept_stays() -> None:
    text = b"a" + b"\n" * (3 * PIECE) + b"b"
    assert shortened(text, kept=3 * PIECE)[0] == text


@given(st.lists(st.sampled_from([b"\n\n", b"\r\n", b"\n\r", b"x\n", b"x", b"\n", b"\n\n\n\n"]), max_size=12))
def test_whatever_the_pieces_are_lines_that_are_not_empty_keep_their_numbers(pieces: list[bytes]) -> None:
    gaps = LongGaps(kept=2)
    kept = b"".join(piece for piece in pieces if not gaps.leaves_out(piece)).split(b"\n")
    left_out = gaps.left_out_before(np.arange(len(kept)))
    found = [
        (number + int(more), line) for number, (line, more) in enumerate(zip(kept, left_out, strict=True))
    ]
    whole = enumerate(b"".join(pieces).split(b"\n"))
    assert [each for each in found if each[1].strip()] == [each for each in whole if each[1].strip()]
