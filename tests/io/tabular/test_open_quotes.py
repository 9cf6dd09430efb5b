"""A quote too many costs its own row, and no other; values of several lines are left alone."""

from __future__ import annotations

import io

import pytest

from cepctl.io.tabular.open_quotes import OpenQuotes


def _mended(text: str, columns: int = 3) -> tuple[set[int], str]:
    stream = OpenQuotes(io.BytesIO(text.encode()), ",", columns)
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
