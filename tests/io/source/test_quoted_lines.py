"""Line ends inside and outside of quotes, told for whole blocks, as one reads them byte by byte."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st

from cepctl.io.source.quoted_lines import LineEnds, QuotedLines
from tests.engines.agreement import EXAMPLES, check

COMMA = ord(",")


def read_by_byte(text: bytes, *, inside: bool) -> list[tuple[int, bool]]:
    """Places of line ends and whether they stand inside of quotes, by the book."""
    ends: list[tuple[int, bool]] = []
    state, place = ("quoted" if inside else "begin"), 0
    while place < len(text):
        here, following = text[place : place + 1], text[place + 1 : place + 2]
        line_end = here == b"\n" or (here == b"\r" and following != b"\n")
        if line_end:
            ends.append((place, state == "quoted"))
        if state == "quoted":
            if here == b'"' and following == b'"':
                place += 1
            elif here == b'"':
                state = "plain"
        elif state == "begin" and here == b'"':
            state = "quoted"
        else:
            state = "begin" if line_end or here in {b",", b"\r"} else "plain"
        place += 1
    return ends


def in_pieces(text: bytes, sizes: Sequence[int]) -> list[LineEnds]:
    lines, found = QuotedLines(COMMA), []
    for size in sizes:
        found.append(lines.add(text[:size]))
        text = text[size:]
    return [*found, lines.add(text), lines.finish()]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (b'a,"b\nc"\n', [True, False]),
        (b'5" disk\n"x\ny"\n', [False, True, False]),
        (b'"a ""b\nc"""\n', [True, False]),
        (b'"a"b"\n', [False]),
        (b'""\n', [False]),
    ],
)
def test_a_line_end_is_inside_where_a_quoted_value_holds_it(text: bytes, inside: list[bool]) -> None:
    (found, *_) = in_pieces(text, [len(text)])
    assert found.inside.tolist() == inside


def test_any_pieces_of_any_text_are_read_as_byte_by_byte() -> None:
    rows = st.lists(
        st.sampled_from(['"a","b"\n', 'x,"y"\r\n', '"",1\n', '"a\nb",c\n', '"c""d"\n', '"\r",\n'])
    )
    texts = (st.text('",\n\rx', max_size=30) | rows.map("".join)).map(str.encode)

    def same(case: tuple[bytes, list[int]]) -> None:
        text, sizes = case
        pieces = in_pieces(text, sizes)
        for begins_inside in (False, True):
            found = [
                (int(place), bool(inside ^ (begins_inside and not settled)))
                for ends in pieces
                for place, inside, settled in zip(ends.place, ends.inside, ends.settled, strict=True)
            ]
            assert found == read_by_byte(text, inside=begins_inside)

    check(st.tuples(texts, st.lists(st.integers(0, 9), max_size=6)), same, EXAMPLES)
