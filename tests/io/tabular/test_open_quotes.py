"""A quote too many costs its own row, and no other; values of several lines are left alone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.tabular import open_quotes
from cepctl.io.tabular.open_quotes import OpenQuotes
from cepctl.io.tabular.transcript import Transcript


def _mended(text: str, columns: int = 3) -> tuple[set[int], str]:
    read = Transcript(io.BytesIO(text.encode()), first_line=1)
    stream = OpenQuotes(cast(IO[bytes], read), ",", columns, lambda: read.breaks)
    read.hurry()
    handed_on = io.BufferedReader(stream).read().decode()
    return stream.mended, handed_on


@pytest.mark.parametrize("extra", ['"two""', '"two', 'tw"o', '""two"'])
@pytest.mark.parametrize("after", ["three", '"three"'])
def test_a_quote_too_many_costs_its_own_row_alone(extra: str, after: str) -> None:
    rows = ['1,a,"one"', f"2,a,{extra}", f"3,a,{after}", '4,a,"four"', "5,a,five"]
    mended, handed_on = _mended("\n".join(["n,k,m", *rows]) + "\n")
    assert mended <= {2}
    assert all(row in handed_on for at, row in enumerate(rows) if at != 1)


@pytest.mark.parametrize(
    "value", ['"two\nlines"', '"he said ""x"",\nand left"', '"a,b,c\nd,e,"', '"ends with a quote\n"""']
)
def test_a_value_of_several_lines_is_whole(value: str) -> None:
    text = f"n,k,m\n1,a,{value}\n2,a,two\n"
    assert _mended(text) == (set(), text)


DAMAGED = ('"7",tw"o,1', '8,"open,2', '9,"two,3"')
ROWS = st.lists(
    st.sampled_from(
        [
            *('"1","E",5', '"22","",a', 'x,"y ""z""",1', '"a\nb","c",2', '1,5" disk,3', "plain,row,4"),
            *DAMAGED,
        ]
    ),
    min_size=1,
    max_size=12,
)
SOUND = ROWS.filter(lambda rows: not {*DAMAGED} & {*rows})


@contextmanager
def blocks_of(size: int, stretch: int) -> Iterator[None]:
    with (
        patch.object(open_quotes, "_BLOCK_BYTES", size),
        patch.object(open_quotes, "_STRETCH_BYTES", stretch),
    ):
        yield


@given(rows=SOUND, size=st.integers(1, 60), stretch=st.integers(1, 60))
def test_rows_that_are_sound_are_handed_on_wherever_a_block_ends(
    rows: list[str], size: int, stretch: int
) -> None:
    text = "\n".join(["n,k,m", *rows]) + "\n"
    with blocks_of(size, stretch):
        assert _mended(text) == (set(), text)


@pytest.mark.parametrize("size", range(1, 80))
def test_quoted_rows_are_handed_on_wherever_a_block_cuts_one(size: int) -> None:
    text = "n,k,m\n" + '"1","E",5\n"22","E",6\n' * 4
    with blocks_of(size, 10):
        assert _mended(text) == (set(), text)


@given(rows=ROWS, size=st.integers(1, 60))
def test_a_quote_too_many_costs_the_same_rows_wherever_a_block_ends(rows: list[str], size: int) -> None:
    text = "\n".join(["n,k,m", *rows]) + "\n"
    with blocks_of(1 << 20, 1):
        expected = _mended(text)
    with blocks_of(size, 1):
        assert _mended(text) == expected
