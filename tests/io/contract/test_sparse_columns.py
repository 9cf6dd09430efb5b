"""A column that is filled some values at a time is the one that all its values together make."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cepctl.io.contract.natural_columns import Value, array_of, mixture_of
from cepctl.io.contract.sparse_columns import SparseColumn


def filled(*chunks: list[Value]) -> tuple[pa.Array, str | None]:
    column, place = SparseColumn(), 0
    for chunk in chunks:
        column.add(chunk, np.arange(place, place + len(chunk)), np.arange(len(chunk)))
        place += len(chunk)
    return column.array(place)


@pytest.mark.parametrize(
    "chunks",
    [
        [["a"], [None, "b"], [None]],
        [["a", "\ud800"], ["b"]],
        [[1, 2], [None], [3]],
        [[1], [2**63]],
        [[1], [2**62 + 1]],
        [[1], ["x", None]],
        [[1], [0.5]],
        [[True], [None]],
        [[None], [None]],
        [[10**10], [2.5]],
    ],
)
def test_chunks_make_the_column_of_all_values(chunks: list[list[Value]]) -> None:
    values = [value for chunk in chunks for value in chunk]
    kinds = set(map(type, values))
    expected = array_of(values, kinds)
    array, mixed = filled(*chunks)
    assert array.equals(expected)
    assert mixed == mixture_of(values, expected, kinds)


def test_events_share_values_and_others_have_none() -> None:
    column = SparseColumn()
    column.add(["x", "y"], np.array([4, 1, 2]), np.array([0, 1, 1]))
    array, _ = column.array(6)
    assert array.to_pylist() == [None, "y", "y", None, "x", None]
