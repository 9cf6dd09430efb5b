"""Findings that are made when they are asked for are what they would be in a tuple."""

from __future__ import annotations

import polars as pl
import pytest

from cepctl.inspection.findings import Findings


def pairs(count: int) -> Findings[tuple[int, str]]:
    columns = pl.DataFrame({"number": range(count), "name": [f"n{number}" for number in range(count)]})
    return Findings(columns, lambda number, name: (number, name))


def test_they_are_a_sequence_of_rows() -> None:
    found = pairs(4)
    assert found == ((0, "n0"), (1, "n1"), (2, "n2"), (3, "n3"))
    assert (len(found), found[-1]) == (4, (3, "n3"))
    assert found[1:3] == ((1, "n1"), (2, "n2"))
    assert pairs(2) == pairs(2) != pairs(3)
    with pytest.raises(IndexError, match="4 findings"):
        found[4]


def test_none_is_made_before_it_is_asked_for() -> None:
    def never(*_: object) -> object:
        raise AssertionError

    found = Findings(pairs(3).columns, never)
    assert (len(found), len(found[:2])) == (3, 2)
